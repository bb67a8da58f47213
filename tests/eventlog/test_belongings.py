"""What belongs to a room besides its log: chat, secret, record, its place in the lobby."""

import asyncio
import re
from contextlib import aclosing
from time import monotonic
from unittest.mock import ANY

import msgspec
import pytest
from redis.asyncio import Redis

from tests.eventlog.logs import DAY_MS, ROOM, attempt, copy_of, go_back, grow, place_after
from tests.proxy.store import Proxy
from towerhall_server.eventlog.answers import (
    Appended,
    Beat,
    Behind,
    Exists,
    Following,
    Forked,
    Gone,
    Mistimed,
    Removed,
)
from towerhall_server.eventlog.entry import START, Point
from towerhall_server.eventlog.keys import SHARDS, room_keys, shard_of
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.notifications import Listed, Missed, listen
from towerhall_server.store.errors import StoreError

KEYS = room_keys(ROOM)


async def test_a_secret_is_kept_once(log: EventLog, redis: Redis) -> None:
    assert await log.secret(ROOM) is None
    secret = bytes(range(256))
    assert await log.keep_secret(ROOM, secret, DAY_MS) is True
    assert await log.keep_secret(ROOM, b"another", DAY_MS) is False
    assert await log.secret(ROOM) == secret
    assert await log.secret("OTHERS") is None
    assert DAY_MS - 5000 < await redis.pttl(KEYS.secret) <= DAY_MS


async def test_of_two_who_keep_a_secret_one_does(log: EventLog) -> None:
    kept = await asyncio.gather(*(log.keep_secret(ROOM, b"%d" % n, DAY_MS) for n in range(5)))
    assert sorted(kept) == [False] * 4 + [True]
    assert await log.secret(ROOM) == b"%d" % kept.index(True)


async def test_a_new_room_has_its_secret_though_a_failover_has_lost_the_one_that_was_kept(
    log: EventLog, redis: Redis
) -> None:
    await log.keep_secret(ROOM, b"secret", DAY_MS)
    await redis.delete(KEYS.secret)
    created = attempt(secret=b"secret")
    assert await log.append(created) == Appended(1)
    assert await log.secret(ROOM) == b"secret"
    assert DAY_MS - 5000 < await redis.pttl(KEYS.secret) <= DAY_MS
    # A lost answer: the same bytes again.
    assert await log.append(created) == Appended(1)


async def test_no_room_begins_under_a_code_that_is_kept_for_another_one(log: EventLog) -> None:
    await log.keep_secret(ROOM, b"another", DAY_MS)
    assert await log.append(attempt(secret=b"secret")) == Exists()
    assert await log.secret(ROOM) == b"another"
    assert await log.read(ROOM) == Gone()


async def test_a_record_is_improved_only_while_it_is_kept(log: EventLog, redis: Redis) -> None:
    assert not await log.improve_record(ROOM, b"better")
    assert await log.record(ROOM) is None
    await log.keep_record(ROOM, b"first", DAY_MS)
    assert await log.improve_record(ROOM, b"better")
    assert await log.record(ROOM) == b"better"
    assert DAY_MS - 5000 < await redis.pttl(KEYS.record) <= DAY_MS


async def test_what_is_owed_for_a_room_lies_beside_it(log: EventLog, redis: Redis) -> None:
    wanted = attempt(owed=b"an opening")
    place = place_after(wanted, await log.append(wanted))
    more = attempt(place)
    place = place_after(more, await log.append(more))
    await log.owe(ROOM, b"something")
    await log.owe(ROOM, b"something")
    await log.keep_record(ROOM, b"record", DAY_MS)
    assert await log.remove(ROOM, place, b"an end") == Removed()
    assert await log.remove(ROOM, place, b"another end") == Gone()
    owed = {b"an opening", b"something", b"an end"}
    assert await redis.smembers(KEYS.shard.owed) == owed


async def test_a_record_outlives_its_room(log: EventLog, redis: Redis) -> None:
    (place,) = await grow(log, 1)
    await log.keep_secret(ROOM, b"secret", DAY_MS)
    await log.say(ROOM, b"bye", DAY_MS)
    await log.keep_record(ROOM, b"first", DAY_MS)
    await log.keep_record(ROOM, b"\x00record", DAY_MS)
    assert await log.remove(ROOM, place) == Removed()
    assert await log.record(ROOM) == b"\x00record"
    assert sorted(await redis.keys("*")) == [KEYS.ended.encode(), KEYS.record.encode()]
    assert DAY_MS - 5000 < await redis.pttl(KEYS.record) <= DAY_MS
    assert await log.record("OTHERS") is None


def test_all_belongings_are_in_the_slot_of_the_log() -> None:
    tags = {
        re.findall(r"\{.*\}", key)[0]
        for key in (
            *(KEYS.log, KEYS.chat, KEYS.secret, KEYS.record, KEYS.snapshots, KEYS.shard.wake),
        )
    }
    assert tags == {f"{{s{shard_of(ROOM)}}}"}


