"""P-182: what rooms owe is entered once, by any node, and the log only ever becomes longer."""

import asyncio
import logging
from random import Random
from typing import Any

import pytest
from redis.asyncio import Redis

from tests.eventlog.logs import copy_of, go_back
from tests.examples import examples
from tests.transparency.logs import (
    ORIGIN,
    SIGNER,
    debt,
    dropped,
    ended,
    enter,
    opened,
    publishing,
    put,
    reading,
    settle,
    whole,
)
from towerhall_protocol.commands import from_base64url
from towerhall_protocol.merkle import leaf_hash, proves_inclusion
from towerhall_protocol.notes import read_checkpoint, read_note
from towerhall_protocol.public_log import leaf_bytes, proof_problem, read_leaf
from towerhall_server.eventlog.keys import room_keys, shard_of
from towerhall_server.eventlog.log import EventLog
from towerhall_server.store.errors import StoreError
from towerhall_server.transparency import publishing as publishing_module
from towerhall_server.transparency import seen as seen_module
from towerhall_server.transparency.publishing import Publishing
from towerhall_server.transparency.store import (
    DAY_MS,
    HEAD,
    LONG_DAYS,
    OPEN,
    DamagedLogError,
    LogStore,
    bundle_key,
    tile_key,
)


def rooms(count: int, first: int = 0) -> list[bytes]:
    return [debt(opened(number), ended(number)) for number in range(first, first + count)]


async def owe(redis: Redis, room: str, *debts: bytes) -> None:
    await redis.sadd(room_keys(room).shard.owed, *debts)


# Entering


async def test_an_empty_log_is_signed(log: EventLog) -> None:
    await settle(publishing(log))
    assert await whole(log) == ()
    assert (await reading(log).about())["size"] == 0


async def test_what_rooms_owe_is_entered_and_forgotten(log: EventLog, redis: Redis) -> None:
    await owe(redis, "ABCDEF", debt(opened(1)), debt(opened(2), dropped(2)))
    await owe(redis, "QJXKZB", debt(opened(3)))
    node = publishing(log)
    await settle(node)
    leaves = await whole(log)
    assert sorted(leaves) == sorted(
        leaf_bytes(leaf) for leaf in (opened(1), opened(2), dropped(2), opened(3))
    )
    for room in ("ABCDEF", "QJXKZB"):
        assert not await redis.exists(room_keys(room).shard.owed)


async def test_each_room_has_one_leaf_of_each_kind(log: EventLog, redis: Redis) -> None:
    node, other = publishing(log), publishing(log)
    for _ in range(3):
        for one in (node, other):
            await owe(redis, "ABCDEF", debt(opened(1)))
            one.owe("ABCDEF")
            await enter(one, [debt(opened(1), ended(1))])
    assert await whole(log) == (leaf_bytes(opened(1)), leaf_bytes(ended(1)))


async def test_a_room_is_opened_before_it_is_closed(log: EventLog, redis: Redis) -> None:
    await owe(redis, "ABCDEF", *(debt(opened(n), ended(n)) for n in range(40)))
    await owe(redis, "ABCDEF", *(debt(opened(n)) for n in range(40)))
    await settle(publishing(log))
    assert len(await whole(log)) == 80  # and `whole` looks at their order


