"""The short way of a command: without a turn of the loop while all is well, and one at a time.

A `Way` stands between a node and its store, so that a test says which answer is late, which is lost
and which request never arrives; and the turns of the loop are noted. The store is asked by somebody
else what it holds.
"""

import asyncio
import threading
from dataclasses import replace
from typing import Any

import pytest

from tests.games import tile_duel as duel
from tests.live.fast_path.ways import Way, forget, is_idle, refusals, seated, senders
from tests.live.live_rooms import (
    GAMES,
    FakeViewer,
    LiveNode,
    begin,
    live_node,
    no_fault,
    sender,
    whole_log,
)
from tests.store.processes import eventually
from towerhall_protocol.messages import (
    ClientCommand,
    ServerAccepted,
    ServerDuplicate,
    ServerFrame,
    ServerRejected,
    ServerWelcome,
)
from towerhall_server.eventlog.answers import Conflict
from towerhall_server.game import Seat
from towerhall_server.live import absence
from towerhall_server.live.items import Command, Item, Join
from towerhall_server.live.writer import Writer

# Who takes it


async def test_a_command_that_is_allowed_needs_no_turn_of_the_loop(
    url: str, one: LiveNode, way: Way, turns: list[type[Item]]
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    bob = await FakeViewer("bob").enter(ann.room)
    turns.clear()
    await begin(ann, bob)
    for _ in range(4):
        await (ann if ann.replay.offers else bob).move()
    assert turns == []
    assert [wanted.before.seq + 1 for wanted in way.asked] == [1, *ann.seqs]
    assert len(await whole_log(url, ann.code)) == ann.replay.seq == 9
    assert ann.unanswered == bob.unanswered == set()
    assert ann.view == bob.view
    no_fault(ann, bob)


async def test_it_is_asked_for_in_the_tick_in_which_it_comes_and_shown_with_the_answer(
    one: LiveNode, way: Way
) -> None:
    ann, bob = await seated(one)
    way.asked.clear()
    way.fates.append("late answer")
    n = ann.ask("ready")
    assert way.asked == [], "others may come in the same tick"
    await asyncio.sleep(0)
    assert len(way.asked) == 1, "the command that came"
    await way.is_late()
    assert ann.seqs == bob.seqs == [2, 3], "nothing is shown before the store has answered"
    assert ann.answers(n) == []
    assert ann.unanswered == {n}
    way.let_go()
    assert ann.seqs == bob.seqs == [2, 3, 4], "and not a moment later"
    assert ann.unanswered == set()


async def test_the_commands_of_a_tick_go_in_step_and_people_are_told_before_books_are_kept(
    one: LiveNode, way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []

    def note(kind: type, name: str) -> None:
        original = getattr(kind, name)

        def noted(self: Any, *arguments: Any) -> Any:
            steps.append(name)
            return original(self, *arguments)

        monkeypatch.setattr(kind, name, noted)

    tables = [await seated(one) for _ in range(3)]
    for name in ("attempt", "draft", "announce", "settle"):
        note(Writer, name)
    way.fates.extend(["late answer"] * 3)
    for ann, _ in tables:
        ann.ask("ready")
    await eventually(lambda: len(way.late) == 3)
    way.let_go()
    assert steps == [name for name in ("attempt", "draft", "announce", "settle") for _ in tables]
    assert {ann.room.follower.replica.point.seq for ann, _ in tables} == {4}


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (ClientCommand(6, "", {"command": "sit"}), "already_seated"),
        (ClientCommand(6, "", {"command": "choose"}), "not_playing"),
        (ClientCommand(6, "", {}), "not_playing"),
        (ClientCommand(6, "", {"command": "stand"}, dry=True), ServerAccepted(6, {})),
        (ClientCommand(6, "", {"command": "call_bot", "seat": 1}), "not_playing"),
        (ClientCommand(1, "", {"command": "sit"}), ServerDuplicate(1, 2)),
        (ClientCommand(5, "", {"command": "ready"}), ServerDuplicate(5, 4)),
        (ClientCommand(3, "", {"command": "ready"}), "stale"),
    ],
    ids=[
        *("refused", "not in a game", "without a name", "dry", "unlogged"),
        *("sent again", "sent again and possible", "overtaken"),
    ],
)
async def test_what_is_not_to_be_appended_is_left_to_the_loop(
    asked: ClientCommand, answer: Any, one: LiveNode, way: Way, turns: list[type[Item]]
) -> None:
    ann, _ = await seated(one)
    ann.hand_over(ClientCommand(5, "", {"command": "ready"}))
    await ann.answer(5)
    forget(way, turns)
    told = len(ann.answers(asked.n))
    ann.hand_over(asked)
    [said] = await ann.until(lambda: ann.answers(asked.n)[told:])
    assert (said.code if isinstance(said, ServerRejected) else said) == answer
    assert turns == [Command]
    assert way.asked == []
    assert ann.unanswered == set()


