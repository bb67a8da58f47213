"""Quotas of all nodes: the store decides, a flood stays here, a silent store locks nobody out."""

import asyncio

import pytest

from towerhall_server.access import quotas as module
from towerhall_server.access.quotas import Quotas
from towerhall_server.access.rates import KEYS_MAX, Limits, Rate
from towerhall_server.eventlog.buckets import Quota
from towerhall_server.store.errors import StoreDownError, StoreError
from towerhall_server.telemetry.meters import Meters

LIMITS = Limits(guests_per_ip=Rate(1, 2), rooms_per_identity=Rate(1, 2), rooms_per_ip=Rate(0.1, 3))


class FakeStore:
    """A store that answers what it is told to, or fails."""

    def __init__(self) -> None:
        self.answer: int | StoreError | None = 0
        self.asked: list[tuple[Quota, ...]] = []

    async def take(self, quotas: tuple[Quota, ...]) -> int:
        self.asked.append(quotas)
        if self.answer is None:
            await asyncio.Event().wait()
        if isinstance(self.answer, StoreError):
            raise self.answer
        assert self.answer is not None
        return self.answer


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module, "monotonic", made)
    return made


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture
def quotas(store: FakeStore, clock: Clock) -> Quotas:
    return Quotas(store, LIMITS, Meters())


async def test_the_store_is_asked_with_the_rates_of_the_settings(
    quotas: Quotas, store: FakeStore
) -> None:
    assert await quotas.take(rooms_per_identity="ada", rooms_per_ip="10.0.0.1") == 0
    identity, address = (
        Quota("rooms_per_identity", "ada", 1, 2),
        Quota("rooms_per_ip", "10.0.0.1", 0.1, 3),
    )
    assert store.asked == [(identity, address)]


async def test_whoever_was_refused_is_not_asked_for_again_before_the_time(
    quotas: Quotas, store: FakeStore, clock: Clock
) -> None:
    store.answer = 500
    assert await quotas.take(guests_per_ip="a") == 500
    clock.now += 0.2
    assert await quotas.take(guests_per_ip="a") == 300
    assert len(store.asked) == 1
    assert await quotas.take(guests_per_ip="b") == 500, "somebody else is another matter"
    store.answer = 0
    clock.now += 0.3
    assert await quotas.take(guests_per_ip="a") == 0
    assert len(store.asked) == 3


@pytest.mark.parametrize("failure", [StoreError("cut"), StoreDownError("down"), None])
async def test_a_silent_store_leaves_it_to_this_node(
    store: FakeStore,
    clock: Clock,
    failure: StoreError | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "ANSWER_SECONDS", 0.01)
    meters = Meters()
    quotas = Quotas(store, LIMITS, meters)
    store.answer = failure
    waits = [await quotas.take(guests_per_ip="a") for _ in range(3)]
    assert waits == [0, 0, 1000]
    assert meters.quotas_unasked == 3
    clock.now += 1
    assert await quotas.take(guests_per_ip="a") == 0


async def test_what_the_store_let_through_counts_when_it_falls_silent(
    quotas: Quotas, store: FakeStore
) -> None:
    assert [await quotas.take(guests_per_ip="a") for _ in range(2)] == [0, 0]
    store.answer = StoreError("cut")
    assert await quotas.take(guests_per_ip="a") == 1000


async def test_alone_it_takes_from_all_or_from_none(quotas: Quotas, store: FakeStore) -> None:
    store.answer = StoreError("cut")
    for _ in range(2):
        assert await quotas.take(rooms_per_identity="ada", rooms_per_ip="x") == 0
    for _ in range(5):
        assert await quotas.take(rooms_per_identity="ada", rooms_per_ip="x") == 1000
    # Only two of three were taken from the address.
    assert await quotas.take(rooms_per_identity="ben", rooms_per_ip="x") == 0
    assert await quotas.take(rooms_per_identity="cyd", rooms_per_ip="x") == 10_000


async def test_refusals_are_remembered_in_bounded_memory(
    quotas: Quotas, store: FakeStore, clock: Clock
) -> None:
    store.answer = 60_000
    for number in range(KEYS_MAX + 100):
        await quotas.take(guests_per_ip=str(number))
    assert len(quotas._refused) <= KEYS_MAX
    clock.now += 61
    for number in range(KEYS_MAX):
        await quotas.take(guests_per_ip=f"late {number}")
    assert "0" not in {key[0].whose for key in quotas._refused}
    assert len(quotas._refused) <= KEYS_MAX
