"""Long logs cost no more than short ones: snapshots in a real store, right and wrong ones."""

import asyncio
from collections.abc import Callable
from itertools import count

import msgspec
import pytest
from redis.asyncio import Redis

from tests.live.live_rooms import GAMES, FakeViewer, LiveNode, live_node, no_fault, whole_log
from tests.live.long_rooms import put_into, toggled
from tests.room.pure_rooms import CODE, SECRET, PureRoom, whole_room
from towerhall_protocol.codec import encode
from towerhall_protocol.messages import Cursor, ServerReset, ServerWelcome
from towerhall_server.eventlog.entry import Point, mark
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.live import marks, snapshots, upkeep
from towerhall_server.live.history import page
from towerhall_server.live.items import Doubt
from towerhall_server.live.loading import load
from towerhall_server.live.record_store import record_of
from towerhall_server.live.replica import RECENT, Replica
from towerhall_server.live.snapshots import Snapshot, pack, unpack
from towerhall_server.room.view import base_of
from towerhall_server.store.errors import StoreError

KEYS = room_keys(CODE)
FIRST, EVERY = 8, 4
"""Snapshots come early and often here, so that tests need no thousands of commits."""


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "FIRST", FIRST)
    monkeypatch.setattr(snapshots, "EVERY", EVERY)


async def until(ready: Callable[[], object]) -> None:
    """Wait for what is done in the background."""
    for _ in range(1_000):
        if ready():
            return
        await asyncio.sleep(0.01)
    raise TimeoutError


def fates(node: LiveNode) -> dict[str, int]:
    return node.directory.node.meters.snapshots


async def keep_all(node: LiveNode) -> None:
    """Write the snapshots that are missing."""
    assert await node.directory.node.upkeep.look_through(CODE, rest=0) == 0
    due = tuple(filter(snapshots.is_due, range(len(await whole_log(node.url, CODE)) + 1)))
    async with asyncio.timeout(10):
        for _ in count():
            if await node.log.snapshots(CODE) == due:
                return
            await asyncio.sleep(0.01)


async def stored(node: LiveNode, pure: PureRoom) -> Point:
    """The log of a room is in the store, with its snapshots."""
    place = await put_into(node.log, pure.entries)
    await keep_all(node)
    return place


async def read(node: LiveNode, *, whole: bool = False) -> Replica:
    found = await load(node.directory.node, CODE, whole=whole)
    assert found is not None
    return found


async def check_same(node: LiveNode) -> None:
    one, other = await read(node), await read(node, whole=True)
    assert (one.room, one.point, one.tail) == (other.room, other.point, other.tail)


async def pages(node: LiveNode, first: int, last: int) -> list[bytes]:
    found: list[bytes] = []
    while first <= last:
        got = await page(node.directory.node, CODE, "all", first, last)
        assert got is not None
        assert [frame.seq for frame in got.frames][:1] == [first]
        found += map(encode, got.frames)
        first = got.frames[-1].seq + 1
    return found


def altered(data: bytes, change: Callable[[Snapshot], Snapshot]) -> bytes:
    """A snapshot that says something else, with a digest that fits."""
    found = unpack(data, GAMES, SECRET)
    assert found is not None
    other = change(found)
    made = pack(other.room, other.point)
    assert made is not None
    assert made != data
    return made


def renamed(data: bytes) -> bytes:
    """All seats are Mallory's, and another person is host."""

    def change(found: Snapshot) -> Snapshot:
        replace, table = msgspec.structs.replace, found.room.table
        seats = tuple(each and replace(each, name="Mallory") for each in table.seats)
        other = replace(table, seats=seats, host="mallory")
        return replace(found, room=replace(found.room, table=other))

    return altered(data, change)


def forked(data: bytes) -> bytes:
    """The same, and the chain is another one."""

    def change(found: Snapshot) -> Snapshot:
        point = msgspec.structs.replace(found.point, chain=bytes(16))
        return msgspec.structs.replace(found, point=point)

    return altered(renamed(data), change)


def without_a_game(data: bytes) -> bytes:
    """The game has not begun: no move can follow."""

    def change(found: Snapshot) -> Snapshot:
        room = msgspec.structs.replace(found.room, game=None, tag="none")
        return msgspec.structs.replace(found, room=room)

    return altered(data, change)


