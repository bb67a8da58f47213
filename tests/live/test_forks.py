"""A reply is lost, and then the store loses its tail: the log must not fork, nor poison a room."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from redis.asyncio import Redis

from tests.live.live_rooms import (
    FakeViewer,
    LiveNode,
    copy_of,
    go_back,
    no_fault,
    sit_down,
    whole_log,
)
from towerhall_protocol.messages import ServerReset
from towerhall_server.eventlog.answers import Append, Mistimed
from towerhall_server.eventlog.entry import Stamps
from towerhall_server.eventlog.keys import SHARDS, shard_of
from towerhall_server.eventlog.log import EventLog

HOUR_MS = 3_600_000


def delivered_and_lost(
    node: LiveNode, redis: Redis, bob: FakeViewer, change: Callable[[Append], Append]
) -> Callable[[Append], Awaitable[None]]:
    """The next request reaches the store without a reply, bob hears of it, and the store loses it.
    After that the request is sent again."""

    async def accident(wanted: Append) -> None:
        node.log.before_append = None
        copy = await copy_of(redis, bob.code)
        async with EventLog(node.url, "one") as line:
            await line.append(change(wanted))
        await bob.reach(wanted.before.seq + 1)
        await go_back(redis, bob.code, copy)
        await asyncio.sleep(0.01)

    return accident


async def test_a_repeated_request_puts_back_the_entry_that_others_have_heard_of(
    redis: Redis, one: LiveNode, other: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    bob = await other.enter(ann.code, "bob")
    await sit_down(ann, bob)
    resets = len(bob.of(ServerReset))
    one.log.before_append = delivered_and_lost(one, redis, bob, lambda wanted: wanted)
    await ann.do("ready")
    await bob.do("ready", ready=False)
    await ann.reach(bob.replay.seq)
    assert ann.place == bob.place
    assert len(await whole_log(one.url, ann.code)) == bob.replay.seq
    assert len(bob.of(ServerReset)) == resets
    no_fault(ann, bob)


async def test_a_node_whose_clock_is_wrong_asks_the_store_and_goes_on(one: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await one.found(turn_seconds=60))
    clock, shard = one.directory.node.clock, shard_of(ann.code)
    for wrong_ms in (HOUR_MS, -HOUR_MS):
        now = clock.now(shard)
        clock.hear(shard, Stamps(now.wall_ms + wrong_ms, now.served_ms + wrong_ms))
        await ann.do("sit" if wrong_ms > 0 else "stand")
    assert one.log.count(Mistimed) >= 1
    first, *_, last = await whole_log(one.url, ann.code)
    assert last.stamps.wall_ms - first.stamps.wall_ms < 60_000
    no_fault(ann)


@pytest.mark.parametrize("wrong_ms", [HOUR_MS, -HOUR_MS])
async def test_a_room_is_made_though_the_clock_of_its_node_is_wrong(
    one: LiveNode, wrong_ms: int
) -> None:
    clock = one.directory.node.clock
    for shard in range(SHARDS):
        now = clock.now(shard)
        clock.hear(shard, Stamps(now.wall_ms + wrong_ms, now.served_ms))
    ann = await FakeViewer("ann").enter(await one.found())
    assert one.log.count(Mistimed) == 1, "the store is asked once more, for the same room"
    await ann.do("sit")
    assert ann.place.seq == 2
    no_fault(ann)
