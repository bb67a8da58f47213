"""A node whose people follow what concerns them, and one who does."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from tests.live.live_rooms import LiveNode, live_node
from towerhall_protocol.document import Document
from towerhall_protocol.lobby import LobbyPatch, LobbyReset
from towerhall_protocol.merge_patch import apply
from towerhall_server.eventlog.lobby import LobbyStore
from towerhall_server.frames import Prepared
from towerhall_server.lobby.events import Events, Feed, Shuns, _shuns_no_one

SECONDS = 10.0


class Following(NamedTuple):
    live: LiveNode
    events: Events

    @property
    def store(self) -> LobbyStore:
        return LobbyStore(self.live.log)


@asynccontextmanager
async def following(
    url: str, name: str, *, listens: bool = True, shuns: Shuns = _shuns_no_one
) -> AsyncIterator[Following]:
    """A node that hears of other nodes, unless it may not."""
    made: list[Events] = []

    def heard(*commit: Any) -> None:
        made[0].heard(*commit)

    async with live_node(url, name, listens=False, heard=heard) as live:
        events = Events(name, LobbyStore(live.log), live.directory.open, shuns)
        made.append(events)
        if listens:
            await live.listen(events.tapped)
        yield Following(live, events)
        events.close("restart")


class Follower:
    """A viewer of one person's places, as a client has them."""

    def __init__(self, events: Events, person: str) -> None:
        self.events, self.feed = events, events.enter(person)
        self.list: Document = {}
        self.patches: list[Document] = []
        self.closed = ""
        self.is_new = asyncio.Event()

    async def enter(self) -> "Follower":
        await self.feed.ready()
        self.list = self.feed.add(self)
        return self

    @property
    def rooms(self) -> dict[str, Any]:
        found: Any = self.list["rooms"]
        return dict(found)

    def send(self, message: Prepared, *more: Prepared) -> None:
        for prepared in (message, *more):
            match prepared.message:
                case LobbyPatch(patch):
                    self.patches.append(patch)
                    self.list = apply(self.list, patch)
                case LobbyReset(shown):
                    self.list = shown
        self.is_new.set()

    def close(self, reason: str) -> None:
        self.closed = reason

    def leave(self) -> None:
        self.events.leave(self.feed, self)

    async def until(self, is_so: Callable[[dict[str, Any]], object]) -> None:
        """Wait until the places are like this."""
        async with asyncio.timeout(SECONDS):
            while not is_so(self.rooms):
                self.is_new.clear()
                await self.is_new.wait()


async def follow(node: Following, person: str) -> Follower:
    return await Follower(node.events, person).enter()


def now(feed: Feed) -> None:
    """Let the places be read at the next look."""
    feed.look_at = 0.0
