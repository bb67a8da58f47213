"""Garbage in cycles: moves make none, and what others make is swept away when there is enough."""

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest

from tests.builders import opened, walk
from tests.room.pure_rooms import ADA, BEN, HOST, PureRoom, Stage
from towerhall_server import sweeping
from towerhall_server.game import AnyGame, discover

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


class Server:
    """Ends things, and leaves them behind."""

    def __init__(self) -> None:
        self.left_behind = 0

    def end(self, count: int) -> None:
        for _ in range(count):
            Knot()
        self.left_behind += count


@asynccontextmanager
async def swept() -> AsyncIterator[Server]:
    server = Server()
    task = asyncio.create_task(sweeping.sweep(lambda: server.left_behind))
    await asyncio.sleep(0.1)
    try:
        yield server
    finally:
        task.cancel()
        await asyncio.wait((task,))


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "EVERY_SECONDS", 0.01)
    monkeypatch.setattr(sweeping, "LEAST", 5_000)


async def test_a_sweep_comes_when_much_was_left_behind_and_not_before(short: None) -> None:
    async with swept() as server:
        assert not gc.isenabled()
        server.end(1_000)
        await asyncio.sleep(0.1)
        assert knots() == 1_000
        server.end(5_000)
        await asyncio.sleep(0.1)
        assert knots() == 0


async def test_the_more_is_in_use_the_more_may_be_left_before_the_next_sweep(short: None) -> None:
    async with swept() as server:
        in_use = [Knot() for _ in range(20_000)]
        server.end(5_000)
        await asyncio.sleep(0.2)
        assert knots() == len(in_use)
        server.end(5_000)
        await asyncio.sleep(0.1)
        assert knots() == len(in_use) + 5_000
        server.end(20_000)
        await asyncio.sleep(0.2)
        assert knots() == len(in_use)


async def test_nothing_is_swept_because_much_is_made(short: None) -> None:
    """As while tables fill, and while games grow: that is no garbage, and all would wait."""
    async with swept():
        in_use = [Knot() for _ in range(20_000)]
        in_use[0] = in_use[-1]
        await asyncio.sleep(0.2)
        assert knots() == 20_000, "of which one could have been found"


async def test_what_nobody_counts_is_swept_in_the_end(
    short: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "UNKNOWN_AFTER", 20)
    async with swept():
        for _ in range(6_000):
            Knot()
        await asyncio.sleep(0.5)
        assert knots() == 0


async def test_afterwards_the_interpreter_collects_by_itself_again(short: None) -> None:
    async with swept():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


@pytest.mark.parametrize("rules", GAMES.values(), ids=list(GAMES))
async def test_a_game_in_a_room_leaves_no_cycles_behind(rules: AnyGame) -> None:
    """Views, frames and offers included. What is remembered is filled by a game before."""

    def play() -> None:
        pure = PureRoom(rules, 3)
        pure.seat_people(ADA, BEN)
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
        for step in walk(rules, state, ("easy",) * seats, seed):
            state = step.after
        assert rules.result(state) is not None

    play(1)
    with no_collections():
        play(2)
        assert gc.collect() == 0
