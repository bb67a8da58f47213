"""What a room answers: everything is in the log before anybody sees it, and is done once.

Two nodes on one store stand for any number. Who comes first is not left to luck: just before an
append goes out, a test lets the other node have its way.
"""

import asyncio
import threading
from collections import defaultdict
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from redis import Redis as BlockingRedis
from redis.asyncio import Redis

from tests.eventlog.processes import eventually
from tests.games import dice_duel as duel
from tests.room.live_rooms import (
    GAMES,
    FakeViewer,
    LiveNode,
    begin,
    commands_in,
    commits_of,
    hurry,
    live_node,
    no_fault,
    sender,
    sit_down,
    whole_log,
)
from towerhall_protocol.messages import (
    ClientCommand,
    Cursor,
    ServerAccepted,
    ServerDuplicate,
    ServerFrame,
    ServerRejected,
    ServerWelcome,
)
from towerhall_server.eventlog.answers import Append, Conflict, Duplicate, Early, Stale
from towerhall_server.eventlog.entry import mark
from towerhall_server.eventlog.keys import room_keys, shard_of
from towerhall_server.game import Seat
from towerhall_server.room import actor as actor_module
from towerhall_server.room import alarm
from towerhall_server.room.actor import RoomActor
from towerhall_server.room.during import TIMEOUTS_TO_GO
from towerhall_server.room.events import BotStoodIn, TimedOut
from towerhall_server.room.inbox import Doubt, TimeIsUp
from towerhall_server.room.record import make_record
from towerhall_server.room.verify import verify


async def rightful(url: str, actor: RoomActor) -> bool:
    """Whether the rules lead from the first commit of a finished game to its last, in time."""
    entries = await whole_log(url, actor.code)
    return verify(make_record(GAMES, actor.follower.room.secret, entries), GAMES) == ()


def to_move(*viewers: FakeViewer) -> FakeViewer:
    """Whose turn it is. All are on the same node, which tells them together."""
    found = next((viewer for viewer in viewers if viewer.replay.offers), None)
    assert found is not None
    return found


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


# Done once


