"""Commands to the room during the game and after it: going, coming back, giving up (P-58, P-59).

Like those of `seats`: pure, and judged by `gate` before. A game never waits for somebody who has
gone: a bot plays on in their seat.
"""

from collections.abc import Mapping
from typing import Final

from towerhall_server.game import LEVELS, Rejected, Result
from towerhall_server.room.events import (
    BotStoodIn,
    EndWanted,
    RematchMade,
    RoomClosed,
    RoomEvent,
    SeatResigned,
    SeatTakenBack,
    SecretRevealed,
)
from towerhall_server.room.seats import (
    Body,
    Events,
    Handler,
    Known,
    Person,
    named_seat,
    seat_of,
)
from towerhall_server.room.state import Room
from towerhall_server.room.table import Holder, Table

STAND_IN: Final = "medium"
"""The level of a bot that plays for somebody, unless another one is asked for."""
TIMEOUTS_TO_CALL: Final = 2
"""After so many timeouts in a row the others may call a bot in."""
TIMEOUTS_TO_GO: Final = 3
"""After so many a bot comes by itself."""


def _leave(room: Room, person: Person, body: Body, known: Known) -> Events:
    table = room.table
    level = body.get("level", STAND_IN)
    if level not in LEVELS:
        return Rejected("bad_command", "P-58", {"detail": f"level is one of {', '.join(LEVELS)}"})
    seat = seat_of(table, person)
    if _held(table, seat).stand_in:
        return Rejected("bot_plays", "P-58")
    return and_end(table, (BotStoodIn(seat, level),), room.secret)


def _take_back(room: Room, person: Person, body: Body, known: Known) -> Events:
    table = room.table
    seat = seat_of(table, person)
    holder = _held(table, seat)
    if not holder.stand_in:
        return Rejected("no_bot_plays", "P-58")
    if holder.resigned:
        return Rejected("resigned", "P-58")
    return (SeatTakenBack(seat),)


def _call_bot(room: Room, person: Person, body: Body, known: Known) -> Events:
    table = room.table
    seat = named_seat(table, body, "P-58")
    if isinstance(seat, Rejected):
        return seat
    holder = _held(table, seat)
    if holder.plays_as:
        return Rejected("bot_plays", "P-58")
    if table.settings.turn_seconds:
        away = holder.timeouts >= TIMEOUTS_TO_CALL
    else:
        away = seat in known.absent
    if not away:
        return Rejected("not_absent", "P-58", {"seat": seat})
    return and_end(table, (BotStoodIn(seat, STAND_IN),), room.secret)


def _resign(room: Room, person: Person, body: Body, known: Known) -> Events:
    table = room.table
    seat = seat_of(table, person)
    if _held(table, seat).resigned:
        return Rejected("resigned", "P-58")
    return and_end(table, (SeatResigned(seat, STAND_IN),), room.secret)


def _want_end(room: Room, person: Person, body: Body, known: Known) -> Events:
    table = room.table
    wanted = body.get("wanted", True)
    if not isinstance(wanted, bool):
        return Rejected("bad_command", "P-58", {"detail": "wanted is true or false"})
    seat = seat_of(table, person)
    if _held(table, seat).stand_in:
        return Rejected("bot_plays", "P-58")
    return and_end(table, (EndWanted(seat, wanted),), room.secret)


def _rematch(room: Room, person: Person, body: Body, known: Known) -> Events:
    table = room.table
    if table.rematch != known.spent:
        return Rejected("rematch_made", "P-59", {"room": table.rematch})
    if known.wait_ms:
        return Rejected("too_many", "P-59", {"retry_ms": known.wait_ms})
    return (RematchMade(known.rematch),)


DURING: Final[Mapping[str, Handler]] = {
    "leave": _leave,
    "take_back": _take_back,
    "call_bot": _call_bot,
    "resign": _resign,
    "want_end": _want_end,
    "rematch": _rematch,
}


def _held(table: Table, seat: int) -> Holder:
    """During a game every seat is held."""
    holder = table.seats[seat]
    if holder is None:
        raise ValueError(f"nobody has seat {seat}")
    return holder


def and_end(table: Table, events: tuple[RoomEvent, ...], secret: bytes) -> tuple[RoomEvent, ...]:
    """The game ends without a result once all people who still play want that."""
    wanted = {event.seat: event.wanted for event in events if isinstance(event, EndWanted)}
    gone = {event.seat for event in events if isinstance(event, BotStoodIn | SeatResigned)}
    voices = [
        wanted.get(seat, holder.wants_end)
        for seat, holder in enumerate(table.seats)
        if holder is not None and not holder.plays_as and seat not in gone
    ]
    if voices and all(voices):
        return (*events, RoomClosed("agreed"), SecretRevealed(secret))
    return events


def places(result: Result, table: Table) -> tuple[int, ...]:
    """Whoever resigned comes after all others, whatever the bot in their seat has achieved."""
    gone = [holder is not None and holder.resigned for holder in table.seats]
    if not any(gone):
        return result.places
    ranks = list(zip(gone, result.places, strict=True))
    return tuple(1 + sum(other < rank for other in ranks) for rank in ranks)