def of_another_room(data: bytes) -> bytes:
    """Everything is right, but for another code."""

    def change(found: Snapshot) -> Snapshot:
        table = msgspec.structs.replace(found.room.table, code="ABCDEF")
        return msgspec.structs.replace(found, room=msgspec.structs.replace(found.room, table=table))

    return altered(data, change)


async def spoil(redis: Redis, change: Callable[[bytes], bytes]) -> None:
    """Alter all snapshots of the room."""
    for field, data in (await redis.hgetall(KEYS.snapshots)).items():
        assert isinstance(data, bytes)
        await redis.hset(KEYS.snapshots, field, change(data))


def name_in(replica: Replica) -> str:
    seat = replica.room.table.seats[0]
    assert seat is not None
    return seat.name


# reading


async def test_a_long_log_is_read_from_the_newest_snapshot_that_fits(deaf: LiveNode) -> None:
    pure = toggled(210)
    place = await put_into(deaf.log, pure.entries[:47])
    for length in range(48, 211, 9):
        place = await put_into(deaf.log, pure.entries[place.seq : length], place)
        await keep_all(deaf)
        before = deaf.log.entries_read
        found = await read(deaf)
        assert RECENT <= deaf.log.entries_read - before < RECENT + 2 * EVERY
        other = await read(deaf, whole=True)
        assert (found.room, found.point, found.tail) == (other.room, other.point, other.tail)
        assert found.room.table == pure.rooms[length - 1].table
        assert found.room.game == pure.rooms[length - 1].game


async def test_a_page_of_history_is_told_from_the_snapshot_before_it(deaf: LiveNode) -> None:
    pure = toggled(210)
    await put_into(deaf.log, pure.entries)
    expected = await pages(deaf, 1, 210)
    await keep_all(deaf)
    assert await pages(deaf, 1, 210) == expected
    for first in (7, 8, 9, 10, 12, 13, 57, 101, 207, 208, 209, 210):
        before = deaf.log.entries_read
        last = min(first + 20, 210)
        assert await pages(deaf, first, last) == expected[first - 1 : last]
        if first > FIRST:
            assert deaf.log.entries_read - before <= last - first + 1 + EVERY


