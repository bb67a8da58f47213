"""The end of a game as its room tells it: people by identity, with their names. Pure."""

import msgspec

from towerhall_server.room.state import Room
from towerhall_server.room.table import SeatHolder


class Seat(msgspec.Struct, frozen=True):
    """A seat at the end."""

    identity: str
    """Empty for a bot."""
    name: str
    place: int
    score: int
    level: str
    stand_in: bool
    resigned: bool


class End(msgspec.Struct, frozen=True):
    """A game that has ended with a result."""

    uid: bytes
    code: str
    game: str
    version: int
    ended_ms: int
    rated: bool
    private: bool
    seats: tuple[Seat, ...]


def end_of(room: Room, ended_ms: int) -> End | None:
    """The end of the game in a room; None if it was closed without a result, or is a sandbox: its
    draws and log are what its viewers want."""
    table = room.table
    result = table.result
    if result is None or table.settings.sandbox:
        return None
    held = [holder for holder in table.seats if holder is not None]
    # Bots are told by the table, not by the setting: it could be older than the bot.
    return End(
        uid=table.uid,
        code=table.code,
        game=table.game,
        version=table.version,
        ended_ms=ended_ms,
        rated=table.settings.rated
        and not any(holder.is_bot or holder.bot_account for holder in held),
        private=bool(table.key_hash),
        seats=tuple(
            _seat(room, holder, place, score)
            for holder, place, score in zip(held, result.places, result.scores, strict=True)
        ),
    )


def _seat(room: Room, holder: SeatHolder, place: int, score: int) -> Seat:
    return Seat(
        identity=room.identity_of(holder.identity),
        name=holder.name,
        place=place,
        score=score,
        level=holder.level,
        stand_in=bool(holder.stand_in),
        resigned=holder.resigned,
    )