async def test_a_dead_nodes_rooms_are_found_by_another_one(
    log: EventLog, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = publishing(log)
    await settle(node)
    await owe(redis, "ABCDEF", debt(opened(1)))
    await settle(node)
    assert await whole(log) == ()  # this node was not told
    monkeypatch.setattr(publishing_module, "SWEEP_SECONDS", 0.0)
    await node.step()
    monkeypatch.undo()
    await settle(node)
    assert await whole(log) == (leaf_bytes(opened(1)),)


async def test_what_is_no_leaf_is_told_and_taken_away(
    log: EventLog, redis: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    await owe(redis, "ABCDEF", b"nonsense", debt(opened(1)))
    await settle(publishing(log))
    assert await whole(log) == (leaf_bytes(opened(1)),)
    assert "is not a leaf: b'nonsense'" in caplog.text
    assert not await redis.exists(room_keys("ABCDEF").shard.owed)


async def test_many_leaves_fill_tiles_and_bundles(log: EventLog, redis: Redis) -> None:
    node = publishing(log)
    await enter(node, rooms(700))
    leaves = await whole(log)
    assert len(leaves) == 1400
    widths = {(level, number): width // 32 for level, number, width in [
        (level, number, await redis.strlen(tile_key(level, number)))
        for level in (0, 1) for number in range(6)
    ]}  # fmt: skip
    assert [widths[0, number] for number in range(6)] == [256] * 5 + [120]
    assert (widths[1, 0], widths[1, 1]) == (5, 0)
    public = reading(log)
    for number in (0, 255, 256, 699):
        logged = await public.proof(debt(opened(number), ended(number)))
        assert logged is not None
        assert proof_problem(ended(number), logged) is None
    tile = await public.tile(0, 5, 120)
    assert tile == b"".join(map(leaf_hash, leaves[1280:]))


async def test_nodes_that_enter_at_once_make_one_log(log: EventLog) -> None:
    nodes = [publishing(log) for _ in range(4)]
    for number, each in enumerate(rooms(200)):
        await put(nodes[number % 4], each)
        await put(nodes[(number + 1) % 4], each)
    await asyncio.gather(*map(settle, nodes))
    assert len(await whole(log)) == 400
    await settle(*nodes)  # none of them sees anything else than the others


async def test_a_node_that_comes_later_goes_on(log: EventLog) -> None:
    await enter(publishing(log), rooms(150))
    late = publishing(log)
    await enter(late, rooms(10, first=150))
    assert len(await whole(log)) == 320


# Nothing waits, everything is tried again


async def test_a_lost_reply_leads_to_no_second_leaf(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = publishing(log)
    await settle(node)
    add = LogStore.add

    async def lost(store: LogStore, addition: object) -> bool:
        await add(store, addition)  # type: ignore[arg-type]
        raise StoreError("the reply is lost")

    monkeypatch.setattr(LogStore, "add", lost)
    await put(node, debt(opened(1)))
    with pytest.raises(StoreError):
        await node.step()
    monkeypatch.undo()
    await settle(node)
    assert await whole(log) == (leaf_bytes(opened(1)),)


async def test_a_full_store_makes_the_log_wait(log: EventLog, redis: Redis) -> None:
    node = publishing(log)
    await settle(node)
    await put(node, debt(opened(1)))
    await redis.config_set("maxmemory", 1)
    try:
        with pytest.raises(StoreError):
            await node.step()
    finally:
        await redis.config_set("maxmemory", 0)
    await settle(node)
    assert await whole(log) == (leaf_bytes(opened(1)),)


async def test_after_a_break_nothing_new_is_added_for_a_while(log: EventLog) -> None:
    node = Publishing(LogStore(log), SIGNER, ORIGIN, settle_seconds=0.3)
    await settle(node)
    node.doubt()
    await put(node, debt(opened(1)))
    await settle(node)
    assert await whole(log) == ()
    await asyncio.sleep(0.35)
    await settle(node)
    assert await whole(log) == (leaf_bytes(opened(1)),)


# A store that goes back


async def test_a_node_puts_back_what_the_store_has_lost(
    log: EventLog, redis: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    node = publishing(log)
    await enter(node, rooms(20))
    copy = await copy_of(redis)
    await enter(node, rooms(400, first=20))
    before = await whole(log)
    checkpoint = await reading(log).checkpoint()
    await go_back(redis, copy)
    await put(node, debt(opened(999)))
    await settle(node)
    after = await whole(log)
    assert after[: len(before)] == before
    assert after[len(before) :] == (leaf_bytes(opened(999)),)
    assert "put back" in caplog.text
    assert node._meters.log_leaves == 20 * 2 + 400 * 2 + 1
    assert checkpoint is not None
    assert read_checkpoint(read_note(checkpoint).text).size == len(before)


async def test_an_emptied_log_is_put_back_too(log: EventLog, redis: Redis) -> None:
    node = publishing(log)
    await enter(node, rooms(5))
    before = await whole(log)
    await redis.flushall()
    await settle(node)
    assert await whole(log) == before


async def signed(redis: Redis) -> Any:
    return await redis.hget(HEAD, "checkpoint")


async def test_a_node_signs_and_adds_nothing_after_another_end_than_it_has_seen(
    log: EventLog, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    knows, late = publishing(log), publishing(log)
    await enter(knows, rooms(3))
    copy = await copy_of(redis)
    await settle(late)
    await enter(knows, rooms(2, first=3))
    await go_back(redis, copy)
    # A node that has not seen the lost end goes on without it.
    await enter(late, rooms(2, first=10))
    found = await signed(redis)
    await put(knows, debt(opened(20)))
    for _ in range(3):
        with pytest.raises(DamagedLogError, match="does not continue the one of 10 leaves"):
            await knows.step()
    assert await signed(redis) == found
    assert len(await whole(log)) == 10
    # A longer fork is one as well.
    await enter(late, rooms(2, first=12))
    with pytest.raises(DamagedLogError, match="does not continue the one of 10 leaves"):
        await knows.step()


async def test_an_end_that_is_too_old_to_be_put_back_stops_the_log(
    log: EventLog, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seen_module, "KEPT", 8)
    node = publishing(log)
    await enter(node, rooms(2))
    copy = await copy_of(redis)
    for number in range(20):
        await enter(node, rooms(1, first=2 + number))
    await go_back(redis, copy)
    found = await signed(redis)
    with pytest.raises(DamagedLogError, match="too few"):
        await node.step()
    assert await signed(redis) == found


@pytest.mark.parametrize("key", [bundle_key(0), tile_key(0, 0)])
async def test_a_damaged_log_is_neither_signed_nor_continued(
    log: EventLog, redis: Redis, key: str
) -> None:
    await enter(publishing(log), rooms(3))
    data: Any = await redis.get(key)
    await redis.set(key, data[:-1] + b"}" if data[-1:] != b"}" else data[:-2] + b"x}")
    with pytest.raises(DamagedLogError):
        await publishing(log).step()
    await redis.set(key, data[:-1])
    with pytest.raises(DamagedLogError):
        await publishing(log).step()


async def test_a_part_of_another_length_is_not_added_to(log: EventLog, redis: Redis) -> None:
    node = publishing(log)
    await enter(node, rooms(3))
    await redis.append(tile_key(0, 0), b"x" * 32)
    await put(node, debt(opened(9)))
    with pytest.raises(DamagedLogError, match="has a wrong length"):
        await node.step()


async def test_faults_are_told_once_a_minute_and_the_log_goes_on_by_itself(
    log: EventLog, redis: Redis, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing_module, "LOOK_SECONDS", 0.01)
    node = publishing(log)
    await enter(node, rooms(3))
    tile = await redis.get(tile_key(0, 0))
    assert tile is not None
    await redis.append(tile_key(0, 0), b"x" * 32)
    await put(node, debt(opened(9)))
    running = asyncio.create_task(node.run())
    with caplog.at_level(logging.ERROR):
        await asyncio.sleep(0.3)
    assert caplog.text.count("nothing is added to the public log") == 1
    assert node._meters.log_faults > 1
    await redis.set(tile_key(0, 0), tile)
    async with asyncio.timeout(10):
        while (await LogStore(log).head()).size < 7:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


# Any history


@pytest.mark.parametrize("seed", range(examples(4, 60)))
async def test_whatever_happens_each_signed_state_continues_the_one_before(
    log: EventLog, redis: Redis, seed: int
) -> None:
    """Nodes come and go, replies get lost, the store goes back, and one node always lives."""
    random = Random(seed)
    nodes, signed_before = [publishing(log), publishing(log)], list[tuple[bytes, ...]]()
    copies, rooms_made = [], 0
    for _ in range(40):
        node = random.choice(nodes)
        match random.choice(("enter", "enter", "enter", "copy", "back", "new", "die", "race")):
            case "enter":
                made = random.choice((1, 3, 90))
                await enter(node, rooms(made, first=rooms_made))
                rooms_made += made
            case "race":
                for each in nodes:
                    await put(each, debt(opened(rooms_made)))
                await asyncio.gather(*(each.step() for each in nodes))
                rooms_made += 1
            case "copy":
                copies.append(await copy_of(redis))
            case "back" if copies:
                await go_back(redis, random.choice(copies))
            case "new":
                nodes.append(publishing(log))
                await settle(nodes[0])  # before the new one looks
            case "die" if len(nodes) > 1:
                nodes.remove(random.choice(nodes[1:]))
        # All hear of it before anything else happens, in whatever order.
        await settle(nodes[0], *random.sample(nodes, len(nodes)))
        found = await whole(log)
        if signed_before:
            assert found[: len(signed_before[-1])] == signed_before[-1]
        signed_before.append(found)
    assert len(signed_before[-1]) > 0


# Numbers


async def test_rooms_that_were_opened_and_never_ended_are_counted(
    log: EventLog, redis: Redis
) -> None:
    node = publishing(log)
    await enter(node, [debt(opened(n)) for n in range(5)])
    await enter(node, [debt(opened(0), ended(0)), debt(opened(1), dropped(1))])
    about = await reading(log).about()
    counts = {key: about[key] for key in ("size", "opened", "ended", "dropped", "open")}
    assert counts == {"size": 7, "opened": 5, "ended": 1, "dropped": 1, "open": 3}
    assert (about["open_long"], about["long_days"]) == (0, 30)
    # One of them was opened long ago.
    found: Any = await redis.zrange(OPEN, 0, 0, withscores=True)
    ((member, score),) = found
    await redis.zadd(OPEN, {member: score - (LONG_DAYS * DAY_MS + 1000)})
    assert (await reading(log).about())["open_long"] == 1


async def test_a_proof_is_there_once_the_leaf_is_and_for_no_other_leaf(log: EventLog) -> None:
    node, public = publishing(log), reading(log)
    owed = debt(opened(1), ended(1))
    assert await public.proof(owed) is None
    await enter(node, [owed])
    logged = await public.proof(owed)
    assert logged is not None
    root = read_checkpoint(read_note(logged.checkpoint).text).root
    hashed, proof = leaf_hash(leaf_bytes(ended(1))), tuple(map(from_base64url, logged.proof))
    assert proves_inclusion(hashed, logged.index, logged.size, proof, root)
    other = ended(2)
    changed = type(other)(ended(1).uid, other.seq, other.chain, other.seal)
    assert await public.proof(debt(opened(1), changed)) is None
    assert read_leaf(debt(changed)) == changed


def test_shards_are_noted_by_room() -> None:
    node = Publishing.__new__(Publishing)
    node._shards = {}
    node.owe("ABCDEF")
    assert list(node._shards) == [shard_of("ABCDEF")]
