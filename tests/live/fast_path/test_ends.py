"""The short way of a command when a room ends, or something in it fails."""

import asyncio
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from redis.asyncio import Redis

from tests.games import tile_duel as duel
from tests.live.fast_path.ways import Fate, Way, forget, refusals, seated, senders
from tests.live.live_rooms import (
    GAMES,
    FakeViewer,
    LiveNode,
    begin,
    live_node,
    sender,
    whole_log,
)
from towerhall_protocol.messages import (
    ClientCommand,
    ServerDuplicate,
    ServerFrame,
)
from towerhall_server.game import Seat
from towerhall_server.live.alarm import Alarm
from towerhall_server.live.fan_out import FanOut
from towerhall_server.live.items import Command, Item, Tried


async def test_a_room_whose_log_is_gone_sends_everybody_away(
    redis: Redis, one: LiveNode, turns: list[type[Item]]
) -> None:
    ann, bob = await seated(one)
    eve = FakeViewer("eve")
    one.log.next_append(redis.flushall)
    n = ann.ask("ready")
    bob.ask("ready")
    eve.greet(ann.room)
    assert {await viewer.ended() for viewer in (ann, bob, eve)} == {"room_gone"}
    assert turns[-1] is Tried
    assert ann.answers(n) == []
    assert refusals(bob) == []
    assert ann.room.ended
    assert await redis.keys("*") == [], "and it is not made anew"


@pytest.mark.parametrize("what", ["announce", "show"])
async def test_what_is_in_the_log_and_cannot_be_shown_is_not_called_refused(
    what: str, url: str, one: LiveNode, turns: list[type[Item]]
) -> None:
    ann, bob = await seated(one)
    eve = FakeViewer("eve")
    with pytest.MonkeyPatch.context() as broken:
        broken.setattr(FanOut, what, partial(_fail, what))
        n = ann.ask("ready")
        later = bob.ask("ready")
        eve.greet(ann.room)
        assert {await viewer.ended() for viewer in (ann, bob, eve)} == {"server_fault"}
    told = [] if what == "announce" else [ServerFrame]
    assert list(map(type, ann.answers(n))) == told
    assert refusals(ann) == refusals(bob) == []
    assert turns[-1] is Tried
    assert (await senders(url, ann.code))[2:] == [(sender(ann), n)]
    again = await ann.again().enter(await one.open(ann.code))
    assert again.replay.seq == 4
    moved = await bob.again().enter(again.room)
    moved.hand_over(ClientCommand(later, "", {"command": "ready"}))
    await again.reach(5)


def _fail(what: str, *arguments: object) -> None:
    raise ZeroDivisionError(what)


async def test_what_the_rules_fail_at_is_answered_by_the_loop_and_the_room_goes_on(
    url: str, turns: list[type[Item]], caplog: pytest.LogCaptureFixture
) -> None:
    def decide(state: duel.State, seat: Seat, command: Any) -> Any:
        if command["command"] == "faulty":
            raise ZeroDivisionError
        return duel.decide(state, seat, command)

    rules = replace(duel.GAME, decide=decide)
    async with live_node(url, games={**GAMES, "tile_duel": rules}) as node:
        ann = await FakeViewer("ann").enter(await node.found(rules))
        bob = await FakeViewer("bob").enter(ann.room)
        await begin(ann, bob)
        turns.clear()
        top = ann.replay.seq
        mover = ann if ann.replay.offers else bob
        assert await mover.refused("faulty") == "poisoned"
        assert turns == [Command]
        assert node.directory.node.meters.fast_path_faults == 1
        assert f"room {ann.code}: the fast path failed" in caplog.text
        assert isinstance(await mover.move(), ServerFrame)
        assert turns == [Command]
        assert len(await whole_log(url, ann.code)) == top + 1
        assert mover.unanswered == set()


@pytest.mark.parametrize("fate", ["late answer", "lost answer", None])
async def test_a_command_on_its_way_when_the_room_is_stopped_gets_into_the_log_and_no_further(
    fate: Fate | None,
    url: str,
    one: LiveNode,
    other: LiveNode,
    way: Way,
    turns: list[type[Item]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alarms: list[int] = []
    ann, bob = await seated(one, turn_seconds=30)
    await bob.do("ready")
    forget(way, turns)
    if fate is not None:
        way.fates.append(fate)
    n = ann.ask("start")
    await asyncio.sleep(0)
    assert len(way.asked) == 1
    if fate == "late answer":
        await way.is_late()
    await ann.room.stop("restart")
    before = list(ann.got), list(bob.got)
    monkeypatch.setattr(Alarm, "wait", lambda _, ms: alarms.append(ms))
    assert (ann.closed, bob.closed) == ("restart", "restart")
    way.let_go()
    await one.log.ping()
    assert (ann.got, bob.got) == before
    assert turns == []
    assert alarms == [], "a room that is not there any more rings no more"
    assert len(way.asked) == 1
    assert (await senders(url, ann.code))[3:] == [(sender(ann), n)]
    for node in (one, other):
        again = await FakeViewer("ann", ann.origin).enter(await node.open(ann.code))
        assert again.replay.seq == 5
        assert again.status == "playing"
        again.hand_over(ClientCommand(n, "", {"command": "start"}))
        assert await again.answer(n) == ServerDuplicate(n, 5)


async def test_a_command_that_was_not_decided_when_the_room_is_stopped_is_done_elsewhere(
    url: str, one: LiveNode, other: LiveNode, way: Way
) -> None:
    ann, _ = await seated(one)
    way.asked.clear()
    n = ann.ask("ready")
    await ann.room.stop("restart")
    await one.log.ping()
    assert way.asked == []
    assert ann.answers(n) == []
    again = await FakeViewer("ann", ann.origin).enter(await other.open(ann.code))
    again.hand_over(ClientCommand(n, "", {"command": "ready"}))
    await again.until(lambda: again.seqs[-1:] == [4])
    assert (await senders(url, ann.code))[-1] == (sender(ann), n)
