"""Garbage in cycles: moves make none, and what others make is swept away when there is enough."""

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest

from tests.builders import opened, walk
from tests.room.pure_rooms import ADA, BEN, HOST, PureRoom, Stage
from towerhall_server.game import AnyGame, discover
from towerhall_server.process import garbage

GAMES = discover()


class Knot:
    """Something that only a sweep frees."""

    def __init__(self) -> None:
        self.itself = self


def knots() -> int:
    return sum(isinstance(found, Knot) for found in gc.get_objects())


@contextmanager
def no_collections() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@asynccontextmanager
async def swept() -> AsyncIterator[None]:
    task = asyncio.create_task(garbage.sweep())
    await asyncio.sleep(0.1)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait((task,))


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """A sweeper ends with all objects unfrozen; no collection is to look at those of the tests."""
    yield
    gc.freeze()


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(garbage, "YOUNG", 2_000)
    monkeypatch.setattr(garbage, "LEAST", 5_000)


async def aged(count: int) -> list[Knot]:
    """Objects that were looked through once and are in use."""
    made = [Knot() for _ in range(count)]
    await asyncio.sleep(0.1)
    return made


async def test_what_is_new_is_swept_at_once(short: None) -> None:
    """As what strangers can make a server leave behind, by whatever request."""
    async with swept():
        for _ in range(10):
            for _ in range(1_000):
                Knot()
            await asyncio.sleep(0.03)
            assert knots() <= 3_000


async def test_a_look_at_what_is_new_passes_over_all_that_is_older(short: None) -> None:
    """A look at everything would stop all rooms for too long."""
    async with swept():
        in_use = await aged(10_000)
        in_use[1:] = []
        await aged(3_000)
        assert knots() > 9_000, "which a sweep would have found"


async def test_a_sweep_comes_when_there_is_much_more_and_not_before(short: None) -> None:
    async with swept():
        assert not gc.isenabled()
        await aged(3_000)
        assert knots() == 3_000
        await aged(3_000)
        assert knots() == 3_000, "the first ones are gone; the others were in use"


async def test_the_more_is_in_use_the_more_may_come_before_the_next_sweep(short: None) -> None:
    async with swept():
        in_use = await aged(10_000)
        await asyncio.sleep(0.1)
        await aged(3_000)
        await aged(3_000)
        assert knots() == len(in_use) + 6_000
        await aged(3_000)
        await aged(3_000)
        assert knots() < len(in_use) + 6_000


async def test_objects_that_come_and_go_are_no_reason_for_a_sweep(short: None) -> None:
    """As those of messages that are under way while the server looks."""
    async with swept():
        garbage = await aged(2_000)
        garbage.clear()
        for _ in range(15):
            under_way = [[None] for _ in range(2_100)]
            await asyncio.sleep(0.03)
            under_way.clear()
        assert knots() == 2_000, "which a sweep would have found"


async def test_what_was_in_use_when_it_was_new_is_swept_in_the_end(short: None) -> None:
    """Garbage that was in use when it was new is found when there is much more of it."""
    async with swept():
        for _ in range(6):
            await aged(3_000)
        await asyncio.sleep(0.2)
        assert knots() <= 6_000


async def test_afterwards_the_interpreter_collects_by_itself_again(short: None) -> None:
    async with swept():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


@pytest.mark.parametrize("rules", GAMES.values(), ids=list(GAMES))
async def test_a_game_in_a_room_leaves_no_cycles_behind(rules: AnyGame) -> None:
    """Views, frames and offers included. What is remembered is filled by a game before."""

    def play() -> None:
        seats = rules.seats[-1]
        pure = PureRoom(rules, seats)
        pure.seat_people(*(ADA, BEN)[:seats])
        stage = Stage(pure, 3)
        lookers = [stage.enter(person) for person in (HOST, ADA, BEN)]
        pure.deal().play_on()
        stage.follow()
        assert all(looker.sent for looker in lookers)

    play()
    with no_collections():
        play()
        assert gc.collect() == 0


@pytest.mark.parametrize("rules", GAMES.values(), ids=list(GAMES))
def test_neither_do_the_rules_where_they_remember_nothing_yet(rules: AnyGame) -> None:
    """Another deal asks for what nobody has asked for before."""

    def play(seed: int) -> None:
        seats = rules.seats[-1]
        state = opened(rules, rules.presets["standard"], seats, seed)
        for step in walk(rules, state, rules.levels[:1] * seats, seed):
            state = step.after
        assert rules.result(state) is not None

    play(1)
    with no_collections():
        play(2)
        assert gc.collect() == 0
