"""A game ends under the version of its rules that it began with, whatever is installed since."""

import asyncio
from dataclasses import replace
from random import Random

import msgspec
import pytest

from tests.games import tile_duel as duel
from tests.live.live_rooms import FakeViewer, LiveNode, begin, live_node, no_fault, whole_log
from tests.versions.two_versions import BOTH, ONLY_V1, ONLY_V2, V1, V2
from towerhall_protocol.messages import ServerFrame
from towerhall_server.game import AnyGame
from towerhall_server.live.directory import PoisonedRoomError
from towerhall_server.live.record_store import record_of
from towerhall_server.record.verify import verify
from towerhall_server.room.commits import Commit, decode_commit


async def both_enter(node: LiveNode, code: str) -> tuple[FakeViewer, FakeViewer]:
    return await node.enter(code, "ann"), await node.enter(code, "bob")


async def half_a_game(node: LiveNode, rules: AnyGame) -> str:
    """Six moves into a game of two; everybody goes home."""
    actor = await node.found(rules)
    ann, bob = await both_enter(node, actor.code)
    await begin(ann, bob)
    for _ in range(6):
        # One at a time: whoever moved first may be the next to move as well.
        await ann.until(lambda: ann.replay.offers or bob.replay.offers)
        mover = ann if ann.replay.offers else bob
        assert isinstance(await mover.move(Random(3)), ServerFrame)
        await ann.reach(mover.replay.seq)
        await bob.reach(mover.replay.seq)
    no_fault(ann, bob)
    return actor.code


async def the_rest(node: LiveNode, code: str) -> FakeViewer:
    ann, bob = await both_enter(node, code)
    await asyncio.gather(ann.play(Random(1)), bob.play(Random(2)))
    no_fault(ann, bob)
    return ann


def is_of_version(commits: list[Commit], version: int) -> bool:
    """Whether every tile that stands does so as that version has it."""
    heights = [[0] * duel.COLUMNS for _ in range(2)]
    placed = 0
    for commit in commits:
        for event in commit.game:
            if isinstance(event, duel.Placed):
                body = commit.command
                before = heights[event.seat][event.column]
                size = body["tilt"] + 1 if body["side"] == "flat" else None
                if event.height and size is not None:
                    placed += 1
                    if event.height - before - size != version - 1:
                        return False
                heights[event.seat][event.column] = event.height
    assert placed, "nothing was placed that tells"
    return True


async def test_a_game_that_began_under_old_rules_ends_under_them_beside_the_new(url: str) -> None:
    async with live_node(url, games=ONLY_V1) as before:
        code = await half_a_game(before, V1)
    async with live_node(url, games=BOTH) as after:
        ann = await the_rest(after, code)
        assert ann.view["room"]["version"] == 1
        fresh = await half_a_game(after, BOTH[V1.name])
        bea = await the_rest(after, fresh)
        assert bea.view["room"]["version"] == 2
        old = [decode_commit(entry.blob, V1) for entry in await whole_log(url, code)]
        new = [decode_commit(entry.blob, V2) for entry in await whole_log(url, fresh)]
        assert is_of_version(old, 1)
        assert is_of_version(new, 2)
        assert not is_of_version(old, 2)
        for room in (code, fresh):
            record = await record_of(after.log, room, BOTH)
            assert record is not None
            assert verify(record, BOTH) == ()


async def test_the_record_of_old_rules_verifies_by_them_and_by_no_others(url: str) -> None:
    async with live_node(url, games=ONLY_V1) as node:
        code = await half_a_game(node, V1)
        await the_rest(node, code)
        record = await record_of(node.log, code, ONLY_V1)
    assert record is not None
    assert msgspec.json.decode(record)["version"] == 1
    assert verify(record, BOTH) == verify(record, ONLY_V1) == ()
    assert [finding.code for finding in verify(record, ONLY_V2)] == ["unknown_rules"]
    claimed = {V1.name: pretended(V2)}
    assert "decision" in {finding.code for finding in verify(record, claimed)}


def pretended(rules: AnyGame) -> AnyGame:
    """Other rules that pretend to be the first version."""
    return replace(rules, version=1, previous=None)


async def test_a_node_without_the_old_rules_leaves_the_room_to_others(url: str) -> None:
    async with (
        live_node(url, games=BOTH) as both,
        live_node(url, "too new", games=ONLY_V2) as too_new,
    ):
        ann = await FakeViewer("ann").enter(await both.found(V1))
        with pytest.raises(PoisonedRoomError):
            await too_new.open(ann.code)
        assert (await ann.do("sit")).seq == 2
        bea = await FakeViewer("ann").enter(await too_new.found(ONLY_V2[V2.name]))
        assert (await bea.do("sit")).seq == 2
