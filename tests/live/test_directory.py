"""The rooms of a node: loaded once, asleep and woken by the store's clock, ended, quarantined.

Nobody waits here for real minutes: the service clock is in the store, and is moved on there.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

import msgpack
import msgspec
import pytest
from redis.asyncio import Redis

from tests.live.live_rooms import (
    DUEL,
    GAMES,
    FakeViewer,
    LiveNode,
    begin,
    commits_of,
    hurry,
    live_node,
    sit_down,
    whole_log,
)
from towerhall_protocol.messages import ServerChat, ServerGo
from towerhall_server.eventlog.entry import entry_after
from towerhall_server.eventlog.keys import CHAT, SHARDS, room_keys, shard_of
from towerhall_server.eventlog.notifications import Alive, Alone, Missed, Wake
from towerhall_server.live import directory as directory_module
from towerhall_server.live.chat import say
from towerhall_server.live.directory import (
    IDLE_BEATS,
    QUARANTINE_SECONDS,
    PoisonedRoomError,
    new_code,
)
from towerhall_server.live.follower import BACKSTOP_MS
from towerhall_server.live.items import TimeIsUp
from towerhall_server.live.neighbours import idle_shards
from towerhall_server.live.record_store import record_of
from towerhall_server.record.verify import verify
from towerhall_server.room.codes import is_code
from towerhall_server.room.events import BotSat, DealCancelled, RoomClosed, TimedOut
from towerhall_server.room.steps import EMPTY_MS, IDLE_MS, KEPT_MS, OPEN_MS
from towerhall_server.store.errors import StoreError

PATIENCE_SECONDS = 10.0


async def eventually(happens: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await happens():  # noqa: ASYNC110 - the store sets no event
            await asyncio.sleep(0.01)


async def keys_of(redis: Redis, code: str) -> set[str]:
    """What the store knows of a room, by the names of the keys without their prefixes. That it has
    ended is the mark that nothing else is there."""
    keys = room_keys(code)
    names: Any = await redis.keys(f"*:{code}")
    found = {name.decode().split(":")[2] for name in names} - {"ended"}
    if await redis.hexists(keys.shard.lobby, code):
        found.add("lobby")
    if await redis.zscore(keys.shard.due, code) is not None:
        found.add("due")
    return found


# Loading


async def test_many_who_ask_for_a_room_at_once_load_it_once(one: LiveNode, other: LiveNode) -> None:
    code = (await one.found()).code
    actors = await asyncio.gather(*(other.open(code) for _ in range(50)))
    assert len(set(actors)) == 1
    assert other.log.loads == 1
    assert len(other.directory) == 1
    assert await other.open(code) is actors[0]
    assert other.log.loads == 1


async def test_a_loading_goes_on_for_the_others_when_one_of_them_leaves(
    one: LiveNode, other: LiveNode
) -> None:
    code = (await one.found()).code
    first, second = (asyncio.create_task(other.open(code)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).code == code
    assert other.log.loads == 1


async def test_the_news_of_a_room_are_heard_before_it_is_read(
    one: LiveNode, deaf: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    actor = await one.found()
    ann = await one.enter(actor.code, "ann")
    heard = []

    async def heed(code: str) -> None:
        # Whoever reads first lacks what comes now, and is never told of it.
        await sit_down(ann)
        heard.append((code, deaf.log.loads, deaf.log.entries_read))

    monkeypatch.setattr(deaf.log, "heed", heed)
    opened = await deaf.open(actor.code)
    assert actor.follower.replica.point.seq == 2
    assert heard == [(actor.code, 0, 0)]
    assert opened.follower.replica.point == actor.follower.replica.point


async def test_the_news_of_a_new_room_are_heard_before_it_is_written(
    one: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = []

    async def heed(code: str) -> None:
        heard.append((code, await one.log.secret(code), len(one.log.answers)))

    monkeypatch.setattr(one.log, "heed", heed)
    actor = await one.found()
    assert heard == [(actor.code, None, 0)]


async def test_a_room_can_be_opened_though_a_failover_has_lost_its_secret_before_its_log(
    redis: Redis, one: LiveNode, other: LiveNode
) -> None:
    async def fail_over() -> None:
        keys: Any = await redis.keys("*:secret:*")
        assert await redis.delete(*keys) == 1

    one.log.next_append(fail_over)
    code = (await one.found()).code
    assert (await other.open(code)).code == code


async def test_a_room_that_is_not_there_is_not_made_by_asking_for_it(
    redis: Redis, one: LiveNode
) -> None:
    assert await one.directory.open("ABCDEF") is None
    assert await keys_of(redis, "ABCDEF") == set()
    assert len(one.directory) == 0


async def test_a_code_that_is_taken_is_not_given_again(
    url: str, one: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = (await one.found()).code
    codes = iter([taken, taken, "ABCDEF"])
    monkeypatch.setattr(directory_module, "new_code", lambda: next(codes))
    assert (await one.found()).code == "ABCDEF"
    assert len(await whole_log(url, taken)) == 1
    assert is_code(new_code())
    assert new_code() != new_code()


async def test_without_a_store_no_room_is_made_and_none_is_called_gone(tmp_path: Path) -> None:
    nowhere = f"unix://{tmp_path / 'nothing'}"
    async with live_node(nowhere, listens=False, beats=False) as node:
        with pytest.raises(StoreError):
            await node.found()
        with pytest.raises(StoreError):
            await node.directory.open("ABCDEF")


# Logs that cannot be replayed


async def add(redis: Redis, url: str, code: str, blob: bytes) -> None:
    """An entry that no server would have made, at the end of a log."""
    place, commit_id = (await whole_log(url, code))[-1].point, b"i" * 16
    entry, stamps = entry_after(place, place.stamps, commit_id, blob), place.stamps
    times = {"t": stamps.wall_ms, "u": stamps.served_ms}
    fields: Any = {"i": commit_id, "c": entry.chain, "b": blob, **times}
    await redis.xadd(room_keys(code).log, fields, id=f"{place.seq + 1}-0")


GARBAGE = {
    "no msgpack": b"\xc1 garbage",
    "unknown event": msgspec.msgpack.encode([[], [["unheard_of"]], [], [], {}]),
    "impossible event": msgspec.msgpack.encode([[], [["seat_ready", 7, True]], [], [], {}]),
}


@pytest.mark.parametrize("kind", GARBAGE)
async def test_a_log_that_cannot_be_replayed_is_quarantined_and_no_other_room_suffers(
    kind: str,
    url: str,
    redis: Redis,
    one: LiveNode,
    other: LiveNode,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code, healthy = (await one.found()).code, (await one.found()).code
    await add(redis, url, code, GARBAGE[kind])
    before = await redis.xrange(room_keys(code).log)
    for _ in range(3):
        with pytest.raises(PoisonedRoomError):
            await other.open(code)
    assert other.log.loads == 1, "it is not tried again and again"
    assert (await (await other.enter(healthy, "ann")).do("sit")).seq == 2
    assert await redis.xrange(room_keys(code).log) == before
    # A room that is due and broken does not keep others from being woken.
    await hurry(redis, code, EMPTY_MS)
    await hurry(redis, healthy, IDLE_MS + BACKSTOP_MS)
    await other.directory.close("restart")
    await other.directory.beat_once()
    await eventually(lambda: log_has(url, healthy, RoomClosed))
    loads = other.log.loads
    monkeypatch.setattr(directory_module, "monotonic", lambda: monotonic() + QUARANTINE_SECONDS)
    for _ in range(2):
        with pytest.raises(PoisonedRoomError):
            await other.open(code)
    assert other.log.loads == loads + 1, "after a while it is, once"


@pytest.mark.parametrize("change", [{"version": 2}, {"name": "another_game"}])
async def test_a_room_of_other_rules_is_left_to_the_nodes_that_have_them(
    change: dict[str, Any], url: str, one: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    rules = replace(DUEL, **change)
    async with live_node(url, "newer", games={rules.name: rules}) as newer:
        with pytest.raises(PoisonedRoomError):
            await newer.open(ann.code)
        assert newer.log.answers == []
    assert (await ann.do("sit")).seq == 2


async def log_has(url: str, code: str, kind: type) -> bool:
    commits = await commits_of(url, code)
    return any(isinstance(event, kind) for commit in commits for event in commit.room)


# Sleeping


async def test_a_room_that_nobody_looks_at_leaves_memory_and_is_there_when_it_is_asked_for(
    url: str,
) -> None:
    async with live_node(url, asleep_seconds=0.05) as node:
        ann = await FakeViewer("ann").enter(await node.found())
        code = ann.code
        await ann.do("sit")
        for _ in range(2):
            await node.directory.beat_once()
            await asyncio.sleep(0.06)
        assert len(node.directory) == 1, "somebody looks at it"
        ann.leave()
        await node.directory.beat_once()
        assert len(node.directory) == 1, "it has been alone for a moment only"
        await asyncio.sleep(0.06)
        await node.directory.beat_once()
        assert len(node.directory) == 0
        assert ann.room.ended
        again = await ann.again().enter(await node.open(code))
        assert again.replay.seq == 2
        assert (await again.do("ready")).seq == 3


async def test_a_room_that_acts_soon_stays_awake(url: str) -> None:
    async with live_node(url, asleep_seconds=0.0) as node:
        ann = await FakeViewer("ann").enter(await node.found(turn_seconds=50))
        bob = await node.enter(ann.code, "bob")
        await begin(ann, bob)
        ann.leave()
        bob.leave()
        for _ in range(3):
            await node.directory.beat_once()
        assert len(node.directory) == 1


# Waking


async def turn_clock(node: LiveNode) -> str:
    ann = await FakeViewer("ann").enter(await node.found(turn_seconds=300))
    await begin(ann, await node.enter(ann.code, "bob"))
    return ann.code


async def bot_to_move(node: LiveNode) -> str:
    actor = await node.found(bot_delay_ms=200_000)
    ann = await FakeViewer("ann").enter(actor)
    await begin(ann, bots=1)
    # Who begins is drawn: on goes the person, until it is the bot's turn.
    while actor.follower.room.to_act() == (0,):
        await ann.move()
    return actor.code


async def sealed(node: LiveNode) -> str:
    actor = await node.found()
    ann, bob = await FakeViewer("ann").enter(actor), await node.enter(actor.code, "bob")
    for viewer in (ann, bob):
        asked = viewer.replay.sit()
        viewer.hand_over(asked)
        await viewer.answer(asked.n)
    await bob.do("ready")
    await ann.do("start")
    assert ann.status == "sealed"
    return actor.code


async def nobody_sits(node: LiveNode) -> str:
    return (await node.found()).code


async def somebody_waits(node: LiveNode) -> str:
    actor = await node.found()
    await (await FakeViewer("ann").enter(actor)).do("sit")
    return actor.code


WAKINGS: dict[str, tuple[Callable[[LiveNode], Awaitable[str]], int, type | None]] = {
    "turn clock": (turn_clock, 300_000, TimedOut),
    "bot to move": (bot_to_move, 200_000, None),
    "sealed": (sealed, OPEN_MS, DealCancelled),
    "nobody sits": (nobody_sits, EMPTY_MS, None),
    "somebody waits": (somebody_waits, IDLE_MS, RoomClosed),
}


@pytest.mark.parametrize("why", WAKINGS)
async def test_a_room_that_is_in_nobodys_memory_is_woken_by_its_deadline_and_not_before(
    why: str, url: str, redis: Redis
) -> None:
    prepare, ms, event = WAKINGS[why]
    async with live_node(url, "one") as one:
        code = await prepare(one)
    top = len(await whole_log(url, code))
    async with live_node(url, "other") as other:
        await hurry(redis, code, ms - 5_000)
        await other.directory.beat_once()
        await asyncio.sleep(0.05)
        assert len(other.directory) == 0
        assert len(await whole_log(url, code)) == top
        await hurry(redis, code, 5_000 + BACKSTOP_MS)
        await other.directory.beat_once()

        async def has_acted() -> bool:
            return await redis.xlen(room_keys(code).log) != top

        await eventually(has_acted)
        if why == "nobody sits":
            assert await keys_of(redis, code) == set()
            return
        commits = await commits_of(url, code)
        assert len(commits) == top + 1
        if event is not None:
            assert isinstance(commits[-1].room[0], event)
        else:
            assert commits[-1].cause.seat == 1
            assert isinstance(commits[2].room[0], BotSat)


async def test_a_node_that_ends_while_it_wakes_rooms_asks_the_store_for_nothing_more(
    url: str, redis: Redis
) -> None:
    async with live_node(url, "one") as one:
        codes = [await somebody_waits(one) for _ in range(3)]
    async with live_node(url, "other") as other:
        for code in codes:
            await hurry(redis, code, IDLE_MS + BACKSTOP_MS)
        await other.directory.beat_once()
        await asyncio.sleep(0)
        await other.directory.close("restart")
        asked = other.log.loads
        assert asked < len(codes), "or it was done before"
        assert len(other.directory) == 0
        await asyncio.sleep(0.2)
        assert other.log.loads == asked
        assert len(other.directory) == 0


async def test_a_room_that_was_given_out_to_a_node_that_died_is_given_out_again(
    url: str, redis: Redis
) -> None:
    async with live_node(url, "one") as one:
        code = await turn_clock(one)
        await hurry(redis, code, 300_000 + BACKSTOP_MS)
        # A node takes the beat and the room with it, and is never heard of again.
        assert code in [room for beat in (await one.log.beat_all()).values() for room in beat.due]
    async with live_node(url, "other") as other:
        await hurry(redis, code, 1_000)
        await other.directory.beat_once()
        assert not await log_has(url, code, TimedOut)
        await hurry(redis, code, 5_000)
        await other.directory.beat_once()
        await eventually(lambda: log_has(url, code, TimedOut))


# The end


async def finished(node: LiveNode) -> FakeViewer:
    ann = await FakeViewer("ann").enter(await node.found())
    bob = await node.enter(ann.code, "bob")
    await begin(ann, bob)
    await asyncio.gather(ann.play(Random(1)), bob.play(Random(2)))
    await say(node.log, ann.table, ann, "well played")
    return ann


@pytest.mark.parametrize("keep_days", [30, 0])
async def test_a_finished_game_stays_for_its_time_and_then_leaves_nothing_but_its_record(
    keep_days: int, url: str, redis: Redis
) -> None:
    async with live_node(url, keep_days=keep_days) as node:
        ann = await finished(node)
        code = ann.code
        assert await keys_of(redis, code) == {"log", "chat", "secret", "due"}
        made = await record_of(node.log, code, GAMES)
        await hurry(redis, code, KEPT_MS - 10_000)
        await node.directory.beat_once()
        ann.room.put(TimeIsUp())
        await node.enter(code, "eve")
        assert "log" in await keys_of(redis, code)
        await hurry(redis, code, 10_000 + BACKSTOP_MS)
        await node.directory.beat_once()
        assert await ann.ended() == "room_gone"
        assert await keys_of(redis, code) == ({"record"} if keep_days else set())
        assert await node.directory.open(code) is None
        record = await record_of(node.log, code, GAMES)
        assert record == (made if keep_days else None)
        if record is not None:
            assert verify(record, GAMES) == ()
            days = await redis.pttl(room_keys(code).record) / KEPT_MS
            assert 29.9 < days <= 30


async def test_a_room_in_which_somebody_sat_down_meanwhile_is_not_removed(
    redis: Redis, one: LiveNode, deaf: LiveNode
) -> None:
    actor = await deaf.found()
    ann = await one.enter(actor.code, "ann")
    await ann.do("sit")
    await hurry(redis, actor.code, EMPTY_MS)
    await deaf.directory.beat_once()
    actor.put(TimeIsUp())
    eve = await FakeViewer("eve").enter(actor)
    assert eve.replay.seq == 2
    assert (await ann.do("ready")).seq == 3


async def test_a_room_shows_in_the_lobby_from_its_beginning_to_the_end_of_its_game(
    one: LiveNode,
) -> None:
    async def shown() -> Any:
        return {code: msgspec.json.decode(row) for code, row in (await one.log.summaries()).items()}

    one.beat()
    actor = await one.found()
    ann = await FakeViewer("ann").enter(actor)
    assert (await shown())[actor.code]["taken"] == 0
    await sit_down(ann, bots=1)
    assert (await shown())[actor.code]["taken"] == 2
    await ann.do("start")
    assert (await shown())[actor.code]["status"] == "playing"
    await ann.play(Random(1))
    assert await shown() == {}


# Leaving


async def test_who_drains_asks_everybody_to_go_and_sends_away_who_stays(one: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    bob = await FakeViewer("bob").enter(await one.found())
    ann.on_frame = None
    draining = asyncio.create_task(one.directory.drain(200))
    await ann.until(lambda: ann.of(ServerGo))
    ann.leave()
    assert bob.of(ServerGo) == [ServerGo(200)]
    assert not draining.done()
    await draining
    assert (ann.closed, bob.closed) == (None, "restart")
    assert len(one.directory) == 0


async def test_what_is_left_of_a_room_whose_log_has_gone_goes_too(url: str, redis: Redis) -> None:
    async with live_node(url) as node:
        code = (await node.found()).code
    await redis.delete(room_keys(code).log)
    assert await keys_of(redis, code) >= {"secret", "due", "lobby"}
    async with live_node(url) as node:
        await hurry(redis, code, EMPTY_MS + BACKSTOP_MS)
        await node.directory.beat_once()

        async def is_tidy() -> bool:
            return await keys_of(redis, code) == set()

        await eventually(is_tidy)


async def test_a_message_that_cannot_be_read_is_passed_over(
    url: str, redis: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    async with live_node(url) as node:
        ann = await FakeViewer("ann").enter(await node.found())
        strange = msgpack.packb({"line": "of another shape"})
        await redis.publish(CHAT, msgpack.packb([ann.code.encode(), b"1-0", strange]))
        await say(node.log, ann.table, ann, "still there")
        await ann.until(lambda: ann.of(ServerChat))
        assert [line.text for line in ann.of(ServerChat)] == ["still there"]
    assert "a message of another node is passed over" in caplog.text


async def test_a_node_that_was_alone_publishes_for_one_that_comes(one: LiveNode) -> None:
    publishes: list[bool] = []
    all_heard = asyncio.Event()

    async def wakes() -> AsyncIterator[Wake]:
        for wake in (Alone(), Alive("other"), Alone(), Missed()):
            yield wake
            publishes.append(one.log.appender.is_heard)
        all_heard.set()
        await asyncio.Event().wait()

    listening = asyncio.create_task(one.directory.listen(wakes))
    await all_heard.wait()
    listening.cancel()
    assert publishes == [False, True, False, True]


async def test_shards_with_open_rooms_beat_each_second_and_the_others_in_turn(
    one: LiveNode, other: LiveNode
) -> None:
    rooms = [await one.found() for _ in range(2)]
    used = {shard_of(room.code) for room in rooms}
    seconds = range(1_000, 1_000 + 2 * IDLE_BEATS)
    one.directory._neighbours._heard_at.clear()
    alone = [one.directory._in_turn(second) for second in seconds]
    for beat in alone:
        assert used <= {*beat}
        assert len({*beat} - used) <= SHARDS / IDLE_BEATS + 1
    for first in range(IDLE_BEATS):
        assert set().union(*alone[first : first + IDLE_BEATS]) == set(range(SHARDS))

    async def have_met() -> bool:
        return all(node.directory._neighbours for node in (one, other))

    for node in (one, other):
        node.log.be_there()
    await eventually(have_met)
    for first in range(1_000, 1_000 + IDLE_BEATS):
        turns = [
            [set(node.directory._in_turn(second)) for second in range(first, first + IDLE_BEATS)]
            for node in (one, other)
        ]
        here, there = (set().union(*each) for each in turns)
        assert here | there == set(range(SHARDS))
        assert here & there <= used
    one.directory._forget(rooms[0].code)
    one.directory._forget(rooms[0].code)
    left = set().union(*(one.directory._in_turn(second) for second in (1_000, 1_001)))
    assert shard_of(rooms[1].code) in left


def test_a_dead_node_delays_an_idle_shard_by_one_turn_and_no_more() -> None:
    living = [
        {(second, shard) for second in range(60) for shard in idle_shards(second, 3, number, 4)}
        for number in (0, 1, 3)
    ]
    for shard in range(SHARDS):
        beaten = [second for second in range(60) if any((second, shard) in each for each in living)]
        gaps = [after - before for before, after in itertools.pairwise(beaten)]
        assert set(gaps) == {3, 6}
        assert len(beaten) <= 15


async def test_the_clock_of_a_shard_that_others_beat_is_known_once_a_room_is_open(
    one: LiveNode, other: LiveNode
) -> None:
    code = (await one.found()).code
    other.directory.node.clock._heard.clear()
    assert not other.directory.node.clock.is_sure(shard_of(code))
    assert await other.directory.open(code) is not None
    assert other.directory.node.clock.is_sure(shard_of(code))
    apart = other.directory.node.clock.now_ms(shard_of(code)) - one.directory.node.clock.now_ms(
        shard_of(code)
    )
    assert abs(apart) < 1_000
