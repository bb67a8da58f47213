"""Seats that quickplay gave: whoever does not come loses it, whatever becomes of the nodes."""

import asyncio
from typing import Any

import pytest
from redis.asyncio import Redis

from tests.live.live_rooms import LiveNode, live_node
from tests.lobby.test_quickplay import At, here, person, there
from towerhall_server.eventlog.lobby import COMING, Expected
from towerhall_server.lobby import arrivals, quickplay
from towerhall_server.lobby.arrivals import ExpectedPeople
from towerhall_server.room.table import Table
from towerhall_server.store.errors import StoreError

__all__ = ["here", "there"]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "LEASE_MS", 300)
    monkeypatch.setattr(arrivals, "SWEEP_SECONDS", 0.05)


async def table_of(node: LiveNode, code: str) -> Table:
    actor = await node.open(code)
    await actor.follower.catch_up()
    return actor.follower.room.table


async def time_is_up(redis: Redis) -> None:
    """For everybody who has been seated so far."""
    who: Any = await redis.zrange(COMING, 0, -1)
    await redis.zadd(COMING, dict.fromkeys(who, 1))


async def expected(redis: Redis) -> int:
    return int(await redis.zcard(COMING))


async def test_whoever_does_not_come_loses_the_seat_and_who_is_there_keeps_it(
    here: At, there: At, redis: Redis
) -> None:
    ann, bob = await here.seat("ann", seats=3), await there.seat("bob", seats=3)
    cyd = await here.seat("cyd", seats=3)
    assert ann.code == bob.code == cyd.code
    # Ann looks from another node than the one that seated her; cyd is ready and has gone again.
    looking = await there.node.enter(ann.code, "ann")
    going = await here.node.enter(ann.code, "cyd")
    await going.do("ready")
    going.leave()
    await here.quickplay.expected.sweep()
    assert (await table_of(here.node, ann.code)).taken == 3, "it was too early"
    await time_is_up(redis)
    await here.quickplay.expected.sweep()
    await looking.until(lambda: str(bob.seat) not in looking.view["room"]["seats"])
    assert set(looking.view["room"]["seats"]) == {str(ann.seat), str(cyd.seat)}
    assert await expected(redis) == 0


async def test_another_node_frees_the_seats_that_a_dead_one_gave(
    url: str, there: At, redis: Redis
) -> None:
    async with live_node(url, "mortal") as mortal:
        ann = await At(mortal).seat("ann")
    assert (await table_of(there.node, ann.code)).taken == 1
    await time_is_up(redis)
    await there.quickplay.expected.sweep()
    assert (await table_of(there.node, ann.code)).taken == 0
    assert (await there.seat("bob")).code == ann.code, "and somebody else can have it"


async def test_a_node_that_dies_before_the_seat_is_given_leaves_nothing_to_do(
    here: At, there: At, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def dies(*_: object) -> None:
        raise asyncio.CancelledError

    with monkeypatch.context() as patched:
        patched.setattr(quickplay, "ask", dies)
        with pytest.raises(asyncio.CancelledError):
            await here.seat("ann")
    assert await expected(redis) == 1, "it is noted before the seat is given"
    await time_is_up(redis)
    await there.quickplay.expected.sweep()
    assert await expected(redis) == 0


async def test_what_a_dead_sweeper_had_taken_is_taken_by_the_next(
    here: At, there: At, redis: Redis
) -> None:
    ann = await here.seat("ann")
    await time_is_up(redis)
    taken = await here.store.late(arrivals.LEASE_MS, 10)
    assert [who for who, _ in taken] == [Expected(ann.code, person("ann").id)]
    await there.quickplay.expected.sweep()
    assert (await table_of(there.node, ann.code)).taken == 1, "it is somebody else's for a while"
    await asyncio.sleep(arrivals.LEASE_MS / 1000)
    await there.quickplay.expected.sweep()
    assert (await table_of(there.node, ann.code)).taken == 0


async def test_who_is_seated_anew_meanwhile_has_all_of_the_time(here: At, redis: Redis) -> None:
    ann = await here.seat("ann")
    await time_is_up(redis)
    ((who, till),) = await here.store.late(arrivals.LEASE_MS, 10)
    await here.store.expect(who, 5_000)
    await here.store.settle_expected(who, till)
    assert await expected(redis) == 1
    assert who.room == ann.code
    assert await here.store.late(0, 10) == []


async def test_those_whose_room_is_gone_or_has_begun_are_forgotten(
    here: At, there: At, redis: Redis
) -> None:
    ann = await here.seat("ann")
    await there.seat("bob")
    viewers = [await here.node.enter(ann.code, name) for name in ("ann", "bob")]
    await viewers[1].do("ready")
    await viewers[0].do("start")
    for viewer in viewers:
        viewer.leave()
    await here.store.expect(Expected("ZZZZZZ", person("cyd").id), 0)
    await time_is_up(redis)
    await there.quickplay.expected.sweep()
    assert (await table_of(there.node, ann.code)).taken == 2
    assert await expected(redis) == 0


async def test_after_an_outage_people_have_all_of_their_time_again(
    here: At, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrivals, "COMING_MS", 1000)
    swept: list[float] = []
    loop = asyncio.get_running_loop()

    async def late(*_: object) -> list[object]:
        swept.append(loop.time())
        if len(swept) == 2:
            raise StoreError("down")
        return []

    monkeypatch.setattr(here.store, "late", late)
    began = loop.time()
    running = asyncio.create_task(ExpectedPeople(here.node.directory, here.store).run())
    async with asyncio.timeout(10):
        while len(swept) < 3:  # noqa: ASYNC110 - nobody announces it
            await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.wait((running,))
    assert swept[0] - began >= 0.99
    assert swept[1] - swept[0] < 0.9
    assert swept[2] - swept[1] >= 0.99
