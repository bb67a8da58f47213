"""Records are made once: at the end of a game, or by the first who asks, and are then only kept."""

import asyncio
from random import Random
from typing import Any

import pytest
from redis.asyncio import Redis

from tests.live.live_rooms import GAMES, FakeViewer, LiveNode, begin, hurry, live_node, whole_log
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.eventlog.log import EventLog
from towerhall_server.live import record_store as record_module
from towerhall_server.live import records as records_module
from towerhall_server.live.follower import BACKSTOP_MS
from towerhall_server.live.record_store import (
    KeptRecord,
    RecordNotReadyError,
    find_record,
    make_record,
)
from towerhall_server.live.records import Records
from towerhall_server.record.verify import verify
from towerhall_server.room.steps import KEPT_MS
from towerhall_server.store.errors import StoreError

PATIENCE_SECONDS = 10.0


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The records that are made from logs."""
    found: list[bytes] = []

    def noted(*args: Any, **more: Any) -> bytes:
        found.append(make_record(*args, **more))
        return found[-1]

    monkeypatch.setattr(record_module, "make_record", noted)
    monkeypatch.setattr(records_module, "AFTER_SECONDS", 0.0)
    return found


async def finished(node: LiveNode) -> FakeViewer:
    ann = await FakeViewer("ann").enter(await node.found())
    bob = await node.enter(ann.code, "bob")
    await begin(ann, bob)
    await asyncio.gather(ann.play(Random(1)), bob.play(Random(2)))
    return ann


def records_of(node: LiveNode, keep_days: int = 30) -> Records:
    return Records(node.log, GAMES, keep_days)


async def kept_soon(log: EventLog, code: str) -> KeptRecord:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (kept := await find_record(log, code)) is None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return kept


async def test_a_record_is_made_and_kept_when_the_game_has_ended_without_being_asked_for(
    one: LiveNode, made: list[bytes]
) -> None:
    records = records_of(one)
    running = asyncio.create_task(records.run())
    ann = await finished(one)
    assert made == []
    records.heard(None, ann.room.follower.room)
    kept = await kept_soon(one.log, ann.code)
    running.cancel()
    assert made == [kept.file]
    assert verify(kept.file, GAMES) == ()
    assert kept.place == ann.place


async def test_a_room_that_goes_on_is_not_queued(one: LiveNode, made: list[bytes]) -> None:
    records = records_of(one)
    running = asyncio.create_task(records.run())
    ann = await FakeViewer("ann").enter(await one.found())
    records.heard(None, ann.room.follower.room)
    await asyncio.sleep(0.1)
    running.cancel()
    assert await records.find(ann.code) is None
    with pytest.raises(RecordNotReadyError):
        await records.keep(ann.code)
    assert made == []


async def test_a_crowd_that_asks_at_once_gets_one_record_that_is_made_once(
    one: LiveNode, other: LiveNode, made: list[bytes]
) -> None:
    code = (await finished(one)).code
    records = records_of(one)
    assert await records.find(code) is None
    found = await asyncio.gather(*(records.keep(code) for _ in range(20)))
    assert len(made) == 1
    assert [await records.find(code) for _ in range(3)] == [found[0]] * 3
    # Another node has nothing to make either.
    assert await records_of(other).keep(code) == found[0]
    assert len(made) == 1


async def test_a_record_that_was_not_kept_at_the_end_is_made_by_the_first_who_asks(
    one: LiveNode, other: LiveNode, made: list[bytes]
) -> None:
    code = (await finished(one)).code
    kept = await records_of(other).keep(code)
    assert kept is not None
    assert made == [kept.file]


async def test_a_record_ends_with_the_game_and_never_changes(
    one: LiveNode, url: str, made: list[bytes]
) -> None:
    ann = await finished(one)
    ended, records = ann.place, records_of(one)
    first = await records.keep(ann.code)
    assert first is not None
    assert first.place == ended
    await ann.do("rematch")
    assert await records.find(ann.code) == first
    assert await records.keep(ann.code) == first
    assert len(made) == 1
    # A record that is made later is the same.
    await one.log.drop_record(ann.code)
    assert await records.keep(ann.code) == first
    assert (await whole_log(url, ann.code))[-1].point == ann.place != ended


async def test_a_record_of_another_past_is_not_given_out(
    one: LiveNode, redis: Redis, made: list[bytes]
) -> None:
    """As after a failover that lost the end of the game."""
    ann = await finished(one)
    records = records_of(one)
    await records.keep(ann.code)
    await redis.xdel(room_keys(ann.code).log, f"{ann.replay.seq}-0")
    assert await records.find(ann.code) is None
    with pytest.raises(RecordNotReadyError):
        await records.keep(ann.code)


async def test_a_record_in_a_form_of_another_version_is_made_again(
    one: LiveNode, redis: Redis, made: list[bytes]
) -> None:
    code = (await finished(one)).code
    await redis.set(room_keys(code).record, b'{"format": 1}')
    kept = await records_of(one).keep(code)
    assert kept is not None
    assert kept == await find_record(one.log, code)


async def test_a_room_is_removed_without_making_its_record_again(
    redis: Redis, one: LiveNode, made: list[bytes]
) -> None:
    ann = await finished(one)
    kept = await records_of(one).keep(ann.code)
    await redis.pexpire(room_keys(ann.code).record, KEPT_MS)
    await hurry(redis, ann.code, KEPT_MS + BACKSTOP_MS)
    await one.directory.beat_once()
    assert await ann.ended() == "room_gone"
    assert len(made) == 1
    assert await find_record(one.log, ann.code) == kept
    # From now on it counts for how long records are kept.
    assert await redis.pttl(room_keys(ann.code).record) > 29 * KEPT_MS


async def test_where_no_records_are_kept_one_lasts_as_long_as_its_room(
    redis: Redis, url: str, made: list[bytes]
) -> None:
    async with live_node(url, keep_days=0) as node:
        ann = await finished(node)
        assert await records_of(node, 0).keep(ann.code) is not None
        assert await find_record(node.log, ann.code) is not None
        await hurry(redis, ann.code, KEPT_MS + BACKSTOP_MS)
        await node.directory.beat_once()
        assert await ann.ended() == "room_gone"
        assert await redis.keys(f"*:{ann.code}") == [room_keys(ann.code).ended.encode()]


async def test_faults_of_the_store_and_of_one_room_do_not_keep_other_records_from_being_made(
    one: LiveNode, made: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    records = records_of(one)
    rooms = [await finished(one) for _ in range(3)]
    faults = {rooms[0].code: StoreError("no answer"), rooms[1].code: ValueError("a poisoned room")}
    find_or_make = record_module.find_or_make_record

    async def faulty(log: EventLog, code: str, *more: Any) -> KeptRecord | None:
        if code in faults:
            raise faults.pop(code)
        return await find_or_make(log, code, *more)

    monkeypatch.setattr(records_module, "find_or_make_record", faulty)
    running = asyncio.create_task(records.run())
    for ann in rooms:
        records.heard(None, ann.room.follower.room)
    await kept_soon(one.log, rooms[2].code)
    assert faults == {}
    # Those who ask for the others get them all the same.
    for ann in rooms[:2]:
        assert await records.keep(ann.code) is not None
    running.cancel()


async def test_a_bounded_number_of_ended_games_waits(
    one: LiveNode, made: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records_module, "MOST_WAITING", 1)
    records = records_of(one)
    rooms = [await finished(one) for _ in range(2)]
    for ann in (rooms[0], rooms[0], rooms[1]):
        records.heard(None, ann.room.follower.room)
    running = asyncio.create_task(records.run())
    await kept_soon(one.log, rooms[0].code)
    await asyncio.sleep(0.1)
    running.cancel()
    assert await records.find(rooms[1].code) is None


async def test_a_record_that_cannot_be_kept_is_given_out_all_the_same(
    one: LiveNode, made: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the store is full."""
    code = (await finished(one)).code
    records = records_of(one)

    async def full(*_: object) -> None:
        raise StoreError("OOM command not allowed")

    with monkeypatch.context() as patch:
        patch.setattr(one.log, "keep_record", full)
        kept = await records.keep(code)
    assert kept is not None
    assert [kept.file] == made
    assert await records.find(code) is None
    assert await records.keep(code) == kept == await records.find(code)
