"""Who looks at a room through several nodes: all are told of all, and a seat has one connection."""

import asyncio
from functools import partial

import msgspec
import pytest

from tests.live.live_rooms import FakeViewer, LiveNode, live_node
from towerhall_protocol.messages import ServerPresence
from towerhall_server.live import neighbours
from towerhall_server.lobby.arrivals import is_present


def presence(viewer: FakeViewer) -> ServerPresence | None:
    """The last one, without the time of absences."""
    told = viewer.of(ServerPresence)
    return msgspec.structs.replace(told[-1], away_ms=()) if told else None


async def agree(online: tuple[int, ...], watchers: int, *viewers: FakeViewer) -> None:
    wanted = ServerPresence(online, watchers)
    for viewer in viewers:
        await viewer.until(partial(_was_told, viewer, wanted))


def _was_told(viewer: FakeViewer, wanted: ServerPresence) -> bool:
    return presence(viewer) == wanted


async def seated_apart(one: LiveNode, other: LiveNode) -> tuple[FakeViewer, FakeViewer]:
    """Two who play at one table through two nodes, and know of each other."""
    ann = await FakeViewer("ann").enter(await one.found())
    await ann.do("sit")
    bob = await other.enter(ann.code, "bob")
    await bob.do("sit")
    await agree((0, 1), 0, ann, bob)
    return ann, bob


async def test_everybody_is_told_of_everybody_on_all_nodes(one: LiveNode, other: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    await ann.do("sit")
    bob, eve = await other.enter(ann.code, "bob"), await other.enter(ann.code, "eve")
    await bob.do("sit")
    await agree((0, 1), 1, ann, bob, eve)
    other_room = bob.room
    bob.alive = eve.alive = False
    other_room.leave(bob)
    other_room.leave(eve)
    await agree((0,), 0, ann)


async def test_the_newest_connection_of_a_seat_wins_wherever_it_is(
    one: LiveNode, other: LiveNode
) -> None:
    first = await FakeViewer("ann").enter(await one.found())
    await first.do("sit")
    second = await other.enter(first.code, "ann")
    assert await first.ended() == "replaced"
    third = await one.enter(first.code, "ann")
    assert await second.ended() == "replaced"
    await agree((0,), 0, third)


async def test_of_two_windows_on_two_nodes_the_one_that_sits_down_keeps_the_seat(
    one: LiveNode, other: LiveNode
) -> None:
    first = await FakeViewer("ann").enter(await one.found())
    second = await other.enter(first.code, "ann")
    await first.do("sit")
    assert await second.ended() == "replaced"
    await agree((0,), 0, first)
    assert first.seat == 0


async def test_whoever_looked_through_a_node_that_died_is_not_counted_for_long(
    url: str, one: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbours, "NEIGHBOUR_SECONDS", 1.5)
    one.beat()
    ann = await FakeViewer("ann").enter(await one.found())
    async with live_node(url, "doomed") as doomed:
        doomed.beat()
        bob = await doomed.enter(ann.code, "bob")
        await bob.do("sit")
        await agree((0,), 1, ann)
        # It dies without a word: what it would say at its end is not heard.
        monkeypatch.setattr(doomed.log, "tell", lambda *_: None)
    await agree((), 1, ann)


async def test_a_node_that_was_deaf_asks_around(one: LiveNode, deaf: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    await ann.do("sit")
    eve = await deaf.enter(ann.code, "eve")
    await agree((0,), 1, ann)
    await asyncio.sleep(0.2)
    assert presence(eve) == ServerPresence((), 1)
    await deaf.listen()
    await agree((0,), 1, eve)


async def test_whoever_asks_who_is_there_tells_who_is_here(one: LiveNode, other: LiveNode) -> None:
    ann, bob = await seated_apart(one, other)
    told = len(bob.of(ServerPresence))
    assert await is_present(ann.room)
    # A node that looks at the room with nobody's eyes learns it, too.
    async with live_node(one.url, "third") as third:
        assert await is_present(await third.open(ann.code), 1)
    assert bob.room.follower.audience.presence.has_host
    assert bob.room.follower.audience.presence.online == (0, 1)
    assert len(bob.of(ServerPresence)) == told


async def test_an_actor_that_ends_takes_its_guests_along(one: LiveNode, other: LiveNode) -> None:
    ann, bob = await seated_apart(one, other)
    await ann.room.stop("restart")
    await agree((1,), 0, bob)
    assert not bob.room.follower.audience.presence.has_host
