"""Bans: what a node keeps, and that they hold on every node within seconds."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import time
from typing import Any

import pytest
from redis.asyncio import Redis

from tests.cli.runs import Told, in_a_process
from tests.end_to_end.raw import ask, bearer, connected, inside, new_room
from tests.end_to_end.servers import ServerProcess
from tests.operators.processes import ACME_KEY, OTHER_KEY, SEATS, as_operator, node
from towerhall_server.access import bans as bans_module
from towerhall_server.access.admission import Access, Denied
from towerhall_server.access.bans import Bans
from towerhall_server.access.revocations import RevocationStore
from towerhall_server.access.tokens import Tokens
from towerhall_server.eventlog import operators as store_module
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.operators import BANS, LIFTED_MS, Ban, OperatorStore
from towerhall_server.room.seats import Person
from towerhall_server.store.batch import Call
from towerhall_server.store.resp import packed

SOON_SECONDS = 5.0
OPEN = {"game": "five_towers", "seats": [*SEATS, None]}


class Somebody:
    """A connection that is told to go."""

    def __init__(self, operator: str = "") -> None:
        self.operator = operator
        self.out: list[str] = []

    def shut_out(self, denied: Denied) -> None:
        self.out.append(denied.code)


class Doorway:
    """One node's knowledge of who may be here."""

    def __init__(self, log: EventLog) -> None:
        self.tokens = Tokens((b"a key of thirty-two bytes or more",), 90)
        self.store = OperatorStore(log)
        self.access = Access(self.tokens, self.store, RevocationStore(log))

    def enter(self, identity: str, operator: str = "") -> Somebody:
        visitor = Somebody(operator)
        self.access.enter(self.tokens.new(Person(identity, "Ada")), visitor)
        return visitor


@pytest.fixture
def door(log: EventLog) -> Doorway:
    return Doorway(log)


async def test_whoever_is_here_leaves_when_banned(door: Doorway) -> None:
    ann, ann_again, ben = door.enter("ann"), door.enter("ann"), door.enter("ben")
    await door.store.ban(Ban("ann", "acme", 1))
    await door.access.refresh()
    assert (ann.out, ann_again.out, ben.out) == (["banned"], ["banned"], [])
    for visitor in (ann, ann_again):
        door.access.leave(visitor)
    assert len(door.access) == 1
    await door.store.ban(Ban("cyd", "acme", 1))
    await door.access.refresh()
    assert ann.out == ["banned"], "those who have gone are not told again"


async def test_a_ban_after_all_others_were_lifted_shuts_out_those_who_are_here(
    door: Doorway,
) -> None:
    ben = door.enter("ben")
    await door.store.ban(Ban("ann", "acme", 1))
    await door.access.refresh()
    await door.store.unban("acme", "ann")
    await door.access.refresh()
    ann = door.enter("ann")
    await door.store.ban(Ban("ben", "acme", 1))
    await door.access.refresh()
    assert (ann.out, ben.out) == ([], ["banned"])


async def test_a_ban_that_takes_the_place_of_the_last_one_is_noticed(door: Doorway) -> None:
    ben = door.enter("ben")
    await door.store.ban(Ban("ann", "acme", 1))
    await door.access.refresh()
    await door.store.unban("acme", "ann")
    await door.store.ban(Ban("ben", "acme", 2))
    await door.access.refresh()
    assert ben.out == ["banned"]
    assert not door.access.bans.bars("ann")


async def test_a_ban_from_rooms_shuts_out_of_the_rooms_of_that_operator_only(
    door: Doorway,
) -> None:
    there, elsewhere, lobby = (
        door.enter("ann", "acme"),
        door.enter("ann", "other"),
        door.enter("ann"),
    )
    other = door.enter("ben", "acme")
    await door.store.ban(Ban("ann", "acme", 1, rooms_only=True))
    await door.access.refresh()
    assert there.out == ["banned"]
    assert (elsewhere.out, lobby.out, other.out) == ([], [], [])
    bans = door.access.bans
    assert bans.bars("ann", "acme")
    assert not bans.bars("ann", "other")
    assert not bans.bars("ann")


async def test_a_ban_of_an_older_version_holds_everywhere(door: Doorway, log: EventLog) -> None:
    old = b'{"id":"ann","operator":"acme","time":1,"reason":"","external_id":""}'
    await log.call(Call(packed("HSET", BANS, "ann acme", old)))
    await door.access.refresh()
    assert door.access.bans.bars("ann")
    assert await door.store.unban("acme", "ann")
    await door.access.refresh()
    assert not door.access.bans.bars("ann")


