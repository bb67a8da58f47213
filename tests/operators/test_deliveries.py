"""Operators are told: at least once, in order, whatever fails on either side."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterable
from time import monotonic

import pytest
from redis.asyncio import Redis

from tests.operators.nodes import (
    ACME,
    ATTEMPT_SECONDS,
    LATE,
    PEOPLE,
    QUICK,
    OperatingNode,
    begin,
    close,
    move,
    operating_node,
)
from tests.operators.receiver import HANG, HANG_UP, OK, SECRET, Delivery, Receiver, receiver, status
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.operators import Delivered, OperatorStore
from towerhall_server.operators.notices import notice_of
from towerhall_server.operators.pending import Logs
from towerhall_server.room.closing import close_step
from towerhall_server.room.rematch import rematch_plan

QUEUE = ("rooms", "busy", "notices", "told")


@pytest.fixture
async def hook() -> AsyncIterator[Receiver]:
    async with receiver() as running:
        yield running


@pytest.fixture
def attempt_seconds() -> float:
    return ATTEMPT_SECONDS


@pytest.fixture
async def one(url: str, hook: Receiver, attempt_seconds: float) -> AsyncIterator[OperatingNode]:
    async with operating_node(url, "one", hook.url, attempt_seconds=attempt_seconds) as node:
        yield node


@pytest.fixture
async def other(url: str, hook: Receiver, attempt_seconds: float) -> AsyncIterator[OperatingNode]:
    async with operating_node(url, "other", hook.url, attempt_seconds=attempt_seconds) as node:
        yield node


async def to_tell(node: OperatingNode, code: str) -> list[tuple[int, str]]:
    """What the log says that there is to tell: seq and kind."""
    reading = await Logs(node.directory.node).after(code, Delivered())
    assert reading is not None
    return [(notices.at.seq, notices.kind) for notices in reading.notices]


def told(deliveries: Iterable[Delivery]) -> list[tuple[int, str]]:
    return [(each.document["room"]["seq"], each.document["kind"]) for each in deliveries]


def without_repeats(deliveries: Iterable[Delivery]) -> list[Delivery]:
    """Each where it came first: what is told once more, by a node that was slow, comes late."""
    return list({delivery.id: delivery for delivery in deliveries}.values())


async def empty(redis: Redis) -> bool:
    found = [await redis.exists(f"towerhall:{{o:{ACME}}}:{name}") for name in QUEUE]
    return not any(found)


async def until_empty(redis: Redis) -> None:
    async with asyncio.timeout(10):
        while not await empty(redis):  # noqa: ASYNC110 - nobody tells when keys go
            await asyncio.sleep(0.02)


async def all_told(hook: Receiver, count: int) -> None:
    await hook.until(lambda: len(hook.got) >= count)


async def test_everything_is_told_in_order_and_then_forgotten(
    one: OperatingNode, other: OperatingNode, hook: Receiver, redis: Redis
) -> None:
    here = await one.new_room()
    there = await other.open(here.code)
    await begin(here)
    turn = 0
    while await move((here, there)[turn % 2]):
        turn += 1
    await hook.until(lambda: hook.got and hook.got[-1].document["kind"] == "end")
    expected = await to_tell(one, here.code)
    assert len(expected) > 10
    assert told(hook.got) == expected
    assert len({delivery.id for delivery in hook.got}) == len(expected)
    assert all(delivery.is_signed_by(SECRET) for delivery in hook.got)
    assert all(delivery.document["id"] == delivery.id for delivery in hook.got)
    await until_empty(redis)


async def test_what_is_told_is_the_room_at_that_moment(one: OperatingNode, hook: Receiver) -> None:
    actor = await one.new_room(turn_seconds=30)
    await begin(actor)
    await hook.until(lambda: hook.got)
    (first,) = hook.got
    room = first.document["room"]
    assert (room["code"], room["status"]) == (actor.code, "playing")
    assert room["turn"] == list(actor.follower.room.to_act())
    assert [seat["external_id"] for seat in room["seats"]] == ["one", "two"]
    assert [seat["id"] for seat in room["seats"]] == list(PEOPLE)
    wall, served = room["now"]
    assert room["due"] == served + 30_000
    assert wall > 1_600_000_000_000
    assert actor.follower.room.secret.hex() not in first.body.decode()
    assert "secret" not in first.body.decode()


FAILURES = {
    "answers 500": status(500),
    "answers 404": status(404),
    "redirects": status(302),
    "hangs": HANG,
    "hangs up": HANG_UP,
}


@pytest.mark.parametrize("attempt_seconds", [0.5])
@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES.keys())
async def test_what_is_not_taken_is_told_again_with_the_same_id(
    one: OperatingNode, other: OperatingNode, hook: Receiver, failure: bytes
) -> None:
    hook.answer = lambda count: OK if count % 3 == 2 else failure
    actor = await one.new_room()
    await begin(actor)
    for _ in range(3):
        await move(actor)
    expected = await to_tell(one, actor.code)
    await hook.until(lambda: len(without_repeats(hook.taken)) >= len(expected))
    assert told(without_repeats(hook.taken)) == expected
    assert told(without_repeats(hook.got)) == expected, "nothing overtakes what failed"
    for delivery in hook.taken:
        attempts = [each for each in hook.got if each.id == delivery.id]
        assert len(attempts) >= 2
        assert {each.body for each in attempts} == {delivery.body}
        assert all(each.is_signed_by(SECRET) for each in attempts)


async def test_a_hook_that_is_down_holds_nobody_up_and_hears_all_of_it_later(
    one: OperatingNode, other: OperatingNode, hook: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    await hook.stop()
    actor = await one.new_room()
    started = monotonic()
    await begin(actor)
    for _ in range(20):
        assert await move(actor)
    assert monotonic() - started < 5
    await asyncio.sleep(0.5)
    await hook.start()
    expected = await to_tell(one, actor.code)
    await hook.until(lambda: len(hook.got) >= len(expected))
    assert told(hook.got) == expected
    complaints = [record for record in caplog.records if "it is retried" in record.message]
    assert len(complaints) == 1, "one line for one outage"
    assert "hook" not in complaints[0].message


async def test_new_moves_do_not_hurry_an_attempt_that_waits(url: str, hook: Receiver) -> None:
    hook.answer = lambda _: status(500)
    patient = type(QUICK)(first=60.0, lease=2.0, sweep=0.2)
    async with operating_node(url, "one", hook.url, patient) as one:
        actor = await one.new_room()
        await begin(actor)
        await hook.until(lambda: hook.got)
        for _ in range(5):
            await move(actor)
            await asyncio.sleep(0.05)
        assert len(hook.got) == 1


async def test_a_hook_that_hangs_delays_only_its_own_room(
    one: OperatingNode, hook: Receiver
) -> None:
    stuck, free = await one.new_room(), await one.new_room()
    hook.judge = lambda body: HANG if stuck.code.encode() in body else OK
    await begin(stuck)
    await hook.until(lambda: hook.got)
    started = monotonic()
    await begin(free)
    await hook.until(lambda: hook.taken)
    assert monotonic() - started < ATTEMPT_SECONDS, "so long an attempt waits"
    assert {delivery.document["room"]["code"] for delivery in hook.taken} == {free.code}


async def test_a_node_that_dies_after_its_append_is_made_up_for(
    url: str, hook: Receiver, redis: Redis
) -> None:
    async with operating_node(url, "mortal", hook.url, tells=False) as mortal:
        actor = await mortal.new_room()
        await begin(actor)
        await move(actor)
        expected = await to_tell(mortal, actor.code)
    assert len(expected) >= 2
    assert hook.got == []
    async with operating_node(url, "heir", hook.url) as heir:
        await hook.until(lambda: len(hook.got) >= len(expected))
        assert told(hook.got) == expected
        await close(await heir.open(actor.code))
        await hook.until(lambda: hook.got[-1].document["kind"] == "abandoned")
    assert hook.got[-1].document["room"]["closed"] == "closed_by_operator"


async def test_whoever_appends_says_so_and_nobody_has_to_look(url: str, hook: Receiver) -> None:
    async with operating_node(url, "one", hook.url, LATE) as one:
        actor = await one.new_room()
        await asyncio.sleep(0.3)  # the new room has been looked at, and is at rest
        await begin(actor)
        await hook.until(lambda: hook.got)
        for _ in range(4):
            await move(actor)
            expected = await to_tell(one, actor.code)
            await all_told(hook, len(expected))
            assert told(hook.got) == expected


async def test_a_node_that_dies_while_telling_loses_its_claim(
    url: str, hook: Receiver, log: EventLog
) -> None:
    store = OperatorStore(log)
    async with operating_node(url, "mortal", hook.url, tells=False) as mortal:
        actor = await mortal.new_room()
        await begin(actor)
    claimed = await store.claim(ACME, "of the dead", 1500, 10)
    assert list(claimed) == [actor.code]
    started = monotonic()
    async with operating_node(url, "heir", hook.url):
        await hook.until(lambda: hook.got)
    assert monotonic() - started > 1.0, "nobody else tells while a claim holds"
    assert not await store.settle(ACME, actor.code, "of the dead", Delivered(99), "rest", 0)


async def test_a_room_is_told_of_by_one_node_at_a_time(
    one: OperatingNode, other: OperatingNode, hook: Receiver
) -> None:
    actor = await one.new_room()
    await begin(actor)
    for _ in range(30):
        await move(actor)
    expected = await to_tell(one, actor.code)
    await hook.until(lambda: len(hook.got) >= len(expected))
    assert hook.most_at_once == 1
    assert told(hook.got) == expected


async def test_what_cannot_be_told_for_a_day_is_passed_over(
    url: str, hook: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    impatient = type(QUICK)(first=0.01, most=0.02, give_up=0.0, lease=2.0, sweep=0.2)
    hook.answer = lambda count: status(500) if count == 0 else OK
    with caplog.at_level(logging.ERROR):
        async with operating_node(url, "one", hook.url, impatient) as one:
            actor = await one.new_room()
            await begin(actor)
            await move(actor)
            expected = await to_tell(one, actor.code)
            await hook.until(lambda: len(hook.got) >= len(expected))
    assert told(hook.got) == expected
    assert len(hook.taken) == len(expected) - 1
    assert [record.levelname for record in caplog.records] == ["ERROR"]


async def test_a_log_that_lost_what_was_told_is_told_again_with_the_same_ids(
    url: str, one: OperatingNode, hook: Receiver, redis: Redis
) -> None:
    actor = await one.new_room()
    await begin(actor)
    await move(actor)
    expected = await to_tell(one, actor.code)
    await hook.until(lambda: len(hook.got) >= len(expected))
    noted, busy = f"towerhall:{{o:{ACME}}}:told", f"towerhall:{{o:{ACME}}}:busy"
    async with asyncio.timeout(10):
        # The node does not say when it has noted everything and rests.
        while json.loads(await redis.hget(noted, actor.code) or "[0]")[0] != expected[-1][0]:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        while await redis.hexists(busy, actor.code):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    await redis.hset(noted, actor.code, b'[999,"lost-commit",0]')
    await hook.until(lambda: len(hook.got) >= 2 * len(expected))
    ids = [delivery.id for delivery in hook.got]
    assert ids[: len(expected)] == ids[len(expected) : 2 * len(expected)]


async def test_a_room_that_the_store_forgot_to_tell_of_is_told_of_when_it_is_put_back(
    url: str, hook: Receiver, redis: Redis
) -> None:
    async with operating_node(url, "one", hook.url, LATE) as one:
        actor = await one.new_room()
        await asyncio.sleep(0.2)
        for name in await redis.keys(f"towerhall:{{o:{ACME}}}:*"):
            if b":person:" not in name:
                await redis.delete(name)
        one.deliveries.look(actor.follower.room)
        await begin(actor)
        expected = await to_tell(one, actor.code)
        await hook.until(lambda: len(hook.got) >= len(expected))
        assert told(hook.got) == expected
        strangers = await one.new_room(operator="nobody")
        one.deliveries.look(strangers.follower.room)
        assert await redis.keys("towerhall:{o:nobody}:rooms") == []


async def test_a_removed_room_is_forgotten(url: str, hook: Receiver, redis: Redis) -> None:
    async with operating_node(url, "mortal", hook.url, tells=False) as mortal:
        actor = await mortal.new_room()
    for key in await redis.keys(f"towerhall:*:{actor.code}"):
        await redis.delete(key)
    async with operating_node(url, "heir", hook.url):
        await until_empty(redis)
    assert hook.got == []


async def test_rooms_of_nobody_and_of_operators_without_a_hook_are_not_noted(
    one: OperatingNode, hook: Receiver, redis: Redis
) -> None:
    for operator in ("", "silent"):
        actor = await one.new_room(operator=operator)
        await begin(actor)
        await close(actor)
    await asyncio.sleep(0.5)
    assert await redis.keys("towerhall:{o:*}:rooms") == []
    assert hook.got == []


async def test_a_rematch_belongs_to_the_same_operator(one: OperatingNode) -> None:
    actor = await one.new_room()
    await begin(actor)
    plan = rematch_plan(actor.follower.room, actor.follower.room.table.reserved[0], {})
    assert plan.operator == ACME


async def test_bots_and_other_moves_of_the_same_seat_are_no_turns(one: OperatingNode) -> None:
    actor = await one.new_room()
    assert notice_of(None, actor.follower.room) is None
    await begin(actor)
    room = actor.follower.room
    assert notice_of(None, room) == "turn"
    assert notice_of(room, room) is None
    over = close_step(room, "agreed", "service").after
    assert notice_of(room, over) == "abandoned"
    assert notice_of(over, over) is None
