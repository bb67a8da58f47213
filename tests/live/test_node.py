"""Stages: what is done to many rooms is done in one go, in order, and none stops the others."""

import asyncio
from functools import partial

import pytest

from towerhall_server.live.node import ROOMS_AT_ONCE, Stage


def nothing(_: list[None]) -> None:
    """There is no next step."""


async def test_the_next_step_gets_all_results_when_all_is_done() -> None:
    got = list[list[int]]()
    stage = Stage(got.append)
    for number in (7, 8, 0):
        stage.add(partial({7: 1, 0: 0}.get, number))
    await asyncio.sleep(0)
    assert got == [[1, 0]]


async def test_all_that_came_in_a_tick_is_done_in_the_next_one_and_in_order() -> None:
    stage, done = Stage(nothing), list[int]()
    for number in range(3):
        stage.add(partial(done.append, number))
    assert done == []
    await asyncio.sleep(0)
    assert done == [0, 1, 2]


async def test_of_very_many_some_are_done_in_each_tick_and_still_in_order() -> None:
    stage, done = Stage(nothing), list[int]()
    for number in range(2 * ROOMS_AT_ONCE + 1):
        stage.add(partial(done.append, number))
    for ticks, count in enumerate((ROOMS_AT_ONCE, 2 * ROOMS_AT_ONCE, 2 * ROOMS_AT_ONCE + 1), 1):
        await asyncio.sleep(0)
        assert done == list(range(count)), ticks


async def test_what_is_added_while_others_are_done_comes_in_the_tick_after() -> None:
    stage, done = Stage(nothing), list[str]()

    def again(name: str) -> None:
        done.append(name)
        stage.add(partial(done.append, f"{name}, again"))

    stage.add(partial(again, "one"))
    stage.add(partial(done.append, "two"))
    await asyncio.sleep(0)
    assert done == ["one", "two"]
    await asyncio.sleep(0)
    assert done == ["one", "two", "one, again"]


async def test_what_fails_is_noted_and_the_others_are_done(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stage, done = Stage(nothing), list[int]()
    stage.add(partial(done.remove, 7))
    stage.add(partial(done.append, 1))
    await asyncio.sleep(0)
    assert done == [1]
    assert "a step of one room has failed" in caplog.text
