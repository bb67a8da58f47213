"""P-182: what rooms owe the public log lies in the store as soon as the room is there, or gone."""

import asyncio
from typing import Any

import msgspec
import pytest
from redis.asyncio import Redis

from tests.live.live_rooms import GAMES, FakeViewer, LiveNode, hurry, live_node
from tests.live.test_directory import eventually, keys_of
from tests.live.test_records import finished, made
from towerhall_protocol.commands import base64url
from towerhall_protocol.public_log import Dropped, Ended, Leaf, Logged, Opened, read_leaf
from towerhall_protocol.record import read
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.live.follower import BACKSTOP_MS
from towerhall_server.live.record_store import find_record
from towerhall_server.live.records import InPublic, Records
from towerhall_server.record.verify import verify
from towerhall_server.room.steps import EMPTY_MS, KEPT_MS
from towerhall_server.store.errors import StoreError

__all__ = ["made"]

LOGGED = Logged(1, 2, ("AAAA",), "a checkpoint\n")


async def owed(redis: Redis, code: str) -> set[tuple[Leaf | None, ...]]:
    """What the rooms of that shard owe, leaf by leaf."""
    found: Any = await redis.smembers(room_keys(code).shard.owed)
    return {tuple(map(read_leaf, debt.split(b"\n"))) for debt in found}


def opened_of(viewer: FakeViewer) -> Opened:
    table = viewer.room.follower.room.table
    return Opened(base64url(table.uid), base64url(table.commitment))


async def test_a_new_room_owes_its_commitment(url: str, redis: Redis) -> None:
    told: list[str] = []
    async with live_node(url, owe=told.append) as node:
        ann = await FakeViewer("ann").enter(await node.found())
        assert await owed(redis, ann.code) == {(opened_of(ann),)}
        assert told == [ann.code]


async def test_a_room_that_is_removed_before_a_game_owes_that_too(url: str, redis: Redis) -> None:
    told: list[str] = []
    async with live_node(url, owe=told.append) as node:
        ann = await FakeViewer("ann").enter(await node.found())
        opened = opened_of(ann)
        await hurry(redis, ann.code, EMPTY_MS + BACKSTOP_MS)
        await node.directory.beat_once()
        assert await ann.ended() == "room_gone"
        assert await keys_of(redis, ann.code) == set()
        assert await owed(redis, ann.code) == {(opened,), (opened, Dropped(opened.uid))}
        assert told == [ann.code] * 2


@pytest.mark.parametrize("keep_days", [0, 30])
async def test_a_room_that_goes_after_its_game_owes_the_seal_of_its_record(
    url: str, redis: Redis, keep_days: int
) -> None:
    told: list[str] = []
    async with live_node(url, owe=told.append, keep_days=keep_days) as node:
        ann = await finished(node)
        opened, place = opened_of(ann), ann.place
        await hurry(redis, ann.code, KEPT_MS + BACKSTOP_MS)
        await node.directory.beat_once()
        assert await ann.ended() == "room_gone"
        ((first, ended),) = await owed(redis, ann.code) - {(opened,)}
        assert first == opened
        assert isinstance(ended, Ended)
        assert (ended.uid, ended.seq, ended.chain) == (
            opened.uid,
            place.seq,
            base64url(place.chain),
        )
        kept = await find_record(node.log, ann.code)
        assert (kept is None) == (keep_days == 0)
        if kept is not None:
            assert read(kept.file).seal == ended.seal


async def test_without_a_public_log_nothing_is_owed(
    one: LiveNode, redis: Redis, made: list[bytes]
) -> None:
    ann = await finished(one)
    bob = await FakeViewer("bob").enter(await one.found())
    for code in (ann.code, bob.code):
        await hurry(redis, code, KEPT_MS + BACKSTOP_MS)
        await one.directory.beat_once()

        async def is_gone(code: str = code) -> bool:
            return await keys_of(redis, code) <= {"record"}

        await eventually(is_gone)
        assert not await redis.exists(room_keys(code).shard.owed)


# Records


class FakeLog:
    """A public log that is slow, or down."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.logged: Logged | None = None
        self.down = False

    @property
    def public(self) -> InPublic:
        return InPublic(self.told.append, self.proof)

    async def proof(self, debt: bytes) -> Logged | None:
        if self.down:
            raise StoreError("no answer")
        return self.logged


async def test_a_record_is_sent_without_a_proof_until_the_log_has_it(
    one: LiveNode, redis: Redis, made: list[bytes]
) -> None:
    log = FakeLog()
    records = Records(one.log, GAMES, 30, public=log.public)
    code = (await finished(one)).code
    first = await records.keep(code)
    assert first is not None
    assert log.told == [code]
    assert tuple(map(read_leaf, first.owed.split(b"\n"))) in await owed(redis, code)
    for log.down in (True, False):
        assert await records.find(code) == first
    await redis.pexpire(room_keys(code).record, KEPT_MS)
    log.logged = LOGGED
    found = await asyncio.gather(*(records.find(code) for _ in range(5)))
    proved = next(each for each in found if each is not None and each != first)
    assert read(proved.file).log == LOGGED
    assert all(each in (first, proved) for each in found)
    # It is kept so, for as long as it was to be kept, and is the same record otherwise.
    assert await records.find(code) == proved == await find_record(one.log, code)
    assert 0 < await redis.pttl(room_keys(code).record) <= KEPT_MS
    # All of it holds but the proof, which this test has made up: the seal does not cover it.
    assert [finding.code for finding in verify(proved.file, GAMES)] == ["log"]
    plain, with_log = (msgspec.json.decode(each.file) for each in (first, proved))
    assert with_log.pop("log") == msgspec.to_builtins(LOGGED) | {"proof": ["AAAA"]}
    assert plain == with_log


async def test_a_debt_that_the_store_has_lost_is_noted_at_the_next_request(
    one: LiveNode, redis: Redis, made: list[bytes]
) -> None:
    log = FakeLog()
    records = Records(one.log, GAMES, 30, public=log.public)
    code = (await finished(one)).code
    await records.keep(code)
    noted = await owed(redis, code)
    await redis.delete(room_keys(code).shard.owed)
    await records.find(code)
    assert await owed(redis, code) == noted != set()
    assert log.told == [code] * 2


async def test_a_record_that_is_gone_meanwhile_stays_gone(
    one: LiveNode, redis: Redis, made: list[bytes]
) -> None:
    log = FakeLog()
    log.logged = LOGGED
    records = Records(one.log, GAMES, 30, public=log.public)
    code = (await finished(one)).code
    await records.keep(code)

    async def gone(debt: bytes) -> Logged | None:
        await redis.delete(room_keys(code).record)
        return LOGGED

    records._public = InPublic(log.told.append, gone)
    assert await records.find(code) is not None
    assert not await redis.exists(room_keys(code).record)
