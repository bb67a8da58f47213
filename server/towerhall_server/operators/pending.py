"""Reads the pending deliveries of a room from its log."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

import msgspec

from towerhall_server.eventlog.answers import Following, Gone
from towerhall_server.eventlog.entry import START, Point, mark
from towerhall_server.eventlog.operators import Delivered
from towerhall_server.live.node import Node
from towerhall_server.live.replica import follow
from towerhall_server.operators.notices import Kind, notice_of
from towerhall_server.room.state import Room

KEPT_ROOMS: Final = 512
"""Rooms whose state is cached, so that their logs need not be read from the beginning."""


class Notice(msgspec.Struct, frozen=True):
    """One delivery, and the room right after its commit."""

    kind: Kind
    at: Point
    room: Room

    @property
    def told(self) -> Delivered:
        """The position in the log after this delivery."""
        return Delivered(self.at.seq, mark(self.at.chain))


class Pending(msgspec.Struct, frozen=True):
    """A room at the end of its log, and its pending deliveries."""

    notices: tuple[Notice, ...]
    at: Point
    room: Room
    marks: Mapping[int, str]
    """The marks of all commits that were read."""

    @property
    def told(self) -> Delivered:
        return Delivered(self.at.seq, mark(self.at.chain))


class Logs:
    """Reads logs on from a cached state."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._known: OrderedDict[str, tuple[Point, Room]] = OrderedDict()

    def keep(self, code: str, at: Point, room: Room) -> None:
        """Cache a room at its operator's position in the log."""
        self._known[code] = (at, room)
        self._known.move_to_end(code)
        if len(self._known) > KEPT_ROOMS:
            self._known.popitem(last=False)

    async def after(self, code: str, told: Delivered) -> Pending | None:
        """Return the pending deliveries after that position; `None` if the room is gone.

        If the position is no longer in the log, the store lost commits: then everything is
        delivered again. Repeated deliveries have the same ids as before.
        """
        kept = self._known.pop(code, None)
        if kept is not None and (kept[0].seq, mark(kept[0].chain)) == (told.seq, told.mark):
            reading = await self._walk(code, *kept)
            if isinstance(reading, Pending):
                return reading
        reading = await self._walk(code, START, None)
        if isinstance(reading, Point):
            raise ValueError(f"the log of {code} is inconsistent after {reading.seq}")
        if reading is not None and reading.marks.get(told.seq) == told.mark:
            later = tuple(notice for notice in reading.notices if notice.at.seq > told.seq)
            return msgspec.structs.replace(reading, notices=later)
        return reading

    async def _walk(self, code: str, at: Point, room: Room | None) -> Pending | Point | None:
        """Read to the end of the log. Returns a point if the log does not continue the room."""
        log, games = self._node.log, self._node.games
        secret = await log.secret(code)
        if secret is None:
            return None
        notices: list[Notice] = []
        marks: dict[int, str] = {}
        more = True
        while more:
            found = await log.read(code, at)
            if isinstance(found, Gone):
                return None
            if not isinstance(found, Following):
                return at
            for entry in found.entries:
                change = follow(games, secret, room, entry)
                kind = notice_of(change.before, change.after)
                at, room = entry.point, change.after
                marks[entry.seq] = change.mark
                if kind is not None:
                    notices.append(Notice(kind, at, room))
            more = found.more
        return None if room is None else Pending(tuple(notices), at, room, marks)