async def test_a_repeated_command_gets_its_first_seq_on_every_node_and_after_a_restart(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    code = ann.code
    first = await ann.do("sit")
    await ann.do("ready")
    repeated = ClientCommand(1, "", {"command": "sit"})
    ann.hand_over(repeated)
    assert await ann.until(lambda: ann.of(ServerDuplicate)) == [ServerDuplicate(1, first.seq)]
    for node in (other, one):
        again = FakeViewer("ann", ann.origin)
        await node.directory.close("restart")
        await again.enter(await node.open(code))
        again.hand_over(repeated)
        assert await again.answer(1) == ServerDuplicate(1, first.seq)
    assert commands_in(await commits_of(url, code)) == [(sender(ann), 1), (sender(ann), 2)]


async def test_a_command_repeated_before_its_first_answer_is_done_once(
    url: str, one: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    for _ in range(3):
        ann.hand_over(ClientCommand(1, "", {"command": "sit"}))
    await ann.until(lambda: len(ann.answers(1)) == 3)
    assert ann.answers(1)[1:] == [ServerDuplicate(1, 2), ServerDuplicate(1, 2)]
    assert len(await whole_log(url, ann.code)) == 2


async def test_a_command_that_another_node_did_meanwhile_is_acknowledged_there(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    twin = FakeViewer("ann", ann.origin)
    await twin.enter(await other.open(ann.code))
    one.log.next_append(lambda: twin.do("sit"))
    ann.ask("sit")
    await ann.until(lambda: ann.of(ServerDuplicate))
    assert one.log.count(Duplicate) == 1
    assert [type(answer) for answer in ann.answers(1)] == [ServerFrame, ServerDuplicate]
    assert ann.of(ServerDuplicate) == [ServerDuplicate(1, 2)]
    assert len(await whole_log(url, ann.code)) == 2


async def test_a_command_that_was_overtaken_is_stale(url: str, one: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    ann.hand_over(ClientCommand(5, "", {"command": "sit"}))
    ann.hand_over(ClientCommand(4, "", {"command": "ready"}))
    answer = await ann.answer(4)
    assert isinstance(answer, ServerRejected)
    assert answer.code == "stale"
    assert commands_in(await commits_of(url, ann.code)) == [(sender(ann), 5)]


async def test_a_node_that_does_not_know_of_it_calls_an_overtaken_command_stale_too(
    url: str, one: LiveNode, deaf: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    await ann.do("sit")
    late = FakeViewer("ann", ann.origin)
    await late.enter(await deaf.open(ann.code))
    ann.hand_over(ClientCommand(5, "", {"command": "ready"}))
    await ann.answer(5)
    late.hand_over(ClientCommand(4, "", {"command": "ready", "ready": False}))
    answer = await late.answer(4)
    assert isinstance(answer, ServerRejected)
    assert answer.code == "stale"
    assert deaf.log.count(Stale) == 1
    assert len(await whole_log(url, ann.code)) == 3


async def test_a_command_for_an_old_decision_is_stale(url: str, one: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    bob = await one.enter(ann.code, "bob")
    await begin(ann, bob)
    first = to_move(ann, bob)
    tag, body = first.replay.tag, await first.offered()
    await first.move()
    top = first.replay.seq
    first.hand_over(ClientCommand(99, tag, body))
    answer = await first.answer(99)
    assert isinstance(answer, ServerRejected)
    assert (answer.code, answer.rule) == ("stale", "P-43")
    assert len(await whole_log(url, ann.code)) == top


async def test_equal_numbers_and_origins_of_two_persons_are_two_commands(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    ann = await FakeViewer("ann", "same origin").enter(await one.found())
    bob = await FakeViewer("bob", "same origin").enter(await other.open(ann.code))
    mia = await FakeViewer("mia", "same origin").enter(ann.room)
    await ann.do("sit")
    bob.hand_over(ClientCommand(1, "", {"command": "sit"}))
    await bob.until(lambda: bob.seat == 1)
    mia.hand_over(ClientCommand(1, "", {"command": "sit"}))
    await mia.until(lambda: mia.of(ServerRejected))
    assert mia.of(ServerRejected)[0].code == "room_full"
    assert not (ann.of(ServerDuplicate) + bob.of(ServerDuplicate) + mia.of(ServerDuplicate))
    assert len(commands_in(await commits_of(url, ann.code))) == 2


# Somebody else was first


async def test_a_command_that_came_second_is_decided_again_and_lands(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    bob = await other.enter(ann.code, "bob")
    one.log.next_append(lambda: bob.do("sit"))
    assert (await ann.do("sit")).seq == 3
    assert one.log.count(Conflict) == 1
    await bob.reach(3)
    assert ann.view == bob.view
    assert [holder["name"] for holder in ann.view["room"]["seats"].values()] == ["bob", "ann"]
    no_fault(ann, bob)


async def test_a_command_that_came_second_and_is_no_longer_possible_is_refused(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    bob = await other.enter(ann.code, "bob")
    one.log.next_append(lambda: bob.do("sit", seat=0))
    assert await ann.refused("sit", seat=0) == "seat_taken"
    assert commands_in(await commits_of(url, ann.code)) == [(sender(bob), 1)]
    no_fault(ann, bob)


async def test_a_bot_that_came_second_makes_no_second_move(
    url: str, one: LiveNode, other: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alarm, "GRACE_MS", 5)
    one.beat()
    other.beat()
    ann = await FakeViewer("ann").enter(await one.found(seats=3))
    await sit_down(ann, bots=2)
    actors = (ann.room, await other.open(ann.code))
    ready: dict[int, int] = defaultdict(int)

    async def meet_the_rival(wanted: Append) -> None:
        """Every bot's move is tried by both nodes, and neither knows of the other's."""
        if wanted.origin:
            return
        ready[wanted.before.seq] += 1
        for actor in actors:
            actor.put(Doubt())
            actor.put(TimeIsUp())
        await eventually(lambda: ready[wanted.before.seq] >= 2)

    one.log.before_append = other.log.before_append = meet_the_rival
    await ann.do("start")
    await ann.play(Random(1))
    commits = await commits_of(url, ann.code)
    bots = [commit for commit in commits if commit.cause.seat >= 0 and not commit.cause.n]
    assert len(bots) > 3
    await eventually(lambda: one.log.count(Conflict) + other.log.count(Conflict) == len(bots))
    assert await rightful(url, ann.room)
    no_fault(ann)


async def test_a_clock_that_runs_out_on_two_nodes_is_one_timeout(
    url: str, redis: Redis, one: LiveNode, other: LiveNode
) -> None:
    """Whoever is timed out three times in a row is played by a bot, which is done once as well."""
    room = await one.found(turn_seconds=30, bot_delay_ms=10_000)
    ann = await FakeViewer("ann").enter(room)
    bob = await other.enter(ann.code, "bob")
    await begin(ann, bob)
    while ann.status != "over":
        top = ann.replay.seq
        await bob.reach(top)
        await hurry(redis, ann.code, 30_000)
        await asyncio.gather(one.directory.beat_once(), other.directory.beat_once())
        ann.room.put(TimeIsUp())
        bob.room.put(TimeIsUp())
        await ann.reach(top + 1)
        await bob.reach(top + 1)
        await asyncio.sleep(0.01)
        assert ann.replay.seq == bob.replay.seq == top + 1
    commits = await commits_of(url, ann.code)
    timeouts = [commit for commit in commits if any(isinstance(e, TimedOut) for e in commit.room)]
    stood_in = [event.seat for c in commits for event in c.room if isinstance(event, BotStoodIn)]
    assert len(timeouts) == 2 * TIMEOUTS_TO_GO
    assert sorted(stood_in) == [0, 1]
    by_itself = [commit for commit in commits if commit.game and not commit.cause.n]
    assert len(by_itself) == len([commit for commit in commits if commit.game]) - 1 > 10
    assert one.log.count(Conflict) + other.log.count(Conflict) > 0
    assert await rightful(url, ann.room)
    no_fault(ann, bob)


async def test_a_timer_that_is_early_waits_for_the_rest_and_fires_once(
    url: str, one: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found(turn_seconds=1))
    bob = await one.enter(ann.code, "bob")
    await begin(ann, bob)
    top, clock = ann.replay.seq, one.directory.node.clock
    shard = shard_of(ann.code)
    clock.hear(shard, clock.now_ms(shard) + 1_000)
    ann.room.put(TimeIsUp())
    ann.room.put(TimeIsUp())
    await ann.reach(top + 1)
    assert one.log.count(Early) >= 1
    began, fired = (await whole_log(url, ann.code))[top - 1 : top + 1]
    assert 1_000 <= fired.stamps.served_ms - began.stamps.served_ms < 2_000
    await asyncio.sleep(0.1)
    assert len(await whole_log(url, ann.code)) == top + 1


async def test_a_room_that_is_watched_meets_a_far_deadline_by_itself(
    one: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actor_module, "NEAR_MS", 100)
    ann = await FakeViewer("ann").enter(await one.found(turn_seconds=1))
    bob = await one.enter(ann.code, "bob")
    await begin(ann, bob)
    # Nobody beats here: the index of deadlines wakes nobody.
    await ann.reach(ann.replay.seq + 1)


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

    games = {"dice_duel": replace(duel.GAME, decide=decide)}
    async with live_node(url, games=games) as node:
        ann = await FakeViewer("ann").enter(await node.found(games["dice_duel"]))
        bob = await node.enter(ann.code, "bob")
        await begin(ann, bob)
        first = to_move(ann, bob)
        assert await first.refused("faulty") == "poisoned"
        assert isinstance(await first.move(), ServerFrame)
        assert first.unanswered == set()


# Slow commands


@pytest.fixture
def slow_rules() -> tuple[Any, threading.Event, threading.Event]:
    """The duel, but choices are decided only when somebody says so."""
    begun, may_end = threading.Event(), threading.Event()

    def decide(state: duel.State, seat: Seat, command: Any) -> Any:
        begun.set()
        assert may_end.wait(10)
        return duel.decide(state, seat, command)

    slow = frozenset({"choose", "place", "give_back"})
    return replace(duel.GAME, decide=decide, slow_commands=slow), begun, may_end


async def test_while_a_slow_command_is_decided_other_rooms_are_served(
    url: str, slow_rules: tuple[Any, threading.Event, threading.Event]
) -> None:
    rules, begun, may_end = slow_rules
    async with live_node(url, games={**GAMES, "dice_duel": rules}) as node:
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
    async with live_node(url, games={**GAMES, "dice_duel": rules}) as node:
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

    slow = frozenset({"choose", "place", "give_back"})
    rules = replace(duel.GAME, decide=decide, slow_commands=slow)
    async with live_node(url, games={**GAMES, "dice_duel": rules}) as node:
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


# Entering while things happen


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
