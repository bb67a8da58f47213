"""A cluster as one store: each primary has a thin connection and a batch of its own, its lane.

The map of slots tells the lane of a call. Failures, and their results:

- `MOVED` corrects the map at once, and the call goes to the other lane. `ASK` sends it there with
  `ASKING`, for this time only.
- `TRYAGAIN`, `CLUSTERDOWN`, `LOADING` and `READONLY` end as `StoreRefusedError`: the outcome is
  unknown, and the caller sends the same bytes again.
- A lane is down: its connection was refused or lost, or it is silent. Until every lane answers
  again, the map is read ten times a second. Once another primary has the slots, calls under way on
  the old lane end as `StoreError`, so that they are sent again there.
- No map: calls wait until there is one, or until reading it has failed once.

Calls of one lane never wait for another lane.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from random import sample
from typing import Any, Final, TypeAlias

from towerhall_server.store.address import Address, Place
from towerhall_server.store.batch import Batch, Call, Caller, Later, batch_to, give
from towerhall_server.store.endpoint import Endpoint, endpoint
from towerhall_server.store.errors import StoreError, StoreRefusedError
from towerhall_server.store.resp import packed
from towerhall_server.store.sentinels import at
from towerhall_server.store.slot_map import SlotMap, read_map
from towerhall_server.store.slots import NO_SLOT, SLOTS, slot_of_command

logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 0.1
"""Seconds between two reads of the map while a lane is down."""
SILENT_SECONDS: Final = 0.5
"""Seconds by which a lane may answer later than the first one."""
MOST_HOPS: Final = 5
"""Redirections of one call. During an election nodes may send it to and fro."""
ASKING: Final = packed("ASKING")
PING: Final = Call(packed("PING"))
LOOK_FOR: Final = ("CLUSTERDOWN", "READONLY", "MASTERDOWN", "LOADING")
"""Refusals after which another node may be the primary."""


Follower: TypeAlias = Callable[[frozenset[Place]], None]
"""Receives the primaries that are gone from the map. It must not raise."""


class Lane:
    """One primary."""

    def __init__(self, place: Place, batch: Batch) -> None:
        self.place = place
        self.batch = batch
        self.is_up = True
        """Whether it answered its last call."""
        self.ping: asyncio.Future[Any] | None = None

    def heard(self, ping: asyncio.Future[Any]) -> None:
        self.ping = None
        # A refusal is an answer.
        self.is_up = not ping.cancelled() and (
            ping.exception() is None or isinstance(ping.exception(), StoreRefusedError)
        )


async def node_of(address: Address) -> Endpoint:
    """Return a primary of a sound cluster: each node hears all publications."""
    model = endpoint(address.at(address.nodes[0]))
    found = await read_map(model, sample(address.nodes, len(address.nodes)))
    return at(model, sample(sorted(found.primaries), 1)[0])


class Cluster:
    """The same for callers as `Batch`."""

    def __init__(self, address: Address) -> None:
        self._model = endpoint(address.at(address.nodes[0]))
        self._seeds = address.nodes
        self._replicas = address.wait
        self._nodes: tuple[Place, ...] = ()
        self._lanes: dict[Place, Lane] = {}
        self._by_slot: list[Lane | None] = [None] * SLOTS
        self._held: list[tuple[Call, Caller, Callable[[], None] | None]] = []
        self._looking: asyncio.Task[None] | None = None
        self._followers: set[Follower] = set()

    def ask(self, call: Call, caller: Caller, meanwhile: Callable[[], None] | None = None) -> None:
        """As of `Batch`."""
        lane = self._lane_of(call)
        if lane is None:
            self._held.append((call, caller, meanwhile))
            self.look()
        else:
            lane.batch.ask(call, caller, meanwhile)

    def call(self, call: Call) -> "asyncio.Future[Any]":
        """As of `Batch`."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.ask(call, partial(give, answer))
        return answer

    async def call_all(self, calls: Sequence[Call]) -> list[Any]:
        """As of `Batch`."""
        return await asyncio.gather(*map(self.call, calls), return_exceptions=True)

    async def call_lanes(self, calls: Sequence[Call]) -> list[Any]:
        """Return an answer or a `StoreError` for each call. A lane that is silent while another
        one has answered gets a `StoreError`. Raises if no lane answered."""
        answers: list[Any] = [StoreError("its primary is silent")] * len(calls)

        async def ask(group: Sequence[int]) -> None:
            found = await self.call_all([calls[index] for index in group])
            for index, answer in zip(group, found, strict=True):
                answers[index] = answer

        await self.first_lanes([ask(group) for group in self.lanes_of(calls)])
        if answers and all(isinstance(answer, StoreError) for answer in answers):
            raise answers[0]
        return answers

    async def first_lanes(
        self, lanes: Sequence[Coroutine[Any, Any, None]], *, within_seconds: float = 0.0
    ) -> None:
        """As of `Batch`. Ends those that are not done soon after the first one should be."""
        tasks = {asyncio.ensure_future(lane) for lane in lanes}
        try:
            if tasks:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                _, late = await asyncio.wait(tasks, timeout=within_seconds + SILENT_SECONDS)
                if late:
                    self._doubt()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def lanes_of(self, calls: Sequence[Call]) -> Sequence[Sequence[int]]:
        """As of `Batch`."""
        groups: dict[int, list[int]] = {}
        for index, call in enumerate(calls):
            groups.setdefault(id(self._lane_of(call)), []).append(index)
        return tuple(groups.values())

    def is_down(self, call: Call) -> bool:
        """As of `Batch`."""
        lane = self._lane_of(call)
        is_up = lane is None or lane.is_up
        return not is_up and any(other.is_up for other in self._lanes.values())

    def leave(self) -> None:
        """As of `Batch`."""
        for lane in tuple(self._lanes.values()):
            lane.batch.leave()

    async def close(self) -> None:
        """As of `Batch`."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        if self._held:
            await self._look_once()
        await asyncio.gather(*(lane.batch.close() for lane in self._lanes.values()))

    def at(self, place: Place) -> Endpoint:
        """Return how one of its engines is reached."""
        return at(self._model, place)

    def place_of(self, slot: int) -> Place | None:
        """Return the primary of a slot; None if it is not known yet."""
        lane = self._by_slot[slot]
        return None if lane is None else lane.place

    @contextmanager
    def followed(self, follower: Follower) -> Iterator[None]:
        """Call `follower` at each change of the map, with the primaries that are gone."""
        self._followers.add(follower)
        try:
            yield
        finally:
            self._followers.discard(follower)

    def look(self) -> None:
        """Read the map until every lane answers."""
        if self._looking is None:
            self._looking = asyncio.create_task(self._look(), name="slot map")

    def _shuffled(self) -> list[Place]:
        """The nodes known last, then those of the URL. Servers ask different ones first."""
        nodes = list(dict.fromkeys([*self._nodes, *self._seeds]))
        return sample(nodes, len(nodes))

    def _lane_of(self, call: Call) -> Lane | None:
        slot = slot_of_command(call.command)
        if slot != NO_SLOT:
            return self._by_slot[slot]
        lanes = self._lanes.values()
        return next((lane for lane in lanes if lane.is_up), next(iter(lanes), None))

    def _lane_at(self, place: Place) -> Lane:
        lane = self._lanes.get(place)
        if lane is None:
            where = at(self._model, place)

            async def find() -> Endpoint:
                return where

            batch = batch_to(find, self._replicas, partial(self._redirect, place))
            lane = self._lanes[place] = Lane(place, batch)
        return lane

    def _redirect(self, place: Place, call: Call, caller: Caller, error: StoreError) -> bool:
        """Whether a call that failed is sent to another lane."""
        if not isinstance(error, StoreRefusedError):
            lane = self._lanes.get(place)
            if lane is not None:
                lane.is_up = False
            self.look()
            return False
        kind, *rest = str(error).split(" ")
        if kind in LOOK_FOR:
            self.look()
        if kind not in ("MOVED", "ASK") or call.hops == MOST_HOPS:
            return False
        slot, target = rest
        host, _, port = target.rpartition(":")
        lane = self._lane_at((host if host not in ("", "?") else place[0], int(port)))
        again = Call(call.command, call.script, call.hops + 1, call.is_durable)
        if kind == "MOVED":
            self._by_slot[int(slot)] = lane
            self._tell(frozenset())
            self.look()
        else:
            # The same way as the call, right before it.
            lane.batch.ask(Call(ASKING, is_durable=call.is_durable), _ignore)
        lane.batch.ask(again, caller)
        return True

    def _doubt(self) -> None:
        """A lane is silent: find out which one."""
        for lane in self._lanes.values():
            self._ping(lane)
        self.look()

    def _ping(self, lane: Lane) -> None:
        if lane.ping is None:
            lane.is_up = False
            lane.ping = lane.batch.call(PING)
            lane.ping.add_done_callback(lane.heard)

    async def _look(self) -> None:
        try:
            while not await self._look_once():  # noqa: ASYNC110 - a read, no state
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            self._looking = None

    async def _look_once(self) -> bool:
        """Read the map. Returns whether all lanes are up."""
        try:
            self._take(await read_map(self._model, self._shuffled()))
        except StoreError as error:
            self._release(error)
            return False
        self._release(None)
        down = [lane for lane in self._lanes.values() if not lane.is_up]
        for lane in down:
            self._ping(lane)
        return not down

    def _take(self, found: SlotMap) -> None:
        self._nodes = found.nodes
        before = [*self._by_slot]
        for first, last, place in found.ranges:
            lane = self._lane_at(place)
            self._by_slot[first : last + 1] = [lane] * (last - first + 1)
        gone = frozenset(self._lanes.keys() - found.primaries)
        for place in gone:
            logger.warning("%s:%d is no primary of the cluster any more", *place)
            lane = self._lanes.pop(place)
            lane.batch.drop("it is no primary any more")
            # A slot without an owner has to be looked up again.
            self._by_slot = [None if each is lane else each for each in self._by_slot]
        if self._by_slot != before:
            self._tell(gone)

    def _tell(self, gone: frozenset[Place]) -> None:
        for follower in tuple(self._followers):
            follower(gone)

    def _release(self, error: StoreError | None) -> None:
        """Send the calls that waited for a map, or end them."""
        held, self._held = self._held, []
        for call, caller, meanwhile in held:
            lane = self._lane_of(call)
            if lane is not None:
                lane.batch.ask(call, caller, meanwhile)
                continue
            if meanwhile is not None:
                meanwhile()
            failed = error or StoreError("CLUSTERDOWN no node has this slot")
            later = caller(type(failed)(str(failed)))
            if later is not None:
                later()


def _ignore(answer: Any) -> Later | None:
    return None
