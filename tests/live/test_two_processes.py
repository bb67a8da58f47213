"""One room in two processes that share nothing but the store: contention, pauses, kills, clocks.

Whoever lives in the other process is called bob. What counts in the end is the log, read by
somebody else: every command once, and a game that the rules lead through, in time.
"""

import asyncio
import signal
from random import Random

import pytest
from redis.asyncio import Redis

from tests.live.live_rooms import (
    DUEL,
    GAMES,
    Client,
    FakeViewer,
    LiveNode,
    begin,
    commands_in,
    commits_of,
    live_node,
    no_fault,
    sender,
    whole_log,
)
from tests.live.other_node import other_process
from tests.proxy.store import Proxy
from towerhall_protocol.messages import ServerFrame
from towerhall_server.eventlog.answers import Conflict
from towerhall_server.eventlog.log import EventLog
from towerhall_server.live.record_store import record_of
from towerhall_server.live.replica import follow
from towerhall_server.record.verify import verify
from towerhall_server.room.events import TimedOut
from towerhall_server.room.state import Room


async def host_of(node: LiveNode, seats: int = 2, **settings: int) -> tuple[FakeViewer, str]:
    ann = await FakeViewer("ann").enter(await node.found(DUEL, seats, **settings))
    return ann, ann.code


async def rightful(url: str, code: str) -> bool:
    """Whether the rules lead from the first commit of a finished game to its last, in time."""
    async with EventLog(url) as log:
        record = await record_of(log, code, GAMES)
    return record is not None and verify(record, GAMES) == ()


MOST_COMMANDS = 800


async def busy(client: Client, commands: int) -> None:
    for number in range(commands):
        await client.do("ready", ready=bool(number % 2))


@pytest.mark.usefixtures("unpaced")
async def test_what_is_asked_for_in_two_processes_at_once_is_done_once_each(
    url: str, one: LiveNode
) -> None:
    ann, code = await host_of(one)
    async with other_process(url) as other:
        bob = await other.enter(code, "bob")
        await ann.do("sit")
        await bob.do("sit")
        commands = 0
        while not one.log.count(Conflict):  # whether two meet is up to chance
            assert commands < MOST_COMMANDS
            await asyncio.gather(busy(ann, 40), busy(bob, 40))
            commands += 40
        top = max(ann.replay.seq, bob.replay.seq)
        await ann.reach(top)
        await bob.reach(top)
        assert ann.view == bob.view
        done = commands_in(await commits_of(url, code))
        sent = range(1, commands + 2)
        assert sorted(done) == sorted((sender(v), n) for v in (ann, bob) for n in sent)
        assert top == 3 + 2 * commands
        no_fault(ann, bob)


async def test_a_game_in_two_processes_that_lose_answers_is_played_by_the_rules(
    url: str, proxy: Proxy
) -> None:
    async with live_node(proxy.url) as one, other_process(proxy.url) as other:
        one.beat()
        ann, code = await host_of(one, seats=3)
        bob = await other.enter(code, "bob")
        await begin(ann, bob, bots=1)
        proxy.lose_share = 0.15
        await asyncio.gather(ann.play(Random(1)), bob.play(Random(2)))
        proxy.lose_share = 0.0
        assert proxy.lost > 0
        await bob.until(lambda: bob.status == "over")
        assert ann.view == bob.view
        commands_in(await commits_of(url, code))
        assert await rightful(url, code)
        no_fault(ann, bob)


async def test_a_process_that_slept_goes_on_where_the_others_are(url: str, one: LiveNode) -> None:
    ann, code = await host_of(one)
    async with other_process(url) as other:
        bob = await other.enter(code, "bob")
        await ann.do("sit")
        await bob.do("sit")
        other.signal(signal.SIGSTOP)
        numbers = [bob.ask("ready", ready=bool(number % 2)) for number in range(3)]
        await busy(ann, 20)
        assert len(await whole_log(url, code)) == ann.replay.seq == 23
        other.signal(signal.SIGCONT)
        for n in numbers:
            assert isinstance(await bob.answer(n), ServerFrame)
        await ann.reach(26)
        await bob.reach(26)
        assert ann.view == bob.view
        assert commands_in(await commits_of(url, code))[-3:] == [(sender(bob), n) for n in numbers]
        no_fault(ann, bob)


async def test_who_was_served_by_a_killed_process_goes_on_elsewhere_and_nothing_is_done_twice(
    url: str, one: LiveNode
) -> None:
    ann, code = await host_of(one)
    async with other_process(url) as other:
        bob = await other.enter(code, "bob")
        await ann.do("sit")
        await bob.do("sit")
        going = asyncio.create_task(busy(ann, 30))
        await busy(bob, 10)
        # Killed with commands under way: some of them are in the log, some are not.
        for number in range(5):
            bob.ask("ready", ready=bool(number % 2))
        await asyncio.sleep(0.004)
        other.signal(signal.SIGKILL)
    acknowledged = {n for n in range(1, 17) if bob.answers(n)}
    moved = FakeViewer("bob")
    moved.replay, moved.origin = bob.replay, bob.replay.origin
    await moved.enter(ann.room)
    for command in bob.replay.resend():
        moved.hand_over(command)
    await moved.until(lambda: not moved.replay.unanswered)
    await going
    done = commands_in(await commits_of(url, code))
    assert {n for who, n in done if who == sender(bob)} == set(range(1, 17)) >= acknowledged
    assert [n for who, n in done if who == sender(bob)] == list(range(1, 17))
    await moved.reach(ann.replay.seq)
    assert moved.view == ann.view
    assert moved.faults == bob.faults == []
    no_fault(ann)


async def test_clocks_of_two_processes_make_one_timeout_each_and_none_too_early(
    url: str, one: LiveNode
) -> None:
    one.beat()
    ann, code = await host_of(one, turn_seconds=1)
    async with other_process(url) as other:
        bob = await other.enter(code, "bob")
        await begin(ann, bob)
        began = ann.replay.seq
        await ann.reach(began + 2)
        # Its last deed may have been the last one of all, so that the next was its to do.
        other.signal(signal.SIGKILL)
    await ann.reach(began + 3)
    room: Room | None = None
    timeouts = []
    for entry in (await whole_log(url, code))[: began + 3]:
        before = room
        change = follow(GAMES, ann.room.follower.room.secret, before, entry)
        room = change.after
        if any(isinstance(event, TimedOut) for event in change.commit.room):
            assert before is not None
            timeouts.append(entry.stamps.served_ms - before.began_ms)
    assert len(timeouts) == 3
    assert all(1_000 <= ms < 6_000 for ms in timeouts), timeouts
    no_fault(ann, bob)


async def test_when_the_log_is_gone_both_processes_send_everybody_away(
    url: str, redis: Redis, one: LiveNode
) -> None:
    ann, code = await host_of(one)
    async with other_process(url) as other:
        bob, eve = await other.enter(code, "bob"), await other.enter(code, "eve")
        await ann.do("sit")
        await bob.reach(2)
        await redis.flushall()
        bob.ask("sit")
        ann.ask("ready")
        for client in (ann, bob, eve):
            assert await client.ended() == "room_gone"
        assert await redis.keys(f"*{code}*") == []
        assert bob.seqs == ann.seqs == [2]
