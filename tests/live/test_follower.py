"""A replica and its log: silence, lost answers, lost tails, other pasts, missed news.

The store is asked by somebody else what it holds; what viewers were told must agree with it.
"""

import asyncio
import os
import signal
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from redis.asyncio import Redis

from tests.live.live_rooms import (
    HIDDEN,
    FakeViewer,
    LiveNode,
    begin,
    commands_in,
    commits_of,
    copy_of,
    go_back,
    live_node,
    no_fault,
    sender,
    whole_log,
)
from tests.proxy.store import Proxy
from tests.store.engines import KINDS, binary_of
from towerhall_protocol.messages import (
    ClientCommand,
    ServerDuplicate,
    ServerFrame,
    ServerPaused,
    ServerReset,
    ServerWelcome,
)
from towerhall_server.eventlog.answers import Conflict
from towerhall_server.eventlog.entry import entry_after
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.live import replica as replica_module
from towerhall_server.live.directory import PoisonedRoomError
from towerhall_server.live.items import Doubt
from towerhall_server.store.engine import embedded_engine

QUICK = "?socket_timeout=0.6"


async def toggle(viewer: FakeViewer, times: int) -> None:
    """So many commits that change something and can be repeated without end."""
    for _ in range(times):
        await viewer.do("ready", ready=not viewer.view["room"]["seats"]["0"].get("ready", False))


async def doubt(viewer: FakeViewer) -> None:
    """Let the room of a viewer make sure that it knows its log; returns when it has."""
    viewer.room.put(Doubt())
    await FakeViewer("somebody").enter(viewer.room)


async def seated(node: LiveNode) -> FakeViewer:
    """A new room in which its host sits: seq 2."""
    ann = await FakeViewer("ann").enter(await node.found())
    await ann.do("sit")
    return ann


def losses(viewer: FakeViewer) -> list[tuple[int, int]]:
    """What a viewer was told of a changed past: how much is lost, and where it stands now."""
    return [(reset.lost, reset.cursor.seq) for reset in viewer.of(ServerReset) if reset.lost]


# A store that does not answer


async def test_a_store_that_is_silent_pauses_the_room_and_nothing_is_shown_until_it_answers(
    url: str, proxy: Proxy
) -> None:
    async with live_node(proxy.url + QUICK, listens=False) as node:
        ann = await seated(node)
        proxy.silent = True
        n = ann.ask("ready")
        await ann.until(lambda: ann.of(ServerPaused))
        await asyncio.sleep(0.5)
        assert len(await whole_log(url, ann.code)) == 3, "the command has arrived"
        assert ann.seqs == [2]
        assert ann.of(ServerPaused) == [ServerPaused(True)]
        assert ann.replay.paused
        proxy.silent = False
        assert isinstance(await ann.answer(n), ServerFrame)
        assert ann.of(ServerPaused) == [ServerPaused(True), ServerPaused(False)]
        assert ann.seqs == [2, 3]
        assert len(await whole_log(url, ann.code)) == 3
        no_fault(ann)


async def test_with_every_third_answer_lost_there_are_as_many_events_as_commands(
    url: str, proxy: Proxy, other: LiveNode
) -> None:
    async with live_node(proxy.url + QUICK) as node:
        ann = await seated(node)
        bob = await other.enter(ann.code, "bob")
        await bob.do("sit")
        proxy.lose_share = 0.3

        async def busy(viewer: FakeViewer) -> None:
            for number in range(25):
                await viewer.do("ready", ready=bool(number % 2))

        await asyncio.gather(busy(ann), busy(bob))
        proxy.lose_share = 0.0
        assert proxy.lost > 5
        done = commands_in(await commits_of(url, ann.code))
        assert sorted(done) == sorted((sender(v), n + 1) for v in (ann, bob) for n in range(26))
        assert len(await whole_log(url, ann.code)) == 53
        await ann.reach(53)
        assert ann.view == bob.view
        no_fault(ann, bob)


