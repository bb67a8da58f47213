"""Limits: what is let through, how long the rest waits, and how much is remembered."""

import gc
import sys
import tracemalloc
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from towerhall_server.access.rates import Bucket, Buckets, Counts, Limits, Rate, ip_key

rates = st.builds(Rate, st.floats(0.001, 1000), st.integers(1, 50))
starts = st.floats(0, 1e7)


def allowed(bucket: Bucket, now: float, tries: int = 100) -> int:
    return sum(bucket.take(now) == 0 for _ in range(tries))


def test_the_limits_are_those_that_the_service_promises() -> None:
    limits = Limits()
    assert limits.message_bytes == 4096
    assert limits.hello_seconds == 5
    assert limits.request_seconds == 10
    assert limits.header_bytes == 16 * 1024
    assert limits.path_bytes == 4 * 1024
    assert limits.connections_per_ip == 512
    assert limits.commands == Rate(10, 20)
    assert limits.chat == Rate(1, 5)
    assert limits.watcher_chat == Rate(0.5, 3)
    assert limits.watcher_chat_per_room == Rate(2, 10)
    assert limits.sockets_per_ip == 256
    assert limits.sockets_per_identity == 32
    assert limits.spectators_per_room == 200


@pytest.mark.parametrize(
    ("rate", "at_once", "later", "then"),
    [
        (Limits().commands, 20, 1.0, 10),
        (Limits().chat, 5, 1.0, 1),
        (Limits().bad_messages, 10, 10.0, 10),
        (Limits().rooms_per_identity, 20, 3600.0, 20),
        (Limits().rooms_per_ip, 100, 3600.0, 100),
        (Limits().guests_per_ip, 30, 60.0, 30),
        (Limits().revocations_per_ip, 20, 3600.0, 20),
    ],
)
def test_a_burst_is_let_through_and_then_the_rate(
    rate: Rate, at_once: int, later: float, then: int
) -> None:
    bucket = rate.bucket()
    assert allowed(bucket, 1000.0) == at_once
    assert allowed(bucket, 1000.0) == 0
    assert allowed(bucket, 1000.0 + later) == then
    assert allowed(bucket, 1000.0 + later * 100) == at_once


def test_who_is_refused_learns_how_long_to_wait() -> None:
    bucket = Bucket(10, 2)
    assert [bucket.take(5.0) for _ in range(3)] == [0, 0, 100]
    assert bucket.take(5.06) == 40
    assert bucket.take(5.0999) == 1
    assert bucket.take(5.1) == 0


def test_asking_again_and_again_does_not_prolong_the_wait() -> None:
    bucket = Bucket(1, 1)
    assert bucket.take(0.0) == 0
    assert [bucket.take(0.5) for _ in range(1000)] == [500] * 1000
    assert bucket.take(1.0) == 0


@given(rates, starts, st.lists(st.floats(0, 3), max_size=100))
def test_never_more_than_the_burst_and_the_rate_together(
    rate: Rate, start: float, pauses: list[float]
) -> None:
    bucket, now, count = rate.bucket(), start, 0
    for pause in pauses:
        now += pause
        count += bucket.take(now) == 0
        assert count <= rate.burst + (now - start) * rate.per_second * (1 + 1e-6) + 0.01


@given(rates, starts, st.lists(st.floats(0, 0.1), min_size=1, max_size=100))
def test_who_waits_as_long_as_told_is_let_through(
    rate: Rate, start: float, pauses: list[float]
) -> None:
    bucket, now = rate.bucket(), start
    for pause in pauses:
        now += pause
        wait = bucket.take(now)
        if wait:
            now += wait / 1000
            assert bucket.take(now) == 0


def test_a_clock_that_steps_back_gives_nothing_away() -> None:
    bucket = Bucket(1, 1)
    assert bucket.take(100.0) == 0
    assert bucket.take(50.0) > 0
    assert bucket.take(101.0) == 0


def test_a_bucket_is_small() -> None:
    bucket = Bucket(10, 20)
    assert not hasattr(bucket, "__dict__")
    assert sys.getsizeof(bucket) <= 64


