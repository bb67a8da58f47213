"""Token buckets in the store: what all nodes together let through, on every engine."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis

from towerhall_server.eventlog.buckets import Quota, take_call
from towerhall_server.eventlog.log import EventLog
from towerhall_server.store.errors import StoreError

HOUR = 1 / 3600


def guests(whose: str = "10.0.0.1", per_second: float = HOUR, burst: int = 3) -> Quota:
    return Quota("guests_per_ip", whose, per_second, burst)


async def test_a_burst_is_let_through_and_then_the_time_to_wait_is_told(log: EventLog) -> None:
    answers = [await log.take((guests(),)) for _ in range(5)]
    assert answers[:3] == [0, 0, 0]
    for wait_ms in answers[3:]:
        assert 3_590_000 < wait_ms <= 3_600_000
    assert await log.take((guests("10.0.0.2"),)) == 0


async def test_nodes_that_ask_at_once_get_no_more_than_one_node(
    log: EventLog, engine_url: str
) -> None:
    async with EventLog(engine_url) as second, EventLog(engine_url) as third:
        asked = [node.take((guests(burst=7),)) for node in (log, second, third) for _ in range(20)]
        answers = await asyncio.gather(*asked)
    assert answers.count(0) == 7


async def test_whoever_waits_as_long_as_told_gets_a_token(log: EventLog) -> None:
    quick = guests(per_second=2, burst=1)
    for _ in range(3):
        # Asked in one go, so that a machine that is slow to ask fills no bucket in between.
        taken, wait_ms = await asyncio.gather(log.take((quick,)), log.take((quick,)))
        assert taken == 0
        assert 0 < wait_ms <= 500
        await asyncio.sleep(wait_ms / 1000)


async def test_several_buckets_are_taken_from_together_or_not_at_all(log: EventLog) -> None:
    small, large = guests(burst=1), Quota("rooms_per_ip", "10.0.0.1", HOUR, 3)
    assert await log.take((small, large)) == 0
    for _ in range(5):
        assert await log.take((small, large)) > 0
        assert await log.take((large, small)) > 0
    assert [await log.take((large,)) > 0 for _ in range(3)] == [False, False, True]


async def test_a_bucket_leaves_the_store_when_it_is_full_again(log: EventLog, redis: Redis) -> None:
    slow, quick = guests(per_second=1 / 60, burst=5), guests(per_second=10, burst=5)
    await log.take((slow,))
    await log.take((slow,))
    assert 60_000 < await redis.pttl(slow.key) <= 120_000
    await redis.delete(slow.key)
    await log.take((quick,))
    await asyncio.sleep(0.15)
    assert await redis.keys("*quotas*") == []


async def test_keys_share_a_slot_and_tell_no_address(log: EventLog, redis: Redis) -> None:
    await log.take((guests("192.0.2.77"), Quota("rooms_per_ip", "192.0.2.77", HOUR, 3)))
    keys = await redis.keys("*")
    assert len(keys) == 2
    for key in keys:
        assert b"{quotas}" in key
        assert b"192.0.2" not in key


async def test_a_clock_that_was_set_back_locks_nobody_out(log: EventLog, redis: Redis) -> None:
    bucket = guests(per_second=1, burst=3)
    await log.take((bucket,))
    seconds, _ = await redis.time()
    await redis.set(bucket.key, (seconds + 10**6) * 10**6)
    assert 0 < await log.take((bucket,)) <= 1000


async def test_a_rate_that_was_changed_holds_at_once(log: EventLog) -> None:
    for _ in range(3):
        await log.take((guests(),))
    assert await log.take((guests(),)) > 3_000_000
    assert await log.take((guests(per_second=100),)) <= 10


async def test_what_the_engine_has_forgotten_is_told_again(log: EventLog, redis: Redis) -> None:
    await log.take((guests(),))
    await redis.script_flush()
    assert await log.take((guests(),)) == 0


async def test_a_store_that_is_not_there_is_told_as_such() -> None:
    async with EventLog("unix:///nowhere.sock") as nowhere:
        with pytest.raises(StoreError):
            await nowhere.take((guests(),))


@settings(max_examples=50)
@given(st.text(), st.floats(1e-6, 1e9), st.integers(1, 10**9))
def test_every_rate_that_can_be_set_makes_a_call(whose: str, rate: float, burst: int) -> None:
    call = take_call((Quota("rooms_per_identity", whose, rate, burst),))
    assert b"quotas" in call.command
