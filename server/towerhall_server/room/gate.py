"""Who may do what, and when: the one place that decides it. What is not listed is denied.

A role follows from the log and from who somebody is, never from what a message says. Rooms judge
by their newest state, when a command is applied.
"""

import hmac
from collections.abc import Mapping
from hashlib import sha256
from typing import Final, Literal

import msgspec

from towerhall_server.game import Rejected
from towerhall_server.room.table import Status, Table

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


class When(msgspec.Struct, frozen=True):
    """The only status in which a command makes sense, and the clause that says so."""

    status: Status
    clause: str


TIMES: Final[Mapping[str, When]] = {
    "sit": When("waiting", "P-51"),
    "stand": When("waiting", "P-51"),
    "ready": When("waiting", "P-52"),
    "start": When("waiting", "P-53"),
    "add_bot": When("waiting", "P-55"),
    "remove_bot": When("waiting", "P-55"),
    "kick": When("waiting", "P-57"),
    "set_options": When("waiting", "P-57"),
    "open": When("sealed", "P-54"),
    "leave": When("playing", "P-58"),
    "take_back": When("playing", "P-58"),
    "call_bot": When("playing", "P-58"),
    "resign": When("playing", "P-58"),
    "want_end": When("playing", "P-58"),
    "rematch": When("over", "P-59"),
    GAME: When("playing", "P-40"),
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
    """Why this identity may not do this here, or not now; `None` if it may."""
    allowed = RIGHTS.get(action)
    if allowed is None:
        return Rejected("unknown_command", "P-40", {"name": action[:40]})
    if not allowed.isdisjoint(roles(table, identity)):
        when = TIMES[action]
        return None if table.status == when.status else _not_now(when)
    if "host" in allowed:
        return Rejected("not_host", "P-56")
    held = table.seat_of(identity)
    if held is None:
        return Rejected("not_seated", "P-56")
    return Rejected("already_seated", "P-56", {"seat": held})


def _not_now(when: When) -> Rejected:
    return Rejected(f"not_{when.status}", when.clause)


def may_enter(table: Table, key: str) -> bool:
    """Whether somebody with this key may look at the room. Public rooms need none."""
    return opens(key, table.key_hash)


def opens(key: str, guard: bytes) -> bool:
    """Whether a key is the one whose hash this is."""
    return not guard or hmac.compare_digest(key_hash(key), guard)


def key_hash(key: str) -> bytes:
    """What the log keeps of a private room's key."""
    return sha256(b"towerhall/1/key\0" + key.encode(errors="replace")).digest()
