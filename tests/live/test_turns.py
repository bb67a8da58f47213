"""Who acts for a room that acts by itself: whoever appended last, and the others one by one."""

import pytest
from redis.asyncio import Redis

from tests.live.live_rooms import (
    FakeViewer,
    LiveNode,
    begin,
    commits_of,
    hurry,
    sit_down,
    whole_log,
)
from towerhall_server.eventlog.answers import Appended, Conflict
from towerhall_server.live import alarm
from towerhall_server.live.alarm import RANKS
from towerhall_server.live.items import TimeIsUp


async def test_who_did_not_append_last_leaves_bots_to_the_node_that_did(
    url: str, one: LiveNode, other: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alarm, "GRACE_MS", 10_000)
    one.beat()
    ann = await FakeViewer("ann").enter(await one.found(seats=3, bot_delay_ms=20))
    eve = await other.enter(ann.code, "eve")
    await sit_down(ann, bots=2)
    await eve.reach(ann.replay.seq)
    await ann.do("start")
    while ann.status != "over":
        await ann.until(lambda: ann.replay.offers or ann.status == "over")
        if ann.replay.offers:
            await ann.move()
    await eve.reach(ann.replay.seq)
    moves = [one for one in await commits_of(url, ann.code) if one.game and not one.cause.n]
    assert len(moves) > 5
    assert other.log.answers == [], "the other node tried to act, too"


async def test_nodes_that_wait_have_different_turns_which_change_with_every_commit(
    one: LiveNode, other: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    bob = await other.enter(ann.code, "bob")
    await ann.do("sit")
    turns = []
    for number in range(40):
        await ann.do("ready", ready=bool(number % 2))
        await bob.reach(ann.replay.seq)
        turns.append((ann.room.follower.rank(RANKS), bob.room.follower.rank(RANKS)))
    assert {turn for pair in turns for turn in pair} == set(range(RANKS))
    assert sum(mine != yours for mine, yours in turns) > len(turns) // 3


async def test_a_timer_that_came_second_is_dropped_and_not_tried_again(
    url: str, redis: Redis, one: LiveNode, other: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found(turn_seconds=30))
    bob = await other.enter(ann.code, "bob")
    await begin(ann, bob)
    top = ann.replay.seq
    await bob.reach(top)
    await hurry(redis, ann.code, 30_000)
    await one.directory.beat_once()
    await other.directory.beat_once()

    async def other_is_first() -> None:
        bob.room.put(TimeIsUp())
        await bob.reach(top + 1)

    one.log.next_append(other_is_first)
    before = one.log.count(Appended)
    ann.room.put(TimeIsUp())
    # Whoever comes in now comes after all that the timer led to.
    await ann.until(lambda: one.log.count(Conflict))
    await FakeViewer("eve").enter(ann.room)
    assert ann.replay.seq == top + 1
    assert one.log.count(Appended) == before
    assert len(await whole_log(url, ann.code)) == top + 1
