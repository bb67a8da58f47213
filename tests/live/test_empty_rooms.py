"""How long a room waits for people: as P-65, P-73 and P-162 have it, for every kind of room."""

from collections.abc import Callable
from typing import Any

import pytest
from redis.asyncio import Redis

from tests.live.live_rooms import DUEL, FakeViewer, LiveNode, begin, commits_of, hurry, live_node
from tests.live.test_directory import eventually, keys_of
from tests.room.pure_rooms import ADA, BEN, HOST, PureRoom, sealed_nonce
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.live.follower import BACKSTOP_MS
from towerhall_server.room import steps
from towerhall_server.room.events import RoomClosed, Settings
from towerhall_server.room.steps import EMPTY_MS, IDLE_MS, Due, Plan

PEOPLE = {"reserved": (ADA.id, BEN.id)}
BOTS = {"bots": ("easy", "")}
ACME = {"operator": "acme"}


def nothing(pure: PureRoom) -> None:
    """Nobody comes."""


def sit(pure: PureRoom) -> None:
    pure.say(ADA, "sit")


def sit_and_stand(pure: PureRoom) -> None:
    pure.say(ADA, "sit")
    pure.say(ADA, "stand")


def cancelled(pure: PureRoom) -> None:
    """Both gave hashes and opened nothing: both seats are free again."""
    for person in (ADA, BEN):
        pure.say(person, "sit", nonce=sealed_nonce(person))
        pure.say(person, "ready")
    if pure.room.table.status == "waiting":
        pure.say(HOST, "start")
    pure.append(steps.cancel_step(pure.room))
    assert pure.room.table.taken == 0


REMOVED, ABANDONED = Due("remove", EMPTY_MS, "commit"), Due("close", EMPTY_MS, "commit")
IDLE = Due("close", IDLE_MS, "commit")
TABLE: dict[str, tuple[dict[str, Any], Callable[[PureRoom], None], Due]] = {
    "new": ({}, nothing, REMOVED),
    "bots only": (BOTS, nothing, REMOVED),
    "left again": ({}, sit_and_stand, REMOVED),
    "somebody": ({}, sit, IDLE),
    "deal cancelled": ({}, cancelled, ABANDONED),
    "rematch": ({**PEOPLE, "previous": "ABCDEF"}, nothing, REMOVED),
    "rematch, somebody": ({**PEOPLE, "previous": "ABCDEF"}, sit, IDLE),
    "quick": ({"quick": True}, nothing, REMOVED),
    "operator": ({**PEOPLE, **ACME, "quick": True}, nothing, IDLE),
    "operator, for anybody": ({**ACME, "quick": True}, nothing, IDLE),
    "operator, somebody": ({**PEOPLE, **ACME, "quick": True}, sit, IDLE),
    "operator, left again": ({**PEOPLE, **ACME, "quick": True}, sit_and_stand, IDLE),
    "operator, deal cancelled": ({**PEOPLE, **ACME, "quick": True}, cancelled, IDLE),
    "operator, rematch": ({**PEOPLE, **ACME, "previous": "ABCDEF"}, nothing, IDLE),
}


@pytest.mark.parametrize(("plan", "happens", "due"), TABLE.values(), ids=TABLE)
def test_a_waiting_room_has_its_end_ahead(
    plan: dict[str, Any], happens: Callable[[PureRoom], None], due: Due
) -> None:
    pure = PureRoom(**plan)
    happens(pure)
    assert pure.room.table.status == "waiting"
    assert steps.due(pure.room) == due


async def rematch(node: LiveNode) -> str:
    ann = await FakeViewer("ann").enter(await node.found())
    bob = await node.enter(ann.code, "bob")
    await begin(ann, bob)
    await ann.do("want_end")
    await bob.do("want_end")
    await bob.do("rematch")
    return str(bob.view["room"]["rematch"])


async def of_operator(node: LiveNode) -> str:
    plan = Plan(DUEL, DUEL.presets["standard"], 2, Settings(), "", operator="acme")
    return (await node.directory.create(plan)).code


@pytest.mark.parametrize("is_operators", [False, True], ids=["rematch", "operator"])
async def test_a_room_to_which_nobody_comes_goes_when_it_was_promised(
    url: str, redis: Redis, is_operators: bool
) -> None:
    async with live_node(url, "one") as one:
        code = await (of_operator if is_operators else rematch)(one)
    ms = IDLE_MS if is_operators else EMPTY_MS
    async with live_node(url, "other") as other:
        await hurry(redis, code, ms - 5_000)
        await other.directory.beat_once()
        assert await redis.xlen(room_keys(code).log) == 1
        await hurry(redis, code, 5_000 + BACKSTOP_MS)
        await other.directory.beat_once()

        async def has_gone_on() -> bool:
            return int(await redis.xlen(room_keys(code).log)) != 1

        await eventually(has_gone_on)
        if is_operators:
            assert (await commits_of(url, code))[-1].room[0] == RoomClosed("abandoned")
        else:
            assert await keys_of(redis, code) == set()
