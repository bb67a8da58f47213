"""Commands to the room itself: who sits where, who is ready, when it starts (P-50 to P-56).

Each is a pure function from the table and the person who asks to events or a refusal. Whether the
person may ask at all has been decided before, in `gate`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import msgspec

from towerhall_protocol.commands import from_base64url
from towerhall_protocol.fairness import NONCE_BYTES, nonce_hash
from towerhall_server.game import LEVELS, Rejected
from towerhall_server.room.events import (
    BotSat,
    HostPassed,
    NonceOpened,
    PersonSat,
    RoomEvent,
    Sealed,
    SeatLeft,
    SeatReady,
)
from towerhall_server.room.state import Table

HASH_BYTES: Final = 32


class Person(msgspec.Struct, frozen=True):
    """Somebody with a valid token."""

    id: str
    name: str


Events: TypeAlias = tuple[RoomEvent, ...] | Rejected
Handler: TypeAlias = Callable[[Table, Person, Mapping[str, Any]], Events]


def _sit(table: Table, person: Person, body: Mapping[str, Any]) -> Events:
    if table.status != "waiting":
        return Rejected("not_waiting", "P-51")
    seat = _free_seat(table, body, "P-51")
    if isinstance(seat, Rejected):
        return seat
    shown = _bytes(body, "nonce", HASH_BYTES, "P-51")
    if isinstance(shown, Rejected):
        return shown
    return (PersonSat(seat, person.id, person.name, shown),)


def _stand(table: Table, person: Person, body: Mapping[str, Any]) -> Events:
    if table.status != "waiting":
        return Rejected("not_waiting", "P-51")
    seat = _seat(table, person)
    if person.id == table.host:
        for other, holder in enumerate(table.seats):
            if holder is not None and not holder.is_bot and other != seat:
                return (SeatLeft(seat), HostPassed(other))
    return (SeatLeft(seat),)


def _ready(table: Table, person: Person, body: Mapping[str, Any]) -> Events:
    if table.status != "waiting":
        return Rejected("not_waiting", "P-52")
    ready = body.get("ready", True)
    if not isinstance(ready, bool):
        return Rejected("bad_command", "P-52", {"detail": "ready is true or false"})
    shown = _bytes(body, "nonce", HASH_BYTES, "P-52")
    if isinstance(shown, Rejected):
        return shown
    return (SeatReady(_seat(table, person), ready, shown),)


def _start(table: Table, person: Person, body: Mapping[str, Any]) -> Events:
    if table.status != "waiting":
        return Rejected("not_waiting", "P-53")
    if table.free_seats():
        return Rejected("seats_free", "P-53", {"seats": len(table.seats)})
    holders = [holder for holder in table.seats if holder is not None]
    if not all(holder.ready or holder.identity == table.host for holder in holders):
        return Rejected("not_ready", "P-53")
    return (Sealed(table.deal + 1, tuple(holder.nonce_hash for holder in holders)),)


def _open(table: Table, person: Person, body: Mapping[str, Any]) -> Events:
    seat = _seat(table, person)
    holder = table.seats[seat]
    if table.status != "sealed" or holder is None or not holder.nonce_hash:
        return Rejected("not_sealed", "P-54")
    if holder.nonce:
        return Rejected("already_open", "P-54")
    nonce = _bytes(body, "nonce", NONCE_BYTES, "P-54")
    if isinstance(nonce, Rejected):
        return nonce
    if not nonce or nonce_hash(table.uid, nonce) != holder.nonce_hash:
        return Rejected("wrong_nonce", "P-54")
    return (NonceOpened(seat, nonce),)


def _add_bot(table: Table, person: Person, body: Mapping[str, Any]) -> Events:
    if table.status != "waiting":
        return Rejected("not_waiting", "P-55")
    level = body.get("level", LEVELS[0])
    if level not in LEVELS:
        return Rejected("bad_command", "P-55", {"detail": f"level is one of {', '.join(LEVELS)}"})
    seat = _free_seat(table, body, "P-55")
    return seat if isinstance(seat, Rejected) else (BotSat(seat, level),)


def _remove_bot(table: Table, person: Person, body: Mapping[str, Any]) -> Events:
    if table.status != "waiting":
        return Rejected("not_waiting", "P-55")
    seat = _named_seat(table, body, "P-55")
    if isinstance(seat, Rejected):
        return seat
    holder = None if seat is None else table.seats[seat]
    if seat is None or holder is None or not holder.is_bot:
        return Rejected("seat_empty", "P-55")
    return (SeatLeft(seat),)


ROOM_COMMANDS: Mapping[str, Handler] = {
    "sit": _sit,
    "stand": _stand,
    "ready": _ready,
    "start": _start,
    "open": _open,
    "add_bot": _add_bot,
    "remove_bot": _remove_bot,
}


def _seat(table: Table, person: Person) -> int:
    """The seat that the gate has seen this person in."""
    seat = table.seat_of(person.id)
    if seat is None:
        raise ValueError("the gate lets nobody through without a seat")
    return seat


def _named_seat(table: Table, body: Mapping[str, Any], rule: str) -> int | Rejected | None:
    seat = body.get("seat")
    if seat is None:
        return None
    if type(seat) is not int:
        return Rejected("bad_command", rule, {"detail": "seat is a whole number"})
    if not 0 <= seat < len(table.seats):
        return Rejected("no_such_seat", rule, {"last": len(table.seats) - 1})
    return seat


def _free_seat(table: Table, body: Mapping[str, Any], rule: str) -> int | Rejected:
    """The seat that is asked for, or the first that is free."""
    seat = _named_seat(table, body, rule)
    if isinstance(seat, Rejected):
        return seat
    free = table.free_seats()
    if not free:
        return Rejected("room_full", rule)
    if seat is None:
        return free[0]
    return seat if seat in free else Rejected("seat_taken", rule, {"seat": seat})


def _bytes(body: Mapping[str, Any], name: str, size: int, rule: str) -> bytes | Rejected:
    """Bytes from base64url text; none if the field is absent."""
    text = body.get(name, "")
    wrong = Rejected("bad_command", rule, {"detail": f"{name} is {size} bytes as base64url"})
    if not isinstance(text, str):
        return wrong
    if not text:
        return b""
    try:
        data = from_base64url(text)
    except ValueError:
        return wrong
    return data if len(data) == size else wrong
