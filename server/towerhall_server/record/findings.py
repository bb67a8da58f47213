"""Possible faults of a record: a stable code for each kind, and its first place."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

import msgspec

KINDS: Final[Mapping[str, str]] = {
    "unreadable": "The file is not a record.",
    "unknown_format": "This program does not know the format of the record.",
    "unknown_rules": "The game, or this version of its rules, is not installed here.",
    "chain": "The chain is broken: a commit was changed, removed or added.",
    "repeated": "Two commits have the same id.",
    "form": "A commit is not in its canonical form.",
    "time": "Time runs backwards.",
    "clock": "The game's clock ran faster than time.",
    "commitment": "The secret does not fit the commitment of the server.",
    "nonce": "A nonce does not fit its sealed hash.",
    "commit": "A commit cannot be read.",
    "undecided": "The rules do not allow a commit.",
    "decision": "The rules lead to other events than those recorded.",
    "bot": "A bot made another move than it would make.",
    "early": "A timed step of the room came before it was due.",
    "late": "A timed step of the room came too late.",
    "unfinished": "The game has not ended.",
    "head": "The head of the record does not agree with its commits.",
    "frame": "The spectators' frames do not agree with the commits.",
    "draw": "The recorded draws are not those of the seed.",
    "deal": "The deals are not those of the commits.",
    "result": "The result is not that of the game.",
    "signature": "The server has not signed this end.",
    "log": "The proof that the public log has this record does not hold.",
    "other_room": "The evidence is of another room.",
    "other_commitment": "The commitment is not that of the evidence.",
    "other_nonce": "A nonce of the evidence is not in the deals.",
    "other_mark": "The chain is not that of the evidence: this is another history.",
    "other_view": "A view is not that of the evidence.",
}
"""Every code, and its meaning in words."""

MOST_DETAIL: Final = 300


class Finding(msgspec.Struct, frozen=True):
    """A fault: the first one of its kind."""

    code: str
    where: str
    detail: str
    count: int = 1
    """Number of faults of this kind."""


class Findings:
    """The first finding of each kind, with a count: later ones are mostly consequences of the
    first."""

    def __init__(self) -> None:
        self._first: dict[str, Finding] = {}
        self._counts: Counter[str] = Counter()

    def add(self, code: str, where: str, detail: str) -> None:
        self._first.setdefault(code, Finding(code, where, detail[:MOST_DETAIL]))
        self._counts[code] += 1

    def all(self) -> tuple[Finding, ...]:
        """Return the findings in the order of discovery."""
        return tuple(
            msgspec.structs.replace(finding, count=self._counts[code])
            for code, finding in self._first.items()
        )
