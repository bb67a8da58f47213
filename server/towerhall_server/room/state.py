"""A room as its log tells it: an immutable value, and the one function that moves it on.

`fold` is all that ever changes a room. The commit that somebody is about to append and the commit
that somebody else has appended go through it alike, so every replica of a log is the same room.
Nothing here decides whether something may happen.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from towerhall_protocol.fairness import NO_NONCE, game_seed
from towerhall_server.game import AnyGame, Result, Seat, kept
from towerhall_server.room.events import (
    BotSat,
    Cause,
    Commit,
    DealCancelled,
    Dealt,
    GameOver,
    HostPassed,
    NonceOpened,
    PersonSat,
    RoomClosed,
    RoomCreated,
    RoomEvent,
    Sealed,
    SeatLeft,
    SeatReady,
    SecretRevealed,
    Settings,
    TimedOut,
)

Status = Literal["waiting", "sealed", "playing", "over"]
MOST_PAIRS: Final = 16
"""So many commands of one sender are remembered with their seq; the store keeps as many."""


class Holder(msgspec.Struct, frozen=True):
    """Who has a seat: a person by identity, or a bot by level."""

    name: str
    identity: str = ""
    level: str = ""
    ready: bool = False
    nonce_hash: bytes = b""
    nonce: bytes = b""

    @property
    def is_bot(self) -> bool:
        return not self.identity

    @property
    def owes_nonce(self) -> bool:
        return bool(self.nonce_hash) and not self.nonce


class Table(msgspec.Struct, frozen=True, dict=True):
    """The room around its game: all that does not change with every move."""

    uid: bytes
    code: str
    game: str
    version: int
    options: msgspec.Struct
    settings: Settings
    commitment: bytes
    host: str
    key_hash: bytes
    seats: tuple[Holder | None, ...]
    status: Status = "waiting"
    deal: int = 0
    """The deals so far, cancelled ones included."""
    result: Result | None = None
    closed: str = ""
    """Why the room ended without a result."""
    revealed: bytes = b""
    """The secret, from the end on."""

    @property
    def taken(self) -> int:
        return sum(holder is not None for holder in self.seats)

    def seat_of(self, identity: str) -> Seat | None:
        return _seats_by_identity(self).get(identity)

    def free_seats(self) -> tuple[Seat, ...]:
        return tuple(Seat(seat) for seat, holder in enumerate(self.seats) if holder is None)


@kept
def _seats_by_identity(table: Table) -> dict[str, Seat]:
    return {
        holder.identity: Seat(seat)
        for seat, holder in enumerate(table.seats)
        if holder is not None and holder.identity
    }


class Room(msgspec.Struct, frozen=True):
    """Everything that a replica knows of a room."""

    rules: AnyGame
    secret: bytes
    """Never leaves the server before the end; it is in no event until then."""
    table: Table
    game: Any = None
    """The game's state, from the deal on."""
    tag: str = ""
    """Names the present decision: the mark of the commit that led to it."""
    began_ms: int = 0
    """Service time of that commit."""
    served_ms: int = 0
    """Service time of the last commit."""
    commands: Mapping[str, tuple[int, ...]] = {}
    """Sender to its last commands, as number, seq, number, seq and so on: what has been done need
    not be done again."""

    @property
    def playing(self) -> bool:
        return self.table.status == "playing"

    def to_act(self) -> tuple[Seat, ...]:
        return self.rules.to_act(self.game) if self.playing else ()


def create(rules: AnyGame, secret: bytes, event: RoomCreated) -> Room:
    """The room after its first event."""
    options = msgspec.convert(event.options, type=rules.options_type)
    table = Table(
        uid=event.uid,
        code=event.code,
        game=event.game,
        version=event.version,
        options=options,
        settings=event.settings,
        commitment=event.commitment,
        host=event.host,
        key_hash=event.key_hash,
        seats=(None,) * event.seats,
    )
    return Room(rules=rules, secret=secret, table=table)


def fold(room: Room, commit: Commit) -> Room:
    """The room after a commit, apart from what only the log knows: see `entered`."""
    return end(happen(room, commit.room, commit.game), commit.end)