async def test_what_is_said_comes_back_in_order(log: EventLog, redis: Redis) -> None:
    await grow(log, 1)
    texts = [b"line %d \xff" % n for n in range(7)]
    lines = [await log.say(ROOM, text, DAY_MS) for text in texts]
    seconds, _ = await redis.time()
    for line, text in zip(lines, texts, strict=True):
        assert line is not None
        assert line.text == text
        assert line.id.startswith(f"{line.wall_ms}-")
        assert abs(line.wall_ms / 1000 - seconds) < 60
    assert await log.said(ROOM) == tuple(lines)
    assert await log.said(ROOM, 2) == tuple(lines[-2:])
    assert await log.said("OTHERS") == ()


async def test_two_hundred_lines_are_kept_and_no_more(log: EventLog) -> None:
    await grow(log, 1)
    for n in range(203):
        await log.say(ROOM, b"%d" % n, DAY_MS)
    assert [line.text for line in await log.said(ROOM, 500)] == [b"%d" % n for n in range(3, 203)]
    assert [line.text for line in await log.said(ROOM)] == [b"%d" % n for n in range(153, 203)]


async def test_chat_expires_after_the_last_line(log: EventLog, redis: Redis) -> None:
    await grow(log, 1)
    await log.say(ROOM, b"one", 1000)
    await log.say(ROOM, b"two", DAY_MS)
    assert DAY_MS - 5000 < await redis.pttl(KEYS.chat) <= DAY_MS


async def test_nothing_can_be_said_where_no_room_is(log: EventLog, redis: Redis) -> None:
    assert await log.say(ROOM, b"hello?", DAY_MS) is None
    assert await redis.keys("*") == []
    (place,) = await grow(log, 1)
    await log.remove(ROOM, place)
    assert await log.say(ROOM, b"hello?", DAY_MS) is None
    assert await redis.keys("*") == [KEYS.ended.encode()]


async def test_the_lobby_shows_the_rooms_of_all_shards(log: EventLog) -> None:
    assert await log.summaries() == {}
    expected = {}
    for number in range(300):
        wanted = attempt(room=f"ROOM{number}", summary=b"summary \xff %d" % number)
        place = place_after(wanted, await log.append(wanted))
        expected[wanted.room] = wanted.summary
    assert len(set(map(shard_of, expected))) > SHARDS / 2
    assert await log.summaries() == expected
    await log.append(attempt(place, room="ROOM299"))
    del expected["ROOM299"]
    assert await log.summaries() == expected


async def test_a_lobby_that_is_known_in_part_is_not_known(log: EventLog, proxy: Proxy) -> None:
    await grow(log, 1, summary=b"shown")
    async with EventLog(proxy.url) as shaky:
        proxy.cut_after = 100
        with pytest.raises(StoreError):
            await shaky.summaries()


async def test_all_shards_beat_together(log: EventLog, redis: Redis) -> None:
    beats = await log.beat_all()
    assert sorted(beats) == list(range(SHARDS))
    assert {beat.now.served_ms for beat in beats.values()} == {0}
    await grow(log, 1, due_at_ms=0)
    last = await redis.hget(KEYS.shard.clock, "last")
    assert last is not None
    await redis.hset(KEYS.shard.clock, "last", str(int(last) - 1000))
    beats = await log.beat_all()
    assert {shard: beat.due for shard, beat in beats.items() if beat.due} == {
        shard_of(ROOM): (ROOM,)
    }
    assert beats[shard_of(ROOM)].now.served_ms >= 1000


async def test_some_shards_beat_spread_over_a_time(log: EventLog) -> None:
    wanted = [3, *range(100, 140)]
    began, heard = monotonic(), list[float]()

    def hear(shard: int, beat: Beat) -> None:
        heard.append(monotonic() - began)

    assert [*await log.beat_all(wanted, within_seconds=0.3, heard=hear)] == wanted
    assert len(heard) == len(wanted)
    assert heard[-1] - heard[0] > 0.15, "each is heard when it comes"


async def test_a_move_need_not_wait_for_the_clocks_of_all_shards(log: EventLog) -> None:
    await log.beat_all()
    beats = asyncio.create_task(log.beat_all())
    await asyncio.sleep(0)
    # On a slow machine the clock may be ahead of the attempt. The store says so as quickly.
    assert isinstance(await log.append(attempt()), Appended | Mistimed)
    assert not beats.done()
    assert len(await beats) == SHARDS


async def test_shards_that_did_not_answer_are_missing_in_a_beat(redis: Redis, proxy: Proxy) -> None:
    async with EventLog(proxy.url) as shaky:
        await shaky.beat_all()
        proxy.cut_after = 200
        beats = await shaky.beat_all()
        assert 0 < len(beats) < SHARDS
        assert sorted(beats) == list(range(len(beats)))
        proxy.cut_after = 1
        with pytest.raises(StoreError):
            await shaky.beat_all()
        proxy.cut_after = None
        assert len(await shaky.beat_all()) == SHARDS


async def test_closing_waits_for_what_is_under_way(
    engine_url: str, log: EventLog, redis: Redis
) -> None:
    async with EventLog(engine_url) as closing:
        appends = [asyncio.create_task(closing.append(attempt(room=f"R{n}"))) for n in range(50)]
        beats = [asyncio.create_task(closing.beat(shard)) for shard in range(50)]
        await asyncio.sleep(0)
    assert len(await asyncio.gather(*appends, *beats)) == 100