async def test_the_list_is_read_when_it_has_changed(log: EventLog) -> None:
    store, bans = OperatorStore(log), Bans()
    await bans.read(store)
    assert not bans.bars("ann")
    await store.ban(Ban("ann", "acme", 1))
    await store.ban(Ban("ann", "other", 2))
    await bans.read(store)
    assert bans.bars("ann")
    assert await store.unban("acme", "ann")
    assert not await store.unban("acme", "ann")
    await bans.read(store)
    assert bans.bars("ann"), "the other operator still bans them"
    assert await store.unban("other", "ann")
    await bans.read(store)
    assert not bans.bars("ann")


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


async def test_an_operator_bans_strangers_from_its_own_rooms_only(
    servers: list[ServerProcess],
) -> None:
    here, there = (server.url for server in servers)
    guest = (await asyncio.to_thread(ask, here, "POST", "/v1/guests", {"name": "Eve"})).document
    token = guest["token"]
    own = await asyncio.to_thread(new_room, here, token)
    acme, other = [
        (await asyncio.to_thread(as_operator, here, "POST", "/rooms", OPEN, key=key)).document
        for key in (ACME_KEY, OTHER_KEY)
    ]
    async with (
        inside(there, own["code"], token) as at_home,
        inside(there, acme["code"], token) as at_acme,
        inside(here, other["code"], token) as at_other,
    ):
        ban = await asyncio.to_thread(as_operator, here, "POST", "/bans", {"id": guest["id"]})
        assert (ban.status, ban.document["scope"]) == (201, "rooms")
        async with asyncio.timeout(SOON_SECONDS):
            end = await at_acme.end()
        assert (end.code, end.reason, end.error) == (4405, "banned", "banned")
        await at_home.quiet()
        await at_other.quiet()
    for url in (here, there):
        async with connected(url, acme["code"]) as raw:
            await raw.hello(token)
            assert (await raw.end()).reason == "banned"
        async with inside(url, other["code"], token):
            pass
        await asyncio.to_thread(new_room, url, token)
    lifted = await asyncio.to_thread(as_operator, there, "DELETE", f"/bans/{guest['id']}")
    assert lifted.status == 200
    async with inside(there, acme["code"], token):
        pass


async def test_an_operator_bans_its_own_people_everywhere_by_id_too(
    servers: list[ServerProcess],
) -> None:
    here, there = (server.url for server in servers)
    seat = (await asyncio.to_thread(as_operator, here, "POST", "/tokens", SEATS[0])).document
    by_other = await asyncio.to_thread(
        as_operator, here, "POST", "/bans", {"id": seat["id"]}, key=OTHER_KEY
    )
    assert by_other.document["scope"] == "rooms", "they are not this operator's people"
    own = await asyncio.to_thread(new_room, there, seat["token"])
    async with inside(there, own["code"], seat["token"]) as raw:
        ban = await asyncio.to_thread(as_operator, here, "POST", "/bans", {"id": seat["id"]})
        assert ban.document["scope"] == "service"
        async with asyncio.timeout(SOON_SECONDS):
            assert (await raw.end()).reason == "banned"


# A store that becomes an older copy of itself


async def copy_of(redis: Redis) -> list[tuple[Any, Any]]:
    return [(name, await redis.dump(name)) for name in await redis.keys("towerhall:{bans}:*")]


async def go_back(redis: Redis, copy: list[tuple[Any, Any]]) -> None:
    await redis.flushall()
    for name, data in copy:
        await redis.restore(name, 0, data)


