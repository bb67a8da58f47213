"""The room around its game: seats, their holders, and how each event changes them.

No command is judged here, and no game is known.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Literal

import msgspec

from towerhall_server.game import Result, Seat
from towerhall_server.room.events import (
    BotAccountMarked,
    BotSat,
    BotStoodIn,
    DealCancelled,
    EndWanted,
    GameOver,
    HostPassed,
    NonceOpened,
    PersonAdmitted,
    PersonInvited,
    PersonMuted,
    PersonRenamed,
    PersonSat,
    RematchMade,
    RoomClosed,
    RoomEvent,
    Sealed,
    SeatKicked,
    SeatLeft,
    SeatReady,
    SeatResigned,
    SeatTakenBack,
    SeatWoke,
    SecretRevealed,
    Settings,
    TimedOut,
)

Status = Literal["waiting", "sealed", "playing", "over"]


class SeatHolder(msgspec.Struct, frozen=True):
    """The holder of a seat: a person by identity, or a bot by level."""

    name: str
    identity: str = ""
    level: str = ""
    ready: bool = False
    nonce_hash: bytes = b""
    nonce: bytes = b""
    stand_in: str = ""
    """The level of the bot that plays for the person at present, if one does."""
    timeouts: int = 0
    """In a row."""
    resigned: bool = False
    wants_end: bool = False
    bot_account: bool = False
    """Whether a program of its owner plays here. It counts as a person in the game."""

    @property
    def is_bot(self) -> bool:
        return not self.identity

    @property
    def plays_as(self) -> str:
        """The level of the bot that moves for this seat; empty if a person does."""
        return self.level or self.stand_in

    @property
    def owes_nonce(self) -> bool:
        return bool(self.nonce_hash) and not self.nonce


class Table(msgspec.Struct, frozen=True, dict=True):
    """The room around its game, which most moves do not change."""

    uid: bytes
    code: str
    game: str
    version: int
    options: msgspec.Struct
    settings: Settings
    commitment: bytes
    host: str
    key_hash: bytes
    seats: tuple[SeatHolder | None, ...]
    status: Status = "waiting"
    deal: int = 0
    """The deals so far, cancelled ones included."""
    result: Result | None = None
    closed: str = ""
    """Why the room ended without a result."""
    revealed: bytes = b""
    """The secret, from the end on."""
    reserved: tuple[str, ...] = ()
    kicked: Mapping[str, str] = {}
    """Names of kicked people, by identity."""
    muted: tuple[str, ...] = ()
    """Muted people: their chat is blocked."""
    invited: tuple[str, ...] = ()
    """People whom the host has invited. They need no key."""
    quick: bool = False
    previous: str = ""
    operator: str = ""
    rematch: str = ""
    aliased: bool = False
    """Whether people are named by aliases, which all viewers of the room may see."""

    @property
    def taken(self) -> int:
        return sum(holder is not None for holder in self.seats)

    @cached_property
    def seated(self) -> Mapping[str, Seat]:
        """The seats of people, by identity."""
        return {
            holder.identity: Seat(seat)
            for seat, holder in enumerate(self.seats)
            if holder is not None and holder.identity
        }

    @cached_property
    def bots(self) -> Mapping[int, str]:
        """The levels of the bots that move for seats, those that stand in included."""
        return {
            seat: holder.plays_as
            for seat, holder in enumerate(self.seats)
            if holder is not None and holder.plays_as
        }

    def is_invited(self, identity: str) -> bool:
        """Whether the host has invited this person, or a seat was reserved for them."""
        return identity in self.invited or identity in self.reserved

    def is_reserved(self, seat: int) -> bool:
        """Whether the seat is reserved for a person who has it or may still take it."""
        owner = self.reserved[seat] if self.reserved else ""
        if not owner or owner in self.kicked:
            return False
        return self.seated.get(owner) == (None if self.seats[seat] is None else seat)

    def free_seats(self) -> tuple[Seat, ...]:
        return tuple(Seat(seat) for seat, holder in enumerate(self.seats) if holder is None)


def fold_table(table: Table, event: RoomEvent) -> Table:
    replace = msgspec.structs.replace
    match event:
        case PersonSat(seat, identity, name, nonce_hash):
            holder = SeatHolder(name=name, identity=identity, nonce_hash=nonce_hash)
            return _with_seat(table, seat, holder)
        case BotAccountMarked(seat):
            return _changed(table, seat, bot_account=True)
        case PersonInvited(identity):
            return replace(table, invited=(*table.invited, identity))
        case BotSat(seat, level):
            return _with_seat(table, seat, bot(level))
        case SeatLeft(seat):
            return _with_seat(table, seat, None)
        case SeatKicked(seat):
            gone = _held(table, seat)
            kicked = {**table.kicked, gone.identity: gone.name}
            invited = tuple(each for each in table.invited if each != gone.identity)
            return replace(_with_seat(table, seat, None), kicked=kicked, invited=invited)
        case PersonAdmitted(identity):
            kicked = {each: name for each, name in table.kicked.items() if each != identity}
            return replace(table, kicked=kicked)
        case PersonMuted(identity, is_muted):
            others = tuple(each for each in table.muted if each != identity)
            return replace(table, muted=(*others, identity) if is_muted else others)
        case HostPassed(seat):
            return replace(table, host=_held(table, seat).identity)
        case SeatReady(seat, ready, nonce_hash):
            holder = _held(table, seat)
            kept = nonce_hash or holder.nonce_hash
            return _with_seat(table, seat, replace(holder, ready=ready, nonce_hash=kept))
        case Sealed(deal):
            return replace(table, status="sealed", deal=deal)
        case NonceOpened(seat, nonce):
            return _with_seat(table, seat, replace(_held(table, seat), nonce=nonce))
        case DealCancelled(_, seats):
            fresh = tuple(
                None if seat in seats or holder is None else _fresh(holder)
                for seat, holder in enumerate(table.seats)
            )
            return replace(table, status="waiting", seats=fresh)
        case TimedOut(seat):
            return _changed(table, seat, timeouts=_held(table, seat).timeouts + 1)
        case SeatWoke(seat):
            return _changed(table, seat, timeouts=0)
        case BotStoodIn(seat, level):
            return _changed(table, seat, stand_in=level, wants_end=False)
        case SeatTakenBack(seat):
            return _changed(table, seat, stand_in="", timeouts=0)
        case SeatResigned(seat, level):
            return _changed(table, seat, stand_in=level, resigned=True, wants_end=False)
        case EndWanted(seat, wanted):
            return _changed(table, seat, wants_end=wanted)
        case PersonRenamed(seat, name):
            return _changed(table, seat, name=name)
        case GameOver(scores, places):
            return replace(table, status="over", result=Result(scores, places))
        case RoomClosed(reason):
            return replace(table, status="over", closed=reason)
        case SecretRevealed(secret):
            return replace(table, revealed=secret)
        case RematchMade(code):
            return replace(table, rematch=code)
    raise ValueError(f"{type(event).__name__} cannot happen to a room that is there")


def bot(level: str) -> SeatHolder | None:
    """A bot as the holder of a seat; `None` if there is no level."""
    return SeatHolder(name=f"bot {level}", level=level, ready=True) if level else None


def _changed(table: Table, seat: int, **changes: object) -> Table:
    return _with_seat(table, seat, msgspec.structs.replace(_held(table, seat), **changes))


def _fresh(holder: SeatHolder) -> SeatHolder:
    """Ready for another deal: nonces are good for one only."""
    return msgspec.structs.replace(holder, ready=holder.is_bot, nonce_hash=b"", nonce=b"")


def _held(table: Table, seat: int) -> SeatHolder:
    holder = table.seats[seat]
    if holder is None:
        raise ValueError(f"no holder in seat {seat}")
    return holder


def _with_seat(table: Table, seat: int, holder: SeatHolder | None) -> Table:
    seats = (*table.seats[:seat], holder, *table.seats[seat + 1 :])
    return msgspec.structs.replace(table, seats=seats)
