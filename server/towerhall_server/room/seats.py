"""Handlers of room commands before the game: sit, get ready, start (P-51 to P-57).

Each is a pure function from the room, the person and the parameters to events or a refusal. `gate`
has decided before whether the person has the right to the command. `commands` lists all handlers.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Final, TypeAlias

import msgspec

from towerhall_protocol.commands import from_base64url
from towerhall_protocol.fairness import nonce_hash
from towerhall_protocol.plain_faults import said
from towerhall_server.game import DETAIL_LENGTH, AnyGame, Rejected, read_options
from towerhall_server.room.events import (
    BotAccountMarked,
    BotSat,
    HostPassed,
    NonceOpened,
    OptionsChanged,
    PersonRenamed,
    PersonSat,
    RoomEvent,
    Sealed,
    SeatLeft,
    SeatReady,
    Settings,
)
from towerhall_server.room.parameters import (
    AddBot,
    Open,
    P,
    Ready,
    RemoveBot,
    Rename,
    SetOptions,
    Sit,
    Stand,
    Start,
)
from towerhall_server.room.state import Room
from towerhall_server.room.table import SeatHolder, Table

HASH_BYTES: Final = 32
SETTINGS: Final = ("turn_seconds", "bot_delay_ms", "beat_ms", "bot_accounts", "rated")
"""Settings that requests choose. Whether a room is a sandbox is fixed when it is created."""
TURN_SECONDS: Final = (range(1), range(5, 601), range(3600, 14 * 24 * 3600 + 1))
"""Allowed seconds per turn: no clock, a clock for one sitting, or one for days."""
BOT_DELAY_MS: Final = range(10_001)
NO_BOTS: Final = "a rated room has no bots"


class Person(msgspec.Struct, frozen=True):
    """A person with a valid token. Two persons may share a name, but not an id."""

    id: str
    """8 bytes as base64url: 11 characters. Outside of rooms it is random, inside it is an alias."""
    name: str
    """Cleaned for display."""
    bot_account: bool = False
    """Whether the owner of the token has said that a program uses it."""


class Known(msgspec.Struct, frozen=True):
    """Facts for commands that no log holds. A verifier of the log has to believe them."""

    absent: Collection[int] = ()
    """Seats of people who are absent."""
    rematch: str = ""
    """The code of a room that was created for the same people."""
    spent: str = ""
    """The code of an earlier rematch that cannot be played any more."""
    plays_on: bool = False
    """Whether the game goes on after a resignation that would end it. Older logs do."""
    wait_ms: int = 0
    """Milliseconds until the sender may create a room."""


def guest_of(room: Room, person: Person) -> Person:
    """A person as this room knows them: players and viewers enter a room through here."""
    return msgspec.structs.replace(person, id=room.alias_of(person.id))


NOTHING_KNOWN: Final = Known()
Events: TypeAlias = tuple[RoomEvent, ...] | Rejected
Handler: TypeAlias = Callable[[Room, Person, P, Known], Events]


def sit(room: Room, person: Person, wanted: Sit, known: Known) -> Events:
    table = room.table
    if person.id in table.kicked:
        return Rejected("kicked", "P-57")
    if person.bot_account and table.settings.rated:
        return Rejected("no_bot_accounts", "P-201")
    if person.bot_account and not admits_bot_account(table, person.id):
        return Rejected("no_bot_accounts", "P-157")
    seat = _seat_for(table, person, wanted.seat)
    if isinstance(seat, Rejected):
        return seat
    sat = PersonSat(seat, person.id, person.name, _bytes(wanted.nonce))
    return (sat, BotAccountMarked(seat)) if person.bot_account else (sat,)


def admits_bot_account(table: Table, identity: str) -> bool:
    """Whether that bot account may sit here: never beside people of a quick match (P-157)."""
    is_welcome = table.settings.bot_accounts or table.is_invited(identity)
    return is_welcome and not table.quick


def stand(room: Room, person: Person, wanted: Stand, known: Known) -> Events:
    table = room.table
    seat = seat_of(table, person)
    if person.id == table.host:
        for other, holder in enumerate(table.seats):
            if holder is not None and not holder.is_bot and other != seat:
                return (SeatLeft(seat), HostPassed(other))
    return (SeatLeft(seat),)


def rename(room: Room, person: Person, wanted: Rename, known: Known) -> Events:
    """The seat takes the name of the sender's token: no command can name another one."""
    seat = seat_of(room.table, person)
    holder = room.table.seats[seat]
    if holder is not None and holder.name == person.name:
        return Rejected("same_name", "P-51")
    return (PersonRenamed(seat, person.name),)


def ready(room: Room, person: Person, wanted: Ready, known: Known) -> Events:
    is_ready = wanted.ready is not False
    return (SeatReady(seat_of(room.table, person), is_ready, _bytes(wanted.nonce)),)


def set_options(room: Room, person: Person, wanted: SetOptions, known: Known) -> Events:
    table, rules = room.table, room.rules
    given = wanted.options
    options = table.options if given is None else read_options(rules, given)
    if isinstance(options, Rejected):
        return Rejected(options.code, "P-57", options.params)
    values = {name: getattr(wanted, name) for name in SETTINGS}
    chosen = {name: value for name, value in values.items() if value is not None}
    settings = read_settings(msgspec.to_builtins(table.settings) | chosen)
    if isinstance(settings, Rejected):
        return settings
    if settings.bot_accounts and table.quick:
        detail = "a quick room has no bot accounts"
        return Rejected("bad_options", "P-157", {"detail": detail})
    refusal = _refuse_rated(table, person, settings)
    return refusal or (OptionsChanged(msgspec.to_builtins(options), settings),)


