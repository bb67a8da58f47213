"""The store becomes an older copy of itself, in which a room does not exist yet.

The copy is made of all keys. A live node that holds the whole log puts the room back; what was
removed, and what an emptied store does not know, stays away.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from redis.asyncio import Redis

from tests.live.live_rooms import (
    FakeViewer,
    LiveNode,
    begin,
    live_node,
    no_fault,
    whole_log,
)
from tests.live.test_follower import doubt, everything, losses, toggle
from towerhall_protocol.messages import ServerFrame, ServerWelcome
from towerhall_server.eventlog import scripts
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.eventlog.notifications import Alive, Wake
from towerhall_server.live import directory as directory_module
from towerhall_server.live.follower import BACKSTOP_MS
from towerhall_server.live.replica import TAIL
from towerhall_server.store.errors import StoreError

Copy = dict[Any, tuple[Any, int]]


async def copy_of_all(redis: Redis) -> Copy:
    """Everything that the store holds now."""
    return {
        name: (await redis.dump(name), max(await redis.pttl(name), 0))
        for name in await redis.keys()
    }


async def become(redis: Redis, copy: Copy) -> None:
    """The store is that copy from now on."""
    async with redis.pipeline(transaction=True) as together:
        together.flushdb()
        for name, (data, ttl_ms) in copy.items():
            together.restore(name, ttl_ms, data)
        await together.execute()


async def seated(node: LiveNode) -> FakeViewer:
    """A new room in which its host sits: seq 2."""
    ann = await FakeViewer("ann").enter(await node.found())
    await ann.do("sit")
    return ann


async def whole(redis: Redis, code: str) -> tuple[Any, ...]:
    return (*await everything(redis, code), await redis.get(room_keys(code).secret))


@pytest.mark.parametrize("by", ["doubt", "command", "refusal"])
async def test_a_room_younger_than_the_copy_is_put_back_byte_for_byte(
    by: str, redis: Redis, one: LiveNode, deaf: LiveNode
) -> None:
    copy = await copy_of_all(redis)
    ann = await seated(one)
    await toggle(ann, 4)
    before = await whole(redis, ann.code)
    await become(redis, copy)
    if by == "doubt":
        await doubt(ann)
    elif by == "command":
        assert (await ann.do("ready")).seq == 7
        log, *rest = await whole(redis, ann.code)
        before = (before[0], *rest) if log[:-1] == before[0] else ()
    else:
        assert await ann.refused("sit") == "already_seated"
    found = await whole(redis, ann.code)
    assert (found[0][: len(before[0])], *found[1:]) == before
    assert losses(ann) == []
    assert ann.closed is None
    no_fault(ann)
    # A node that only knows the store has all of it, the commands too.
    bob = await deaf.enter(ann.code, "bob")
    assert bob.view == ann.view
    again = await FakeViewer("ann", ann.origin).enter(await deaf.open(ann.code))
    assert again.view == ann.view


async def test_a_room_of_which_only_the_creation_is_known_is_put_back(
    redis: Redis, one: LiveNode
) -> None:
    copy = await copy_of_all(redis)
    ann = await FakeViewer("ann").enter(await one.found())
    log, lobby, _, secret = await whole(redis, ann.code)
    await become(redis, copy)
    await doubt(ann)
    found = await whole(redis, ann.code)
    assert (*found[:2], found[3]) == (log, lobby, secret)
    assert (await ann.do("sit")).seq == 2
    no_fault(ann)


async def test_what_is_put_back_keeps_its_deadline_and_expires_as_before(
    redis: Redis, one: LiveNode
) -> None:
    copy = await copy_of_all(redis)
    ann = await seated(one)
    keys = room_keys(ann.code)
    await become(redis, copy)
    await doubt(ann)
    deadline = ann.room.follower.deadline_ms + BACKSTOP_MS
    assert await redis.zscore(keys.shard.due, ann.code) == deadline
    for key in (keys.log, keys.secret):
        assert await redis.pttl(key) > 50 * 24 * 3_600_000


async def test_two_nodes_put_a_room_back_together(
    redis: Redis, one: LiveNode, other: LiveNode
) -> None:
    copy = await copy_of_all(redis)
    ann = await seated(one)
    bob = await other.enter(ann.code, "bob")
    await bob.do("sit")
    await begin_again(ann, bob)
    entries = await whole_log(one.url, ann.code)
    await become(redis, copy)
    await asyncio.gather(doubt(ann), doubt(bob))
    assert (await whole_log(one.url, ann.code))[: len(entries)] == entries
    assert losses(ann) == losses(bob) == []
    no_fault(ann, bob)


async def begin_again(ann: FakeViewer, bob: FakeViewer) -> None:
    await ann.do("ready")
    await bob.do("ready")
    await ann.do("start")


async def test_a_replica_that_knows_less_does_not_undo_what_another_puts_back(
    redis: Redis, one: LiveNode, deaf: LiveNode
) -> None:
    copy = await copy_of_all(redis)
    ann = await seated(one)
    eve = await deaf.enter(ann.code, "eve")
    await toggle(ann, 3)
    assert eve.replay.seq == 2
    entries = await whole_log(one.url, ann.code)
    await become(redis, copy)
    await doubt(eve)
    await doubt(ann)
    await doubt(eve)
    assert await whole_log(one.url, ann.code) == entries
    assert losses(ann) == losses(eve) == []
    assert eve.view == ann.view
    no_fault(ann, eve)


async def test_a_log_that_is_not_held_from_its_beginning_is_gone_and_everybody_is_told(
    redis: Redis, one: LiveNode
) -> None:
    copy = await copy_of_all(redis)
    ann = await seated(one)
    await toggle(ann, TAIL - 1)
    assert ann.place.seq == TAIL + 1
    await become(redis, copy)
    ann.room.doubt()
    assert await ann.ended() == "room_gone"
    assert await redis.exists(room_keys(ann.code).log) == 0
    assert one.directory.node.meters.lost_commits == TAIL + 1


async def test_a_removed_room_is_not_put_back(redis: Redis, one: LiveNode, deaf: LiveNode) -> None:
    """The other node holds all of the log, and has not heard of the removal."""
    ann = await seated(one)
    stale = await deaf.enter(ann.code, "eve")
    await one.log.remove(ann.code, ann.place)
    stale.room.doubt()
    assert await stale.ended() == "room_gone"
    ann.room.doubt()
    assert await ann.ended() == "room_gone"
    keys = room_keys(ann.code)
    assert await redis.exists(keys.log, keys.secret) == 0
    assert 0 < await redis.pttl(keys.ended) <= scripts.ENDED_MS
    assert [node.directory.node.meters.lost_commits for node in (one, deaf)] == [0, 0]


async def test_the_store_remembers_an_end_for_longer_than_a_room_may_be_put_back(
    redis: Redis, one: LiveNode, deaf: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert scripts.ENDED_MS > scripts.RESTORE_MS
    monkeypatch.setattr(scripts, "RESTORE_MS", 0)
    ann = await seated(one)
    await asyncio.sleep(0.01)
    await redis.delete(room_keys(ann.code).log)
    ann.room.doubt()
    assert await ann.ended() == "room_gone"


async def test_a_room_is_not_put_back_into_a_store_that_was_emptied(
    redis: Redis, one: LiveNode
) -> None:
    ann, bob = await seated(one), await seated(one)
    await redis.flushall()
    ann.room.doubt()
    assert await ann.ended() == "room_gone"
    await asyncio.sleep(0.01)
    await one.directory.beat_once()
    bob.room.doubt()
    assert await bob.ended() == "room_gone", "nor when its clock runs again"
    assert await redis.keys("*:log:*") == []


async def test_a_room_that_is_about_to_begin_under_the_same_code_is_left_alone(
    redis: Redis, one: LiveNode
) -> None:
    copy = await copy_of_all(redis)
    ann = await seated(one)
    await become(redis, copy)
    await redis.set(room_keys(ann.code).secret, b"of another room")
    ann.room.doubt()
    assert await ann.ended() == "room_gone"
    assert await redis.get(room_keys(ann.code).secret) == b"of another room"


async def a_break(node: LiveNode, *, neighbour: bool = True) -> None:
    """The node has another one beside it, and its subscription broke just now."""

    async def broken() -> AsyncIterator[Wake]:
        if neighbour:
            yield Alive("another")
        raise StoreError("broken")

    listening = asyncio.create_task(node.directory.listen(broken))
    await asyncio.sleep(0.05)
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)


async def test_who_comes_to_another_node_waits_until_the_room_is_put_back(
    redis: Redis, one: LiveNode, deaf: LiveNode
) -> None:
    copy = await copy_of_all(redis)
    ann = await seated(one)
    await become(redis, copy)
    await a_break(deaf)
    coming = asyncio.create_task(deaf.enter(ann.code, "bob"))
    await asyncio.sleep(0.3)
    assert not coming.done()
    await doubt(ann)
    bob = await coming
    assert bob.of(ServerWelcome)[0].arrival.lost == 0
    assert bob.view == ann.view


async def test_without_another_node_a_missing_room_is_gone_at_once(
    one: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory_module, "RESTORE_SECONDS", 60.0)
    await a_break(one, neighbour=False)
    async with asyncio.timeout(5.0):
        assert await one.directory.open("ZZZZZZ") is None


async def test_a_turn_lasts_no_longer_after_the_clock_of_the_store_went_back(
    url: str, redis: Redis
) -> None:
    async with live_node(url) as node:
        ann = await FakeViewer("ann").enter(await node.found(turn_seconds=30))
        bob = await node.enter(ann.code, "bob")
        await begin(ann, bob)
        clock = room_keys(ann.code).shard.clock
        await redis.hincrby(clock, "served", 3_600_000)
        await redis.hincrby(clock, "last", -1000)
        await node.directory.beat_once()
        known = int(await redis.hget(clock, "served") or 0)
        assert known > 3_600_000
        await redis.hincrby(clock, "served", -3_600_000)
        await node.directory.beat_once()
        assert int(await redis.hget(clock, "served") or 0) >= 3_600_000
        assert node.directory.node.clock.now_ms(ann.room.follower.shard) >= known
        mover = ann if ann.replay.offers else bob
        frame = await mover.move()
        assert isinstance(frame, ServerFrame)
        assert ann.room.follower.room.served_ms >= known - 5_000
