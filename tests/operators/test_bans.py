"""Bans: what a node keeps, and that they hold on every node within seconds."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.end_to_end.raw import ask, bearer, inside, new_room
from tests.end_to_end.servers import ServerProcess
from tests.operators.processes import OTHER_KEY, SEATS, as_operator, node
from towerhall_server.eventlog.log import EventLog
from towerhall_server.operators.bans import Bans
from towerhall_server.operators.store import Ban, OperatorStore

SOON_SECONDS = 5.0


class Somebody:
    def __init__(self) -> None:
        self.out = 0

    def shut_out(self) -> None:
        self.out += 1


def test_whoever_is_here_leaves_when_banned() -> None:
    bans, ann, ann_again, ben = Bans(), Somebody(), Somebody(), Somebody()
    assert bans.enter("ann", ann)
    assert bans.enter("ann", ann_again)
    assert bans.enter("ben", ben)
    bans.take(frozenset({"ann"}))
    assert (ann.out, ann_again.out, ben.out) == (1, 1, 0)
    assert "ann" in bans
    assert not bans.enter("ann", ann)
    bans.leave("ann", ann)
    bans.leave("ann", ann_again)
    assert len(bans) == 1
    bans.take(frozenset())
    assert bans.enter("ann", ann)


async def test_the_list_is_read_when_it_has_changed(log: EventLog) -> None:
    store, bans = OperatorStore(log), Bans()
    await bans.read(store)
    assert "ann" not in bans
    await store.ban(Ban("ann", "acme", 1))
    await store.ban(Ban("ann", "other", 2))
    await bans.read(store)
    assert "ann" in bans
    assert await store.unban("acme", "ann")
    assert not await store.unban("acme", "ann")
    await bans.read(store)
    assert "ann" in bans, "the other operator still bans them"
    assert await store.unban("other", "ann")
    await bans.read(store)
    assert "ann" not in bans


@pytest.fixture
def servers(url: str, tmp_path: Path) -> Iterator[list[ServerProcess]]:
    with ExitStack() as stack:
        yield [stack.enter_context(node(tmp_path / name, url)) for name in ("a", "b")]


async def test_a_ban_holds_on_every_node(servers: list[ServerProcess]) -> None:
    here, there = (server.url for server in servers)
    answer = await asyncio.to_thread(
        as_operator, here, "POST", "/rooms", {"game": "five_towers", "seats": SEATS}
    )
    made = answer.document
    token = made["seats"][0]["token"]
    async with (
        inside(there, made["code"], token) as away,
        inside(here, made["code"], token) as near,
        inside(there, made["code"], made["seats"][1]["token"]) as innocent,
    ):
        ban = await asyncio.to_thread(
            as_operator, here, "POST", "/bans", {"external_id": "account 1", "reason": "unkind"}
        )
        assert ban.status == 201
        assert ban.document["id"] == made["seats"][0]["id"]
        for raw in (near, away):
            async with asyncio.timeout(SOON_SECONDS):
                end = await raw.end()
            assert (end.code, end.reason, end.error) == (4405, "banned", "banned")
        await innocent.quiet()
    for url in (here, there):
        refused = await asyncio.to_thread(
            ask, url, "POST", "/v1/rooms", {"game": "five_towers"}, bearer(token)
        )
        assert (refused.status, refused.code) == (403, "banned")
    listed = await asyncio.to_thread(as_operator, there, "GET", "/bans")
    assert [each["external_id"] for each in listed.document["bans"]] == ["account 1"]
    others = await asyncio.to_thread(as_operator, there, "GET", "/bans", key=OTHER_KEY)
    assert others.document == {"bans": []}
    path = f"/bans/{ban.document['id']}"
    foreign = await asyncio.to_thread(as_operator, there, "DELETE", path, key=OTHER_KEY)
    assert foreign.code == "not_found"
    assert (await asyncio.to_thread(as_operator, there, "DELETE", path)).status == 200
    async with inside(there, made["code"], token):
        pass


async def test_a_guest_is_banned_by_id(servers: list[ServerProcess]) -> None:
    here, there = (server.url for server in servers)
    guest = (await asyncio.to_thread(ask, here, "POST", "/v1/guests", {"name": "Eve"})).document
    made = await asyncio.to_thread(new_room, here, guest["token"])
    async with inside(there, made["code"], guest["token"]) as raw:
        await asyncio.to_thread(as_operator, here, "POST", "/bans", {"id": guest["id"]})
        async with asyncio.timeout(SOON_SECONDS):
            assert (await raw.end()).reason == "banned"