def _refuse_rated(table: Table, person: Person, settings: Settings) -> Rejected | None:
    """Sitting down is the consent to `rated`, so it cannot change for people who sit (P-57)."""
    if settings.rated == table.settings.rated:
        return None
    if settings.rated and any(holder.is_bot or holder.bot_account for holder in _holders(table)):
        return Rejected("bad_options", "P-57", {"detail": NO_BOTS})
    if any(holder.identity not in ("", person.id) for holder in _holders(table)):
        detail = "rated cannot change while other people sit"
        return Rejected("bad_options", "P-57", {"detail": detail})
    return None


def start(room: Room, person: Person, wanted: Start, known: Known) -> Events:
    table = room.table
    if table.free_seats():
        return Rejected("seats_free", "P-53", {"seats": len(table.seats)})
    if not all(holder.ready or holder.identity == table.host for holder in _holders(table)):
        return Rejected("not_ready", "P-53")
    return (_sealed(table),)


def starts_by_itself(table: Table) -> tuple[RoomEvent, ...]:
    """The events that start a quick room once it is full and all players are ready (P-53)."""
    waits = not table.quick or table.status != "waiting" or table.free_seats()
    if waits or not all(holder.ready for holder in _holders(table)):
        return ()
    return (_sealed(table),)


def _sealed(table: Table) -> Sealed:
    return Sealed(table.deal + 1, tuple(holder.nonce_hash for holder in _holders(table)))


def _holders(table: Table) -> list[SeatHolder]:
    return [holder for holder in table.seats if holder is not None]


def open_nonce(room: Room, person: Person, wanted: Open, known: Known) -> Events:
    table = room.table
    seat = seat_of(table, person)
    holder = table.seats[seat]
    if holder is None or not holder.nonce_hash:
        return Rejected("not_sealed", "P-54")
    if holder.nonce:
        return Rejected("already_open", "P-54")
    nonce = _bytes(wanted.nonce)
    if nonce_hash(table.uid, nonce) != holder.nonce_hash:
        return Rejected("wrong_nonce", "P-54")
    return (NonceOpened(seat, nonce),)


def add_bot(room: Room, person: Person, wanted: AddBot, known: Known) -> Events:
    table = room.table
    if table.settings.rated:
        return Rejected("bad_options", "P-55", {"detail": NO_BOTS})
    level = named_level(room.rules, wanted.level, room.rules.levels[0], "P-55")
    if isinstance(level, Rejected):
        return level
    seat = _free_seat(table, wanted.seat, "P-55")
    return seat if isinstance(seat, Rejected) else (BotSat(seat, level),)


def remove_bot(room: Room, person: Person, wanted: RemoveBot, known: Known) -> Events:
    table = room.table
    seat = named_seat(table, wanted.seat, "P-55")
    if isinstance(seat, Rejected):
        return seat
    holder = table.seats[seat]
    if holder is None or not holder.is_bot:
        return Rejected("seat_empty", "P-55")
    return (SeatLeft(seat),)


def read_settings(wanted: Mapping[str, object]) -> Settings | Rejected:
    """The settings of a room from untrusted input (P-57)."""
    try:
        settings = msgspec.convert(wanted, Settings)
    except (msgspec.ValidationError, UnicodeError) as error:
        return Rejected("bad_options", "P-57", {"detail": said(error)[:DETAIL_LENGTH]})
    if not any(settings.turn_seconds in span for span in TURN_SECONDS):
        detail = "turn_seconds is 0, 5 to 600, or 3600 to 1209600"
        return Rejected("bad_options", "P-57", {"detail": detail})
    for name in ("bot_delay_ms", "beat_ms"):
        if getattr(settings, name) not in BOT_DELAY_MS:
            return Rejected("bad_options", "P-57", {"detail": f"{name} is 0 to 10000"})
    return settings


def seat_of(table: Table, person: Person) -> int:
    """The seat of a person with the right of the seated."""
    seat = table.seated.get(person.id)
    if seat is None:
        raise ValueError("decide refuses people without a seat")
    return seat


def named_seat(table: Table, seat: int, rule: str) -> int | Rejected:
    """The seat that a command names, if the table has it."""
    if not 0 <= seat < len(table.seats):
        return Rejected("no_such_seat", rule, {"last": len(table.seats) - 1})
    return seat


def named_level(rules: AnyGame, named: object, default: str, rule: str) -> str | Rejected:
    """The level of a bot that a command names, if the game has it."""
    level = default if named is None else named
    if level in rules.levels:
        return str(level)
    return Rejected("bad_command", rule, {"detail": f"level is one of {', '.join(rules.levels)}"})


def _seat_for(table: Table, person: Person, named: int | None) -> int | Rejected:
    """The seat that a person gets: the own reserved one, the named one, or a free one."""
    own = table.reserved.index(person.id) if person.id in table.reserved else None
    if own is not None and table.seats[own] is None and named in (None, own):
        return own
    seat = _free_seat(table, named, "P-51")
    if isinstance(seat, Rejected) or not table.is_reserved(seat):
        return seat
    return Rejected("seat_reserved", "P-51")


def _free_seat(table: Table, named: int | None, rule: str) -> int | Rejected:
    """The named seat, or the first free one; a reserved one only if there is no other."""
    free = table.free_seats()
    if named is None:
        if not free:
            return Rejected("room_full", rule)
        return next((each for each in free if not table.is_reserved(each)), free[0])
    seat = named_seat(table, named, rule)
    if isinstance(seat, Rejected) or seat in free:
        return seat
    return Rejected("seat_taken", rule, {"seat": seat})


def _bytes(text: str | None) -> bytes:
    return b"" if text is None else from_base64url(text)
