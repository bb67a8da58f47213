"""A room as an immutable value that its log determines, and `fold`, which applies a commit.

Only `fold` changes a room. Commits that are about to be appended and commits of other nodes go
through it alike, so every replica of a log is the same room. No command is judged here.
"""

from collections.abc import Mapping
from hashlib import blake2b
from struct import Struct
from typing import Any, Final

import msgspec

from towerhall_protocol.commands import ROOM_COMMANDS
from towerhall_protocol.fairness import NO_NONCE, game_seed
from towerhall_protocol.messages import ClientCommand
from towerhall_server.game import AnyGame, Rejected, Seat
from towerhall_server.room.aliases import alias_of, identity_of, secret_and_salt
from towerhall_server.room.commits import Cause, Commit
from towerhall_server.room.events import (
    Dealt,
    OptionsChanged,
    RoomCreated,
    RoomEvent,
    derived,
)
from towerhall_server.room.pace import after_one_more
from towerhall_server.room.table import SeatHolder, Table, bot, fold_table

MOST_REMEMBERED: Final = 16
"""Commands per sender that are remembered with their seq; older ones are `stale`."""
MOST_ORIGINS: Final = 16
"""Senders per person that are remembered: those with the newest commands."""
MOST_SENDERS: Final = 256
"""Senders of a room that are remembered."""
_HASH_BYTES: Final = 8
_ONE: Final = Struct(f">QQ{_HASH_BYTES}s")
"""A command that is done: its number, its seq and its hash."""
_MOST_BYTES: Final = MOST_REMEMBERED * _ONE.size
_sorted: Final = msgspec.msgpack.Encoder(order="sorted").encode


class Room(msgspec.Struct, frozen=True, gc=False):
    """The state of a room."""

    rules: AnyGame
    secret: bytes
    """Never leaves the server before the end; it is in no event until then."""
    table: Table
    salt: bytes = b""
    """Makes the aliases of this room; never leaves the server. Empty in a room without aliases."""
    game: Any = None
    """The game's state, from the deal on."""
    tag: str = ""
    """Names the present decision: the mark of the commit that led to it."""
    began_ms: int = 0
    """Service time of that commit."""
    began_seq: int = 0
    """Seq of that commit."""
    served_ms: int = 0
    """Service time of the last commit."""
    commands: Mapping[str, bytes] = {}
    """The last commands of each sender, each packed as number, seq and hash: a repeated command is
    found here, and a number that is used again for another command."""
    full_at: Mapping[str, int] = {}
    """The service time at which the bucket of each person is full again: see `pace`."""

    def __repr__(self) -> str:
        # The default would print the secret in every log line that holds a room.
        return f"<room {self.table.code}, {self.table.status}>"

    @property
    def playing(self) -> bool:
        return self.table.status == "playing"

    def to_act(self) -> tuple[Seat, ...]:
        return self.rules.to_act(self.game) if self.table.status == "playing" else ()

    def alias_of(self, identity: str) -> str:
        """The alias of a person in this room."""
        return alias_of(self.salt, identity)

    def identity_of(self, alias: str) -> str:
        """The id of the person with that alias."""
        return identity_of(self.salt, alias)

    def seat_of(self, identity: str) -> Seat | None:
        """The seat of a person, by id."""
        return self.table.seated.get(self.alias_of(identity))

    def is_played(self, seat: Seat) -> bool:
        """Whether the person who holds a seat plays it, and not a bot."""
        holder = self.table.seats[seat]
        return holder is not None and not holder.stand_in


def create(rules: AnyGame, kept: bytes, event: RoomCreated) -> Room:
    """The room after its first event. `kept` is the value that the store keeps under its secret."""
    secret, salt = secret_and_salt(kept)
    options = msgspec.convert(event.options, type=rules.options_type)
    seats = tuple(map(bot, event.bots)) or (None,) * event.seats
    table = derived(Table, event, options=options, seats=seats)
    return Room(rules=rules, secret=secret, salt=salt, table=table)


def fold(room: Room, commit: Commit) -> Room:
    """The room after a commit, without its place and time in the log: see `entered`."""
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


