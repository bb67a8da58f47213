"""Who acts for a room that acts by itself: whoever appended last, and the others one by one."""

import pytest

from tests.room.live_rooms import FakeViewer, LiveNode, commits_of, sit_down
from towerhall_server.room import actor as actor_module
from towerhall_server.room.actor import RANKS


async def test_who_did_not_append_last_leaves_bots_to_the_node_that_did(
    url: str, one: LiveNode, other: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actor_module, "GRACE_MS", 10_000)
    one.beat()
    ann = await FakeViewer("ann").enter(await one.found(seats=3, bot_delay_ms=20))
    eve = await other.enter(ann.code, "eve")
    await sit_down(ann, bots=2)
    await eve.reach(ann.replay.seq)
    await ann.do("start")
    while ann.status != "over":
        await ann.until(lambda: ann.replay.offers or ann.status == "over")
        if ann.replay.offers:
            await ann.move()
    await eve.reach(ann.replay.seq)
    moves = [one for one in await commits_of(url, ann.code) if one.game and not one.cause.n]
    assert len(moves) > 5
    assert other.log.answers == [], "the other node tried to act, too"


async def test_nodes_that_wait_have_different_turns_which_change_with_every_commit(
    one: LiveNode, other: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    bob = await other.enter(ann.code, "bob")
    await ann.do("sit")
    turns = []
    for number in range(40):
        await ann.do("ready", ready=bool(number % 2))
        await bob.reach(ann.replay.seq)
        turns.append((ann.room.follower.rank(RANKS), bob.room.follower.rank(RANKS)))
    assert {turn for pair in turns for turn in pair} == set(range(RANKS))
    assert sum(mine != yours for mine, yours in turns) > len(turns) // 3
