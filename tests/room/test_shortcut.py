"""The short way of a command: without a turn of the loop while all is well, and never otherwise.

A `Way` stands between a node and its store, so that a test says which answer is late, which is lost
and which request never arrives; and the turns of the loop are noted. The store is asked by somebody
else what it holds.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeAlias

import pytest
from redis.asyncio import Redis

from tests.eventlog.processes import eventually
from tests.games import dice_duel as duel
from tests.room.live_rooms import (
    GAMES,
    FakeViewer,
    LiveNode,
    WatchedLog,
    begin,
    commands_in,
    commits_of,
    live_node,
    no_fault,
    sender,
    whole_log,
)
from towerhall_protocol.messages import (
    ClientCommand,
    ServerAccepted,
    ServerDuplicate,
    ServerError,
    ServerFrame,
    ServerPaused,
    ServerRejected,
    ServerWelcome,
)
from towerhall_server.eventlog.answers import Answer, Append, Conflict, Duplicate, Stale
from towerhall_server.eventlog.errors import StoreError
from towerhall_server.game import Seat
from towerhall_server.room import absence, audience
from towerhall_server.room.actor import RoomActor
from towerhall_server.room.alarm import Alarm
from towerhall_server.room.audience import Audience
from towerhall_server.room.inbox import (
    Command,
    Item,
    Join,
    Tried,
)

Answered: TypeAlias = Callable[[Answer | StoreError], None]
Fate: TypeAlias = Literal["lost request", "lost answer", "late answer"]
A_MOMENT = 0.05
"""Enough for whatever would be done at once."""


class Way:
    """Between a node and its store: notes every append, and does to the next ones as it is told."""

    def __init__(self, log: WatchedLog) -> None:
        self._ask = log.ask
        self.asked: list[Append] = []
        self.fates: deque[Fate] = deque()
        self.late: list[Callable[[], None]] = []
        """Answers that the store has given, and that nobody was told."""

    def ask(
        self, wanted: Append, answered: Answered, meanwhile: Callable[[], None] | None = None
    ) -> None:
        self.asked.append(wanted)
        match self.fates.popleft() if self.fates else None:
            case "lost request":
                answered_soon = partial(answered, StoreError("nobody has heard it"))
                asyncio.get_running_loop().call_soon(answered_soon)
            case "lost answer":
                lost = partial(answered, StoreError("nobody has heard the answer"))
                self._ask(wanted, lambda _: lost(), meanwhile)
            case "late answer":
                keep = self.late.append
                self._ask(wanted, lambda answer: keep(partial(answered, answer)), meanwhile)
            case _:
                self._ask(wanted, answered, meanwhile)

    async def is_late(self) -> None:
        """Wait until the store has answered, and for whatever else would be done meanwhile."""
        await eventually(lambda: bool(self.late))
        await asyncio.sleep(A_MOMENT)

    def let_go(self) -> None:
        """The answers come now."""
        for tell in self.late:
            tell()
        self.late.clear()


@pytest.fixture(autouse=True)
def _nobody_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes do not tell each other who is there: some are on both, and go on with what they do."""
    monkeypatch.setattr(audience, "PRESENCE_SECONDS", 60.0)


@pytest.fixture
def way(one: LiveNode, monkeypatch: pytest.MonkeyPatch) -> Way:
    """From the first node to its store."""
    found = Way(one.log)
    monkeypatch.setattr(one.log, "ask", found.ask)
    return found


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> list[type[Item]]:
    """What the loops of all rooms have been given to do."""
    taken: list[type[Item]] = []
    handle = RoomActor._handle

    async def noted(self: RoomActor, item: Item) -> None:
        taken.append(type(item))
        await handle(self, item)

    monkeypatch.setattr(RoomActor, "_handle", noted)
    return taken


async def seated(node: LiveNode, *, turn_seconds: int = 0) -> tuple[FakeViewer, FakeViewer]:
    """Ann, the host, and bob in a room on that node, both on their seats: seq 3."""
    ann = await FakeViewer("ann").enter(await node.found(turn_seconds=turn_seconds))
    bob = await FakeViewer("bob").enter(ann.room)
    await ann.do("sit")
    await bob.do("sit")
    return ann, bob


def forget(way: Way, turns: list[type[Item]]) -> None:
    """What led to the beginning of a test is not its matter."""
    way.asked.clear()
    turns.clear()


def is_idle(room: RoomActor) -> bool:
    """A call, for mypy takes a property to be what it was when it was looked at before."""
    return room.idle


def refusals(viewer: FakeViewer) -> list[str]:
    return [refusal.code for refusal in viewer.of(ServerRejected)]


async def senders(url: str, code: str) -> list[tuple[str, int]]:
    """Who has done what, as the log has it; each command once."""
    return commands_in(await commits_of(url, code))


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


