"""News of single shards, on a cluster: a node hears those in which it has rooms open.

`PUBLISH` goes to all engines of a cluster, and costs each of them. So rooms publish by `SPUBLISH`,
which stays with the primary of their shard. Each primary with wanted shards has one connection
here, its ear. The map of slots, which calls keep up to date, tells where a shard is.

Failures, and their results:

- A slot moves: its engine ends the subscription unasked. The shard is subscribed at its new place.
- An engine was demoted or cut off: the map says so, because beats of the same shards fail there.
- An ear is lost, or its engine refuses: the shard is tried again ten times a second.

Each subscription begins with `MissedIn`, and each primary that is gone from the map is told by
`Missed`: its successor may lack the newest entries.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import aclosing
from typing import Any, Final

import msgspec

from towerhall_server.eventlog.keys import SHARDS, shard_keys
from towerhall_server.eventlog.notifications import (
    Missed,
    MissedIn,
    Wake,
    listen_to_all,
    said_of,
    wake_of,
)
from towerhall_server.store.address import Place
from towerhall_server.store.cluster import Cluster
from towerhall_server.store.connection import Wire, open_wire
from towerhall_server.store.endpoint import Endpoint
from towerhall_server.store.errors import StoreError
from towerhall_server.store.resp import packed
from towerhall_server.store.sentinels import QUICK_SECONDS
from towerhall_server.store.slots import slot_of

logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 0.1
"""Seconds between two attempts to subscribe."""
HEED_SECONDS: Final = 0.5
"""Seconds for which a room waits for the news of its shard before it is opened."""
SILENT_SECONDS: Final = 1.0
"""Seconds of silence after which an engine is asked, and after as many more given up."""
AGAIN_SECONDS: Final = 0.5
"""Seconds before the cluster is listened to again."""
MOST_HEARD: Final = 10_000
"""Lists of messages that wait for a slow consumer before no more are read."""

_SHARDS: Final = [shard_keys(shard) for shard in range(SHARDS)]
_SLOTS: Final = [slot_of(keys.wake.encode()) for keys in _SHARDS]
_WAKES: Final = {keys.wake.encode(): shard for shard, keys in enumerate(_SHARDS)}
_SAID: Final = {keys.said.encode(): shard for shard, keys in enumerate(_SHARDS)}
# One slot a command. Both channels of a shard are in one slot.
_LISTEN: Final = [packed("SSUBSCRIBE", keys.wake, keys.said) for keys in _SHARDS]
_REST: Final = [packed("SUNSUBSCRIBE", keys.wake, keys.said) for keys in _SHARDS]


class ShardNews:
    """The shards that a node wants to hear of, and the ears that hear them."""

    def __init__(self, cluster: Cluster, node: str) -> None:
        self._cluster = cluster
        self._node = node.encode()
        self._wanted: set[int] = set()
        self._heard: set[int] = set()
        self._waiting: dict[int, asyncio.Future[None]] = {}
        self._ears: dict[Place, _Ear] = {}
        self._unsettled = asyncio.Event()
        self._news: asyncio.Queue[Sequence[Wake] | BaseException] | None = None
        """None while nothing listens."""

    async def want(self, shard: int) -> None:
        """Hear a shard from now on. Waits until it is heard, but not for a primary that is down."""
        self._wanted.add(shard)
        if self._news is None or shard in self._heard:
            return
        self._settle()
        heard = self._waiting.setdefault(shard, asyncio.get_running_loop().create_future())
        await asyncio.wait([heard], timeout=HEED_SECONDS)

    def keep(self, shards: AbstractSet[int]) -> None:
        """Hear these shards, and no others."""
        if shards != self._wanted:
            self._wanted = set(shards)
            if self._news is not None:
                self._settle()

    async def listen(self, url: str) -> AsyncGenerator[Wake, None]:
        """Listen to the cluster, and to the wanted shards. Breaks are told, and end nothing."""
        news = self._news = asyncio.Queue()
        tasks = [asyncio.create_task(self._hear_all(url)), asyncio.create_task(self._tend())]
        for task in tasks:
            task.add_done_callback(self._ended)
        try:
            with self._cluster.followed(self._follow):
                self._settle()
                while True:
                    wakes = await news.get()
                    news.task_done()
                    if isinstance(wakes, BaseException):
                        raise wakes
                    for wake in wakes:
                        yield wake
        finally:
            self._news = None
            tasks += [ear.task for ear in self._ears.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._ears.clear()
            self._heard.clear()

    async def put(self, wakes: Sequence[Wake]) -> None:
        """Hand on what was heard. Waits for a slow consumer."""
        if self._news is not None:
            self._news.put_nowait(wakes)
            if self._news.qsize() > MOST_HEARD:
                await self._news.join()

    def confirm(self, shard: int) -> None:
        """A shard is heard from now on."""
        self._heard.add(shard)
        self._tell(MissedIn(shard))
        waiting = self._waiting.pop(shard, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    def lose(self, shards: AbstractSet[int]) -> None:
        """Shards are heard no more: subscribe to them again."""
        self._heard -= shards
        self._unsettled.set()

    def leave(self, ear: "_Ear") -> None:
        """An ear is gone."""
        if self._ears.get(ear.place) is ear:
            del self._ears[ear.place]
        self.lose(ear.shards)

    def _tell(self, wake: Wake) -> None:
        if self._news is not None:
            self._news.put_nowait((wake,))

    def _ended(self, task: "asyncio.Task[None]") -> None:
        # They only end by a fault: the listener has to know.
        if not task.cancelled() and self._news is not None and (error := task.exception()):
            self._news.put_nowait(error)

    def _follow(self, gone: frozenset[Place]) -> None:
        if gone:
            self._tell(Missed(is_broken=True))
        self._settle()

    async def _hear_all(self, url: str) -> None:
        while True:
            try:
                async with aclosing(listen_to_all(url, self._node)) as wakes:
                    async for wake in wakes:
                        await self.put((wake,))
            except StoreError as error:
                logger.warning("no news from the cluster: %s", error)
                self._tell(Missed(is_broken=True))
                await asyncio.sleep(AGAIN_SECONDS)

    async def _tend(self) -> None:
        while True:
            await self._unsettled.wait()
            await asyncio.sleep(LOOK_SECONDS)
            self._unsettled.clear()
            self._cluster.look()
            self._settle()

    def _settle(self) -> None:
        """Have each wanted shard heard at its primary."""
        by_place: dict[Place, set[int]] = {}
        for shard in self._wanted:
            place = self._cluster.place_of(_SLOTS[shard])
            if place is None:
                self._cluster.look()
                self._unsettled.set()
            else:
                by_place.setdefault(place, set()).add(shard)
        for place in self._ears.keys() - by_place.keys():
            ear = self._ears.pop(place)
            self._heard -= ear.shards
            ear.task.cancel()
        for place, shards in by_place.items():
            ear = self._ears.get(place) or _Ear(self, place, self._cluster.at(place), self._node)
            self._ears[place] = ear
            self._heard -= ear.shards - shards
            ear.hear(shards)


class _Ear:
    """A connection that listens at one primary."""

    def __init__(self, news: ShardNews, place: Place, where: Endpoint, node: bytes) -> None:
        self.place = place
        self.shards: set[int] = set()
        self.task = asyncio.create_task(self._run(where), name="ear")
        self._news = news
        self._node = node
        self._wire: Wire | None = None

    def hear(self, shards: AbstractSet[int]) -> None:
        """Hear these shards, and no others."""
        if self._wire is not None:
            for shard in shards - self.shards:
                self._wire.subscribe(_LISTEN[shard])
            for shard in self.shards - shards:
                self._wire.subscribe(_REST[shard])
        self.shards = set(shards)

    async def _run(self, where: Endpoint) -> None:
        quick = msgspec.structs.replace(
            where, connect_seconds=QUICK_SECONDS, answer_seconds=SILENT_SECONDS
        )
        try:
            self._wire = await open_wire(quick)
            for shard in self.shards:
                self._wire.subscribe(_LISTEN[shard])
            while True:
                wakes = [
                    wake
                    for message in await self._wire.hear()
                    if (wake := self._understand(message)) is not None
                ]
                if wakes:
                    await self._news.put(wakes)
        except StoreError as error:
            logger.info("no news from %s:%d: %s", *self.place, error)
            self._news.leave(self)
        finally:
            if self._wire is not None:
                self._wire.give_up("not listened to any more")

    def _understand(self, message: Any) -> Wake | None:
        if isinstance(message, StoreError):
            self._refused(str(message))
            return None
        match message:
            case [b"smessage", channel, data]:
                return wake_of(data, self._node) if channel in _WAKES else said_of(data)
            case [b"ssubscribe", channel, _] if channel in _SAID:
                self._news.confirm(_SAID[channel])
            case [b"sunsubscribe", channel, _] if _WAKES.get(channel) in self.shards:
                self._lose({_WAKES[channel]})
        return None

    def _refused(self, why: str) -> None:
        kind, slot, *_ = (*why.split(), "")
        moved = {shard for shard in self.shards if str(_SLOTS[shard]) == slot}
        # No other refusal says of which shard it is.
        self._lose(moved if kind == "MOVED" else self.shards)

    def _lose(self, shards: set[int]) -> None:
        self.shards = self.shards - shards
        self._news.lose(shards)
