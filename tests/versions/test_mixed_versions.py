"""While servers are updated one by one, old and new ones serve the same store."""

import os
import secrets
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.end_to_end import raw
from tests.end_to_end.servers import LIMITS, ServerProcess, running
from tests.games import tile_duel as duel
from tests.live.live_rooms import DUEL, FakeViewer, LiveNode, begin, live_node, no_fault
from tests.versions import newer_server
from towerhall_server.eventlog.answers import Append, Appended
from towerhall_server.eventlog.entry import entry_after
from towerhall_server.game import AnyGame, Rejected, Seat
from towerhall_server.live.directory import PoisonedRoomError
from towerhall_server.live.follower import TTL_MS

# Two nodes: the newer one writes an event that the older one has never heard of.


class Cheered(duel.Event, frozen=True):
    seat: Seat


def _decide(state: duel.State, seat: Seat, command: object) -> Any:
    events = duel.decide(state, seat, command)
    return events if isinstance(events, Rejected) else (Cheered(seat), *events)


def _fold(state: duel.State, event: duel.Event) -> duel.State:
    return state if isinstance(event, Cheered) else duel.fold(state, event)


NEWER: AnyGame = replace(
    DUEL,
    decide=_decide,
    fold=_fold,
    event_type=DUEL.event_type | Cheered,
    slow=lambda state, seat, command: False,
)


@pytest.fixture
async def old(url: str) -> Any:
    async with live_node(url, "old") as node:
        yield node


@pytest.fixture
async def new(url: str) -> Any:
    async with live_node(url, "new", games={NEWER.name: NEWER}) as node:
        yield node


async def test_who_meets_a_newer_event_while_serving_sends_its_viewers_elsewhere(
    old: LiveNode, new: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await new.found(NEWER))
    bob, eve = await old.enter(ann.code, "bob"), await old.enter(ann.code, "eve")
    healthy = await FakeViewer("ann").enter(await old.found())
    await begin(ann, bob)
    await bob.reach(ann.replay.seq)
    mover = ann if ann.replay.offers else bob
    if mover is bob:
        # Whoever moves first does so on the new node.
        mover = bob = await bob.again().enter(await new.open(ann.code))
    await mover.move()
    assert await eve.ended() == "server_fault"
    with pytest.raises(PoisonedRoomError):
        await old.open(ann.code)
    # The same clients go on where they were, on a node that can follow.
    eve = await eve.again().enter(await new.open(ann.code))
    bob = await bob.again().enter(await new.open(ann.code))
    await eve.reach(ann.replay.seq)
    await bob.reach(ann.replay.seq)
    assert eve.view == bob.view == ann.view
    assert ["cheered"] in [list(fact[:1]) for frame in eve.frames for fact in frame.facts]
    assert (await healthy.do("sit")).seq == 2, "no other room of the old node suffers"
    no_fault(ann, bob, eve, healthy)


async def test_who_finds_a_newer_event_in_a_log_does_not_open_the_room(
    old: LiveNode, new: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await new.found(NEWER))
    bob = await new.enter(ann.code, "bob")
    await begin(ann, bob)
    await (ann if ann.replay.offers else bob).move()
    for _ in range(3):
        with pytest.raises(PoisonedRoomError):
            await old.open(ann.code)
    assert old.log.loads == 1, "it is not read again and again"
    assert old.log.answers == [], "nothing was written to it"
    healthy = await FakeViewer("ann").enter(await old.found())
    assert (await healthy.do("sit")).seq == 2


@pytest.mark.parametrize(
    "event", [["applauded", 0], ["seat_ready", 0, True, b"", 9]], ids=["name", "field"]
)
async def test_a_newer_event_of_the_room_is_never_read_in_part(
    event: list[Any], old: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await old.found())
    await ann.do("sit")
    place, commit_id = ann.place, os.urandom(16)
    blob = msgspec.msgpack.encode([[], [event], [], [], {}])
    wanted = Append(
        mode="append",
        room=ann.code,
        before=place,
        entry=entry_after(place, place.stamps, commit_id, blob),
        ttl_ms=TTL_MS,
    )
    assert isinstance(await old.log.append(wanted), Appended)
    assert await ann.ended() == "server_fault"
    assert ann.view["room"]["seats"]["0"] == {"name": "ann", "id": ann.replay.you}
    with pytest.raises(PoisonedRoomError):
        await old.open(ann.code)


# Two processes: the newer one has a second version of the rules.


class NewerServer(ServerProcess):
    module = newer_server.__name__


@pytest.fixture
def servers(url: str, tmp_path: Path) -> Iterator[tuple[ServerProcess, ServerProcess]]:
    """One of today and one of some months later, on the same store."""
    environ = LIMITS | {
        "TOWERHALL_TOKEN_KEYS": secrets.token_urlsafe(32),
        "PYTHONPATH": str(Path.cwd()),
    }
    flags = ("--redis-url", url)
    newer = NewerServer(tmp_path / "newer", *flags, limits=environ)
    with running(tmp_path / "older", *flags, limits=environ) as older:
        newer.start()
        try:
            yield older, newer
        finally:
            newer.kill()


async def test_two_processes_of_different_versions_share_what_both_can_read(
    servers: tuple[ServerProcess, ServerProcess],
) -> None:
    older, newer = servers
    token = raw.new_guest(older.url)
    of_old, of_new = (raw.new_room(server.url, token)["code"] for server in servers)
    # A room of the old rules is served by both, and goes on under the old rules.
    for server in servers:
        async with raw.inside(server.url, of_old, token) as inside:
            await inside.done("ready" if server is newer else "sit")
    versions = {}
    for code in (of_old, of_new):
        async with raw.connected(newer.url, code) as client:
            await client.hello(token)
            versions[code] = (await client.hear())[1]["view"]["room"]["version"]
    assert versions == {of_old: 1, of_new: 2}
    # A room of the new rules is none of the old server's business; it says so, and serves on.
    for _ in range(2):
        async with raw.connected(older.url, of_new) as client:
            await client.hello(token)
            end = await client.end()
        assert (end.error, end.code, end.reason) == ("server_fault", 1011, "server_fault")
        answer = raw.ask(older.url, "GET", f"/v1/rooms/{of_new}", headers=raw.bearer(token))
        assert (answer.status, answer.code) == (500, "server_fault")
    assert raw.ask(older.url, "GET", "/healthz").status == 200
    async with raw.inside(older.url, of_old, token) as inside:
        await inside.done("stand")
    assert older.log.count("is left to others: five_towers, rules 2") == 1
    assert "Traceback" not in older.log