async def test_it_is_asked_for_in_the_moment_in_which_it_comes_and_shown_with_the_answer(
    one: LiveNode, way: Way
) -> None:
    ann, bob = await seated(one)
    way.asked.clear()
    way.fates.append("late answer")
    n = ann.ask("ready")
    assert [wanted.n for wanted in way.asked] == [n]
    await way.is_late()
    assert ann.seqs == bob.seqs == [2, 3], "nothing is shown before the store has answered"
    assert ann.answers(n) == []
    assert ann.unanswered == {n}
    way.let_go()
    assert ann.seqs == bob.seqs == [2, 3, 4], "and not a moment later"
    assert ann.unanswered == set()


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


async def test_a_slow_command_is_decided_by_the_loop_in_a_thread(
    url: str, turns: list[type[Item]]
) -> None:
    threads: list[threading.Thread] = []

    def decide(state: duel.State, seat: Seat, command: Any) -> Any:
        threads.append(threading.current_thread())
        return duel.decide(state, seat, command)

    slow = frozenset({"choose", "place", "give_back"})
    rules = replace(duel.GAME, decide=decide, slow_commands=slow)
    async with live_node(url, games={**GAMES, "dice_duel": rules}) as node:
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
            patched.setattr(node.log, "ask", way.ask)
            way.fates.append("late answer")
            ann.ask("ready")
            ann.leave()
            bob.leave()
            await way.is_late()
            assert not is_idle(ann.room)
            await node.directory.beat_once()
            assert await node.open(ann.code) is ann.room
            way.let_go()
        assert is_idle(ann.room)
        await node.directory.beat_once()
        assert await node.open(ann.code) is not ann.room


# A store that does not answer


@pytest.mark.parametrize(
    "fates",
    [
        ("lost answer",),
        ("lost request",),
        ("lost request", "lost request", "lost answer"),
        ("lost answer", "lost answer", "lost request"),
    ],
    ids=["it arrived", "it did not", "it arrived at last", "it arrived at first"],
)
async def test_what_nobody_knows_of_is_sent_again_as_it_is_until_it_is_known(
    fates: tuple[Fate, ...], url: str, one: LiveNode, way: Way, turns: list[type[Item]]
) -> None:
    ann, bob = await seated(one)
    forget(way, turns)
    way.fates.extend(fates)
    n = ann.ask("ready")
    later = bob.ask("ready")
    assert isinstance(await ann.answer(n), ServerFrame)
    assert isinstance(await bob.answer(later), ServerFrame)
    assert len(ann.answers(n)) == 1
    first, *again = way.asked[: 1 + len(fates)]
    assert again == [first] * len(fates), "the same bytes, and the same commit id"
    assert turns == [Tried, Command]
    for viewer in (ann, bob):
        assert viewer.of(ServerPaused) == [ServerPaused(True), ServerPaused(False)]
        assert viewer.seqs == [2, 3, 4, 5]
    entries = await whole_log(url, ann.code)
    assert len(entries) == 5
    assert entries[3].commit_id == first.commit_id
    assert (await senders(url, ann.code))[2:] == [(sender(ann), n), (sender(bob), later)]
    await ann.do("ready", ready=False)
    assert turns == [Tried, Command], "the next one has the short way again"
    no_fault(ann, bob)


async def test_while_the_room_is_paused_commands_are_kept_and_their_senders_told(
    url: str, one: LiveNode, way: Way
) -> None:
    ann, bob = await seated(one)
    way.fates.extend(["lost request", "late answer"])
    ann.ask("ready")
    await way.is_late()
    assert ann.of(ServerPaused) == [ServerPaused(True)]
    n = bob.ask("ready")
    assert [error.code for error in bob.of(ServerError)] == ["store_unavailable"]
    assert ann.seqs == [2, 3]
    way.let_go()
    assert isinstance(await bob.answer(n), ServerFrame)
    assert refusals(ann) == refusals(bob) == []
    assert len(await whole_log(url, ann.code)) == 5
    no_fault(ann, bob)


# Somebody else was first


async def test_a_command_that_came_second_is_decided_again_and_lands_once(
    url: str, one: LiveNode, other: LiveNode, way: Way, turns: list[type[Item]]
) -> None:
    ann, _ = await seated(one)
    eve = await other.enter(ann.code, "eve")
    elsewhere = await other.enter(ann.code, "bob")
    forget(way, turns)
    one.log.next_append(lambda: elsewhere.do("ready"))
    frame = await ann.do("ready")
    assert one.log.count(Conflict) == 1
    assert Tried in turns
    assert frame.seq == 5
    assert ann.seqs == [2, 3, 4, 5], "what the other node did is shown first"
    first, second = way.asked
    assert first.commit_id != second.commit_id, "it is another commit, after another past"
    assert (await senders(url, ann.code))[2:] == [(sender(elsewhere), 1), (sender(ann), 2)]
    await eve.reach(5)
    assert eve.view == ann.view
    no_fault(ann, eve)


