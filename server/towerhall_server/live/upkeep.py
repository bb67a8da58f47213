"""Snapshots are written and checked here, in the background.

A snapshot is never trusted alone. Whenever a room or a page of history came from one, the whole log
is folded slowly, and every snapshot of the room is compared with that fold. A wrong one is counted,
logged and replaced, and the room is read again from its whole log. A missing one is written. If the
node dies, the next reader asks again.

No room is changed here, and no viewer is known.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Final

from towerhall_server.eventlog.answers import Following
from towerhall_server.eventlog.entry import START, Point
from towerhall_server.eventlog.log import EventLog
from towerhall_server.game import AnyGame
from towerhall_server.live.replica import follow
from towerhall_server.live.snapshots import is_due, is_wanted, outdated, pack, unpack
from towerhall_server.room.state import Room
from towerhall_server.store.errors import StoreError
from towerhall_server.telemetry.meters import Meters

logger = logging.getLogger(__name__)

AT_ONCE: Final = 32
"""Entries that are folded between two rests."""
REST: Final = 20
"""Length of a rest as a multiple of the work before it: at most 5 % of a core is used."""
MOST_WAITING: Final = 1_000
"""Rooms that may wait for a check. The next readers of further rooms ask again."""
MOST_CHECKED: Final = 10_000
"""Snapshots remembered as right."""


def no_listener(code: str) -> None:
    """No callback."""


class Upkeep:
    """The snapshots of all rooms, as far as this node deals with them."""

    def __init__(self, log: EventLog, games: Mapping[str, AnyGame], meters: Meters) -> None:
        self._log = log
        self._games = games
        self._meters = meters
        self.on_wrong: Callable[[str], None] = no_listener
        """Called with the code of a room that has, or had, a wrong snapshot. Must not raise."""
        self._waiting: dict[str, None] = {}
        self._checked: OrderedDict[bytes, None] = OrderedDict()
        self._task: asyncio.Task[None] | None = None

    def keep(self, code: str, room: Room, point: Point) -> None:
        """Start to write a snapshot. A failure is only counted, because the log holds the commit.
        Does not raise."""
        try:
            data = pack(room, point)
        except Exception:
            logger.exception("room %s: there is no snapshot of %d", code, point.seq)
            data = None
        if data is None:
            self._meters.snapshots["not_made"] += 1
            return
        kept = self._log.keep_snapshot(code, point, data, outdated(point.seq))
        kept.add_done_callback(self._count)

    def _count(self, kept: "asyncio.Future[int]") -> None:
        done = not kept.cancelled() and kept.exception() is None and kept.result()
        self._meters.snapshots["kept" if done else "not_kept"] += 1

    def ask(self, code: str, digest: bytes = b"") -> None:
        """Have the snapshots of a room checked, unless the one of that digest is known to be
        right."""
        if digest in self._checked or code in self._waiting:
            return
        if len(self._waiting) < MOST_WAITING:
            self._waiting[code] = None
            if self.idle:
                self._task = asyncio.create_task(self._look_at_all(), name="upkeep of snapshots")

    @property
    def idle(self) -> bool:
        """Whether no room is being checked, and none waits."""
        return self._task is None or self._task.done()

    async def close(self) -> None:
        """Stop at once."""
        self._waiting.clear()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _look_at_all(self) -> None:
        while self._waiting:
            # Out of the queue first: a request from now on needs another check.
            code = next(iter(self._waiting))
            del self._waiting[code]
            try:
                wrong = await self.look_through(code)
            except StoreError as error:
                logger.warning("room %s: its snapshots were not looked through: %s", code, error)
            except Exception:
                logger.exception("room %s: its snapshots cannot be looked through", code)
            else:
                if wrong:
                    self.on_wrong(code)

    async def look_through(self, code: str, *, rest: float = REST) -> int:
        """Compare all snapshots of a room with its log, and replace wrong ones. Returns their
        number."""
        secret = await self._log.secret(code)
        kept = await self._log.snapshots(code)
        newest = max(kept, default=0)
        room: Room | None = None
        place, wrong, more = START, 0, secret is not None
        began = perf_counter()
        while more:
            reading = await self._log.read(code, place)
            if secret is None or not isinstance(reading, Following):
                # The log is gone or has changed: the next reader asks again.
                break
            for entry in reading.entries:
                room, place = follow(self._games, secret, room, entry).after, entry.point
                if entry.seq in kept:
                    wrong += await self._compare(code, room, place, secret)
                elif is_due(entry.seq) and is_wanted(entry.seq, newest):
                    self.keep(code, room, place)
                if entry.seq % AT_ONCE == 0:
                    await asyncio.sleep(rest * (perf_counter() - began))
                    began = perf_counter()
            more = reading.more
        return wrong

    async def _compare(self, code: str, room: Room, place: Point, secret: bytes) -> bool:
        """Whether the snapshot of a place was wrong. A right one is there afterwards."""
        data, _ = await self._log.snapshot(code, place.seq, page=0)
        found = None if data is None else unpack(data, self._games, secret)
        if found is not None and (found.room, found.point) == (room, place):
            self._checked[found.digest] = None
            if len(self._checked) > MOST_CHECKED:
                self._checked.popitem(last=False)
            return False
        self.keep(code, room, place)
        if found is None or found.point != place:
            return False
        logger.error("room %s: the snapshot of %d is not what the log says", code, place.seq)
        self._meters.snapshots["wrong"] += 1
        return True