@pytest.mark.parametrize("kind", KINDS)
async def test_an_engine_that_stands_still_or_is_killed_loses_and_doubles_nothing(
    kind: str, tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(
            embedded_engine(tmp_path / "data", binary=binary_of(kind))
        )
        node = await stack.enter_async_context(live_node(engine.url + QUICK))
        ann = await seated(node)
        assert engine.pid
        for how, mend in ((signal.SIGSTOP, signal.SIGCONT), (signal.SIGKILL, None)):
            told = len(ann.of(ServerPaused))
            top = ann.replay.seq
            os.kill(engine.pid, how)
            numbers = [ann.ask("ready", ready=bool(number % 2)) for number in range(4)]
            await ann.have(told + 1, ServerPaused)
            assert ann.of(ServerPaused)[-1] == ServerPaused(True)
            assert ann.replay.seq == top
            if mend is not None:
                os.kill(engine.pid, mend)
            else:
                await engine.restart()
            for n in numbers:
                assert isinstance(await ann.answer(n), ServerFrame)
            assert ann.of(ServerPaused)[-1] == ServerPaused(False)
            assert ann.replay.seq == top + 4 == len(await whole_log(engine.url, ann.code))
        assert len(commands_in(await commits_of(engine.url, ann.code))) == 9
        assert ann.closed is None
        no_fault(ann)


# A log that has lost its tail


async def everything(redis: Redis, code: str) -> tuple[Any, ...]:
    """All that an append leaves in the store."""
    keys = room_keys(code)
    return (
        await redis.xrange(keys.log),
        await redis.hgetall(keys.shard.lobby),
        await redis.zscore(keys.shard.due, code),
    )


@pytest.mark.parametrize("by", ["doubt", "command", "refusal"])
async def test_a_lost_tail_is_put_back_byte_for_byte(
    by: str, redis: Redis, one: LiveNode, deaf: LiveNode
) -> None:
    ann = await seated(one)
    await toggle(ann, 3)
    copy = await copy_of(redis, ann.code)
    await toggle(ann, 4)
    before = await everything(redis, ann.code)
    await go_back(redis, ann.code, copy)
    assert await everything(redis, ann.code) != before
    if by == "doubt":
        await doubt(ann)
    elif by == "command":
        assert (await ann.do("ready")).seq == 10
        log, *table = await everything(redis, ann.code)
        before = ([*before[0], log[-1]], *table)
    else:
        assert await ann.refused("sit") == "already_seated"
    assert await everything(redis, ann.code) == before
    assert losses(ann) == []
    no_fault(ann)
    # The table of commands is whole again for somebody who only knows the store.
    again = await FakeViewer("ann", ann.origin).enter(await deaf.open(ann.code))
    for n in (2, 8):
        again.hand_over(ClientCommand(n, "", {"command": "ready", "ready": True}))
        assert await again.answer(n) == ServerDuplicate(n, n + 1)


async def test_the_lobby_shows_a_healed_room_as_it_is(redis: Redis, one: LiveNode) -> None:
    ann = await seated(one)
    copy = await copy_of(redis, ann.code)
    await ann.do("add_bot", level="easy")
    lobby = room_keys(ann.code).shard.lobby
    shown = await redis.hget(lobby, ann.code)
    await go_back(redis, ann.code, copy)
    assert await redis.hget(lobby, ann.code) != shown
    await doubt(ann)
    assert ann.place.seq == 3
    assert await redis.hget(lobby, ann.code) == shown


async def test_a_tail_that_nobody_remembers_is_lost_and_everybody_is_told_how_much(
    redis: Redis, one: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica_module, "TAIL", 4)
    ann = await seated(one)
    eve = await one.enter(ann.code, "eve")
    copy = await copy_of(redis, ann.code)
    await toggle(ann, 7)
    await go_back(redis, ann.code, copy)
    await doubt(ann)
    for viewer in (ann, eve):
        assert losses(viewer) == [(7, 2)]
        assert viewer.view["room"]["seats"] == {"0": {"name": "ann", "id": ann.replay.you}}
    assert (await ann.do("ready")).seq == 3
    no_fault(ann, eve)


# A log with another past


@pytest.mark.parametrize("others", [1, 3, 5], ids=["shorter", "as long", "longer"])
@pytest.mark.parametrize("by", ["doubt", "command"])
async def test_another_past_is_noticed_and_everybody_is_told_how_much_is_lost(
    others: int, by: str, redis: Redis, one: LiveNode, deaf: LiveNode
) -> None:
    ann = await seated(deaf)
    copy = await copy_of(redis, ann.code)
    await toggle(ann, 3)
    await go_back(redis, ann.code, copy)
    twin = await one.enter(ann.code, "ann")
    for number in range(others):
        await twin.do("add_bot" if number % 2 == 0 else "remove_bot", seat=1)
    if by == "doubt":
        await doubt(ann)
    else:
        await ann.do("ready")
        assert deaf.log.count(Conflict) == 1
        await twin.reach(ann.replay.seq)
    assert losses(ann) == [(3, 2 + others)]
    assert ann.view == twin.view
    assert ann.place == twin.place
    assert len(await whole_log(one.url, ann.code)) == ann.replay.seq
    no_fault(twin)
    assert ann.faults == []


async def test_news_of_another_past_are_noticed_though_this_replica_is_further(
    redis: Redis, one: LiveNode, deaf: LiveNode
) -> None:
    ann = await seated(one)
    copy = await copy_of(redis, ann.code)
    await toggle(ann, 5)
    await go_back(redis, ann.code, copy)
    bob = await deaf.enter(ann.code, "bob")
    await bob.do("sit")
    await ann.until(lambda: losses(ann))
    assert losses(ann) == [(5, 3)]
    assert ann.view == bob.view


async def test_of_two_tails_one_wins_and_those_who_saw_the_other_are_told(
    redis: Redis, one: LiveNode, deaf: LiveNode
) -> None:
    ann = await seated(deaf)
    copy = await copy_of(redis, ann.code)
    await toggle(ann, 3)
    await go_back(redis, ann.code, copy)
    async with live_node(one.url, "third", listens=False) as third:
        twin = await third.enter(ann.code, "ann")
        await twin.do("add_bot", seat=1)
        await twin.do("remove_bot", seat=1)
        tails = {viewer.room.follower.replica.tail for viewer in (ann, twin)}
        await go_back(redis, ann.code, copy)
        await asyncio.gather(doubt(ann), doubt(twin))
        assert losses(ann) or losses(twin)
        # Who lost may have read while the other still healed.
        await asyncio.gather(doubt(ann), doubt(twin))
        assert ann.place == twin.place
        assert ann.view == twin.view
        assert await whole_log(one.url, ann.code) in tails
        told = [[lost for lost, _ in losses(viewer)] for viewer in (ann, twin)]
        assert told in ([[], [2]], [[3], []])


async def test_whoever_comes_from_the_true_past_is_not_told_of_a_loss(
    redis: Redis, one: LiveNode, deaf: LiveNode
) -> None:
    ann = await seated(deaf)
    copy = await copy_of(redis, ann.code)
    await toggle(ann, 5)
    await go_back(redis, ann.code, copy)
    bob = await one.enter(ann.code, "bob")
    await bob.do("sit")
    moved = bob.again()
    await moved.enter(ann.room)
    [welcome] = moved.of(ServerWelcome)
    assert welcome.arrival.lost == 0
    assert moved.replay.seq == 3
    assert losses(ann) == [(5, 3)]
    assert moved.view == ann.view


async def test_whoever_comes_with_a_cursor_of_a_lost_past_gets_the_whole_view_and_is_told(
    redis: Redis, one: LiveNode, other: LiveNode
) -> None:
    ann = await seated(one)
    copy = await copy_of(redis, ann.code)
    await toggle(ann, 5)
    await one.directory.close("restart")
    await go_back(redis, ann.code, copy)
    moved = FakeViewer("ann")
    moved.replay = ann.replay
    await moved.enter(await other.open(ann.code))
    [welcome] = moved.of(ServerWelcome)
    assert (welcome.arrival.lost, welcome.arrival.cursor.seq) == (5, 2)
    assert welcome.arrival.view is not None


async def test_whoever_comes_with_a_cursor_of_another_room_is_told_that_it_is_gone(
    one: LiveNode,
) -> None:
    ann, elsewhere = await seated(one), await seated(one)
    moved = elsewhere.again()
    moved.greet(ann.room)
    assert await moved.ended() == "room_gone"


async def test_when_seats_changed_hands_with_the_past_nobody_sees_with_the_eyes_of_another(
    redis: Redis, one: LiveNode, deaf: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await deaf.found(HIDDEN))
    bob = await FakeViewer("bob").enter(await deaf.open(ann.code))
    copy = await copy_of(redis, ann.code)
    await ann.do("sit", seat=0)
    await bob.do("sit", seat=1)
    await go_back(redis, ann.code, copy)
    seen = len(ann.got), len(bob.got)
    twins = [await one.enter(ann.code, name) for name in ("bob", "ann")]
    for twin in twins:
        await twin.do("sit")
    await twins[0].do("ready")
    await twins[1].do("start")
    await doubt(ann)
    for viewer, before, seat in ((ann, seen[0], 1), (bob, seen[1], 0)):
        assert viewer.closed is None
        assert viewer.seat == viewer.replay.seat == seat
        resets = [message for message in viewer.got[before:] if isinstance(message, ServerReset)]
        assert max(reset.lost for reset in resets) == 2
        for reset in resets:
            view: Any = reset.view
            assert set(view["game"]["columns"]) == {str(seat)}


# Missed news


@pytest.mark.parametrize("by", ["doubt", "command", "refusal", "hello", "subscription"])
async def test_missed_news_are_made_up_for(by: str, one: LiveNode, deaf: LiveNode) -> None:
    ann = await seated(one)
    eve = await deaf.enter(ann.code, "eve")
    await toggle(ann, 3)
    assert eve.replay.seq == 2
    if by == "doubt":
        await doubt(eve)
    elif by == "command":
        assert (await eve.do("sit")).seq == 6
    elif by == "refusal":
        assert await eve.refused("start") == "not_host"
    elif by == "hello":
        moved = ann.again()
        await moved.enter(await deaf.open(ann.code))
        assert moved.of(ServerWelcome)[0].arrival.lost == 0
    else:
        await deaf.listen()
    await eve.reach(5)
    assert eve.seqs[:3] == [3, 4, 5]
    no_fault(eve)


async def test_both_nodes_tell_a_whole_game_alike(one: LiveNode, other: LiveNode) -> None:
    one.beat()
    other.beat()
    ann = await FakeViewer("ann").enter(await one.found(seats=3))
    bob = await other.enter(ann.code, "bob")
    await begin(ann, bob, bots=1)
    await asyncio.gather(ann.play(Random(1)), bob.play(Random(2)))
    told = {frame.seq: frame for frame in ann.frames}
    assert len(told) > 10
    assert all(told.get(frame.seq, frame) == frame for frame in bob.frames)
    assert ann.view == bob.view
    no_fault(ann, bob)


async def test_a_room_that_cannot_be_followed_here_is_left_to_other_nodes(
    redis: Redis, one: LiveNode
) -> None:
    ann = await seated(one)
    place = ann.place
    commit_id, blob = b"i" * 16, msgspec.msgpack.encode([[], [["unheard_of", 1]], [], [], {}])
    entry, stamps = entry_after(place, place.stamps, commit_id, blob), place.stamps
    times = {"t": stamps.wall_ms, "u": stamps.served_ms}
    fields: Any = {"i": commit_id, "c": entry.chain, "b": blob, **times}
    await redis.xadd(room_keys(ann.code).log, fields, id="3-0")
    ann.ask("ready")
    assert await ann.ended() == "server_fault"
    assert ann.answers(2) == [], "nobody knows here whether it was done"
    with pytest.raises(PoisonedRoomError):
        await one.open(ann.code)
