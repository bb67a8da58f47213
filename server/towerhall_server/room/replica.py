"""A room at a place in its log, with as much of the past as resuming and healing need.

A replica holds no store: it is given entries that follow, and says what they did. The marks of all
commits let it judge any cursor; the newest entries can heal a log that lost them; their frames
serve whoever was away for a short while.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from towerhall_protocol.document import Document
from towerhall_protocol.messages import Cursor
from towerhall_server.eventlog.entry import MARK_BYTES, START, Entry, Point, mark, pack, unpack
from towerhall_server.game import AnyGame, rules_of
from towerhall_server.room.commits import Commit, decode_commit
from towerhall_server.room.events import RoomCreated
from towerhall_server.room.prepared import Prepared
from towerhall_server.room.state import Room, create, decides, entered, fold, remembered
from towerhall_server.room.view import NOTHING, base_of, frame, view

RECENT: Final = 40
"""So many frames are kept at hand, as bytes."""
TAIL: Final = 20
"""So many entries are kept to heal a log with: more than any failover loses of one room."""


class Change(msgspec.Struct, frozen=True, gc=False):
    """One commit that a replica has taken in, or will take in if the store agrees."""

    before: Room | None
    after: Room
    """As long as the store has not agreed, this room does not know of its place and time."""
    commit: Commit
    seq: int
    mark: str


def follow(
    games: Mapping[str, AnyGame], secret: bytes, before: Room | None, entry: Entry
) -> Change:
    """What an entry does to a room; the first one makes it."""
    commit = decode_commit(entry.blob, before.rules if before else None)
    if before is None:
        created = commit.room[0]
        if not isinstance(created, RoomCreated):
            raise ValueError("the first event of a room is its creation")
        rules = rules_of(games, created.game, created.version)
        before = after = create(rules, secret, created)
    else:
        after = fold(before, commit)
    short = mark(entry.chain)
    after = entered(before, after, commit.cause, entry.seq, short, entry.stamps.served_ms)
    return Change(before if entry.seq > 1 else None, after, commit, entry.seq, short)


def _outcome(room: Room, entries: Sequence[Entry]) -> Room:
    """The room after entries that nobody will ask about one by one."""
    decided: Entry | None = None
    commands = dict(room.commands)
    for entry in entries:
        commit = decode_commit(entry.blob, room.rules)
        before, room = room, fold(room, commit)
        if decides(before, room):
            decided = entry
        cause = commit.cause
        if cause.n > 0:
            sender = cause.sender
            commands[sender] = remembered(commands.get(sender, b""), cause.n, entry.seq)
    if entries:
        served_ms = entries[-1].stamps.served_ms
        room = msgspec.structs.replace(room, commands=commands, served_ms=served_ms)
    if decided is not None:
        tag, began_ms = mark(decided.chain), decided.stamps.served_ms
        room = msgspec.structs.replace(room, tag=tag, began_ms=began_ms)
    return room


def frame_of(change: Change, old: Document, new: Document) -> Prepared:
    """A change as viewers get it."""
    after = change.after
    return Prepared.made(frame(after.rules, change.commit, change.seq, change.mark, old, new))


class Replica:
    """A room that can be moved on, asked for its past, and compared with cursors."""

    __slots__ = ("_cold", "_frames", "_games", "_marks", "_secret", "_tail", "point", "room")

    def __init__(self, games: Mapping[str, AnyGame], secret: bytes) -> None:
        self._games = games
        self._secret = secret
        self.room: Room
        """There from the first entry on."""
        self.point: Point = START
        self._tail: deque[bytes] = deque(maxlen=TAIL)
        self._marks = bytearray()
        self._cold: tuple[Room | None, tuple[Entry, ...]] = (None, ())
        self._frames: dict[str, dict[int, bytes]] = {}

    @property
    def tail(self) -> tuple[Entry, ...]:
        """The newest entries."""
        return tuple(map(unpack, self._tail))

    def load(self, entries: Sequence[Entry]) -> None:
        """Read a log from its beginning, without anybody watching.

        Of what is long past only the outcome matters. The newest entries are followed one by one,
        and the room before them is kept, from which their frames can be made when they are wanted.
        """
        if not entries:
            return
        recent = max(len(entries) - RECENT, 1)
        first = follow(self._games, self._secret, None, entries[0])
        room = _outcome(first.after, entries[1:recent])
        self._marks += b"".join([entry.chain[:MARK_BYTES] for entry in entries[:recent]])
        self._tail.extend(map(pack, entries[max(recent - TAIL, 0) : recent]))
        self.room, self.point = room, entries[recent - 1].point
        self._cold = (None, tuple(entries)) if recent == 1 else (room, tuple(entries[recent:]))
        for entry in entries[recent:]:
            self.follow(entry)

    def follow(self, entry: Entry) -> Change:
        """Take in the next entry, which somebody has appended."""
        before = self.room if self.point.seq else None
        change = follow(self._games, self._secret, before, entry)
        self.take(entry, change.after)
        return change

    def take(self, entry: Entry, after: Room) -> None:
        """Move on to the place after an entry."""
        self.room = after
        self.point = Point(entry.seq, entry.chain, entry.stamps)
        self._tail.append(pack(entry))
        self._marks += entry.chain[:MARK_BYTES]

    def keep_frame(self, name: str, seq: int, prepared: Prepared) -> None:
        """Remember what viewers of a class got."""
        frames = self._frames.setdefault(name, {})
        frames[seq] = prepared.binary
        frames.pop(seq - RECENT, None)
        if self._cold[1] and self._cold[1][-1].seq <= seq - RECENT:
            self._cold = (None, ())

    def missed(self, name: str, seq: int) -> list[Prepared] | None:
        """The frames after that seq; `None` if it is too long ago."""
        wanted = range(seq + 1, self.point.seq + 1)
        frames = self._frames.setdefault(name, {})
        if wanted and wanted[0] not in frames:
            self._warm(name, frames)
        if not all(n in frames for n in wanted):
            return None
        return [Prepared.kept(frames[n]) for n in wanted]

    def holds(self, entry: Entry) -> bool:
        """Whether an entry is in the past of this replica."""
        at = MARK_BYTES * (entry.seq - 1)
        return self._marks[at : at + MARK_BYTES] == entry.chain[:MARK_BYTES]

    def knows(self, cursor: Cursor) -> bool:
        """Whether the cursor is a place in this very log."""
        if not 0 < cursor.seq <= self.point.seq:
            return False
        at = MARK_BYTES * (cursor.seq - 1)
        return mark(bytes(self._marks[at : at + MARK_BYTES])) == cursor.mark

    def cursor(self, name: str) -> Cursor:
        return Cursor(base_of(self.room, name), self.point.seq, mark(self.point.chain))

    def shared_with(self, other: "Replica") -> int:
        """Up to which seq two logs are the same."""
        both = zip(self._marks, other._marks, strict=False)
        same = next((at for at, (here, there) in enumerate(both) if here != there), None)
        shorter = min(len(self._marks), len(other._marks))
        return (shorter if same is None else same) // MARK_BYTES

    def _warm(self, name: str, frames: dict[int, bytes]) -> None:
        """Make the frames of entries that were read from the log while nobody watched."""
        room, entries = self._cold
        old: dict[str, Any] | Document = NOTHING if room is None else view(room, name)
        for entry in entries:
            change = follow(self._games, self._secret, room, entry)
            room = change.after
            new = view(room, name)
            frames.setdefault(entry.seq, frame_of(change, old, new).binary)
            old = new
