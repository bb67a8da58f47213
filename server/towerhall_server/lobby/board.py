"""The live list of rooms on one node, for as long as somebody looks at it.

The store publishes each change of what the lobby shows of a room. A node reads the whole list once,
when the first viewer comes, and follows the news from then on. News may be lost, so the list is
read again whenever that may have happened, and every now and then besides.

News that come while the list is being read stand for what is newer: the reading may have been
before them, and if it was after them, then the newer news are on their way. Either way the list is
right in the end, and nobody has to know which it was.

Changes are gathered for a moment, and a patch is made once for each filter that somebody looks
with, not once for each viewer.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from time import monotonic
from typing import Final, Protocol

import msgspec

from towerhall_protocol.document import Document
from towerhall_protocol.lobby import Filter, LobbyPatch, LobbyReset, LobbyServerMessage
from towerhall_protocol.messages import ServerGo, ServerPaused
from towerhall_server.eventlog.errors import StoreError
from towerhall_server.eventlog.wakes import Listed, Missed, Wake
from towerhall_server.lobby.listing import MOST_ROOMS, Selection
from towerhall_server.room.prepared import Prepared

logger = logging.getLogger(__name__)

GATHER_SECONDS: Final = 0.1
REFRESH_SECONDS: Final = 30.0
RETRY_SECONDS: Final = 1.0
LOOK_SECONDS: Final = 0.05
CLOSING_SECONDS: Final = 1.0

_decode = msgspec.json.Decoder(dict[str, object]).decode


class Source(Protocol):
    """Where the list is read."""

    async def summaries(self) -> dict[str, bytes]: ...


class Viewer(Protocol):
    """Somebody who looks at the list."""

    def send(self, message: Prepared, *more: Prepared) -> None: ...
    def close(self, reason: str) -> None: ...


class _Group:
    """All who look with the same filter."""

    def __init__(self, selection: Selection) -> None:
        self.selection = selection
        self.viewers: dict[Viewer, None] = {}
        self.reset: Prepared | None = None
        """The whole list, made when the first one wants it."""


class Board:
    """The list, and everybody who looks at it here."""

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
        """What was heard while the list is being read."""
        self._changed: set[str] = set()
        self._groups: dict[Filter, _Group] = {}
        self._group_of: dict[Viewer, _Group] = {}
        self._doubt = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None
        self._flush: asyncio.TimerHandle | None = None
        self._flushed_at = float("-inf")
        self.paused = False

    def __len__(self) -> int:
        return len(self._group_of)

    def __iter__(self) -> Iterator[Viewer]:
        return iter(tuple(self._group_of))

    # Viewers

    async def ready(self) -> None:
        """Wait until the list is known. `StoreError` if the store does not answer."""
        while not self._known:
            await self._read()

    def add(self, viewer: Viewer, wanted: Filter) -> Document:
        """Let somebody look, once the list is known: the list now, and all changes from now on."""
        group = self._groups.get(wanted)
        if group is None:
            # What has changed and not been told yet is in this list already; being told once more
            # changes nothing.
            selection = Selection(wanted, self._rooms, self._most)
            group = self._groups[wanted] = _Group(selection)
        group.viewers[viewer] = None
        self._group_of[viewer] = group
        return group.selection.shown

    def choose(self, viewer: Viewer, wanted: Filter) -> None:
        """Somebody wants to see other rooms."""
        if viewer in self._group_of:
            self.remove(viewer)
            self.add(viewer, wanted)
            self.resync(viewer)

    def resync(self, viewer: Viewer) -> None:
        """Send somebody the whole list, in place of what they have."""
        group = self._group_of.get(viewer)
        if group is not None:
            if group.reset is None:
                group.reset = Prepared(LobbyReset(group.selection.shown))
            viewer.send(group.reset)

    def remove(self, viewer: Viewer) -> None:
        group = self._group_of.pop(viewer, None)
        if group is not None:
            del group.viewers[viewer]
            if not group.viewers:
                del self._groups[group.selection.wanted]

    def tell(self, message: LobbyServerMessage) -> None:
        """The same to everybody."""
        prepared = Prepared(message)
        for viewer in self:
            viewer.send(prepared)

    async def drain(self, within_ms: int) -> None:
        """Ask everybody to connect elsewhere, give them the time to, and send the rest away."""
        self.tell(ServerGo(within_ms))
        deadline = monotonic() + within_ms / 1000
        while self._group_of:
            if monotonic() > deadline:
                break
            await asyncio.sleep(LOOK_SECONDS)
        late = tuple(self)
        for viewer in late:
            viewer.close("restart")
            await asyncio.sleep(CLOSING_SECONDS / len(late))

    def close(self, reason: str) -> None:
        """Send everybody away at once."""
        if self._flush is not None:
            self._flush.cancel()
        if self._reading is not None:
            self._reading.cancel()
        for viewer in self:
            viewer.close(reason)

    # The list

    async def tapped(self, wakes: AsyncIterator[Wake]) -> AsyncIterator[Wake]:
        """News on their way to somebody else; what is of the lobby is heard here."""
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
        """Read the list again when it may be wrong, for ever; forget it when nobody looks."""
        while True:
            await self._wait()
            if not self._group_of and self._reading is None:
                self._forget()
                continue
            try:
                if self._reading is not None:
                    # It began before the doubt.
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
        """Read the list, once however many ask."""
        if self._reading is None:
            self._reading = asyncio.create_task(self._read_now())
            self._reading.add_done_callback(self._was_read)
        await asyncio.shield(self._reading)

    def _was_read(self, reading: "asyncio.Task[None]") -> None:
        self._reading = None
        if not reading.cancelled():
            reading.exception()  # whoever waited for it has been told

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
    """What is shown of a room; nothing if it is not shown."""
    if not summary:
        return {}
    try:
        return _decode(summary)
    except (msgspec.MsgspecError, UnicodeError):
        logger.warning("what is told of room %s is no summary", room)
        return {}