def entered(before: Room, after: Room, commit: Commit, seq: int, mark: str, served_ms: int) -> Room:
    """The folded room once its commit has entered the log at that place and time."""
    cause, commands = commit.cause, before.commands
    if cause.n > 0:
        commands = dict(commands)
        remember(commands, cause, seq, hash_of(commit.command, before.tag))
    decision = decides(before, after)
    full_at = before.full_at
    if cause.n > 0 and not decision:
        full_at = after_one_more(full_at, cause.identity, served_ms)
    return Room(
        rules=after.rules,
        secret=after.secret,
        salt=after.salt,
        table=after.table,
        game=after.game,
        tag=mark if decision else before.tag,
        began_ms=served_ms if decision else before.began_ms,
        began_seq=seq if decision else before.began_seq,
        served_ms=served_ms,
        commands=commands,
        full_at=full_at,
    )


def hash_of(body: Mapping[str, Any], tag: str) -> bytes:
    """A short hash of a command: of its body and, if the game decides it, of its tag. The tag of a
    command that is done is that of the room before it, so a log tells this hash (P-42)."""
    tag = "" if body.get("command") in ROOM_COMMANDS else tag
    return blake2b(_sorted((tag, body)), digest_size=_HASH_BYTES).digest()


def sender_of(cause: Cause) -> str:
    """The sender whose commands are counted by `n`; empty if no command caused this."""
    return f"{cause.identity}/{cause.origin}" if cause.n else ""


def remember(commands: dict[str, bytes], cause: Cause, seq: int, its_hash: bytes) -> None:
    """Note a command that is done. The number of senders is bounded: the one silent for longest
    is evicted, of the same person if that one has too many."""
    sender = sender_of(cause)
    done = commands.get(sender)
    if done is None:
        person = sender.removesuffix(cause.origin)
        own = [each for each in commands if each.startswith(person)]
        if len(own) >= MOST_ORIGINS or len(commands) >= MOST_SENDERS:
            rivals = own if len(own) >= MOST_ORIGINS else commands
            del commands[min(rivals, key=lambda each: _last(commands[each]))]
        done = b""
    commands[sender] = (done + _ONE.pack(cause.n, seq, its_hash))[-_MOST_BYTES:]


def _last(done: bytes) -> int:
    """The seq of a sender's newest command."""
    seq: int = _ONE.unpack_from(done, len(done) - _ONE.size)[1]
    return seq


def decides(before: Room, after: Room) -> bool:
    """Whether a step leads to another decision: then tag and turn clock start anew."""
    return after.game is not before.game or after.table.status != before.table.status


class Decided(msgspec.Struct, frozen=True):
    """The outcome of a command in this very state of the game: events, or a refusal."""

    game: Any
    events: tuple[Any, ...] | Rejected

    def holds_in(self, room: Room) -> bool:
        """Whether the state of the game is still the same."""
        return room.game is self.game


class Done(msgspec.Struct, frozen=True):
    """A command that is in the log already, at that seq."""

    seq: int


STALE: Final = Rejected("stale", "P-42")
"""A later command of the same sender is done."""
NUMBER_REUSED: Final = Rejected("number_reused", "P-42")
"""That number is of another command, which is done."""
ORIGIN_TAKEN: Final = Rejected("origin_taken", "P-42")
"""Frames name origins: another client would take this command for its own."""


def look_up(room: Room, cause: Cause, asked: ClientCommand | None = None) -> Done | Rejected | None:
    """The outcome of a command that this replica knows; `None` if it has to be decided.

    With `asked`, its number must belong to this very command. A dry run is never done, so it is
    decided with any number (P-47).
    """
    done = room.commands.get(sender_of(cause))
    if done is None:
        of_origin = f"/{cause.origin}"
        is_taken = any(sender.endswith(of_origin) for sender in room.commands)
        return ORIGIN_TAKEN if is_taken else None
    if asked is not None and asked.dry:
        return None
    if cause.n > _ONE.unpack_from(done, len(done) - _ONE.size)[0]:
        return None
    for n, seq, its_hash in _ONE.iter_unpack(done):
        if n == cause.n:
            is_other = asked is not None and its_hash != hash_of(asked.body, asked.tag)
            return NUMBER_REUSED if is_other else Done(seq)
    return STALE


def _fold_event(room: Room, event: RoomEvent) -> Room:
    table = room.table
    if isinstance(event, Dealt):
        game = room.rules.start(table.options, len(table.seats), seed_of(room, event.deal))
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


def seed_of(room: Room, deal: int) -> bytes:
    """The seed of the latest deal, once all nonces are open. It is hidden until the end."""
    nonces = tuple((holder.nonce if holder else b"") or NO_NONCE for holder in room.table.seats)
    return game_seed(room.secret, room.table.uid, deal, nonces)


def _unready(holder: SeatHolder) -> SeatHolder:
    return msgspec.structs.replace(holder, ready=holder.is_bot)
