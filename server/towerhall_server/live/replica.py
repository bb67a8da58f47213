"""A room at a place in its log, with as much of the past as resuming and healing need.

A replica knows no store: it takes in entries and returns their changes. The marks of the newest
commits judge cursors, the newest entries heal a log that lost them, and the newest frames serve
clients that reconnect. None of this grows with the log.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from towerhall_protocol.document import Document
from towerhall_protocol.messages import Cursor
from towerhall_server.eventlog.entry import MARK_BYTES, Entry, Point, mark, pack, unpack
from towerhall_server.frames import Prepared
from towerhall_server.game import AnyGame, rules_of
from towerhall_server.live.fan_out import Change, Place, frame_of
from towerhall_server.live.marks import Marks
from towerhall_server.room.commits import decode_commit
from towerhall_server.room.events import RoomCreated
from towerhall_server.room.pace import after_one_more
from towerhall_server.room.state import Room, create, decides, entered, fold, hash_of, remember
from towerhall_server.room.view import NOTHING, view

RECENT: Final = 40
"""Newest commits whose frames are kept, as bytes, or can be made from memory."""
TAIL: Final = 20
"""Newest entries that are kept for healing: more than a failover loses of one room."""


def follow(
    games: Mapping[str, AnyGame], secret: bytes, before: Room | None, entry: Entry
) -> Change:
    """The change that an entry makes; the first entry creates the room."""
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
    after = entered(before, after, commit, entry.seq, short, entry.stamps.served_ms)
    before = before if entry.seq > 1 else None
    return Change(before, after, commit, entry.seq, short, entry.chain)


def _outcome(room: Room, entries: Sequence[Entry]) -> Room:
    """The room after all these entries, without a change for each."""
    decided: Entry | None = None
    tag = room.tag
    commands, full_at = dict(room.commands), room.full_at
    for entry in entries:
        commit = decode_commit(entry.blob, room.rules)
        before, room = room, fold(room, commit)
        cause = commit.cause
        if cause.n > 0:
            remember(commands, cause, entry.seq, hash_of(commit.command, tag))
        if decides(before, room):
            decided, tag = entry, mark(entry.chain)
        if cause.n > 0 and decided is not entry:
            full_at = after_one_more(full_at, cause.identity, entry.stamps.served_ms)
    if entries:
        served_ms = entries[-1].stamps.served_ms
        room = msgspec.structs.replace(
            room, commands=commands, full_at=full_at, served_ms=served_ms
        )
    if decided is not None:
        room = msgspec.structs.replace(
            room,
            tag=tag,
            began_ms=decided.stamps.served_ms,
            began_seq=decided.seq,
        )
    return room


class Replica:
    """A room that takes in entries, keeps its recent past, and judges cursors."""

    __slots__ = (
        "_cold", "_frames", "_games", "_marks", "_secret", "_tail", "broken_at", "point", "room",
    )  # fmt: skip

    def __init__(
        self, games: Mapping[str, AnyGame], secret: bytes, room: Room, point: Point
    ) -> None:
        """A replica at a place of the log, with nothing before it: see `load`."""
        self._games = games
        self._secret = secret
        self.room = room
        self.point = point
        self.broken_at: int | None = None
        """The seq of the first entry that does not follow the one before; `None` if all do."""
        self._tail: deque[bytes] = deque(maxlen=TAIL)
        self._marks = Marks(point.seq)
        self._marks.add(point.chain)
        self._cold: tuple[Room | None, tuple[Entry, ...]] = (None, ())
        """Entries that were read without viewers, and the room before them."""
        self._frames: dict[str, dict[int, bytes]] = {}

    @classmethod
    def load(
        cls, games: Mapping[str, AnyGame], secret: bytes, entries: Sequence[Entry]
    ) -> "Replica":
        """The replica that has read these entries, which begin with the first one of a log."""
        first = entries[0]
        replica = cls(games, secret, follow(games, secret, None, first).after, first.point)
        replica._tail.append(pack(first))
        replica.read(entries[1:])
        if len(entries) <= RECENT:
            replica._cold = (None, tuple(entries))
        return replica

    @property
    def tail(self) -> tuple[Entry, ...]:
        """The newest entries."""
        return tuple(map(unpack, self._tail))

    def read(self, entries: Sequence[Entry]) -> None:
        """Read the end of a log while no viewer is there.

        The newest entries are followed one by one, and the room before them is kept: their frames
        can be made when a viewer needs them. Older entries only count by their outcome.
        """
        old = max(len(entries) - RECENT, 0)
        self.skip(entries[:old])
        self._cold = (self.room, tuple(entries[old:]))
        for entry in entries[old:]:
            self.follow(entry)

    def skip(self, entries: Sequence[Entry]) -> None:
        """Move on over entries of which only the outcome matters."""
        if not entries:
            return
        self.room, self.point = _outcome(self.room, entries), entries[-1].point
        self._marks.add(*[entry.chain for entry in entries])
        self._tail.extend(map(pack, entries[-TAIL:]))

    def follow(self, entry: Entry) -> Change:
        """Take in the next entry of the log."""
        change = follow(self._games, self._secret, self.room, entry)
        self.take(entry, change.after)
        return change

    def take(self, entry: Entry, after: Room) -> None:
        """Move on to the place after an entry."""
        self.room = after
        self.point = Point(entry.seq, entry.chain, entry.stamps)
        self._tail.append(pack(entry))
        self._marks.add(entry.chain)

    def keep_frame(self, name: str, seq: int, prepared: Prepared) -> None:
        """Keep the frame that viewers of a class got."""
        frames = self._frames.setdefault(name, {})
        frames[seq] = prepared.binary
        frames.pop(seq - RECENT, None)
        if self._cold[1] and self._cold[1][-1].seq <= seq - RECENT:
            self._cold = (None, ())

    def missed(self, name: str, seq: int) -> list[Prepared] | None:
        """The frames after that seq; `None` if they are too old."""
        wanted = range(seq + 1, self.point.seq + 1)
        frames = self._frames.setdefault(name, {})
        if wanted and wanted[0] not in frames:
            self._warm(name, frames)
        if not all(n in frames for n in wanted):
            return None
        return [Prepared.kept(frames[n]) for n in wanted]

    def holds(self, entry: Entry) -> bool:
        """Whether the replica has taken in this entry, and remembers it."""
        return self._marks.at(entry.seq) == entry.chain[:MARK_BYTES]

    def has_forgotten(self, seq: int) -> bool:
        """Whether a place is too old to be remembered."""
        return 0 < seq < self._marks.first

    def knows(self, cursor: Cursor) -> bool:
        """Whether the cursor is a place in this very log, and remembered."""
        at = self._marks.at(cursor.seq)
        return bool(at) and mark(at) == cursor.mark

    @property
    def place(self) -> Place:
        return Place(self.room, self.point.seq, mark(self.point.chain))

    def shared_with(self, other: "Replica") -> int:
        """The last seq up to which two logs are the same, as far as both remember."""
        return self._marks.shared_with(other._marks)

    def _warm(self, name: str, frames: dict[int, bytes]) -> None:
        """Make the frames of entries that were read without viewers."""
        room, entries = self._cold
        old: dict[str, Any] | Document = NOTHING if room is None else view(room, name)
        for entry in entries:
            change = follow(self._games, self._secret, room, entry)
            room = change.after
            new = view(room, name)
            frames.setdefault(entry.seq, frame_of(change, old, new).binary)
            old = new
