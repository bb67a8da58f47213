"""Commands whose decision takes long: others are served meanwhile, and nothing is forced in."""

import asyncio
import threading
from dataclasses import replace
from typing import Any

import pytest
from redis.asyncio import Redis

from tests.games import tile_duel as duel
from tests.live.judging import to_move
from tests.live.live_rooms import (
    GAMES,
    FakeViewer,
    LiveNode,
    begin,
    hurry,
    live_node,
    whole_log,
)
from tests.store.processes import eventually
from towerhall_protocol.messages import (
    ServerFrame,
    ServerRejected,
)
from towerhall_server.eventlog.answers import Conflict
from towerhall_server.game import Seat
from towerhall_server.live.items import TimeIsUp


def always(state: duel.State, seat: Seat, command: object) -> bool:
    return True


@pytest.fixture
def slow_rules() -> tuple[Any, threading.Event, threading.Event]:
    """The duel, but choices are decided only when somebody says so."""
    begun, may_end = threading.Event(), threading.Event()

    def decide(state: duel.State, seat: Seat, command: Any) -> Any:
        begun.set()
        assert may_end.wait(10)
        return duel.decide(state, seat, command)

    return replace(duel.GAME, decide=decide, slow=always), begun, may_end


async def test_while_a_slow_command_is_decided_other_rooms_are_served(
    url: str, slow_rules: tuple[Any, threading.Event, threading.Event]
) -> None:
    rules, begun, may_end = slow_rules
    async with live_node(url, games={**GAMES, "tile_duel": rules}) as node:
        ann = await FakeViewer("ann").enter(await node.found(rules))
        bob = await node.enter(ann.code, "bob")
        await begin(ann, bob)
        top = ann.replay.seq
        mover = to_move(ann, bob)
        n = mover.ask(**await mover.offered())
        await asyncio.to_thread(begun.wait, 10)
        elsewhere = await FakeViewer("ann").enter(await node.found())
        for number in range(20):
            await elsewhere.do("stand" if number % 2 else "sit")
        assert mover.answers(n) == []
        assert not may_end.is_set()
        may_end.set()
        answer = await mover.answer(n)
        assert isinstance(answer, ServerFrame)
        assert answer.seq == top + 1


async def test_a_slow_command_that_others_have_overtaken_is_stale_and_not_forced_in(
    url: str,
    redis: Redis,
    other: LiveNode,
    slow_rules: tuple[Any, threading.Event, threading.Event],
) -> None:
    rules, begun, may_end = slow_rules
    async with live_node(url, listens=False, games={**GAMES, "tile_duel": rules}) as node:
        ann = await FakeViewer("ann").enter(await node.found(rules, turn_seconds=30))
        bob = await node.enter(ann.code, "bob")
        await begin(ann, bob)
        top = ann.replay.seq
        mover = to_move(ann, bob)
        n = mover.ask(**await mover.offered())
        await asyncio.to_thread(begun.wait, 10)
        await hurry(redis, ann.code, 30_000)
        await other.directory.beat_once()
        (there := await other.open(ann.code)).put(TimeIsUp())
        await eventually(lambda: there.follower.replica.point.seq > top)
        may_end.set()
        answer = await mover.answer(n)
        assert isinstance(answer, ServerRejected)
        assert answer.code == "stale"
        assert node.log.count(Conflict) == 1
        assert len(await whole_log(url, ann.code)) == top + 1


async def test_a_slow_command_is_decided_once_when_others_changed_nothing_in_the_game(
    url: str, other: LiveNode
) -> None:
    decided = 0

    def decide(state: duel.State, seat: Seat, command: Any) -> Any:
        nonlocal decided
        decided += 1
        return duel.decide(state, seat, command)

    rules = replace(duel.GAME, decide=decide, slow=always)
    async with live_node(url, games={**GAMES, "tile_duel": rules}) as node:
        ann = await FakeViewer("ann").enter(await node.found(rules))
        bob = await other.enter(ann.code, "bob")
        await begin(ann, bob)
        while to_move(ann, bob) is bob:
            await bob.move()
            await ann.until(lambda: ann.replay.seq == bob.replay.seq)
        command, before = await ann.offered(), decided
        node.log.next_append(lambda: bob.do("want_end"))
        assert isinstance(await ann.answer(ann.ask(**command)), ServerFrame)
        assert node.log.count(Conflict) == 1
        assert decided == before + 1
