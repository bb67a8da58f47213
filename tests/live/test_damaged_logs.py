"""A log whose links do not hold: what can be read is shown, and everyone is told of the rest."""

import asyncio
import logging
from typing import Any

import pytest
from redis.asyncio import Redis

from tests.live.live_rooms import FakeViewer, LiveNode, begin, copy_of, go_back, live_node
from towerhall_protocol.messages import ServerError, ServerReset
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.live.items import Doubt, Order, TimeIsUp


async def damage(redis: Redis, code: str, seq: int) -> None:
    """One byte of an entry is another one."""
    log = room_keys(code).log
    entries: Any = await redis.xrange(log)
    await redis.delete(log)
    for key, fields in entries:
        if key == b"%d-0" % seq:
            fields[b"b"] = fields[b"b"][:-1] + bytes([fields[b"b"][-1] ^ 1])
        await redis.xadd(log, fields, id=key)


def told(viewer: FakeViewer) -> list[str]:
    return [message.code for message in viewer.of(ServerError)]


@pytest.fixture
async def ann(one: LiveNode) -> FakeViewer:
    """Who has begun a game, at seq 6 or more."""
    ann = await FakeViewer("ann").enter(await one.found())
    await begin(ann, bots=1)
    await ann.until(lambda: ann.replay.offers)
    return ann


async def test_a_node_shows_as_much_as_it_can_read(
    redis: Redis, ann: FakeViewer, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    last = ann.replay.seq
    await damage(redis, ann.code, 4)
    async with live_node(url, "late") as late:
        with caplog.at_level(logging.ERROR):
            eve = await late.enter(ann.code, "eve")
        assert eve.replay.seq == 3 < last
        assert eve.status == "waiting"
        assert told(eve) == ["log_damaged"]
        assert "does not hold together at 4" in caplog.text
        assert late.directory.node.meters.broken_logs == 1
        eve.ask("sit")
        await eve.until(lambda: told(eve) == ["log_damaged"] * 2)
        assert eve.alive


async def test_nothing_is_appended_to_a_damaged_log(
    redis: Redis, ann: FakeViewer, url: str
) -> None:
    await damage(redis, ann.code, 4)
    before = await redis.xrange(room_keys(ann.code).log)
    async with live_node(url, "late") as late:
        eve = await late.enter(ann.code, "eve")
        order = Order(lambda room: None, asyncio.get_running_loop().create_future())
        for item in (TimeIsUp(), Doubt(), order):
            eve.room.put(item)
        eve.ask("sit")
        await eve.until(lambda: len(told(eve)) == 2)
        assert order.done.exception() is not None
    assert await redis.xrange(room_keys(ann.code).log) == before


async def test_a_command_that_can_be_read_is_still_answered(
    redis: Redis, ann: FakeViewer, url: str
) -> None:
    await damage(redis, ann.code, ann.replay.seq)
    async with live_node(url, "late") as late:
        again = await late.enter(ann.code, "ann")
        again.origin = ann.origin
        n = again.ask("sit")
        assert (await again.answer(n)).__class__.__name__ == "ServerDuplicate"


async def test_those_inside_are_told_what_is_lost(redis: Redis, ann: FakeViewer) -> None:
    last = ann.replay.seq
    await damage(redis, ann.code, last)
    follower = ann.room.follower
    await follower._reload()
    assert [reset.lost for reset in ann.of(ServerReset) if reset.lost] == [1]
    assert told(ann) == ["log_damaged"]


async def test_a_repaired_log_is_played_on(redis: Redis, ann: FakeViewer, url: str) -> None:
    copy = await copy_of(redis, ann.code)
    await damage(redis, ann.code, 4)
    async with live_node(url, "late") as late:
        eve = await late.enter(ann.code, "eve")
        await go_back(redis, ann.code, copy)
        eve.room.put(Doubt())
        await eve.reach(ann.replay.seq)
        assert eve.view == ann.view
        await ann.move()
        await eve.reach(ann.replay.seq)


async def test_a_log_that_is_damaged_at_its_first_entry_is_not_opened(
    redis: Redis, ann: FakeViewer, url: str
) -> None:
    await damage(redis, ann.code, 1)
    async with live_node(url, "late") as late:
        with pytest.raises(Exception, match=ann.code):
            await late.open(ann.code)
