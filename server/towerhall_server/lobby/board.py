"""The live list of rooms on one node, while it has viewers.

The store publishes each change of what the lobby shows of a room. A node reads the whole list when
the first viewer comes, and follows the news from then on. News may be lost, so the list is read
again whenever that may have happened, and at intervals.

News that arrive during a read win over the read. If the read was older, they are newer. If the read
was newer, later news are on their way. The list is right in the end in both cases.

Changes are batched. A patch is made once for each filter in use, not once for each viewer. No step
takes long, however many rooms there are: a read comes shard by shard, and filters are told one by
one, so that moves pass in between.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from time import monotonic
from typing import Final, Protocol

from towerhall_protocol.document import Document
from towerhall_protocol.lobby import (
    MOST_SHOWN,
    Filter,
    LobbyPatch,
    LobbyReset,
    LobbyServerMessage,
)
from towerhall_protocol.messages import ServerPaused
from towerhall_server.eventlog.keys import SHARDS
from towerhall_server.eventlog.notifications import Listed, Missed, Wake
from towerhall_server.frames import Prepared
from towerhall_server.lobby.draining import ListViewer, send_on
from towerhall_server.lobby.index import RoomIndex
from towerhall_server.lobby.listing import Selection
from towerhall_server.store.errors import StoreError

logger = logging.getLogger(__name__)

GATHER_SECONDS: Final = 0.1
REFRESH_SECONDS: Final = 30.0
RETRY_SECONDS: Final = 1.0

SHARDS_AT_ONCE: Final = 8
"""Shards whose rooms are dropped in one step if the store told nothing of them."""


class Source(Protocol):
    """Reads the list from the store, and hands out the rooms of one shard after the other."""

    async def each_lobby(self, heard: Callable[[int, dict[str, bytes]], None]) -> None: ...


class _Group:
    """All viewers with the same filter."""

    def __init__(self, selection: Selection) -> None:
        self.selection = selection
        self.viewers: dict[ListViewer, None] = {}
        self.reset: Prepared | None = None
        """The whole list, encoded for the first viewer that needs it."""


class Board:
    """The list and its viewers on this node."""

    def __init__(
        self, source: Source, *, most: int = MOST_SHOWN, gather_seconds: float = GATHER_SECONDS
    ) -> None:
        self._source = source
        self._most = most
        self._gather_seconds = gather_seconds
        self._rooms = RoomIndex()
        self._known = False
        self._heard: set[str] = set()
        """Rooms of which news arrived during the read under way."""
        self._changed: set[str] = set()
        """Places in the order of all rooms that viewers have not been told of."""
        self._groups: dict[Filter, _Group] = {}
        self._group_of: dict[ListViewer, _Group] = {}
        self._doubt = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None
        self._flush: asyncio.Handle | None = None
        self._flushed_at = float("-inf")
        self._online = 0
        self.paused = False

    def __len__(self) -> int:
        return len(self._group_of)

    def __iter__(self) -> Iterator[ListViewer]:
        return iter(tuple(self._group_of))

    # Viewers

    async def ready(self) -> None:
        """Wait until the list is known. Raises `StoreError` if the store does not answer."""
        while not self._known:
            await self._read()

    def add(self, viewer: ListViewer, wanted: Filter) -> Document:
        """Add a viewer, once the list is known: send the list now, and all changes from now on."""
        group = self._groups.get(wanted)
        if group is None:
            # Pending changes are in this list already. Sending them again changes nothing.
            selection = Selection(wanted, self._rooms, self._most, self._online)
            group = self._groups[wanted] = _Group(selection)
        group.viewers[viewer] = None
        self._group_of[viewer] = group
        return group.selection.shown

    async def page(self, wanted: Filter) -> Document:
        """Return what a new viewer would get. Raises `StoreError` if the store does not answer."""
        await self.ready()
        if self.paused:
            raise StoreError("the list of rooms may be old")
        group = self._groups.get(wanted)
        if group is not None and self._flush is None:
            return group.selection.shown
        return Selection(wanted, self._rooms, self._most).shown

    def choose(self, viewer: ListViewer, wanted: Filter) -> None:
        """Change a viewer's filter."""
        if viewer in self._group_of:
            self.remove(viewer)
            self.add(viewer, wanted)
            self.resync(viewer)

    def resync(self, viewer: ListViewer) -> None:
        """Send a viewer the whole list, which replaces theirs."""
        group = self._group_of.get(viewer)
        if group is not None:
            if group.reset is None:
                group.reset = Prepared(LobbyReset(group.selection.shown))
            viewer.send(group.reset)

    def remove(self, viewer: ListViewer) -> None:
        group = self._group_of.pop(viewer, None)
        if group is not None:
            del group.viewers[viewer]
            if not group.viewers:
                del self._groups[group.selection.wanted]

    def tell(self, message: LobbyServerMessage) -> None:
        """Send the same message to all viewers."""
        prepared = Prepared(message)
        for viewer in self:
            viewer.send(prepared)

    async def drain(self, within_ms: int) -> None:
        """Ask all viewers to connect elsewhere, wait a while, then close the rest."""
        await send_on(lambda: tuple(self), within_ms)

    def close(self, reason: str) -> None:
        """Close all viewers at once."""
        if self._flush is not None:
            self._flush.cancel()
        if self._reading is not None:
            self._reading.cancel()
        for viewer in self:
            viewer.close(reason)

    # The list

    async def tapped(self, wakes: AsyncIterator[Wake]) -> AsyncIterator[Wake]:
        """Pass news through, and take those of the lobby."""
        async for wake in wakes:
            self.hear(wake)
            yield wake

    def hear(self, wake: Wake) -> None:
        match wake:
            case Listed(room, summary):
                if self._reading is not None:
                    self._heard.add(room)
                if self._known or self._reading is not None:
                    self._take(room, summary)
            case Missed():
                self._doubt.set()

    async def run(self) -> None:
        """Read the list again when it may be stale, forever. Drop it when there are no viewers."""
        while True:
            await self._wait()
            if not self._group_of and self._reading is None:
                self._forget()
                continue
            try:
                if self._reading is not None:
                    # The read began before the doubt.
                    await asyncio.wait((self._reading,))
                await self._read()
            except StoreError as error:
                logger.warning("the list of rooms cannot be read: %s", error)
                self._pause(True)
                self._doubt.set()
                await asyncio.sleep(RETRY_SECONDS)

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(REFRESH_SECONDS):
                await self._doubt.wait()
        except TimeoutError:
            pass
        self._doubt.clear()

    def _forget(self) -> None:
        self._known = False
        self._rooms = RoomIndex()
        self._changed.clear()

    def _pause(self, paused: bool) -> None:
        if paused != self.paused:
            self.paused = paused
            self.tell(ServerPaused(paused))

    async def _read(self) -> None:
        """Read the list. Concurrent callers share one read."""
        if self._reading is None:
            self._reading = asyncio.create_task(self._read_now())
            self._reading.add_done_callback(self._was_read)
        await asyncio.shield(self._reading)

    def _was_read(self, reading: "asyncio.Task[None]") -> None:
        self._reading = None
        if not reading.cancelled():
            reading.exception()  # its waiters have been told

    async def _read_now(self) -> None:
        self._heard = set()
        told: set[int] = set()

        def heard(shard: int, rooms: dict[str, bytes]) -> None:
            told.add(shard)
            self._take_shard(shard, rooms)

        await self._source.each_lobby(heard)
        for number, shard in enumerate(set(range(SHARDS)) - told):
            # Its primary is down: the list lacks its rooms until it is back.
            self._take_shard(shard, {})
            if number % SHARDS_AT_ONCE == 0:
                await asyncio.sleep(0)
        self._known = True
        self._pause(False)

    def _take_shard(self, shard: int, rooms: dict[str, bytes]) -> None:
        """Take in the rooms of a shard as they were read."""
        for room in self._rooms.codes(shard) - rooms.keys() - self._heard:
            self._take(room, b"")
        for room, summary in rooms.items():
            if room not in self._heard:
                self._take(room, summary)

    def _take(self, room: str, summary: bytes) -> None:
        changed = self._rooms.put(room, summary)
        if not changed or not self._groups:
            return
        self._changed.update(changed)
        if self._flush is None:
            loop = asyncio.get_running_loop()
            wait = max(self._flushed_at + self._gather_seconds - monotonic(), 0)
            self._flush = loop.call_later(wait, self._tell_changes)

    def tell_online(self, people: int) -> None:
        """Show how many people are connected to the service."""
        if people != self._online:
            self._online = people
            for group in self._groups.values():
                group.selection.online = people
            if self._flush is None:
                self._tell_changes()

    def _tell_changes(self) -> None:
        changed, self._changed = self._changed, set()
        self._tell_next(iter(tuple(self._groups.values())), changed)

    def _tell_next(self, groups: Iterator[_Group], changed: set[str]) -> None:
        """Tell the viewers of one filter, then let others have the loop. Changes of that time come
        with the next patch."""
        loop = asyncio.get_running_loop()
        group = next(groups, None)
        if group is not None:
            patch = group.selection.follow(changed)
            if patch:
                group.reset = None
                prepared = Prepared(LobbyPatch(patch))
                for viewer in tuple(group.viewers):
                    viewer.send(prepared)
            self._flush = loop.call_soon(self._tell_next, groups, changed)
            return
        self._flush, self._flushed_at = None, monotonic()
        if self._changed:
            self._flush = loop.call_later(self._gather_seconds, self._tell_changes)
