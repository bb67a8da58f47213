"""Somebody else was first: what then becomes of commands, bots, clocks and timers.

Two nodes on one store stand for any number. Who comes first is not left to luck: just before an
append goes out, a test lets the other node have its way.
"""

import asyncio
from collections import defaultdict
from random import Random
from time import monotonic
from typing import Any

import pytest
from redis.asyncio import Redis

from tests.live.judging import rightful
from tests.live.live_rooms import (
    FakeViewer,
    LiveNode,
    begin,
    commits_of,
    hurry,
    live_node,
    no_fault,
    sit_down,
    whole_log,
)
from tests.store.processes import eventually
from towerhall_server.eventlog.answers import Append, Conflict, Early
from towerhall_server.eventlog.entry import Stamps
from towerhall_server.eventlog.keys import room_keys, shard_of
from towerhall_server.live import actor as actor_module
from towerhall_server.live import alarm
from towerhall_server.live.items import Doubt, TimeIsUp
from towerhall_server.room.commits import decode_commit
from towerhall_server.room.during import TIMEOUTS_TO_GO
from towerhall_server.room.events import BotStoodIn, TimedOut
from towerhall_server.room.state import sender_of


async def test_a_command_that_came_second_is_decided_again_and_lands(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    bob = await other.enter(ann.code, "bob")
    one.log.next_append(lambda: bob.do("sit"))
    assert (await ann.do("sit")).seq == 3
    assert one.log.count(Conflict) == 1
    await bob.reach(3)
    assert ann.view == bob.view
    assert [holder["name"] for holder in ann.view["room"]["seats"].values()] == ["bob", "ann"]
    no_fault(ann, bob)


async def test_a_bot_that_came_second_makes_no_second_move(
    url: str, one: LiveNode, other: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alarm, "GRACE_MS", 5)
    one.beat()
    other.beat()
    ann = await FakeViewer("ann").enter(await one.found(seats=3))
    await sit_down(ann, bots=2)
    actors = (ann.room, await other.open(ann.code))
    ready: dict[int, int] = defaultdict(int)

    async def meet_the_rival(wanted: Append) -> None:
        """Every bot's move is tried by both nodes, and neither knows of the other's."""
        if sender_of(decode_commit(wanted.entry.blob, ann.room.follower.room.rules).cause):
            return
        ready[wanted.before.seq] += 1
        for actor in actors:
            actor.put(Doubt())
            actor.put(TimeIsUp())
        await eventually(lambda: ready[wanted.before.seq] >= 2)

    one.log.before_append = other.log.before_append = meet_the_rival
    await ann.do("start")
    await ann.play(Random(1))
    commits = await commits_of(url, ann.code)
    bots = [commit for commit in commits if commit.cause.seat >= 0 and not commit.cause.n]
    assert len(bots) > 3
    await eventually(lambda: one.log.count(Conflict) + other.log.count(Conflict) == len(bots))
    assert await rightful(url, ann.room)
    no_fault(ann)


async def test_a_clock_that_runs_out_on_two_nodes_is_one_timeout(
    url: str, redis: Redis, one: LiveNode, other: LiveNode
) -> None:
    """Whoever is timed out three times in a row is played by a bot, which is done once as well."""
    room = await one.found(turn_seconds=30, bot_delay_ms=10_000)
    ann = await FakeViewer("ann").enter(room)
    bob = await other.enter(ann.code, "bob")
    await begin(ann, bob)
    while ann.status != "over":
        top = ann.replay.seq
        await bob.reach(top)
        await hurry(redis, ann.code, 30_000)
        await asyncio.gather(one.directory.beat_once(), other.directory.beat_once())
        ann.room.put(TimeIsUp())
        bob.room.put(TimeIsUp())
        await ann.reach(top + 1)
        await bob.reach(top + 1)
        await asyncio.sleep(0.01)
        assert ann.replay.seq == bob.replay.seq == top + 1
    commits = await commits_of(url, ann.code)
    timeouts = [commit for commit in commits if any(isinstance(e, TimedOut) for e in commit.room)]
    stood_in = [event.seat for c in commits for event in c.room if isinstance(event, BotStoodIn)]
    assert len(timeouts) == 2 * TIMEOUTS_TO_GO
    assert sorted(stood_in) == [0, 1]
    by_itself = [commit for commit in commits if commit.game and not commit.cause.n]
    assert len(by_itself) == len([commit for commit in commits if commit.game]) - 1 > 10
    assert one.log.count(Conflict) + other.log.count(Conflict) > 0
    assert await rightful(url, ann.room, hurried=True)
    no_fault(ann, bob)


async def test_a_timer_that_is_early_waits_for_the_rest_and_fires_once(
    url: str, one: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found(turn_seconds=1))
    bob = await one.enter(ann.code, "bob")
    since = monotonic()
    await begin(ann, bob)
    top, clock = ann.replay.seq, one.directory.node.clock
    shard = shard_of(ann.code)
    now = clock.now(shard)
    clock.hear(shard, Stamps(now.wall_ms, now.served_ms + 1_000))
    ann.room._alarm.stop()  # so that only the rest is waited for
    ann.room.put(TimeIsUp())
    ann.room.put(TimeIsUp())
    await ann.reach(top + 1)
    assert one.log.count(Early) >= 1
    passed_ms = 1_000 * (monotonic() - since)
    began, fired = (await whole_log(url, ann.code))[top - 1 : top + 1]
    # The node moves a service clock on that is behind its own; the clock was a second ahead here.
    assert 1_000 <= fired.stamps.served_ms - began.stamps.served_ms < 1_100 + passed_ms
    await asyncio.sleep(0.1)
    # A slow machine may see the next turn end as well, which takes another second.
    later = (await whole_log(url, ann.code))[top + 1 :]
    assert all(e.stamps.served_ms >= fired.stamps.served_ms + 1_000 for e in later)


async def test_a_room_that_is_watched_meets_a_far_deadline_by_itself(
    one: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actor_module, "NEAR_MS", 100)
    ann = await FakeViewer("ann").enter(await one.found(turn_seconds=1))
    bob = await one.enter(ann.code, "bob")
    await begin(ann, bob)
    # Nobody beats here: the index of deadlines wakes nobody.
    await ann.reach(ann.replay.seq + 1)


async def test_a_clock_goes_on_after_a_conflict_that_nobody_else_made(
    url: str, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with live_node(url, listens=False) as node:
        ann = await FakeViewer("ann").enter(await node.found(turn_seconds=5))
        bob = await node.enter(ann.code, "bob")
        await sit_down(ann, bob)
        key = room_keys(ann.code).log
        before = await redis.dump(key)
        top = (await ann.do("start")).seq
        after = await redis.dump(key)
        assert before
        assert after

        async def lose_the_end() -> None:
            await redis.restore(key, 0, before, replace=True)
            monkeypatch.setattr(node.log, "read", healed_by_another_node)

        async def healed_by_another_node(*args: Any, **more: Any) -> Any:
            monkeypatch.undo()
            await redis.restore(key, 0, after, replace=True)
            return await node.log.read(*args, **more)

        node.log.next_append(lose_the_end)
        await hurry(redis, ann.code, 5_000)
        await node.directory.beat_once()
        ann.room.put(TimeIsUp())
        await ann.reach(top + 1)
        assert node.log.count(Conflict) == 1
