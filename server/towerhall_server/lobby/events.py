"""What concerns one person, in all rooms: their places, kept up to date while they follow them.

The node that appends a commit tells it to the persons whose places it changed, here or on the node
where they follow. Nodes tell each other who follows, so a commit costs nothing for all others. The
place itself is told, so no other node has to load the room.

News may be lost with a node or a connection. So the places are read again: soon after a person has
come, as other nodes may not have heard of it; whenever news may have been missed; and at intervals.
Rooms without a newer entry in their log are not opened for it. News that arrive during a read win
over the read, as with the lobby's list (see `board`); a place of a later seq wins over an earlier.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from time import monotonic
from typing import Final

import msgspec

from towerhall_protocol.document import Document
from towerhall_protocol.lobby import LobbyPatch, LobbyReset
from towerhall_protocol.merge_patch import diff
from towerhall_protocol.messages import ServerPaused
from towerhall_server.eventlog.lobby import LobbyStore, now_ms
from towerhall_server.eventlog.notifications import Concerned, Followed, Missed, Wake
from towerhall_server.frames import Prepared
from towerhall_server.live.actor import RoomActor
from towerhall_server.live.directory import PoisonedRoomError
from towerhall_server.lobby.draining import ListViewer, send_on
from towerhall_server.lobby.my_rooms import NEW_MS
from towerhall_server.lobby.places import has_changed, host_of, invited_to, people_of, place_of
from towerhall_server.room.state import Room
from towerhall_server.store.errors import StoreError

logger = logging.getLogger(__name__)

MOST_PLACES: Final = 250
"""Places shown at once. The list stays well below the largest message that clients accept."""
MOST_KNOWN: Final = 2 * MOST_PLACES
"""Places that are kept: those with the latest news."""
AT_ONCE: Final = 8
"""Rooms of one person that are loaded at the same time."""
TELL_SECONDS: Final = 2.0
SILENT_SECONDS: Final = 10.0
"""Seconds of silence after which the followers on a node count as gone."""
SOON_SECONDS: Final = 1.0
"""Seconds until other nodes have surely heard that a person follows."""
REFRESH_SECONDS: Final = 30.0
RETRY_SECONDS: Final = 1.0
LOOK_SECONDS: Final = 0.25

Open = Callable[[str], Awaitable[RoomActor | None]]
Shuns = Callable[[str, str], Awaitable[bool]]
"""Returns whether a person wants no invitation by another one. Both are ids."""
_decode: Final = msgspec.json.Decoder(dict[str, object] | None).decode


async def _shuns_no_one(person: str, host: str) -> bool:
    """Let all invitations through."""
    return False


class _Known(msgspec.Struct, frozen=True):
    """A place as of a seq; None: the person has none in that room."""

    seq: int
    place: Document | None


class Feed:
    """The places of one person on this node, and who views them."""

    def __init__(self, person: str, store: LobbyStore, open_room: Open) -> None:
        self.person = person
        self._store, self._open = store, open_room
        self._known: dict[str, _Known] = {}
        self._heard: set[str] = set()
        """Rooms of which news arrived during the read under way."""
        self._reading: asyncio.Task[None] | None = None
        self._flush: asyncio.Handle | None = None
        self._reset: Prepared | None = None
        self.shown: Document = {"rooms": {}}
        self.viewers: dict[ListViewer, None] = {}
        self.guests = 0
        """Connections that view it or are about to."""
        self.look_at = monotonic() + SOON_SECONDS
        """When the places are to be read again."""
        self.is_read = False
        self.paused = False

    # Viewers

    async def ready(self) -> None:
        """Wait until the places are known. Raises `StoreError` if the store does not answer."""
        while not self.is_read:
            await self.read()

    def add(self, viewer: ListViewer) -> Document:
        """Add a viewer, once the places are known: return them, and send all changes from now."""
        self.viewers[viewer] = None
        return self.shown

    def resync(self, viewer: ListViewer) -> None:
        """Send a viewer all places, which replace theirs."""
        if viewer in self.viewers:
            if self._reset is None:
                self._reset = Prepared(LobbyReset(self.shown))
            viewer.send(self._reset)

    def pause(self, paused: bool) -> None:
        if paused != self.paused:
            self.paused = paused
            self._tell(Prepared(ServerPaused(paused)))

    def close(self) -> None:
        for waiting in (self._flush, self._reading):
            if waiting is not None:
                waiting.cancel()

    def _tell(self, message: Prepared) -> None:
        for viewer in tuple(self.viewers):
            viewer.send(message)

    # Places

    def take(self, room: str, seq: int, place: Document | None) -> None:
        """Take news of a room."""
        if self._reading is not None:
            self._heard.add(room)
        known = self._known.get(room)
        if known is None or known.seq < seq:
            self._put(room, _Known(seq, place))

    async def read(self) -> None:
        """Read all places. Concurrent callers share one read."""
        if self._reading is None:
            self._reading = asyncio.create_task(self._read_now())
            self._reading.add_done_callback(self._was_read)
        reading = self._reading
        await asyncio.wait((reading,))
        if not reading.cancelled():  # otherwise the last viewer has left
            reading.result()

    def _was_read(self, reading: "asyncio.Task[None]") -> None:
        self._reading = None
        if not reading.cancelled():
            reading.exception()  # its waiters have been told

    async def _read_now(self) -> None:
        self._heard = set()
        notes = await self._store.places(self.person)
        tops = await self._store.tops([*notes, *(self._known.keys() - notes.keys())])
        news = [room for room, top in tops.items() if not self._is_current(room, top)]
        turns = asyncio.Semaphore(AT_ONCE)

        async def look(room: str) -> RoomActor | None:
            async with turns:
                return await self._open(room)

        found = await asyncio.gather(*map(look, news), return_exceptions=True)
        is_late = False
        for room, actor in zip(news, found, strict=True):
            if isinstance(actor, PoisonedRoomError):
                continue  # other nodes may be able to read it
            if isinstance(actor, BaseException):
                raise actor
            if room in self._heard:
                continue
            if actor is None:
                self._known.pop(room, None)
                continue
            state, seq = actor.follower.room, actor.follower.replica.point.seq
            self._put(room, _Known(seq, place_of(state, state.alias_of(self.person))))
            if seq < tops[room]:
                actor.doubt()
                is_late = True
        for room in self._known.keys() - tops.keys() - self._heard:
            del self._known[room]
        await self._forget(notes, tops.keys())
        self.is_read = True
        self.look_at = monotonic() + (RETRY_SECONDS if is_late else REFRESH_SECONDS)
        self._show_soon()

    def _is_current(self, room: str, top: int) -> bool:
        known = self._known.get(room)
        return known is not None and known.seq == top

    async def _forget(self, notes: dict[str, int], there: Iterable[str]) -> None:
        """Forget notes of rooms in which the person has no place, and rooms without a place."""
        gone = set(notes) - set(there)
        for room, known in tuple(self._known.items()):
            if known.place is None and now_ms() - notes.get(room, 0) > NEW_MS:
                gone.add(room)
                if room not in self._heard:
                    del self._known[room]
        await self._store.forget_places(self.person, *(gone & notes.keys()))

    def _put(self, room: str, known: _Known) -> None:
        before = self._known.pop(room, None)  # the latest news come last
        self._known[room] = known
        if len(self._known) > MOST_KNOWN:
            del self._known[next(iter(self._known))]
        if before is None or before.place != known.place:
            self._show_soon()

    def _show_soon(self) -> None:
        """Show the changes of this tick together."""
        if self._flush is None:
            self._flush = asyncio.get_running_loop().call_soon(self._show)

    def _show(self) -> None:
        self._flush = None
        shown = self._list()
        patch = diff(self.shown, shown)
        if patch:
            self.shown, self._reset = shown, None
            if self.viewers:
                self._tell(Prepared(LobbyPatch(patch)))

    def _list(self) -> Document:
        """The places that are shown: those with the person's turn, then the latest, not over."""
        places = [(room, known.place) for room, known in self._known.items() if known.place]
        if len(places) <= MOST_PLACES:
            return {"rooms": dict(places)}
        places.reverse()
        places.sort(key=lambda each: ("your_turn" not in each[1], each[1]["status"] == "over"))
        return {"rooms": dict(places[:MOST_PLACES]), "more": len(places) - MOST_PLACES}


