"""A room as its log tells it: an immutable value, and the one function that moves it on.

`fold` is all that ever changes a room. The commit that somebody is about to append and the commit
that somebody else has appended go through it alike, so every replica of a log is the same room.
Nothing here decides whether something may happen.
"""

from collections.abc import Mapping
from struct import Struct
from typing import Any, Final

import msgspec

from towerhall_protocol.fairness import NO_NONCE, game_seed
from towerhall_server.game import AnyGame, Rejected, Seat
from towerhall_server.room.commits import Cause, Commit
from towerhall_server.room.events import (
    Dealt,
    OptionsChanged,
    RoomCreated,
    RoomEvent,
)
from towerhall_server.room.table import Holder, Table, bot, fold_table

MOST_PAIRS: Final = 16
"""So many commands of one sender are remembered with their seq; the store keeps as many."""
_PAIR: Final = Struct(">QQ")
_MOST_BYTES: Final = MOST_PAIRS * _PAIR.size


class Room(msgspec.Struct, frozen=True, gc=False):
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
    commands: Mapping[str, bytes] = {}
    """Sender to its last commands, as packed pairs of number and seq: what has been done need not
    be done again."""

    def __repr__(self) -> str:
        # With its parts it would tell the secret, wherever somebody prints something that holds it.
        return f"<room {self.table.code}, {self.table.status}>"

    @property
    def playing(self) -> bool:
        return self.table.status == "playing"

    def to_act(self) -> tuple[Seat, ...]:
        return self.rules.to_act(self.game) if self.table.status == "playing" else ()

    def is_played(self, seat: Seat) -> bool:
        """Whether the person who holds a seat plays it, and no bot for them."""
        holder = self.table.seats[seat]
        return holder is not None and not holder.stand_in


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
        seats=tuple(map(bot, event.bots)) or (None,) * event.seats,
        reserved=event.reserved,
        quick=event.quick,
        previous=event.previous,
        operator=event.operator,
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
    """The folded room once its commit has entered the log at that place and time."""
    commands = before.commands
    if cause.n > 0:
        sender = cause.sender
        commands = {**commands, sender: remembered(commands.get(sender, b""), cause.n, seq)}
    decision = decides(before, after)
    return Room(
        rules=after.rules,
        secret=after.secret,
        table=after.table,
        game=after.game,
        tag=mark if decision else before.tag,
        began_ms=served_ms if decision else before.began_ms,
        served_ms=served_ms,
        commands=commands,
    )


def remembered(done: bytes, n: int, seq: int) -> bytes:
    """What is kept of a sender's commands after one more."""
    return (done + _PAIR.pack(n, seq))[-_MOST_BYTES:]


def decides(before: Room, after: Room) -> bool:
    """Whether a step leads to another decision: then tag and clock begin anew."""
    return after.game is not before.game or after.table.status != before.table.status


class Decided(msgspec.Struct, frozen=True):
    """What a game made of a command, in this very state of it."""

    game: Any
    events: tuple[Any, ...]

    def holds_in(self, room: Room) -> bool:
        """Whether deciding again would lead to the same: others changed nothing in the game."""
        return room.game is self.game


class Done(msgspec.Struct, frozen=True):
    """A command that is in the log already, at that seq."""

    seq: int


STALE: Final = Rejected("stale", "P-42")
"""A later command of the same sender is done."""
ORIGIN_TAKEN: Final = Rejected("origin_taken", "P-42")
"""Frames name origins: somebody else would take this command for one of theirs."""


def look_up(room: Room, cause: Cause) -> Done | Rejected | None:
    """What became of a command, as far as this replica knows; `None` if it is new."""
    done = room.commands.get(cause.sender)
    if done is None:
        of_origin = f"/{cause.origin}"
        is_taken = any(sender.endswith(of_origin) for sender in room.commands)
        return ORIGIN_TAKEN if is_taken else None
    if cause.n > _PAIR.unpack_from(done, len(done) - _PAIR.size)[0]:
        return None
    for n, seq in _PAIR.iter_unpack(done):
        if n == cause.n:
            return Done(seq)
    return STALE


def _fold_event(room: Room, event: RoomEvent) -> Room:
    table = room.table
    if isinstance(event, Dealt):
        nonces = tuple(_nonce(holder) for holder in table.seats)
        seed = game_seed(room.secret, table.uid, event.deal, nonces)
        game = room.rules.start(table.options, len(table.seats), seed)
        return msgspec.structs.replace(
            room, table=msgspec.structs.replace(table, status="playing"), game=game
        )
    if isinstance(event, OptionsChanged):
        options = msgspec.convert(event.options, type=room.rules.options_type)
        seats = tuple(holder and _unready(holder) for holder in table.seats)
        changed = msgspec.structs.replace(
            table, options=options, settings=event.settings, seats=seats
        )
        return msgspec.structs.replace(room, table=changed)
    return msgspec.structs.replace(room, table=fold_table(table, event))


def _unready(holder: Holder) -> Holder:
    return msgspec.structs.replace(holder, ready=holder.is_bot)


def _nonce(holder: Holder | None) -> bytes:
    return (holder.nonce if holder else b"") or NO_NONCE
