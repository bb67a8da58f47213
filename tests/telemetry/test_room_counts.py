"""What rooms count of what the store answers them, on every engine."""

from redis.asyncio import Redis

from tests.eventlog.conftest import engine_url, redis
from tests.live.conftest import deaf, one, url
from tests.live.live_rooms import FakeViewer, LiveNode, copy_of, go_back
from towerhall_server.live.items import Resync

__all__ = ["deaf", "engine_url", "one", "redis", "url"]


async def test_a_conflict_is_counted_by_the_node_that_came_second(
    one: LiveNode, deaf: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    bob = await deaf.enter(ann.code, "bob")
    await ann.do("sit")
    await bob.do("sit")
    first, second = one.directory.node.meters, deaf.directory.node.meters
    assert (first.appends, dict(first.answers)) == (1, {})
    assert (second.appends, dict(second.answers)) == (1, {"conflict": 1})
    assert sum(second.append_seconds.counts) == 2
    assert sum(second.broadcast_seconds.counts) == 1
    assert first.rooms_created == 1
    assert second.rooms_created == 0


async def test_commits_that_were_lost_are_counted(
    redis: Redis, one: LiveNode, deaf: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await deaf.found())
    await ann.do("sit")
    copy = await copy_of(redis, ann.code)
    for _ in range(3):
        await ann.do("ready")
    await go_back(redis, ann.code, copy)
    twin = await one.enter(ann.code, "ann")
    await twin.do("ready")
    await ann.do("ready")
    assert deaf.directory.node.meters.lost_commits == 3
    assert one.directory.node.meters.lost_commits == 0


async def test_a_viewer_that_starts_again_is_counted(one: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    ann.room.put(Resync(ann))
    await ann.do("sit")
    assert one.directory.node.meters.resyncs == 1


async def test_what_was_done_before_and_what_is_refused_is_counted(one: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    await ann.do("sit")
    meters = one.directory.node.meters
    assert await ann.refused("sit") == "already_seated"
    assert await ann.refused("sit") == "already_seated"
    assert meters.rejects == {"already_seated": 2}
    assert meters.duplicates == 0