def happen(room: Room, room_events: tuple[RoomEvent, ...], game_events: tuple[Any, ...]) -> Room:
    for event in room_events:
        room = _fold_event(room, event)
    if game_events:
        room = msgspec.structs.replace(room, game=room.rules.play(room.game, game_events))
    return room


def end(room: Room, events: tuple[RoomEvent, ...]) -> Room:
    for event in events:
        room = _fold_event(room, event)
    return room


def entered(before: Room, after: Room, cause: Cause, seq: int, mark: str, served_ms: int) -> Room:
    """The folded room once its commit has entered the log at that place."""
    commands = before.commands
    if cause.n:
        sender = cause.sender
        commands = {**commands, sender: remembered(commands.get(sender, ()), cause.n, seq)}
    decided = decides(before, after)
    return Room(
        rules=after.rules,
        secret=after.secret,
        table=after.table,
        game=after.game,
        tag=mark if decided else before.tag,
        began_ms=served_ms if decided else before.began_ms,
        served_ms=served_ms,
        commands=commands,
    )


def remembered(done: tuple[int, ...], n: int, seq: int) -> tuple[int, ...]:
    """What is kept of a sender's commands after one more."""
    return (*done, n, seq)[-2 * MOST_PAIRS :]


def decides(before: Room, after: Room) -> bool:
    """Whether a step leads to another decision: then tag and clock begin anew."""
    return after.game is not before.game or after.table.status != before.table.status


class Done(msgspec.Struct, frozen=True):
    """A command that is in the log already, at that seq."""

    seq: int


class Overtaken(msgspec.Struct, frozen=True):
    """A command that a later one of the same sender has overtaken."""


def look_up(room: Room, cause: Cause) -> Done | Overtaken | None:
    """What became of a command, as far as this replica knows; `None` if it is new."""
    done = room.commands.get(cause.sender, ())
    if not done or cause.n > done[-2]:
        return None
    for at in range(0, len(done), 2):
        if done[at] == cause.n:
            return Done(done[at + 1])
    return Overtaken()


def _fold_event(room: Room, event: RoomEvent) -> Room:
    table = room.table
    if isinstance(event, Dealt):
        nonces = tuple(_nonce(holder) for holder in table.seats)
        seed = game_seed(room.secret, table.uid, event.deal, nonces)
        game = room.rules.start(table.options, len(table.seats), seed)
        return msgspec.structs.replace(
            room, table=msgspec.structs.replace(table, status="playing"), game=game
        )
    return msgspec.structs.replace(room, table=_fold_table(table, event))


def _nonce(holder: Holder | None) -> bytes:
    return (holder.nonce if holder else b"") or NO_NONCE


def _fold_table(table: Table, event: RoomEvent) -> Table:
    replace = msgspec.structs.replace
    match event:
        case PersonSat(seat, identity, name, nonce_hash):
            holder = Holder(name=name, identity=identity, nonce_hash=nonce_hash)
            return _with_seat(table, seat, holder)
        case BotSat(seat, level):
            return _with_seat(table, seat, Holder(name=f"bot {level}", level=level, ready=True))
        case SeatLeft(seat):
            return _with_seat(table, seat, None)
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
        case TimedOut():
            return table
        case GameOver(scores, places):
            return replace(table, status="over", result=Result(scores, places))
        case RoomClosed(reason):
            return replace(table, status="over", closed=reason)
        case SecretRevealed(secret):
            return replace(table, revealed=secret)
    raise ValueError(f"{type(event).__name__} cannot happen to a room that is there")


def _fresh(holder: Holder) -> Holder:
    """Ready for another deal: nonces are good for one only."""
    return msgspec.structs.replace(holder, ready=holder.is_bot, nonce_hash=b"", nonce=b"")


def _held(table: Table, seat: int) -> Holder:
    holder = table.seats[seat]
    if holder is None:
        raise ValueError(f"nobody has seat {seat}")
    return holder


def _with_seat(table: Table, seat: int, holder: Holder | None) -> Table:
    seats = (*table.seats[:seat], holder, *table.seats[seat + 1 :])
    return msgspec.structs.replace(table, seats=seats)
