"""The contents of the log (P-122, P-123): who caused a commit, its events, and its command.

A commit has one form only, which its chain covers. Only the rules of the game can tell whether it
follows from the one before; no rules are known here.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from towerhall_protocol.codec import MAX_INTEGER
from towerhall_protocol.commands import base64url
from towerhall_protocol.merge_patch import same

HIDING: Final[Mapping[str, tuple[int, ...]]] = {
    "room_created": (0, 3, 4, 6, 1, 8),
    "person_sat": (0, 1, 3, 4),
}
"""Events of the room that keep something back: the places of what they tell, in its order."""
OPEN_GAMES: Final = frozenset({"five_towers", "nikitin_towers"})
"""Games of which all is told as it is stored. Others may keep something back."""
DEPTH: Final = 32
_decode = msgspec.msgpack.Decoder().decode
_encode = msgspec.msgpack.Encoder(order="sorted").encode


class BadCommitError(ValueError):
    """A blob is no commit, or not in its one form."""


class Stored(NamedTuple):
    """One commit as the log holds it. Bytes are told as in P-12."""

    cause: list[Any]
    """The public cause (P-31)."""
    identity: str
    """The id of the person in this room who gave the command, or empty."""
    room: list[list[Any]]
    game: list[list[Any]]
    end: list[list[Any]]
    """Events of the room at the game's end."""
    command: dict[str, Any]


def read_commit(blob: bytes) -> Stored:
    """The commit in a blob."""
    try:
        found = _decode(blob)
        is_canonical = _encode(found) == blob
    except (ValueError, TypeError, RecursionError, OverflowError) as error:
        raise BadCommitError(str(error)) from None
    if not is_canonical:
        raise BadCommitError("the same can be written in another way")
    match _plain(found, DEPTH):
        case [[int(seat), str(identity), str(origin), int(n)], room, game, end, dict(command)]:
            pass
        case _:
            raise BadCommitError("a commit is a cause, three lists of events, and a command")
    if not type(seat) is type(n) is int:
        raise BadCommitError("a seat and a number of a command are whole numbers")
    if not all(map(_is_events, (room, game, end))):
        raise BadCommitError("an event is a list that begins with its name")
    cause = [seat, origin, n] if n else ([] if seat < 0 else [seat])
    return Stored(cause, identity, room, game, end, command)


def are_told(facts: Sequence[Any], stored: Stored, game: str) -> bool:
    """Whether these facts are what everybody may know of a commit: one for each event, in order."""
    told = [*stored.room, *stored.game, *stored.end]
    of_game = range(len(stored.room), len(stored.room) + len(stored.game))
    return len(facts) == len(told) and all(
        _is_told_by_game(fact, event, game) if at in of_game else same(fact, _told(event))
        for at, (fact, event) in enumerate(zip(facts, told, strict=True))
    )


def _told(event: list[Any]) -> list[Any]:
    """The public part of an event of the room."""
    places = HIDING.get(event[0])
    return event if places is None else [event[place] for place in places]


def _is_told_by_game(fact: Any, event: list[Any], game: str) -> bool:
    """A game that is not known here may keep parts back, but tells the others in their order."""
    if game in OPEN_GAMES:
        return same(fact, event)
    at = 0
    for item in event:
        at += at < len(fact) and same(fact[at], item)
    return at == len(fact) and same(fact[0], event[0])


def _is_events(part: Any) -> bool:
    return isinstance(part, list) and all(
        isinstance(event, list) and event and isinstance(event[0], str) for event in part
    )


def _plain(value: Any, depth: int) -> Any:
    """The value with bytes as text; nothing that a message cannot hold is in it."""
    if not depth:
        raise BadCommitError("it is nested too deep")
    if isinstance(value, bytes):
        return base64url(value)
    if isinstance(value, list):
        return [_plain(item, depth - 1) for item in value]
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise BadCommitError("a key is not a text")
        return {key: _plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, int) and not -MAX_INTEGER <= value <= MAX_INTEGER:
        raise BadCommitError("a number is beyond 2^53 - 1")
    if value is None or isinstance(value, bool | int | str):
        return value
    raise BadCommitError(f"{type(value).__name__} is not used here")