async def test_what_is_decided_by_more_than_the_log_is_done_by_the_loop(
    one: LiveNode, way: Way, turns: list[type[Item]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(absence, "ABSENT_SECONDS", 0.0)
    ann, bob = await seated(one)
    await bob.do("ready")
    await ann.do("start")
    bob.leave()
    forget(way, turns)
    frame = await ann.do("call_bot", seat=1)
    assert turns[0] is Command
    assert way.asked[0].before.seq + 1 == frame.seq


def always(state: duel.State, seat: Seat, command: object) -> bool:
    return True


async def test_a_slow_command_is_left_to_the_loop_and_decided_elsewhere(
    url: str, turns: list[type[Item]]
) -> None:
    threads: list[threading.Thread] = []

    def decide(state: duel.State, seat: Seat, command: Any) -> Any:
        threads.append(threading.current_thread())
        return duel.decide(state, seat, command)

    rules = replace(duel.GAME, decide=decide, slow=always)
    async with live_node(url, games={**GAMES, "tile_duel": rules}) as node:
        ann = await FakeViewer("ann").enter(await node.found(rules))
        bob = await FakeViewer("bob").enter(ann.room)
        await begin(ann, bob)
        turns.clear()
        assert isinstance(await (ann if ann.replay.offers else bob).move(), ServerFrame)
        assert turns == [Command]
        assert len(threads) == 1
        assert threads[0] is not threading.main_thread()


# One thing at a time


async def test_what_comes_meanwhile_is_done_afterwards_and_in_order(
    url: str, one: LiveNode, way: Way, turns: list[type[Item]]
) -> None:
    ann, bob = await seated(one)
    forget(way, turns)
    way.fates.append("late answer")
    ann.ask("ready")
    bob.ask("ready")
    ann.ask("ready", ready=False)
    bob.ask("sit")
    ann.ask("ready")
    await way.is_late()
    assert turns == []
    assert len(way.asked) == 1
    assert ann.seqs == [2, 3]
    way.let_go()
    await ann.reach(7)
    await bob.until(lambda: refusals(bob))
    assert turns == [Command] * 4
    assert refusals(bob) == ["already_seated"]
    done = [(sender(ann), 2), (sender(bob), 2), (sender(ann), 3), (sender(ann), 4)]
    assert (await senders(url, ann.code))[2:] == done
    assert one.log.count(Conflict) == 0, "nobody was in anybody's way"
    no_fault(ann, bob)


async def test_a_command_that_is_sent_in_the_moment_of_a_frame_is_done_after_it(
    url: str, one: LiveNode
) -> None:
    ann, bob = await seated(one)

    def follow(frame: ServerFrame) -> None:
        bob.on_frame = None
        bob.ask("ready")

    bob.on_frame = follow
    await ann.do("ready")
    await ann.reach(5)
    assert (await senders(url, ann.code))[2:] == [(sender(ann), 2), (sender(bob), 2)]
    assert one.log.count(Conflict) == 0
    no_fault(ann, bob)


async def test_whoever_comes_in_meanwhile_is_let_in_after_it_and_sees_it(
    one: LiveNode, way: Way, turns: list[type[Item]]
) -> None:
    ann, _ = await seated(one)
    eve = FakeViewer("eve")
    forget(way, turns)
    way.fates.append("late answer")
    ann.ask("ready")
    eve.greet(ann.room)
    await way.is_late()
    assert not eve.replay.welcomed
    way.let_go()
    await eve.until(lambda: eve.replay.welcomed)
    assert turns == [Join]
    [welcome] = eve.of(ServerWelcome)
    assert welcome.arrival.cursor.seq == ann.replay.seq == 4
    assert eve.view == ann.view
    await ann.do("ready", ready=False)
    assert eve.seqs == [5]
    no_fault(ann, eve)


async def test_a_room_with_a_command_on_its_way_is_not_idle_and_stays_awake(url: str) -> None:
    async with live_node(url, asleep_seconds=0.0) as node:
        ann, bob = await seated(node)
        way = Way(node.log)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(node.log.appender, "ask", way.ask)
            way.fates.append("late answer")
            ann.ask("ready")
            await way.is_late()
            ann.leave()
            bob.leave()
            assert not is_idle(ann.room)
            await node.directory.beat_once()
            assert await node.open(ann.code) is ann.room
            way.let_go()
        assert is_idle(ann.room)
        await node.directory.beat_once()
        assert await node.open(ann.code) is not ann.room
