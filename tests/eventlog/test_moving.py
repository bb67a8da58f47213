"""A room that goes to another store: it arrives as it was, once, and only where its clock fits."""

from collections.abc import AsyncIterator, Iterator
from itertools import product
from time import time
from typing import Any

import msgspec
import pytest
from redis import Redis as SyncRedis
from redis.asyncio import Redis

from tests.eventlog.logs import DAY_MS, ROOM, attempt, grow
from tests.store.engines import client, running
from towerhall_server.eventlog.answers import Appended, Conflict, Following
from towerhall_server.eventlog.entry import START, Entry, Stamps, entry_after
from towerhall_server.eventlog.keys import room_keys, shard_of
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.moving import (
    NotAdoptedError,
    Parcel,
    adopt,
    destination,
    fencing,
    is_fence,
    let_go,
    stage,
    take_out,
)
from towerhall_server.store.batch import Call
from towerhall_server.store.resp import packed

KEYS = room_keys(ROOM)
SECRET = b"s" * 48


OTHER = {"valkey": "redis", "redis": "valkey"}


@pytest.fixture(scope="module")
def url_there(
    request: pytest.FixtureRequest, engine_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Another store, of the other kind."""
    kind = OTHER[engine_url_kind(engine_url)]
    with running(kind, tmp_path_factory.mktemp("there")) as engine:
        yield engine.url


def engine_url_kind(url: str) -> str:
    with SyncRedis.from_url(url) as asked:
        return str(asked.info("server").get("server_name", "redis"))


@pytest.fixture
async def redis_there(url_there: str) -> AsyncIterator[Redis]:
    async with client(url_there) as connected:
        await connected.flushall()
        yield connected


@pytest.fixture
async def there(url_there: str, redis_there: Redis) -> AsyncIterator[EventLog]:
    async with EventLog(url_there) as opened:
        yield opened


async def a_room(log: EventLog, commits: int = 300) -> Parcel:
    """A room with all that a store may hold of it."""
    await log.keep_secret(ROOM, SECRET, DAY_MS)
    await log.beat(shard_of(ROOM))
    await grow(log, commits, due_at_ms=90_000, summary=b"a summary")
    for number in range(3):
        await log.say(ROOM, b"line %d" % number, DAY_MS)
    await log.keep_record(ROOM, b"a record", DAY_MS)
    await log.call(Call(packed("SADD", KEYS.shard.ends, ROOM)))
    return await read(log)


async def read(log: EventLog) -> Parcel:
    entries: tuple[Entry, ...] = ()
    more = True
    while more:
        reading = await log.read(ROOM, *([entries[-1].point] if entries else []))
        assert isinstance(reading, Following)
        entries, more = entries + reading.entries, reading.more
    parcel = await take_out(log, ROOM, entries)
    assert parcel is not None
    return parcel


async def bring(log: EventLog, parcel: Parcel, **how: Any) -> None:
    await stage(log, ROOM, parcel.entries, begin=True)
    await adopt(log, parcel, **{"is_over": False} | how)


def of_the_room(parcel: Parcel) -> Parcel:
    """Without what depends on the moment of reading."""
    return msgspec.structs.replace(parcel, ttl_ms=0, record_ttl_ms=0, served_ms=0, due_ms=0)


async def test_an_end_leaves_the_old_store_with_its_room(log: EventLog, redis: Redis) -> None:
    await a_room(log, 2)
    await let_go(log, ROOM)
    assert not await redis.exists(KEYS.shard.ends, KEYS.shard.due)


async def test_a_room_arrives_as_it_was(log: EventLog, redis: Redis, there: EventLog) -> None:
    parcel = await a_room(log)
    assert parcel.holds_together
    assert len(parcel.entries) == 300
    encoded = msgspec.json.encode(parcel)
    await bring(there, msgspec.json.decode(encoded, type=Parcel))
    arrived = await read(there)
    assert of_the_room(arrived) == of_the_room(parcel)
    assert arrived.is_end, "no history has the game yet"
    assert 0 < arrived.ttl_ms <= parcel.ttl_ms
    assert 0 < arrived.record_ttl_ms <= parcel.record_ttl_ms
    assert arrived.due_ms is not None
    assert parcel.due_ms is not None
    left_ms = parcel.due_ms - parcel.served_ms
    assert 0 <= arrived.served_ms - parcel.served_ms < 5000
    assert abs(arrived.due_ms - arrived.served_ms - left_ms) < 5000
    assert await there.rooms() == (ROOM,)
    assert await there.summaries() == {ROOM: b"a summary"}

    await bring(there, parcel)  # a repeated command does nothing
    assert of_the_room(await read(there)) == of_the_room(parcel)
    (place,) = await grow(there, 1, parcel.entries[-1].point)
    assert place.seq == 301
    with pytest.raises(NotAdoptedError, match="gone on there"):
        await bring(there, parcel)
    assert (await read(there)).entries[-1].seq == 301


async def test_a_dry_run_and_a_torn_log_change_nothing(
    log: EventLog, redis: Redis, there: EventLog
) -> None:
    parcel = await a_room(log, 3)
    await bring(there, parcel, dry=True)
    assert await there.rooms() == ()
    await stage(there, ROOM, parcel.entries[:2], begin=True)
    with pytest.raises(NotAdoptedError, match="did not arrive whole"):
        await adopt(there, parcel, is_over=False)
    assert await there.rooms() == ()


async def test_a_foreign_room_of_that_code_keeps_its_place(
    log: EventLog, redis: Redis, there: EventLog
) -> None:
    parcel = await a_room(log, 3)
    await there.keep_secret(ROOM, b"another", DAY_MS)
    with pytest.raises(NotAdoptedError, match="another room has that code"):
        await bring(there, parcel)
    await grow(there, 2)
    with pytest.raises(NotAdoptedError, match="another room has that code"):
        await bring(there, parcel)
    assert (await there.secret(ROOM), len((await read(there)).entries)) == (b"another", 2)


async def test_no_append_goes_beyond_a_fence_and_the_room_may_come_back(
    log: EventLog, redis: Redis, there: EventLog
) -> None:
    parcel = await a_room(log, 5)
    newest = parcel.entries[-1]
    wanted = fencing(ROOM, newest, "redis://there.example", parcel.due_ms, DAY_MS)
    late = attempt(parcel.entries[2].point)
    assert isinstance(
        await log.append(msgspec.structs.replace(wanted, before=late.before)), Conflict
    )
    assert await log.append(wanted) == Appended(6)
    assert await log.append(wanted) == Appended(6), "a lost reply is asked for again"
    for is_move in (False, True):
        move = attempt(newest.point, is_move=is_move)
        assert isinstance(await log.append(move), Conflict)
    fenced = await read(log)
    assert is_fence(fenced.entries[-1])
    assert not is_fence(newest)
    assert destination(fenced.entries[-1]) == "redis://there.example"
    assert await log.summaries() == {}

    await bring(there, parcel)
    await grow(there, 2, newest.point)
    gone_on = await read(there)
    # Another history must not take the fenced one's place.
    other = msgspec.structs.replace(parcel, entries=fenced.entries[:4])
    with pytest.raises(NotAdoptedError, match="another room"):
        await bring(log, other)
    await bring(log, gone_on)
    assert (await read(log)).entries == gone_on.entries
    assert (await grow(log, 1, gone_on.entries[-1].point))[0].seq == 8


async def test_a_room_comes_only_where_its_clock_fits(
    log: EventLog, redis: Redis, there: EventLog, redis_there: Redis
) -> None:
    parcel = await a_room(log, 3)
    shard, now_ms = shard_of(ROOM), parcel.served_ms
    old = msgspec.structs.replace(parcel, served_ms=now_ms + 600_000)
    await there.beat(shard)
    with pytest.raises(NotAdoptedError, match="ms ahead"):
        await bring(there, old)  # no clock runs that fast
    await bring(there, old, is_over=True)
    assert (await there.beat(shard)).now.served_ms >= now_ms + 600_000, "the clock went on"
    await redis_there.delete(KEYS.log, KEYS.secret)
    assert await redis_there.zcard(KEYS.shard.due) == 1
    with pytest.raises(NotAdoptedError, match="ms ahead"):
        await bring(there, parcel)
    await bring(there, parcel, is_over=True)
    assert await there.rooms() == (ROOM,)
    await redis_there.delete(KEYS.log, KEYS.secret)
    await redis_there.hset(KEYS.shard.clock, "served", "0")
    ahead = [entry_later(entry, 5000) for entry in parcel.entries]
    late = msgspec.structs.replace(parcel, entries=tuple(ahead), served_ms=now_ms + 5000)
    with pytest.raises(NotAdoptedError, match="ms behind"):
        await bring(there, late)


def entry_later(entry: Entry, ms: int) -> Entry:
    stamps = msgspec.structs.replace(entry.stamps, served_ms=entry.stamps.served_ms + ms)
    return msgspec.structs.replace(entry, stamps=stamps)


def neighbour() -> str:
    """Another room of the same shard."""
    codes = map("".join, product("ABCDEFGH", repeat=6))
    return next(code for code in codes if code != ROOM and shard_of(code) == shard_of(ROOM))


async def test_the_clock_follows_that_of_the_rooms_which_come(
    log: EventLog, redis: Redis, there: EventLog, redis_there: Redis
) -> None:
    """A room that is over comes first; the next one of its shard must fit all the same."""
    parcel = await a_room(log, 3)
    late = msgspec.structs.replace(parcel, served_ms=parcel.served_ms + 600_000)
    await bring(there, late, is_over=True)
    beat = await redis_there.hgetall(KEYS.shard.clock)
    assert int(beat[b"served"]) == late.served_ms

    # No server has beaten there for a minute: the clock may go on by as much, and not by more.
    other = neighbour()
    await redis_there.hincrby(KEYS.shard.clock, "last", -60_000)
    for ahead_ms, fits in ((61_500, False), (50_000, True)):
        newest_ms = late.served_ms + ahead_ms
        entries = chain_at(newest_ms, int(time() * 1000))
        coming = msgspec.structs.replace(
            parcel, room=other, entries=entries, secret=b"o" * 48, served_ms=newest_ms
        )
        await stage(there, other, entries, begin=True)
        if fits:
            await adopt(there, coming, is_over=False)
        else:
            with pytest.raises(NotAdoptedError, match="ms behind"):
                await adopt(there, coming, is_over=False)
    assert set(await there.rooms()) == {ROOM, other}


def chain_at(served_ms: int, wall_ms: int) -> tuple[Entry, ...]:
    first = entry_after(START, Stamps(wall_ms, served_ms), b"i" * 16, b"first")
    return (first, entry_after(first.point, first.stamps, b"j" * 16, b"second"))