@pytest.mark.parametrize(("per_second", "burst"), [(0, 1), (-1, 1), (inf, 1), (nan, 1), (1, 0)])
def test_a_rate_that_makes_no_sense_is_refused(per_second: float, burst: int) -> None:
    with pytest.raises(ValueError, match="rate"):
        Rate(per_second, burst)


def test_keys_do_not_take_from_each_other() -> None:
    buckets = Buckets(Rate(1, 2))
    assert [buckets.take("a", 0.0) for _ in range(3)] == [0, 0, 1000]
    assert [buckets.take("b", 0.0) for _ in range(3)] == [0, 0, 1000]
    assert buckets.take("a", 1.0) == 0


def test_idle_keys_are_forgotten() -> None:
    buckets = Buckets(Rate(1, 2))
    for number in range(100):
        buckets.take(f"{number}", 0.0)
    assert len(buckets) == 100
    for number in range(100):
        buckets.take("other", 10.0 + number)
    assert len(buckets) == 1


def test_busy_keys_are_not_forgotten_while_there_is_room() -> None:
    buckets = Buckets(Rate(1 / 60, 1), keys_max=100)
    assert buckets.take("busy", 0.0) == 0
    for number in range(99):
        buckets.take(f"{number}", 1.0)
    assert buckets.take("busy", 2.0) == 58_000


def test_who_keeps_asking_is_not_forgotten_even_in_a_rush() -> None:
    buckets = Buckets(Rate(1 / 3600, 1), keys_max=10)
    assert buckets.take("busy", 0.0) == 0
    for number in range(1000):
        buckets.take(f"{number}", 1.0)
        assert buckets.take("busy", 1.0) > 0


@given(st.lists(st.tuples(st.integers(0, 30), st.floats(0, 5)), max_size=200))
def test_without_a_rush_keyed_buckets_are_buckets(asked: list[tuple[int, float]]) -> None:
    rate, now = Rate(0.7, 3), 0.0
    buckets, alone = Buckets(rate), {number: rate.bucket() for number in range(31)}
    for number, pause in asked:
        now += pause
        assert buckets.take(f"{number}", now) == alone[number].take(now)


def test_a_million_addresses_take_no_more_memory_than_the_first_thousands() -> None:
    buckets = Buckets(Rate(1 / 3600, 20), keys_max=1000)
    for number in range(2000):
        buckets.take(f"{number}", 0.0)
    gc.collect()
    tracemalloc.start()
    try:
        for number in range(100_000):
            buckets.take(f"more {number}", 1.0)
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(buckets) == 1000
    assert grown < 500_000


def test_so_many_may_live_and_no_more() -> None:
    counts = Counts(2)
    assert [counts.enter("a") for _ in range(3)] == [True, True, False]
    assert counts.enter("b")
    counts.leave("a")
    assert counts.of("a") == 1
    assert [counts.enter("a") for _ in range(2)] == [True, False]


def test_counts_remember_only_what_lives() -> None:
    counts = Counts(1)
    for number in range(1000):
        assert counts.enter(f"{number}")
        assert not counts.enter(f"{number}")
    assert len(counts) == 1000
    for number in range(1000):
        counts.leave(f"{number}")
    assert len(counts) == 0
    assert counts.of("1") == 0


def test_leaving_without_having_entered_is_a_mistake_that_shows() -> None:
    counts = Counts(1)
    with pytest.raises(KeyError):
        counts.leave("a")


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans())))
def test_counts_agree_with_a_list_of_the_living(steps: list[tuple[str, bool]]) -> None:
    counts, living = Counts(3), list[str]()
    for key, enters in steps:
        if enters:
            if counts.enter(key):
                living.append(key)
        elif key in living:
            counts.leave(key)
            living.remove(key)
        assert [counts.of(key) for key in "abc"] == [living.count(key) for key in "abc"]
        assert max(map(living.count, "abc")) <= 3
        assert len(counts) == len(set(living))


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/56"),
        ("2001:db8:1:ff::ffff", "2001:db8:1::/56"),
        ("2001:db8:1:102::ffff", "2001:db8:1:100::/56"),
        ("fe80::1%eth0", "fe80::/56"),
        ("", ""),
        ("testclient", "testclient"),
    ],
)
def test_all_addresses_of_one_subscriber_count_as_one(address: str, key: str) -> None:
    assert ip_key(address) == key
