"""The live list of rooms on one node, while it has viewers.

The store publishes each change of what the lobby shows of a room. A node reads the whole list when
the first viewer comes, and follows the news from then on. News may be lost, so the list is read
again whenever that may have happened, and at intervals.

News that arrive during a read win over the read. If the read was older, they are newer. If the read
was newer, later news are on their way. The list is right in the end in both cases.

Changes are batched. A patch is made once for each filter in use, not once for each viewer.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from time import monotonic
from typing import Final, Protocol

import msgspec

from towerhall_protocol.document import Document
from towerhall_protocol.lobby import Filter, LobbyPatch, LobbyReset, LobbyServerMessage
from towerhall_protocol.messages import ServerPaused
from towerhall_server.eventlog.notifications import Listed, Missed, Wake
from towerhall_server.frames import Prepared
from towerhall_server.lobby.draining import ListViewer, send_on
from towerhall_server.lobby.listing import MOST_ROOMS, Selection
from towerhall_server.store.errors import StoreError

logger = logging.getLogger(__name__)

GATHER_SECONDS: Final = 0.1
REFRESH_SECONDS: Final = 30.0
RETRY_SECONDS: Final = 1.0

_decode = msgspec.json.Decoder(dict[str, object]).decode


class Source(Protocol):
    """Reads the list from the store."""

    async def summaries(self) -> dict[str, bytes]: ...


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
        self, source: Source, *, most: int = MOST_ROOMS, gather_seconds: float = GATHER_SECONDS
    ) -> None:
        self._source = source
        self._most = most
        self._gather_seconds = gather_seconds
        self._raw: dict[str, bytes] = {}
        self._rooms: dict[str, Document] = {}
        self._known = False
        self._heard: dict[str, bytes] = {}
        """News that arrived during the read under way."""
        self._changed: set[str] = set()
        self._groups: dict[Filter, _Group] = {}
        self._group_of: dict[ListViewer, _Group] = {}
        self._doubt = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None
        self._flush: asyncio.TimerHandle | None = None
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
                    self._heard[room] = summary
                if self._known:
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
        self._raw, self._rooms = {}, {}
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
        self._heard = {}
        found = await self._source.summaries()
        found.update(self._heard)
        self._known = True
        self._pause(False)
        for room in self._raw.keys() - found.keys():
            self._take(room, b"")
        for room, summary in found.items():
            self._take(room, summary)

    def _take(self, room: str, summary: bytes) -> None:
        if summary == self._raw.get(room, b""):
            return
        self._raw[room] = summary
        document = _document(room, summary)
        if document:
            self._rooms[room] = document
        else:
            self._rooms.pop(room, None)
        if not summary:
            del self._raw[room]
        if not self._groups:
            return
        self._changed.add(room)
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
        self._flush, self._flushed_at = None, monotonic()
        changed, self._changed = self._changed, set()
        for group in tuple(self._groups.values()):
            patch = group.selection.follow(self._rooms, changed)
            if patch:
                group.reset = None
                prepared = Prepared(LobbyPatch(patch))
                for viewer in tuple(group.viewers):
                    viewer.send(prepared)


def _document(room: str, summary: bytes) -> Document:
    """Return what the list shows of a room; empty if the room is not listed."""
    if not summary:
        return {}
    try:
        return _decode(summary)
    except (msgspec.MsgspecError, UnicodeError):
        logger.warning("the lobby entry of room %s cannot be read", room)
        return {}