async def test_a_command_that_came_second_and_is_no_longer_allowed_is_refused(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    bob = await other.enter(ann.code, "bob")
    one.log.next_append(lambda: bob.do("sit", seat=1))
    n = ann.ask("sit", seat=1)
    later = ann.ask("sit", seat=0)
    assert isinstance(await ann.answer(later), ServerFrame)
    assert [type(answer) for answer in ann.answers(n)] == [ServerRejected]
    assert refusals(ann) == ["seat_taken"]
    assert one.log.count(Conflict) == 1
    assert ann.seqs == [2, 3]
    assert await senders(url, ann.code) == [(sender(bob), 1), (sender(ann), later)]
    no_fault(ann, bob)


async def test_what_waits_behind_a_command_that_came_second_is_done_after_it(
    url: str, one: LiveNode, other: LiveNode, turns: list[type[Item]]
) -> None:
    ann, bob = await seated(one)
    elsewhere = await other.enter(ann.code, "ann")
    one.log.next_append(lambda: elsewhere.do("ready"))
    bob.ask("ready")
    bob.ask("ready", ready=False)
    eve = await FakeViewer("eve").enter(ann.room)
    assert eve.of(ServerWelcome)[0].arrival.cursor.seq == 6
    done = [(sender(elsewhere), 1), (sender(bob), 2), (sender(bob), 3)]
    assert (await senders(url, ann.code))[2:] == done
    assert "ready" not in bob.view["room"]["seats"]["1"]
    no_fault(bob, eve)


async def test_a_command_that_another_node_has_done_is_read_and_acknowledged(
    url: str, one: LiveNode, other: LiveNode, turns: list[type[Item]]
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    twin = await FakeViewer("ann", ann.origin).enter(await other.open(ann.code))
    one.log.next_append(lambda: twin.do("sit"))
    n = ann.ask("sit")
    await ann.until(lambda: ann.of(ServerDuplicate))
    assert one.log.count(Duplicate) == 1
    assert turns.count(Tried) == 1
    assert [type(answer) for answer in ann.answers(n)] == [ServerFrame, ServerDuplicate]
    assert ann.of(ServerDuplicate) == [ServerDuplicate(n, 2)]
    assert ann.unanswered == set()
    assert await senders(url, ann.code) == [(sender(ann), n)]


async def test_a_command_that_a_later_one_has_overtaken_elsewhere_is_stale(
    url: str, one: LiveNode, other: LiveNode, turns: list[type[Item]]
) -> None:
    ann, _ = await seated(one)
    twin = await FakeViewer("ann", ann.origin).enter(await other.open(ann.code))

    async def overtake() -> None:
        twin.hand_over(ClientCommand(9, "", {"command": "ready"}))
        await twin.answer(9)

    one.log.next_append(overtake)
    ann.hand_over(ClientCommand(8, "", {"command": "stand"}))
    [answer] = await ann.until(lambda: ann.of(ServerRejected))
    assert (answer.n, answer.code, answer.rule) == (8, "stale", "P-42")
    assert one.log.count(Stale) == 1
    assert turns.count(Tried) == 1
    assert ann.unanswered == set()
    assert (await senders(url, ann.code))[2:] == [(sender(ann), 9)]


# The end of a room, and what goes wrong in it


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


async def test_what_is_in_the_log_and_cannot_be_shown_is_not_called_refused(
    url: str, one: LiveNode, turns: list[type[Item]]
) -> None:
    ann, bob = await seated(one)
    eve = FakeViewer("eve")
    with pytest.MonkeyPatch.context() as broken:
        broken.setattr(Audience, "show", partial(_fail, "show"))
        n = ann.ask("ready")
        later = bob.ask("ready")
        eve.greet(ann.room)
        assert {await viewer.ended() for viewer in (ann, bob, eve)} == {"server_fault"}
    assert ann.answers(n) == []
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
    url: str, turns: list[type[Item]]
) -> None:
    def decide(state: duel.State, seat: Seat, command: Any) -> Any:
        if command["command"] == "faulty":
            raise ZeroDivisionError
        return duel.decide(state, seat, command)

    rules = replace(duel.GAME, decide=decide)
    async with live_node(url, games={**GAMES, "dice_duel": rules}) as node:
        ann = await FakeViewer("ann").enter(await node.found(rules))
        bob = await FakeViewer("bob").enter(ann.room)
        await begin(ann, bob)
        turns.clear()
        top = ann.replay.seq
        mover = ann if ann.replay.offers else bob
        assert await mover.refused("faulty") == "poisoned"
        assert turns == [Command]
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