async def test_what_the_lobby_shows_is_published_when_it_changes_and_only_then(
    log: EventLog, engine_url: str
) -> None:
    async with aclosing(listen(engine_url, "unnamed")) as wakes:
        assert await anext(wakes) == Missed()
        place = START
        for summary in (b"one", b"one", None, b"two \xff", None, b"", b""):
            wanted = attempt(place, summary=summary)
            place = place_after(wanted, await log.append(wanted))
        other = attempt(room="OTHERS", summary=b"there")
        await log.remove("OTHERS", place_after(other, await log.append(other)))
        hidden = attempt(room="HIDDEN", summary=b"")
        await log.remove("HIDDEN", place_after(hidden, await log.append(hidden)))
        end = attempt(room="ENDING", summary=b"end")
        await log.append(end)
        heard = [await asyncio.wait_for(anext(wakes), 10) for _ in range(6)]
    assert heard == [
        Listed(ROOM, b"one"),
        Listed(ROOM, b"two \xff"),
        Listed(ROOM, b""),
        Listed("OTHERS", b"there"),
        Listed("OTHERS", b""),
        Listed("ENDING", b"end"),
    ]


async def test_claims_rise_though_the_store_goes_back(log: EventLog, redis: Redis) -> None:
    copy = await copy_of(redis)
    claims = [await log.claim(ROOM) for _ in range(3)]
    await go_back(redis, copy)
    claims.append(await log.claim(ROOM))
    assert claims == sorted(set(claims))
    assert await redis.dbsize() == 0, "a claim writes nothing"


async def test_a_claim_is_the_time_of_the_store_in_us(log: EventLog, redis: Redis) -> None:
    claim = await log.claim(ROOM)
    seconds, us = await redis.time()
    assert 0 <= seconds * 1_000_000 + us - claim < 5_000_000


async def test_a_snapshot_is_kept_for_a_place_that_is_in_the_log(
    log: EventLog, redis: Redis
) -> None:
    places = await grow(log, 3)
    assert await log.snapshots(ROOM) == ()
    assert await log.snapshot(ROOM, 2, page=0) == (None, ANY)
    assert await log.keep_snapshot(ROOM, places[1], b"\x00two") == 1
    assert await log.keep_snapshot(ROOM, places[2], b"three") == 1
    assert await log.snapshots(ROOM) == (2, 3)
    assert (await log.snapshot(ROOM, 2))[0] == b"\x00two"
    assert await log.keep_snapshot(ROOM, places[1], b"again", outdated=3) == 1
    assert await log.snapshots(ROOM) == (2,)
    assert (await log.snapshot(ROOM, 2))[0] == b"again"
    assert 0 <= await redis.pttl(KEYS.log) - await redis.pttl(KEYS.snapshots) < 1000


async def test_what_comes_with_a_snapshot_is_read_like_any_log(log: EventLog) -> None:
    places = await grow(log, 5)
    assert await log.keep_snapshot(ROOM, places[1], b"two") == 1
    data, found = await log.snapshot(ROOM, 2, page=2)
    assert data == b"two"
    for page in (1, 2, 3):
        _, found = await log.snapshot(ROOM, 2, page=page)
        alone = await log.read(ROOM, places[1], page=page)
        assert await log.read(ROOM, places[1], page=page, found=found) == alone
        assert isinstance(alone, Following)
        assert (len(alone.entries), alone.more) == (page, True)
    forked = msgspec.structs.replace(places[1], chain=bytes(32))
    assert await log.read(ROOM, forked, found=found) == Forked(2)
    _, found = await log.snapshot(ROOM, 6)
    assert isinstance(await log.read(ROOM, Point(6, bytes(32), START.stamps), found=found), Behind)


async def test_a_snapshot_of_another_past_is_not_kept(log: EventLog, redis: Redis) -> None:
    place = (await grow(log, 3))[1]
    wrong = (
        msgspec.structs.replace(place, seq=1),
        msgspec.structs.replace(place, seq=4),
        msgspec.structs.replace(place, chain=bytes(32)),
    )
    for each in wrong:
        assert await log.keep_snapshot(ROOM, each, b"data") == 0, each
    assert not await redis.exists(KEYS.snapshots)


async def test_snapshots_end_with_their_room_and_none_comes_after_it(
    log: EventLog, redis: Redis
) -> None:
    (place,) = await grow(log, 1)
    assert await log.keep_snapshot(ROOM, place, b"data") == 1
    assert await log.remove(ROOM, place) == Removed()
    assert await log.keep_snapshot(ROOM, place, b"data") == 0
    assert not await redis.exists(KEYS.snapshots)


async def test_one_entry_is_found_without_the_rest(log: EventLog) -> None:
    assert await log.entry(ROOM, 1) is None
    places = await grow(log, 3)
    for place in places:
        entry = await log.entry(ROOM, place.seq)
        assert entry is not None
        assert entry.point == place
    assert await log.entry(ROOM, 4) is None
