"""Whether an identity has a right in a room. The rights of commands are in `commands`.

A role follows from the log and the identity, never from a message. Rooms judge by their newest
state, when a command is applied.
"""

import hmac
from collections.abc import Mapping
from hashlib import sha256
from typing import Final, Literal

import msgspec

from towerhall_server.game import Rejected
from towerhall_server.room.table import Status, Table

Role = Literal["host", "seated", "watcher"]


class Right(msgspec.Struct, frozen=True):
    """Who may give a command, and when."""

    role: Role
    status: Status | None
    """The only status in which the command makes sense; `None`: any."""
    clause: str
    """The clause that describes the command."""


GAME: Final = Right("seated", "playing", "P-40")
"""The right to any command of the game itself."""

ROLES: Final[Mapping[tuple[bool, bool], frozenset[Role]]] = {
    (False, False): frozenset({"watcher"}),
    (True, False): frozenset({"seated"}),
    (False, True): frozenset({"watcher", "host"}),
    (True, True): frozenset({"seated", "host"}),
}
"""By whether a person has a seat, and whether the person is the host."""


def roles(table: Table, identity: str) -> frozenset[Role]:
    return ROLES[table.seat_of(identity) is not None, identity == table.host]


def refuse(table: Table, identity: str, right: Right) -> Rejected | None:
    """Why this identity does not have this right here, or not now; `None` if it has."""
    if right.role in roles(table, identity):
        is_time = right.status in (None, table.status)
        return None if is_time else Rejected(f"not_{right.status}", right.clause)
    if right.role == "host":
        return Rejected("not_host", "P-56")
    held = table.seat_of(identity)
    if held is None:
        return Rejected("not_seated", "P-56")
    return Rejected("already_seated", "P-56", {"seat": held})


def silence(table: Table, identity: str) -> str:
    """The code of the refusal if a person may not chat in the room; empty if allowed."""
    if identity in table.kicked:
        return "kicked"
    return "muted" if identity in table.muted else ""


def may_enter(table: Table, key: str) -> bool:
    """Whether this key opens the room. Public rooms need none."""
    return opens(key, table.key_hash)


def opens(key: str, guard: bytes) -> bool:
    """Whether a key is the one whose hash this is."""
    return not guard or hmac.compare_digest(key_hash(key), guard)


def key_hash(key: str) -> bytes:
    """The hash that the log keeps of a private room's key."""
    return sha256(b"towerhall/1/key\0" + key.encode(errors="replace")).digest()