async def test_the_node_that_appends_writes_the_snapshots(one: LiveNode, deaf: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    await ann.do("sit")
    for number in range(20):
        await ann.do("ready", ready=bool(number % 2))
    await until(lambda: fates(one)["kept"] == 4)
    assert await deaf.log.snapshots(ann.code) == (8, 12, 16, 20)
    for seq in (8, 12, 16, 20):
        data, _ = await deaf.log.snapshot(ann.code, seq)
        assert data is not None
        entry = await deaf.log.entry(ann.code, seq)
        found = unpack(data, GAMES, ann.room.follower.room.secret)
        assert entry is not None
        assert found is not None
        assert found.point == entry.point
    assert await deaf.directory.node.upkeep.look_through(ann.code, rest=0) == 0
    assert fates(deaf) == {}, "all of them were right"


async def test_a_snapshot_that_cannot_be_written_is_done_without(
    one: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    await ann.do("sit")

    def fails(*_: object) -> "asyncio.Future[int]":
        done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        done.set_exception(StoreError("no answer"))
        return done

    monkeypatch.setattr(one.log, "keep_snapshot", fails)
    for number in range(8):
        await ann.do("ready", ready=bool(number % 2))
    await until(lambda: fates(one)["not_kept"] == 1)
    assert await one.log.snapshots(ann.code) == ()
    no_fault(ann)


async def test_a_commit_stands_though_its_snapshot_cannot_be_made(
    one: LiveNode, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: object) -> None:
        raise TypeError("no state like this can be written")

    ann = await FakeViewer("ann").enter(await one.found())
    await ann.do("sit")
    monkeypatch.setattr(upkeep, "pack", fails)
    for number in range(8):
        await ann.do("ready", ready=bool(number % 2))
    assert ann.replay.seq == 10
    assert fates(one) == {"not_made": 1}
    assert "there is no snapshot of 8" in caplog.text
    no_fault(ann)


async def test_a_long_log_without_snapshots_gets_them_when_it_is_read(deaf: LiveNode) -> None:
    pure = toggled(90)
    await put_into(deaf.log, pure.entries)
    await read(deaf)
    await until(lambda: fates(deaf)["kept"] == 21)
    await check_same(deaf)
    assert fates(deaf)["used"] == 1


async def test_a_room_that_ends_leaves_no_snapshot(one: LiveNode, redis: Redis) -> None:
    place = await stored(one, toggled(60))
    assert await redis.hlen(KEYS.snapshots) == 14
    await one.log.remove(CODE, place)
    assert not await redis.exists(KEYS.snapshots)


# resuming


async def test_a_cursor_that_is_too_old_to_be_remembered_is_looked_up(
    deaf: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marks, "KEPT", 16)
    pure = toggled(210)
    await stored(deaf, pure)
    entries = await whole_log(deaf.url, CODE)
    actor = await deaf.open(CODE)
    replica = actor.follower.replica
    assert replica.has_forgotten(100)
    base = base_of(replica.room, "all")
    for seq, lost in ((1, 0), (100, 0), (160, 0), (205, 0), (210, 0)):
        viewer = FakeViewer("zoe")
        viewer.replay.cursor = Cursor(base, seq, mark(entries[seq - 1].chain))
        await viewer.enter(actor)
        (welcome,) = viewer.of(ServerWelcome)
        assert welcome.arrival.lost == lost, seq
        assert viewer.replay.seq == 210
    wrong = FakeViewer("eve")
    wrong.replay.cursor = Cursor(base, 100, mark(entries[100].chain))
    await wrong.enter(actor)
    (welcome,) = wrong.of(ServerWelcome)
    assert welcome.arrival.lost == 1


# snapshots that are of no use


@pytest.mark.parametrize("how", ["nonsense", "cut", "another past", "of another room"])
async def test_what_is_no_snapshot_of_this_log_is_passed_over(
    how: str, deaf: LiveNode, redis: Redis
) -> None:
    await stored(deaf, toggled(90))
    match how:
        case "nonsense":
            await spoil(redis, lambda data: b"?")
        case "cut":
            await spoil(redis, lambda data: data[:-9])
        case "another past":
            await spoil(redis, forked)
        case _:
            await spoil(redis, of_another_room)
    found = await read(deaf)
    assert name_in(found) == "Ada"
    assert fates(deaf)["passed_over"] == 3
    assert fates(deaf)["used"] == 0
    expected = await pages(deaf, 1, 90)
    await until(lambda: fates(deaf)["kept"] == 42)
    # Those that are no snapshots at all are not called wrong.
    assert fates(deaf)["wrong"] == (21 if how == "of another room" else 0)
    await check_same(deaf)
    assert fates(deaf)["used"] == 1
    assert await pages(deaf, 1, 90) == expected


async def test_a_snapshot_from_beyond_the_end_of_a_log_brings_nothing_back(
    one: LiveNode, deaf: LiveNode, redis: Redis
) -> None:
    pure = toggled(150)
    at_80 = await put_into(one.log, pure.entries[:80])
    copy = {KEYS.log: await redis.dump(KEYS.log)}
    await put_into(one.log, pure.entries[80:], at_80)
    await keep_all(one)
    for name, data in copy.items():
        if data is not None:
            await redis.restore(name, 0, data, replace=True)
    assert await deaf.log.snapshots(CODE)
    found = await read(deaf)
    assert found.point == at_80
    assert fates(deaf) == {"passed_over": 1, "used": 1}
    await check_same(deaf)
    # Others go on where it ends now: the snapshots from before are those of another past.
    await put_into(one.log, [*pure.entries[82:140]], at_80)
    await check_same(deaf)
    expected = await pages(deaf, 1, 138)
    await until(lambda: fates(deaf)["kept"])
    await check_same(deaf)
    assert await pages(deaf, 1, 138) == expected


# snapshots that are wrong


async def test_a_wrong_snapshot_does_not_become_the_truth(
    deaf: LiveNode, redis: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    await stored(deaf, toggled(90))
    await spoil(redis, renamed)
    ann = await deaf.enter(CODE, "zoe")
    assert ann.view["room"]["seats"]["0"]["name"] == "Mallory", "this cannot be seen at once"
    await ann.have(1, ServerReset)
    assert ann.of(ServerReset)[0].lost == 0
    assert ann.view["room"]["seats"]["0"]["name"] == "Ada"
    assert "is not what the log says" in caplog.text
    assert fates(deaf)["wrong"] == 21
    async with live_node(deaf.url, "third", games=GAMES) as third:
        assert name_in(await read(third)) == "Ada"
        await until(lambda: third.directory.node.upkeep.idle)
        assert fates(third)["wrong"] == 0
    no_fault(ann)


async def test_a_wrong_snapshot_is_found_by_those_who_read_history(
    deaf: LiveNode, redis: Redis
) -> None:
    await stored(deaf, toggled(90))
    expected = await pages(deaf, 50, 90)
    await until(lambda: deaf.directory.node.upkeep.idle)
    await spoil(redis, renamed)
    await pages(deaf, 50, 90)
    await until(lambda: fates(deaf)["wrong"] == 21)
    await until(lambda: deaf.directory.node.upkeep.idle)
    assert await pages(deaf, 50, 90) == expected
    await check_same(deaf)


async def test_a_room_that_is_right_is_not_started_over_for_those_who_look(
    deaf: LiveNode, redis: Redis
) -> None:
    await put_into(deaf.log, toggled(90).entries)
    zoe = await deaf.enter(CODE, "zoe")
    await until(lambda: deaf.directory.node.upkeep.idle)
    await spoil(redis, renamed)
    loads = deaf.log.loads
    await pages(deaf, 50, 90)
    await until(lambda: fates(deaf)["wrong"])
    await until(lambda: deaf.directory.node.upkeep.idle)
    await FakeViewer("eve").enter(zoe.room)
    assert deaf.log.loads > loads + 2, "it was read again"
    assert zoe.of(ServerReset) == []


async def test_snapshots_that_are_too_old_are_not_written_again(
    deaf: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "WINDOW", 4)
    await put_into(deaf.log, toggled(210).entries)
    for _ in range(3):
        assert await deaf.directory.node.upkeep.look_through(CODE, rest=0) == 0
        await until(lambda: fates(deaf)["kept"] == 51)
        kept = await deaf.log.snapshots(CODE)
        assert kept == tuple(
            seq for seq in range(FIRST, 209, EVERY) if snapshots.is_wanted(seq, 208)
        )
        assert len(kept) < 20
    expected = await pages(deaf, 1, 210)
    assert len(expected) == 210


async def test_a_log_that_leads_nowhere_from_a_snapshot_is_read_from_its_beginning(
    deaf: LiveNode, redis: Redis
) -> None:
    pure = whole_room("five_towers", 4)
    await stored(deaf, pure)

    await spoil(redis, without_a_game)
    found = await read(deaf)
    assert found.room.game == pure.room.game
    assert fates(deaf)["passed_over"] == 3
    assert len(await pages(deaf, pure.seq - 3, pure.seq)) == 4


async def test_a_record_is_made_from_the_whole_log_whatever_the_snapshots_say(
    deaf: LiveNode, redis: Redis
) -> None:
    await stored(deaf, whole_room("five_towers", 4))
    expected = await record_of(deaf.log, CODE, GAMES)
    assert expected is not None
    await spoil(redis, renamed)
    assert await record_of(deaf.log, CODE, GAMES) == expected


async def test_what_was_found_right_is_not_looked_through_again(deaf: LiveNode) -> None:
    await stored(deaf, toggled(90))
    looking = deaf.directory.node.upkeep
    await read(deaf)
    assert not looking.idle
    await until(lambda: looking.idle)
    before = deaf.log.entries_read
    for _ in range(3):
        await read(deaf)
        await pages(deaf, 90, 90)
        assert looking.idle
    assert deaf.log.entries_read - before < 3 * (RECENT + 3 * EVERY + 1)


async def test_a_look_through_ends_with_its_node_and_survives_the_end_of_the_log(
    one: LiveNode, redis: Redis
) -> None:
    await stored(one, toggled(90))
    looking = one.directory.node.upkeep
    await read(one)
    await redis.delete(KEYS.log)
    await until(lambda: looking.idle)
    assert await looking.look_through(CODE) == 0
    looking.ask(CODE)
    assert not looking.idle
    await one.directory.close("restart")
    assert looking.idle


async def test_a_tail_that_was_lost_is_healed_by_a_room_that_came_from_a_snapshot(
    one: LiveNode, deaf: LiveNode, redis: Redis
) -> None:
    pure = toggled(150)
    place = await put_into(one.log, pure.entries[:140])
    copy = await redis.dump(KEYS.log)
    await put_into(one.log, pure.entries[140:], place)
    await keep_all(one)
    zoe = await deaf.enter(CODE, "zoe")
    assert fates(deaf)["used"] == 1
    top = zoe.place
    await redis.restore(KEYS.log, 0, copy or b"", replace=True)
    zoe.room.put(Doubt())
    await FakeViewer("eve").enter(zoe.room)
    assert zoe.place == top
    assert (await whole_log(one.url, CODE))[-1].point == top
    assert zoe.of(ServerReset) == []
