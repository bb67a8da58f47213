"""Commands to the room before the game: who sits, who is ready, when it starts (P-51 to P-57).

Each is a pure function from the room and the person who asks to events or a refusal. Whether the
person may ask at all, and now, has been decided before, in `gate`.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, TypeAlias

import msgspec

from towerhall_protocol.commands import from_base64url
from towerhall_protocol.fairness import NONCE_BYTES, nonce_hash
from towerhall_server.game import DETAIL_LENGTH, LEVELS, Rejected, read_options
from towerhall_server.room.events import (
    BotSat,
    HostPassed,
    NonceOpened,
    OptionsChanged,
    PersonSat,
    RoomEvent,
    Sealed,
    SeatKicked,
    SeatLeft,
    SeatReady,
    Settings,
)
from towerhall_server.room.state import Room
from towerhall_server.room.table import Holder, Table

HASH_BYTES: Final = 32
SETTINGS: Final = tuple(field.name for field in msgspec.structs.fields(Settings))
TURN_SECONDS: Final = (range(1), range(5, 601), range(3600, 14 * 24 * 3600 + 1))
"""No clock, a clock for one sitting, or one for days."""
BOT_DELAY_MS: Final = range(10_001)


class Person(msgspec.Struct, frozen=True):
    """Somebody with a valid token, for as long as it lasts. Names may be shared; ids are not."""

    id: str
    """8 random bytes as base64url: 11 characters."""
    name: str
    """Cleaned, so that it may be shown."""


class Known(msgspec.Struct, frozen=True):
    """What a room decides by and no log tells. Whoever checks a log later believes it."""

    absent: Collection[int] = ()
    """Seats of people who have been away for long."""
    rematch: str = ""
    """The code of a room that was made for the same people."""
    spent: str = ""
    """The code of one that was made before and in which nobody can play any more."""
    wait_ms: int = 0
    """How long the person who asks has to wait until they may make a room."""


NOTHING_KNOWN: Final = Known()
Body: TypeAlias = Mapping[str, Any]
Events: TypeAlias = tuple[RoomEvent, ...] | Rejected
Handler: TypeAlias = Callable[[Room, Person, Body, Known], Events]


def _sit(room: Room, person: Person, body: Body, known: Known) -> Events:
    table = room.table
    if person.id in table.kicked:
        return Rejected("kicked", "P-57")
    seat = _seat_for(table, person, body)
    if isinstance(seat, Rejected):
        return seat
    shown = _bytes(body, "nonce", HASH_BYTES, "P-51")
    if isinstance(shown, Rejected):
        return shown
    return (PersonSat(seat, person.id, person.name, shown),)


def _stand(room: Room, person: Person, body: Body, known: Known) -> Events:
    table = room.table
    seat = seat_of(table, person)
    if person.id == table.host:
        for other, holder in enumerate(table.seats):
            if holder is not None and not holder.is_bot and other != seat:
                return (SeatLeft(seat), HostPassed(other))
    return (SeatLeft(seat),)


def _ready(room: Room, person: Person, body: Body, known: Known) -> Events:
    table = room.table
    ready = body.get("ready", True)
    if not isinstance(ready, bool):
        return Rejected("bad_command", "P-52", {"detail": "ready is true or false"})
    shown = _bytes(body, "nonce", HASH_BYTES, "P-52")
    if isinstance(shown, Rejected):
        return shown
    return (SeatReady(seat_of(table, person), ready, shown),)


def _kick(room: Room, person: Person, body: Body, known: Known) -> Events:
    table = room.table
    seat = named_seat(table, body, "P-57")
    if isinstance(seat, Rejected):
        return seat
    holder = table.seats[seat]
    if holder is None or holder.is_bot:
        return Rejected("seat_empty", "P-57")
    if holder.identity == person.id:
        return Rejected("own_seat", "P-57")
    return (SeatKicked(seat),)


def _set_options(room: Room, person: Person, body: Body, known: Known) -> Events:
    table, rules = room.table, room.rules
    wanted = body.get("options")
    options = table.options if wanted is None else read_options(rules, wanted)
    if isinstance(options, Rejected):
        return Rejected(options.code, "P-57", options.params)
    chosen = {name: body[name] for name in SETTINGS if name in body}
    settings = read_settings(msgspec.to_builtins(table.settings) | chosen)
    if isinstance(settings, Rejected):
        return settings
    return (OptionsChanged(msgspec.to_builtins(options), settings),)


def _start(room: Room, person: Person, body: Body, known: Known) -> Events:
    table = room.table
    if table.free_seats():
        return Rejected("seats_free", "P-53", {"seats": len(table.seats)})
    if not all(holder.ready or holder.identity == table.host for holder in _holders(table)):
        return Rejected("not_ready", "P-53")
    return (_sealed(table),)


def starts_by_itself(table: Table) -> tuple[RoomEvent, ...]:
    """What follows when a quick room is full and everybody is ready (P-53)."""
    waits = not table.quick or table.status != "waiting" or table.free_seats()
    if waits or not all(holder.ready for holder in _holders(table)):
        return ()
    return (_sealed(table),)


def _sealed(table: Table) -> Sealed:
    return Sealed(table.deal + 1, tuple(holder.nonce_hash for holder in _holders(table)))


def _holders(table: Table) -> list[Holder]:
    return [holder for holder in table.seats if holder is not None]


def _open(room: Room, person: Person, body: Body, known: Known) -> Events:
    table = room.table
    seat = seat_of(table, person)
    holder = table.seats[seat]
    if holder is None or not holder.nonce_hash:
        return Rejected("not_sealed", "P-54")
    if holder.nonce:
        return Rejected("already_open", "P-54")
    nonce = _bytes(body, "nonce", NONCE_BYTES, "P-54")
    if isinstance(nonce, Rejected):
        return nonce
    if nonce_hash(table.uid, nonce) != holder.nonce_hash:
        return Rejected("wrong_nonce", "P-54")
    return (NonceOpened(seat, nonce),)


def _add_bot(room: Room, person: Person, body: Body, known: Known) -> Events:
    table = room.table
    level = body.get("level", LEVELS[0])
    if level not in LEVELS:
        return Rejected("bad_command", "P-55", {"detail": f"level is one of {', '.join(LEVELS)}"})
    seat = _free_seat(table, body, "P-55")
    return seat if isinstance(seat, Rejected) else (BotSat(seat, level),)


def _remove_bot(room: Room, person: Person, body: Body, known: Known) -> Events:
    table = room.table
    seat = named_seat(table, body, "P-55")
    if isinstance(seat, Rejected):
        return seat
    holder = table.seats[seat]
    if holder is None or not holder.is_bot:
        return Rejected("seat_empty", "P-55")
    return (SeatLeft(seat),)


BEFORE: Final[Mapping[str, Handler]] = {
    "sit": _sit,
    "stand": _stand,
    "ready": _ready,
    "start": _start,
    "open": _open,
    "add_bot": _add_bot,
    "remove_bot": _remove_bot,
    "kick": _kick,
    "set_options": _set_options,
}


def read_settings(wanted: Mapping[str, object]) -> Settings | Rejected:
    """What a stranger wants of a room besides the options of its game (P-57)."""
    try:
        settings = msgspec.convert(wanted, Settings)
    except (msgspec.ValidationError, UnicodeError) as error:
        return Rejected("bad_options", "P-57", {"detail": str(error)[:DETAIL_LENGTH]})
    if not any(settings.turn_seconds in span for span in TURN_SECONDS):
        detail = "turn_seconds is 0, 5 to 600, or 3600 to 1209600"
        return Rejected("bad_options", "P-57", {"detail": detail})
    if settings.bot_delay_ms not in BOT_DELAY_MS:
        return Rejected("bad_options", "P-57", {"detail": "bot_delay_ms is 0 to 10000"})
    return settings


def seat_of(table: Table, person: Person) -> int:
    """The seat that the gate has seen this person in."""
    seat = table.seat_of(person.id)
    if seat is None:
        raise ValueError("the gate lets nobody through without a seat")
    return seat


def named_seat(table: Table, body: Body, rule: str) -> int | Rejected:
    """The seat that a command names."""
    seat = body["seat"]
    if type(seat) is not int:
        return Rejected("bad_command", rule, {"detail": "seat is a whole number"})
    if not 0 <= seat < len(table.seats):
        return Rejected("no_such_seat", rule, {"last": len(table.seats) - 1})
    return seat


def _seat_for(table: Table, person: Person, body: Body) -> int | Rejected:
    """The seat that a person sits down at; a reserved one is for whom it is reserved."""
    own = table.reserved.index(person.id) if person.id in table.reserved else None
    if own is not None and table.seats[own] is None and body.get("seat") in (None, own):
        return own
    seat = _free_seat(table, body, "P-51")
    if isinstance(seat, Rejected) or not table.is_reserved(seat):
        return seat
    return Rejected("seat_reserved", "P-51")


def _free_seat(table: Table, body: Body, rule: str) -> int | Rejected:
    """The seat that is asked for, or the first that is free; if possible one for anybody."""
    free = table.free_seats()
    if "seat" not in body:
        if not free:
            return Rejected("room_full", rule)
        return next((each for each in free if not table.is_reserved(each)), free[0])
    seat = named_seat(table, body, rule)
    if isinstance(seat, Rejected) or seat in free:
        return seat
    return Rejected("seat_taken", rule, {"seat": seat})


def _bytes(body: Body, name: str, size: int, rule: str) -> bytes | Rejected:
    """Bytes from base64url text; none if the field is absent."""
    if name not in body:
        return b""
    text = body[name]
    wrong = Rejected("bad_command", rule, {"detail": f"{name} is {size} bytes as base64url"})
    if not isinstance(text, str):
        return wrong
    try:
        data = from_base64url(text)
    except ValueError:
        return wrong
    return data if len(data) == size else wrong