async def test_a_lost_ban_is_put_back_and_told(
    log: EventLog, redis: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    store, bans, fresh = OperatorStore(log), Bans(), Bans()
    await store.ban(Ban("old", "acme", 1))
    copy = await copy_of(redis)
    lost = Ban("ann", "acme", 2, "unkind", "account 1")
    await store.ban(lost)
    await bans.read(store)
    await go_back(redis, copy)
    await fresh.read(store)
    assert not fresh.bars("ann")
    await bans.read(store)
    assert bans.bars("ann")
    assert bans.bars("old")
    assert lost in await store.bans()
    assert "the store has lost a ban by acme" in caplog.text
    assert "ann" not in caplog.text
    await fresh.read(store)
    assert fresh.bars("ann")


async def test_a_ban_that_was_lifted_does_not_come_back(log: EventLog, redis: Redis) -> None:
    """Neither with an older copy, nor from a node that has not heard of the lifting."""
    store, bans, late = OperatorStore(log), Bans(), Bans()
    await store.ban(Ban("ann", "acme", 1))
    copy = await copy_of(redis)
    await late.read(store)
    await store.unban("acme", "ann")
    await bans.read(store)
    await go_back(redis, copy)
    await bans.read(store)
    await late.read(store)
    assert not bans.bars("ann")
    assert not late.bars("ann")
    assert await store.bans() == []


async def test_a_ban_after_a_lifting_holds_whatever_the_clocks_say(
    log: EventLog, redis: Redis
) -> None:
    store, bans = OperatorStore(log), Bans()
    await store.ban(Ban("ann", "acme", 1))
    await store.unban("acme", "ann")
    await bans.read(store)
    await store.ban(Ban("ann", "acme", 2))
    await bans.read(store)
    assert bans.bars("ann")
    await bans.read(store)
    [ban] = await store.bans()
    assert ban.time > 2, "later than the lifting"


async def test_bans_survive_a_store_that_was_emptied(log: EventLog, redis: Redis) -> None:
    store, bans = OperatorStore(log), Bans()
    await store.ban(Ban("ann", "acme", 1))
    await bans.read(store)
    await redis.flushall()
    await bans.read(store)
    assert bans.bars("ann")
    assert [ban.id for ban in await store.bans()] == ["ann"]


async def test_a_node_that_slept_for_weeks_takes_the_list_as_it_is(
    log: EventLog, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, bans = OperatorStore(log), Bans()
    await store.ban(Ban("ann", "acme", 1))
    await bans.read(store)
    await redis.flushall()
    monkeypatch.setattr(bans_module, "time", lambda: time() + LIFTED_MS / 1000)
    await bans.read(store)
    assert not bans.bars("ann")


async def test_liftings_are_forgotten_after_weeks(
    log: EventLog, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = OperatorStore(log)
    for name in ("ann", "ben"):
        await store.ban(Ban(name, "acme", 1))
    await store.unban("acme", "ann")
    monkeypatch.setattr(store_module, "time", lambda: time() + LIFTED_MS / 1000 + 1)
    await store.unban("acme", "ben")
    assert list((await store.ban_list()).lifted) == ["ben acme"]


async def test_the_one_who_runs_the_service_bans_anybody_from_all_of_it(
    servers: list[ServerProcess], url: str
) -> None:
    here, there = (server.url for server in servers)
    guest = (await asyncio.to_thread(ask, here, "POST", "/v1/guests", {"name": "Eve"})).document
    own = await asyncio.to_thread(new_room, here, guest["token"])

    async def towerhall(action: str, *arguments: str) -> Told:
        place = ("--redis-url", url)
        return await asyncio.to_thread(in_a_process, "bans", action, *place, *arguments)

    identity = ("--", guest["id"])
    async with inside(there, own["code"], guest["token"]) as raw:
        assert (await towerhall("add", "--reason", "threats", *identity)).status == 0
        async with asyncio.timeout(SOON_SECONDS):
            assert (await raw.end()).reason == "banned"
    async with asyncio.timeout(SOON_SECONDS):
        while (await asyncio.to_thread(create, here, guest["token"])) != 403:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    # Operators neither see nor lift it.
    assert (await asyncio.to_thread(as_operator, here, "GET", "/bans")).document == {"bans": []}
    path = f"/bans/{guest['id']}"
    assert (await asyncio.to_thread(as_operator, here, "DELETE", path)).code == "not_found"
    await asyncio.to_thread(as_operator, here, "POST", "/bans", {"id": guest["id"]})
    listed = [json.loads(line) for line in (await towerhall("ls", "--json")).out.splitlines()]
    assert [(ban["by"], ban["scope"], ban["reason"]) for ban in listed] == [
        ("service", "service", "threats"),
        ("acme", "rooms of acme", ""),
    ]
    assert (await towerhall("lift", "--operator", "acme", *identity)).status == 0
    assert (await towerhall("lift", *identity)).status == 0
    again = await towerhall("lift", *identity)
    assert (again.status, "there is no ban" in again.err) == (1, True)
    assert (await towerhall("ls")).out == ""
    async with asyncio.timeout(SOON_SECONDS):
        while (await asyncio.to_thread(create, there, guest["token"])) != 201:  # noqa: ASYNC110
            await asyncio.sleep(0.1)


def create(url: str, token: str) -> int:
    return ask(url, "POST", "/v1/rooms", {"game": "five_towers"}, bearer(token)).status
