"""Who may do what: the one place that decides it. What is not listed is denied.

A role follows from the log and from who somebody is, never from what a message says. Rooms judge
by their newest state, when a command is applied.
"""

import hmac
from collections.abc import Mapping
from hashlib import sha256
from typing import Final, Literal

from towerhall_server.game import Rejected
from towerhall_server.room.table import Table

Role = Literal["host", "seated", "watcher"]
GAME: Final = "game"
"""Any command of the game itself."""

RIGHTS: Final[Mapping[str, frozenset[Role]]] = {
    "sit": frozenset({"watcher"}),
    "stand": frozenset({"seated"}),
    "ready": frozenset({"seated"}),
    "open": frozenset({"seated"}),
    "leave": frozenset({"seated"}),
    "take_back": frozenset({"seated"}),
    "call_bot": frozenset({"seated"}),
    "resign": frozenset({"seated"}),
    "want_end": frozenset({"seated"}),
    "rematch": frozenset({"seated"}),
    "start": frozenset({"host"}),
    "kick": frozenset({"host"}),
    "set_options": frozenset({"host"}),
    "add_bot": frozenset({"host"}),
    "remove_bot": frozenset({"host"}),
    GAME: frozenset({"seated"}),
}


ROLES: Final[Mapping[tuple[bool, bool], frozenset[Role]]] = {
    (False, False): frozenset({"watcher"}),
    (True, False): frozenset({"seated"}),
    (False, True): frozenset({"watcher", "host"}),
    (True, True): frozenset({"seated", "host"}),
}
"""By whether somebody has a seat, and whether they are the host."""


def roles(table: Table, identity: str) -> frozenset[Role]:
    return ROLES[table.seat_of(identity) is not None, identity == table.host]


def refuse(table: Table, identity: str, action: str) -> Rejected | None:
    """Why this identity may not do this here; `None` if it may."""
    allowed = RIGHTS.get(action)
    if allowed is None:
        return Rejected("unknown_command", "P-40", {"name": action[:40]})
    if not allowed.isdisjoint(roles(table, identity)):
        return None
    if "host" in allowed:
        return Rejected("not_host", "P-56")
    held = table.seat_of(identity)
    if held is None:
        return Rejected("not_seated", "P-56")
    return Rejected("already_seated", "P-56", {"seat": held})


def may_enter(table: Table, key: str) -> bool:
    """Whether somebody with this key may look at the room. Public rooms need none."""
    return opens(key, table.key_hash)


def opens(key: str, guard: bytes) -> bool:
    """Whether a key is the one whose hash this is."""
    return not guard or hmac.compare_digest(key_hash(key), guard)


def key_hash(key: str) -> bytes:
    """What the log keeps of a private room's key."""
    return sha256(b"towerhall/1/key\0" + key.encode(errors="replace")).digest()
