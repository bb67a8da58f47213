"""What a room answers: nothing is seen before it is in the log, and nothing is left unanswered."""

import asyncio
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from redis import Redis as BlockingRedis
from redis.asyncio import Redis

from tests.games import tile_duel as duel
from tests.live.judging import to_move
from tests.live.live_rooms import (
    FakeViewer,
    LiveNode,
    begin,
    live_node,
    no_fault,
    whole_log,
)
from towerhall_protocol.messages import (
    ClientCommand,
    Cursor,
    ServerAccepted,
    ServerFrame,
    ServerRejected,
    ServerWelcome,
)
from towerhall_server.eventlog.entry import mark
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.game import Seat
from towerhall_server.live import replies
from towerhall_server.live.follower import RoomGoneError
from towerhall_server.live.items import Doubt, Order
from towerhall_server.room.state import Room
from towerhall_server.room.steps import Step

# Nothing is shown before it is in the log


async def test_in_the_moment_of_a_frame_its_commit_is_in_the_log(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    actor = await one.found()
    ann = await FakeViewer("ann").enter(actor)
    bob = await other.enter(actor.code, "bob")
    stranger = BlockingRedis.from_url(url)
    seen = []

    def look(frame: ServerFrame) -> None:
        place = f"{frame.seq}-0"
        found: Any = stranger.xrange(room_keys(actor.code).log, place, place)
        [(_, fields)] = found
        seen.append(frame.mark == mark(fields[b"c"]))

    ann.on_frame = bob.on_frame = look
    with stranger:
        await begin(ann, bob)
        await asyncio.gather(ann.play(Random(1)), bob.play(Random(2)))
    assert len(seen) == len(ann.frames) + len(bob.frames) > 20
    assert all(seen)
    no_fault(ann, bob)


async def test_a_dry_run_is_answered_and_leaves_nothing_in_the_log(url: str, one: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    ann.hand_over(ClientCommand(1, "", {"command": "sit"}, dry=True))
    ann.hand_over(ClientCommand(2, "", {"command": "stand"}, dry=True))
    assert isinstance(await ann.answer(1), ServerAccepted)
    assert isinstance(await ann.answer(2), ServerRejected)
    assert len(await whole_log(url, ann.code)) == 1
    assert ann.unanswered == set()


# Refusals


async def test_a_command_that_is_only_illegal_on_a_replica_that_is_behind_is_done(
    url: str, one: LiveNode, deaf: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await deaf.found())
    await ann.do("sit")
    bob = await one.enter(ann.code, "bob")
    await bob.do("sit")
    await bob.do("ready")
    assert ann.replay.seq == 2
    assert (await ann.do("start")).seq == 5
    assert ann.seqs == [2, 3, 4, 5]
    no_fault(ann)


async def test_a_fault_in_the_rules_refuses_one_command_and_the_room_goes_on(url: str) -> None:
    def decide(state: duel.State, seat: Seat, command: Any) -> Any:
        if command["command"] == "faulty":
            raise ZeroDivisionError
        return duel.decide(state, seat, command)

    games = {"tile_duel": replace(duel.GAME, decide=decide)}
    async with live_node(url, games=games) as node:
        ann = await FakeViewer("ann").enter(await node.found(games["tile_duel"]))
        bob = await node.enter(ann.code, "bob")
        await begin(ann, bob)
        first = to_move(ann, bob)
        assert await first.refused("faulty") == "poisoned"
        assert isinstance(await first.move(), ServerFrame)
        assert first.unanswered == set()


# Orders of whoever runs the service


async def test_an_order_that_cannot_be_done_is_not_waited_for(one: LiveNode) -> None:
    actor = await one.found()
    loop = asyncio.get_running_loop()

    def broken(room: Room) -> Step | None:
        raise ValueError("a fault")

    faulty = Order(broken, loop.create_future())
    actor.put(faulty)
    with pytest.raises(ValueError, match="a fault"):
        await asyncio.wait_for(faulty.done, 5)
    late = Order(lambda room: None, loop.create_future())
    await actor.stop("restart")
    actor.put(late)
    with pytest.raises(RoomGoneError):
        await asyncio.wait_for(late.done, 5)


async def test_a_room_that_cannot_even_say_what_is_wrong_sends_everybody_away(
    one: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())

    def broken(*_: object) -> None:
        raise ValueError("a fault within a fault")

    monkeypatch.setattr(replies, "reject", broken)
    ann.ask("start")
    assert await ann.ended() == "server_fault"
    assert ann.room.ended


# The log is gone


async def test_a_room_whose_log_is_gone_sends_everybody_away_and_is_not_made_anew(
    redis: Redis, one: LiveNode, other: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    eve = await FakeViewer("eve").enter(ann.room)
    bob = await other.enter(ann.code, "bob")
    await ann.do("sit")
    await bob.reach(2)
    await redis.flushall()
    ann.ask("ready")
    assert await ann.ended() == await eve.ended() == "room_gone"
    bob.room.put(Doubt())
    assert await bob.ended() == "room_gone"
    assert await one.directory.open(ann.code) is None
    assert await redis.keys("*") == []
    assert ann.seqs == [2]


async def test_whoever_waits_at_the_door_of_a_room_that_ends_is_sent_away_too(
    redis: Redis, one: LiveNode
) -> None:
    actor = await one.found()
    await redis.flushall()
    actor.put(Doubt())
    early = FakeViewer("early")
    early.greet(actor)
    await early.ended()
    late = FakeViewer("late")
    late.greet(actor)
    assert early.closed == late.closed == "room_gone"


async def test_whoever_waits_at_the_door_of_a_room_that_falls_asleep_is_asked_to_come_again(
    one: LiveNode,
) -> None:
    actor = await one.found()
    early, late = FakeViewer("early"), FakeViewer("late")
    early.greet(actor)
    await actor.stop("restart")
    late.greet(actor)
    assert early.closed == late.closed == "restart"


# Entering while things happen


@pytest.mark.usefixtures("unpaced")
async def test_whoever_enters_during_play_misses_nothing_and_gets_nothing_twice(
    one: LiveNode, other: LiveNode
) -> None:
    chance, going = Random(7), True
    ann = await FakeViewer("ann").enter(await one.found())
    await ann.do("sit")
    watcher = await one.enter(ann.code, "watcher")
    assert watcher.replay.cursor
    base, views = watcher.replay.cursor.base, {2: watcher.view}

    def look(frame: ServerFrame) -> None:
        views[frame.seq] = watcher.view

    watcher.on_frame = look

    async def keep_going() -> None:
        while going:
            await ann.do("ready", ready=bool(ann.replay.seq % 2))

    async def check(visitor: FakeViewer) -> None:
        await visitor.until(lambda: visitor.replay.welcomed)
        await visitor.reach(visitor.of(ServerWelcome)[0].arrival.cursor.seq + 3)
        await watcher.reach(visitor.replay.seq)
        assert visitor.view == views[visitor.replay.seq]
        visitor.leave()

    task = asyncio.create_task(keep_going())
    visitors: list[FakeViewer] = []
    for number in range(300):
        visitor = FakeViewer(f"visitor {number}")
        seq = watcher.replay.seq - chance.choice((0, 0, 1, 2, 3, 8, 20))
        if seq > 3 and chance.random() < 0.9:
            [frame] = watcher.replay.frames(seq, seq)
            visitor.replay.view = views[seq]
            visitor.replay.cursor = Cursor(base, seq, frame.mark)
            if chance.random() < 0.1:
                visitor.replay.cursor = Cursor(base, seq, "AAAAAAAAAAA")
        visitor.greet(await (one, other)[number % 2].open(ann.code))
        visitors.append(visitor)
        if chance.random() < 0.4:
            await watcher.reach(watcher.replay.seq + 1)
        if number >= 10:
            await check(visitors[number - 10])
    for visitor in visitors[-10:]:
        await check(visitor)
    going = False
    await task
    no_fault(ann, watcher, *visitors)
    arrivals = [visitor.of(ServerWelcome)[0].arrival for visitor in visitors]
    assert sum(arrival.view is None for arrival in arrivals) > 100
    assert sum(arrival.lost > 0 for arrival in arrivals) > 10
    assert ann.replay.seq > 100
