"""A rematch is a new game: it counts as a room of whoever asks, and has the newest rules. There is
one that can be played."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from random import Random

import msgspec
import pytest

from tests.live.judging import rightful
from tests.live.live_rooms import (
    DUEL,
    FakeViewer,
    LiveNode,
    begin,
    live_node,
)
from tests.versions.two_versions import BOTH, ONLY_V1, V1, V2
from towerhall_protocol.messages import ServerAccepted, ServerDuplicate, ServerRejected
from towerhall_server.access.quotas import Quotas
from towerhall_server.access.rates import Limits, Rate
from towerhall_server.eventlog.log import EventLog
from towerhall_server.game import AnyGame
from towerhall_server.room.rematch import rematch_plan
from towerhall_server.room.state import Room
from towerhall_server.telemetry.meters import Meters

RATE = Rate(1 / 3600, 2)


async def over(node: LiveNode, rules: AnyGame = DUEL) -> tuple[FakeViewer, FakeViewer]:
    """Two people after a game."""
    ann = await FakeViewer("ann").enter(await node.found(rules))
    bob = await node.enter(ann.code, "bob")
    await begin(ann, bob)
    await ann.do("want_end")
    await ann.reach((await bob.do("want_end")).seq)
    return ann, bob


async def test_rematches_count_on_all_nodes_together_and_the_refusal_says_when(url: str) -> None:
    async with AsyncExitStack() as stack:
        nodes = []
        for name in ("one", "other"):
            log = await stack.enter_async_context(EventLog(url, f"quotas of {name}"))
            quotas = Quotas(log, Limits(rooms_per_identity=RATE), Meters())

            async def wait_ms(person: str, quotas: Quotas = quotas) -> int:
                return await quotas.take(rooms_per_identity=person)

            nodes.append(await stack.enter_async_context(live_node(url, name, wait_ms=wait_ms)))
        for node in nodes:
            ann, _ = await over(node)
            await ann.do("rematch")
        ann, bob = await over(nodes[0])
        made = nodes[0].directory.node.meters.rooms_created
        answer = await ann.answer(ann.ask("rematch"))
        assert isinstance(answer, ServerRejected)
        assert (answer.code, answer.rule) == ("too_many", "P-59")
        assert 0 < int(answer.params["retry_ms"]) <= 3_600_000
        assert str(answer.params["retry_ms"]) in answer.hint
        assert nodes[0].directory.node.meters.rooms_created == made
        assert "rematch" not in ann.view["room"]
        # What one may not have, another may.
        await bob.do("rematch")
        assert bob.view["room"]["rematch"]


async def test_only_what_makes_a_room_counts(url: str) -> None:
    asked: list[str] = []

    async def wait_ms(person: str) -> int:
        asked.append(person)
        return 0

    async with live_node(url, wait_ms=wait_ms) as node:
        ann, bob = await over(node)
        watcher = await node.enter(ann.code, "cyd")
        assert await watcher.refused("rematch") == "not_seated"
        dry = ann.replay.command({"command": "rematch"}, dry=True)
        ann.hand_over(dry)
        assert isinstance(await ann.answer(dry.n), ServerAccepted)
        assert asked == []
        await ann.do("rematch")
        await bob.reach(ann.replay.seq)
        assert await bob.refused("rematch") == "rematch_made"
        assert asked == [ann.owner.id]


# A room that is of no use any more gives way to another one


async def removed(node: LiveNode, code: str) -> None:
    """Nobody came in time."""
    actor = await node.open(code)
    await node.log.remove(code, actor.follower.replica.point)


async def closed(node: LiveNode, code: str) -> None:
    """People came, and agreed to end it."""
    ann, bob = [await node.enter(code, name) for name in ("ann", "bob")]
    await begin(ann, bob)
    await ann.do("want_end")
    await bob.do("want_end")


async def still_open(node: LiveNode, code: str) -> None:
    """Nobody has come yet."""


async def played(node: LiveNode, code: str) -> None:
    ann, bob = [await node.enter(code, name) for name in ("ann", "bob")]
    await begin(ann, bob)
    await asyncio.gather(ann.play(Random(1)), bob.play(Random(2)))


@pytest.mark.parametrize("end", [removed, closed], ids=["removed", "closed"])
async def test_when_nobody_can_play_there_any_more_another_one_is_made(
    url: str, end: Callable[[LiveNode, str], Awaitable[None]]
) -> None:
    async with live_node(url) as node:
        ann, bob = await over(node)
        await ann.do("rematch")
        first = ann.view["room"]["rematch"]
        await end(node, first)
        dry = bob.replay.command({"command": "rematch"}, dry=True)
        bob.hand_over(dry)
        assert isinstance(await bob.answer(dry.n), ServerAccepted)
        assert bob.view["room"]["rematch"] == first
        await ann.reach((await bob.do("rematch")).seq)
        second = ann.view["room"]["rematch"]
        assert second != first
        assert (await node.enter(second, "ann")).view["room"]["previous"] == ann.code
        assert await ann.refused("rematch") == "rematch_made"
        assert await rightful(url, ann.room)


@pytest.mark.parametrize("end", [still_open, played], ids=["open", "played"])
async def test_one_that_can_be_played_or_was_stays_the_only_one(
    url: str, end: Callable[[LiveNode, str], Awaitable[None]]
) -> None:
    async with live_node(url) as node:
        ann, bob = await over(node)
        await ann.do("rematch")
        await end(node, ann.view["room"]["rematch"])
        made = node.directory.node.meters.rooms_created
        answer = await bob.answer(bob.ask("rematch"))
        assert isinstance(answer, ServerRejected)
        assert (answer.code, answer.params) == (
            "rematch_made",
            {"room": ann.view["room"]["rematch"]},
        )
        assert node.directory.node.meters.rooms_created == made


async def test_one_that_only_newer_servers_can_read_is_left_to_them(url: str) -> None:
    async with live_node(url, "newer", games=BOTH) as newer:
        ann, _ = await over(newer, V1)
        await ann.do("rematch")
        async with live_node(url, "older", games=ONLY_V1) as older:
            bob = await older.enter(ann.code, "bob")
            assert await bob.refused("rematch") == "rematch_made"


# Rules


async def test_a_rematch_that_was_done_is_not_made_again(url: str) -> None:
    async with live_node(url) as node:
        ann, _ = await over(node)
        command = ann.replay.command({"command": "rematch"})
        ann.hand_over(command)
        await ann.answer(command.n)
        await closed(node, ann.view["room"]["rematch"])
        made = node.directory.node.meters.rooms_created
        ann.hand_over(command)
        await ann.until(lambda: len(ann.answers(command.n)) == 2)
        assert isinstance(ann.answers(command.n)[-1], ServerDuplicate)
        assert node.directory.node.meters.rooms_created == made


async def test_a_rematch_begins_under_the_newest_rules_and_the_old_game_keeps_its_own(
    url: str,
) -> None:
    async with live_node(url, games=ONLY_V1) as before:
        ann, _ = await over(before, V1)
        code = ann.code
    async with live_node(url, games=BOTH) as after:
        ann = await after.enter(code, "ann")
        await ann.do("rematch")
        assert ann.view["room"]["version"] == 1
        fresh = ann.view["room"]["rematch"]
        ann, bob = [await after.enter(fresh, name) for name in ("ann", "bob")]
        assert ann.view["room"]["version"] == 2
        for client in (ann, bob):
            await client.do("sit")
        await bob.do("ready")
        await ann.do("start")
        await asyncio.gather(ann.play(Random(1)), bob.play(Random(2)))
        assert ann.view["room"]["result"]


class OtherOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Nothing of what the old rules let people choose."""

    unheard_of: bool = False


@pytest.mark.parametrize(
    ("newest", "version"),
    [
        (V2, 2),
        (replace(V2, seats=range(3, 5)), 1),
        (replace(V2, options_type=OtherOptions, presets={"standard": OtherOptions()}), 1),
    ],
    ids=["same options and seats", "not for two", "other options"],
)
async def test_rules_that_do_not_know_the_same_game_are_not_taken(
    url: str, newest: AnyGame, version: int
) -> None:
    async with live_node(url, games=ONLY_V1) as node:
        ann, _ = await over(node, V1)
        room: Room = ann.room.follower.room
    plan = rematch_plan(room, ann.person.id, {newest.name: newest})
    assert plan.rules.version == version
    assert isinstance(plan.options, plan.rules.options_type)
    assert msgspec.to_builtins(plan.options) == msgspec.to_builtins(room.table.options)
