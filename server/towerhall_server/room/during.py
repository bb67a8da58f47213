"""Handlers of room commands during the game and after it: leave, come back, resign (P-58, P-59).

Pure, as in `seats`. A game never waits for a person who has left: a bot plays in that seat.
"""

from typing import Final

from towerhall_server.game import Rejected, Result, rank
from towerhall_server.room.events import (
    BotStoodIn,
    EndWanted,
    GameOver,
    RematchMade,
    RoomClosed,
    RoomEvent,
    SeatResigned,
    SeatTakenBack,
    SecretRevealed,
)
from towerhall_server.room.parameters import CallBot, Leave, Rematch, Resign, TakeBack, WantEnd
from towerhall_server.room.seats import Events, Known, Person, named_level, named_seat, seat_of
from towerhall_server.room.state import Room
from towerhall_server.room.table import SeatHolder, Table, fold_table

AGREED: Final = "agreed"
"""The reason of a game that ended without a result because its players wanted that."""
RESIGNED: Final = "resigned"
"""The reason of a game that ended at once because too few players were left to play it."""
MOST_SITTING_SECONDS: Final = 600
"""Seconds per turn up to which people play in one sitting: an absence delays the others. In
games by correspondence people need not be connected."""
TIMEOUTS_TO_CALL: Final = 2
"""Timeouts in a row after which the others may call a bot for the seat."""
TIMEOUTS_TO_GO: Final = 3
"""Timeouts in a row after which a bot takes over by itself."""


def leave(room: Room, person: Person, wanted: Leave, known: Known) -> Events:
    table = room.table
    level = named_level(room.rules, wanted.level, room.rules.stand_in, "P-58")
    if isinstance(level, Rejected):
        return level
    seat = seat_of(table, person)
    if _held(table, seat).stand_in:
        return Rejected("bot_plays", "P-58")
    return and_end(table, (BotStoodIn(seat, level),), room.secret)


def take_back(room: Room, person: Person, wanted: TakeBack, known: Known) -> Events:
    table = room.table
    seat = seat_of(table, person)
    holder = _held(table, seat)
    if not holder.stand_in:
        return Rejected("no_bot_plays", "P-58")
    if holder.resigned:
        return Rejected("resigned", "P-58")
    return (SeatTakenBack(seat),)


def call_bot(room: Room, person: Person, wanted: CallBot, known: Known) -> Events:
    table = room.table
    seat = named_seat(table, wanted.seat, "P-58")
    if isinstance(seat, Rejected):
        return seat
    holder = _held(table, seat)
    if holder.plays_as:
        return Rejected("bot_plays", "P-58")
    away = holder.timeouts >= TIMEOUTS_TO_CALL
    if table.settings.turn_seconds <= MOST_SITTING_SECONDS:
        away = away or seat in known.absent
    if not away:
        return Rejected("not_absent", "P-58", {"seat": seat})
    return and_end(table, (BotStoodIn(seat, room.rules.stand_in),), room.secret)


def resign(room: Room, person: Person, wanted: Resign, known: Known) -> Events:
    table = room.table
    seat = seat_of(table, person)
    if _held(table, seat).resigned:
        return Rejected("resigned", "P-58")
    resigned = SeatResigned(seat, room.rules.stand_in)
    left = fold_table(table, resigned)
    if known.plays_on or not _is_decided(left):
        return and_end(table, (resigned,), room.secret)
    result = rank(room.rules.scores_now(room.game, len(table.seats)))
    over = GameOver(result.scores, places(result, left))
    return (resigned, RoomClosed(RESIGNED), over, SecretRevealed(room.secret))


def want_end(room: Room, person: Person, wanted: WantEnd, known: Known) -> Events:
    table = room.table
    seat = seat_of(table, person)
    if _held(table, seat).stand_in:
        return Rejected("bot_plays", "P-58")
    return and_end(table, (EndWanted(seat, wanted.wanted is not False),), room.secret)


def rematch(room: Room, person: Person, wanted: Rematch, known: Known) -> Events:
    table = room.table
    if table.rematch != known.spent:
        return Rejected("rematch_made", "P-59", {"room": table.rematch})
    if known.wait_ms:
        return Rejected("too_many", "P-59", {"retry_ms": known.wait_ms})
    return (RematchMade(known.rematch),)


def _held(table: Table, seat: int) -> SeatHolder:
    """During a game every seat is held."""
    holder = table.seats[seat]
    if holder is None:
        raise ValueError(f"no holder in seat {seat}")
    return holder


def _is_decided(table: Table) -> bool:
    """Whether resignations have decided the game: one player is left, or only bots are."""
    left = [holder for holder in table.seats if holder is not None and not holder.resigned]
    return len(left) < 2 or all(holder.is_bot for holder in left)


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
        return (*events, RoomClosed(AGREED), SecretRevealed(secret))
    return events


def places(result: Result, table: Table) -> tuple[int, ...]:
    """The places by rank. Players who resigned come last, whatever the bot achieves."""
    gone = [holder is not None and holder.resigned for holder in table.seats]
    if not any(gone):
        return result.places
    ranks = list(zip(gone, result.places, strict=True))
    return tuple(1 + sum(other < rank for other in ranks) for rank in ranks)
