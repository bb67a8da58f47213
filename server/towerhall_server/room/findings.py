"""What can be wrong with a record: a stable code for each kind, and where it shows first."""

from collections.abc import Mapping
from typing import Final

import msgspec

KINDS: Final[Mapping[str, str]] = {
    "unreadable": "The file is no record.",
    "unknown_format": "The record is of a kind that this program does not know.",
    "unknown_rules": "The game, or this version of its rules, is not installed here.",
    "chain": "The chain is broken: something was changed, left out or put in.",
    "time": "Time runs backwards.",
    "commitment": "The secret is not the one that the server had committed itself to.",
    "nonce": "A nonce is not the one that was sealed.",
    "commit": "A commit cannot be read.",
    "undecided": "The rules do not allow what was done.",
    "decision": "The rules lead to something else than what is said to have happened.",
    "early": "The room did something by itself before it was due.",
    "unfinished": "The game has not ended.",
    "head": "The head of the record does not agree with its commits.",
    "frame": "What spectators are said to have seen is not what happened.",
    "draw": "What is said to have been drawn is not what the seed gives.",
    "deal": "The deals are not those of the commits.",
    "result": "The result is not that of the game.",
}
"""Every code, and what it means to a person."""

MOST_DETAIL: Final = 300


class Finding(msgspec.Struct, frozen=True):
    """Something that is not as it should be."""

    code: str
    where: str
    detail: str


class Findings:
    """The first finding of each kind: what follows from it is seldom news."""

    def __init__(self) -> None:
        self._first: dict[str, Finding] = {}

    def add(self, code: str, where: str, detail: str) -> None:
        self._first.setdefault(code, Finding(code, where, detail[:MOST_DETAIL]))

    def all(self) -> tuple[Finding, ...]:
        """In the order in which they were found."""
        return tuple(self._first.values())