class Events:
    """All who follow what concerns them: here, and on the other nodes."""

    def __init__(
        self, node: str, store: LobbyStore, open_room: Open, shuns: Shuns = _shuns_no_one
    ) -> None:
        self._node, self._store, self._open, self._shuns = node, store, open_room, shuns
        self._inviting: set[asyncio.Task[None]] = set()
        self._feeds: dict[str, Feed] = {}
        self._elsewhere: dict[str, tuple[frozenset[str], float]] = {}
        """By node: who follows there, and when that was told."""
        self._followed: frozenset[str] = frozenset()
        """Who follows on any other node."""
        self._was_followed = False

    def __len__(self) -> int:
        return sum(len(feed.viewers) for feed in self._feeds.values())

    @property
    def viewers(self) -> tuple[ListViewer, ...]:
        return tuple(viewer for feed in self._feeds.values() for viewer in feed.viewers)

    def enter(self, person: str) -> Feed:
        """Begin to follow what concerns a person. Call `leave` once for each call."""
        feed = self._feeds.get(person)
        if feed is None:
            feed = self._feeds[person] = Feed(person, self._store, self._open)
            self._store.tell_followed((person,), is_all=False)
        feed.guests += 1
        return feed

    def leave(self, feed: Feed, viewer: ListViewer) -> None:
        feed.viewers.pop(viewer, None)
        feed.guests -= 1
        if not feed.guests:
            feed.close()
            self._feeds.pop(feed.person, None)

    async def drain(self, within_ms: int) -> None:
        """Ask all viewers to connect elsewhere, wait a while, then close the rest."""
        await send_on(lambda: self.viewers, within_ms)

    def close(self, reason: str) -> None:
        """Close all viewers at once."""
        for task in self._inviting:
            task.cancel()
        for feed in self._feeds.values():
            feed.close()
        for viewer in self.viewers:
            viewer.close(reason)

    # News

    def heard(self, before: Room | None, after: Room, seq: int) -> None:
        """This node has appended a commit. Tell those whose places it changed."""
        is_new = before is None or before.table is not after.table
        invited = invited_to(after.table) if is_new else frozenset()
        if invited:  # only before the start
            task = asyncio.create_task(self._tell_invited(invited, before, after, seq))
            self._inviting.add(task)
            task.add_done_callback(self._inviting.discard)
        if not self._feeds and not self._followed:
            return
        people = people_of(after)
        if is_new and before is not None:
            people = {**people_of(before), **people}
        for alias, person in people.items():
            if person not in self._feeds and person not in self._followed:
                continue
            if has_changed(before, after, alias):
                place = place_of(after, alias)
                if place is None or "invited" not in place:
                    self._concern(person, after.table.code, seq, place)

    async def _tell_invited(
        self, invited: frozenset[str], before: Room | None, after: Room, seq: int
    ) -> None:
        """Tell those who are invited, unless they have blocked the host (P-207)."""
        known = frozenset() if before is None else invited_to(before.table)
        host = host_of(after)
        for alias in sorted(invited):
            person, place = after.identity_of(alias), place_of(after, alias)
            follows = person in self._feeds or person in self._followed
            is_news = follows and has_changed(before, after, alias)
            if alias in known and not is_news:
                continue
            try:
                if await self._shuns(person, host):
                    continue
            except StoreError as error:
                logger.info("an invitation is not told: %s", error)  # it may be lost
                continue
            if alias not in known:
                self._store.invite(person, after.table.code)
            if is_news and place is not None and "invited" in place:
                self._concern(person, after.table.code, seq, place)

    def _concern(self, person: str, room: str, seq: int, place: Document | None) -> None:
        if person in self._feeds:
            self._feeds[person].take(room, seq, place)
        if person in self._followed:
            self._store.tell_person(person, room, seq, msgspec.json.encode(place))

    async def tapped(self, wakes: AsyncIterator[Wake]) -> AsyncIterator[Wake]:
        """Pass news through, and take those of persons."""
        async for wake in wakes:
            self.hear(wake)
            yield wake

    def hear(self, wake: Wake) -> None:
        match wake:
            case Concerned(person, room, seq, place) if person in self._feeds:
                self._feeds[person].take(room, seq, _decode(place))
            case Followed(node, people, is_all) if node != self._node:
                known, _ = self._elsewhere.get(node, (frozenset(), 0.0))
                self._elsewhere[node] = people if is_all else known | people, monotonic()
                self._gather()
            case Missed():
                for feed in self._feeds.values():
                    feed.look_at = 0.0

    def _gather(self) -> None:
        late = monotonic() - SILENT_SECONDS
        self._elsewhere = {node: told for node, told in self._elsewhere.items() if told[1] > late}
        self._followed = frozenset().union(*(people for people, _ in self._elsewhere.values()))

    async def run(self) -> None:
        """Tell the other nodes who follows here, and read places again, until cancelled."""
        told_at = float("-inf")
        while True:
            if monotonic() - told_at >= TELL_SECONDS:
                told_at = monotonic()
                self.tell_followed()
            await self.look()
            await asyncio.sleep(LOOK_SECONDS)

    def tell_followed(self) -> None:
        """Tell the other nodes who follows here, and drop nodes that fell silent."""
        if self._feeds or self._was_followed:
            self._store.tell_followed(self._feeds, is_all=True)
        self._was_followed = bool(self._feeds)
        self._gather()

    async def look(self) -> None:
        """Read the places that are due."""
        now = monotonic()
        due = [feed for feed in self._feeds.values() if feed.look_at <= now]
        for first in range(0, len(due), AT_ONCE):
            await asyncio.gather(*map(_read, due[first : first + AT_ONCE]))


async def _read(feed: Feed) -> None:
    try:
        await feed.read()
        feed.pause(False)
    except StoreError as error:
        logger.warning("the places of a person cannot be read: %s", error)
        feed.look_at = monotonic() + RETRY_SECONDS
        feed.pause(True)
