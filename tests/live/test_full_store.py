"""Rooms on a store without memory: what needs a write waits, people come in, old rooms end."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from redis.asyncio import Redis

from tests.live.live_rooms import FakeViewer, LiveNode, begin, live_node, no_fault, whole_log
from tests.store.processes import eventually
from towerhall_protocol.messages import ServerFrame, ServerPaused, ServerWelcome
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.live.items import TimeIsUp

HURRY = """#!lua flags=allow-oom
redis.call('HINCRBY', KEYS[1], 'served', ARGV[1])
redis.call('HINCRBY', KEYS[1], 'last', -1000)
"""
DAY_MS = 86_400_000


@asynccontextmanager
async def full(redis: Redis) -> AsyncIterator[None]:
    await redis.config_set("maxmemory", 1)
    try:
        yield
    finally:
        await redis.config_set("maxmemory", 0)


async def hurry(redis: Redis, code: str, ms: int) -> None:
    """Move the room's service clock on, which the next beat will notice."""
    await redis.eval(HURRY, 1, room_keys(code).shard.clock, ms)


def pauses(viewer: FakeViewer) -> list[bool]:
    return [message.paused for message in viewer.of(ServerPaused)]


async def test_a_room_that_has_to_write_is_paused_and_goes_on_when_there_is_space(
    redis: Redis, url: str, one: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    await ann.do("sit")
    async with full(redis):
        n = ann.ask("ready")
        await ann.until(lambda: pauses(ann) == [True])
        assert ann.answers(n) == []
        assert len(await whole_log(url, ann.code)) == 2
    assert isinstance(await ann.answer(n), ServerFrame)
    assert pauses(ann) == [True, False]
    no_fault(ann)


async def test_people_come_into_a_paused_room_and_miss_nothing(redis: Redis, one: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    bob = await FakeViewer("bob").enter(ann.room)
    await ann.do("sit")
    await bob.do("sit")
    async with full(redis):
        n = ann.ask("ready")
        await ann.until(lambda: ann.replay.paused)
        async with asyncio.timeout(5):
            eve = await FakeViewer("eve").enter(ann.room)
            again = await bob.again().enter(ann.room)
        assert [welcome.arrival.paused for welcome in eve.of(ServerWelcome)] == [True]
        assert again.replay.seq == eve.replay.seq == 3
        assert ann.answers(n) == []
    for viewer in (ann, eve, again):
        await viewer.reach(4)
        assert not viewer.replay.paused
    no_fault(ann, eve, again)


async def test_whoever_comes_into_a_paused_room_is_offered_what_follows(
    redis: Redis, one: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    bob = await FakeViewer("bob").enter(ann.room)
    await begin(ann, bob)
    mover, other = (ann, bob) if ann.replay.offers else (bob, ann)
    other.leave()
    async with full(redis):
        mover.ask(**await mover.offered())
        await mover.until(lambda: mover.replay.paused)
        back = await other.again().enter(mover.room)
    async with asyncio.timeout(5):
        await back.until(lambda: back.replay.offers)
    no_fault(ann, bob, back)


async def test_a_pause_is_one_pause_however_long_the_store_is_full(
    redis: Redis, one: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    await ann.do("sit")
    async with full(redis):
        n = ann.ask("ready")
        await ann.until(lambda: ann.replay.paused)
        # The stamps of the attempt are too old by now.
        await hurry(redis, ann.code, 60_000)
        await asyncio.sleep(2.5)
        assert pauses(ann) == [True]
    assert isinstance(await ann.answer(n), ServerFrame)


async def test_an_empty_room_ends_while_the_store_is_full(redis: Redis, one: LiveNode) -> None:
    actor = await one.found()
    one.beat()
    async with full(redis):
        await hurry(redis, actor.code, DAY_MS)
        await eventually(lambda: actor.ended)
        keys = room_keys(actor.code)
        assert not await redis.exists(keys.log, keys.secret)


@pytest.mark.parametrize("keep_days", [0, 30])
async def test_a_finished_room_ends_while_the_store_is_full(
    keep_days: int, redis: Redis, url: str
) -> None:
    async with live_node(url, keep_days=keep_days) as node:
        ann = await FakeViewer("ann").enter(await node.found())
        bob = await FakeViewer("bob").enter(ann.room)
        await begin(ann, bob)
        await ann.do("want_end")
        await bob.do("want_end")
        assert ann.status == "over"
        room, keys = ann.room, room_keys(ann.code)
        async with full(redis):
            await hurry(redis, ann.code, 2 * DAY_MS)
            await node.directory.beat_once()
            room.put(TimeIsUp())
            assert await ann.ended() == "room_gone"
            assert not await redis.exists(keys.log, keys.secret)
            assert await redis.exists(keys.record) == bool(keep_days)
