"""When the store wakes a room: a decision keeps its deadline, whatever else happens meanwhile."""

import asyncio

from redis.asyncio import Redis

from tests.live.live_rooms import FakeViewer, LiveNode, begin, no_fault
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.live.follower import BACKSTOP_MS

TURN_SECONDS = 300


async def deadline_ms(redis: Redis, code: str) -> int:
    """The service time at which the store gives the room out."""
    return round(await redis.zscore(room_keys(code).shard.due, code) or 0)


async def test_what_decides_nothing_does_not_move_the_deadline_of_a_turn(
    redis: Redis, one: LiveNode
) -> None:
    one.beat()
    ann = await FakeViewer("ann").enter(await one.found(turn_seconds=TURN_SECONDS))
    bob = await one.enter(ann.code, "bob")
    await begin(ann, bob)
    room = ann.room.follower.room
    expected = room.began_ms + 1000 * TURN_SECONDS + BACKSTOP_MS
    assert await deadline_ms(redis, ann.code) == expected
    await asyncio.sleep(0.01)
    await ann.do("want_end")
    assert ann.room.follower.room.served_ms > room.served_ms, "later, by the service clock"
    assert ann.room.follower.room.began_ms == room.began_ms
    assert await deadline_ms(redis, ann.code) == expected
    await (ann if ann.replay.offers else bob).move()
    assert await deadline_ms(redis, ann.code) > expected
    no_fault(ann, bob)
