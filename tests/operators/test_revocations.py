"""Tokens and keys that end before their time: on every node within seconds, and for good."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from tests.cli.runs import Told, here
from tests.end_to_end.games import QUICK
from tests.end_to_end.raw import Answer, ask, bearer, connected, inside, new_room
from tests.end_to_end.servers import ServerProcess
from tests.operators.processes import (
    ACME_KEY,
    NEW_ACME_KEY,
    OPERATORS,
    OTHER_KEY,
    SEATS,
    as_operator,
    node,
)
from towerhall_client.connection import connect
from towerhall_client.errors import ServiceError, TableClosedError
from towerhall_client.http import Service
from towerhall_server.access.revocations import (
    AFTER,
    NEWS,
    Revocations,
    RevocationStore,
    of_key,
    of_operator,
    of_person,
)
from towerhall_server.access.tokens import DAY_SECONDS, Tokens
from towerhall_server.eventlog.log import EventLog
from towerhall_server.operators.operator import key_digest
from towerhall_server.room.seats import Person

SOON_SECONDS = 5.0
DAYS = 30
ANN, BEN = Person("AAECAwQFBgc", "Ann"), Person("BAECAwQFBgc", "Ben")
TOKENS = Tokens((b"a key of thirty-two bytes or more",), DAYS)
REVOKED = ("unauthorized", "the token was revoked")


# What a node knows


class Known:
    """A node's revocations."""

    def __init__(self, log: EventLog) -> None:
        self.store = RevocationStore(log, DAYS * DAY_SECONDS)
        self.list = Revocations(self.store, DAYS * DAY_SECONDS)


async def test_a_revocation_ends_older_tokens_of_that_person_and_no_others(log: EventLog) -> None:
    known = Known(log)
    first = TOKENS.new(ANN)
    stamp = await known.store.revoke(of_person(ANN.id))
    assert not known.list.ends(first), "the node has not heard of it yet"
    assert await known.list.read()
    assert known.list.ends(first)
    assert not known.list.ends(TOKENS.new(ANN, after=stamp))
    assert not known.list.ends(TOKENS.new(BEN))
    assert not await known.list.read()
    again = await known.store.revoke(of_person(ANN.id))
    assert again > stamp
    assert await known.list.read()
    assert known.list.ends(TOKENS.new(ANN, after=stamp))


async def test_an_operators_tokens_end_together_and_no_others(log: EventLog) -> None:
    known = Known(log)
    ann, ben = TOKENS.new(ANN, operator="acme"), TOKENS.new(BEN, operator="acme")
    stamp = await known.store.revoke(of_operator("acme"), of_key("digest"))
    await known.list.read()
    assert known.list.ends(ann)
    assert known.list.ends(ben)
    assert known.list.ends_key("digest")
    assert not known.list.ends_key("another")
    assert not known.list.ends(TOKENS.new(ANN))
    assert not known.list.ends(TOKENS.new(ANN, operator="other"))
    assert not known.list.ends(TOKENS.new(ANN, operator="acme", after=stamp))


async def test_what_is_newer_than_a_given_stamp_goes_on(log: EventLog) -> None:
    known, late = Known(log), Known(log)
    kept = await known.store.stamp()
    # Others are revoked in between, and this node has heard of that already.
    await known.store.revoke(of_person(BEN.id))
    await known.list.read()
    await known.store.revoke(of_person(ANN.id), after=kept)
    for each in (known, late):
        assert await each.list.read()
        assert each.list.ends(TOKENS.new(ANN))
        assert not each.list.ends(TOKENS.new(ANN, after=kept))
    newer = await known.store.stamp()
    await known.store.revoke(of_person(BEN.id))
    await known.list.read()
    await known.store.revoke(of_person(ANN.id), after=newer)
    await known.list.read()
    assert known.list.ends(TOKENS.new(ANN, after=kept)), "also if the person was revoked before"
    assert not known.list.ends(TOKENS.new(ANN, after=newer))
    await known.store.revoke(of_person(ANN.id), after=kept - 1)
    await known.list.read()
    assert known.list.ends(TOKENS.new(ANN, after=kept - 1)), "the newest one stays"


async def test_stamps_only_grow_also_if_the_clock_stands_still(log: EventLog) -> None:
    store = Known(log).store
    stamps = [await store.revoke(of_person(str(number))) for number in range(50)]
    assert stamps == sorted(set(stamps))
    assert await store.stamp() > stamps[-1]
    assert await store.after(of_person("7"), of_person("3"), of_person("none")) == stamps[7]
    assert await store.after(of_person("none")) == 0


async def test_what_an_older_copy_of_the_store_lacks_is_put_back(
    log: EventLog, redis: Redis
) -> None:
    known, late = Known(log), Known(log)
    await known.store.revoke(of_person(ANN.id))
    await known.store.revoke(of_key("digest"))
    await known.list.read()
    await redis.delete(AFTER, NEWS)
    await known.store.revoke(of_person(BEN.id))
    await known.list.read()
    for person in (ANN, BEN):
        assert known.list.ends(TOKENS.new(person))
    await late.list.read()
    for person in (ANN, BEN):
        assert late.list.ends(TOKENS.new(person))
    assert late.list.ends_key("digest")


async def test_what_can_end_no_token_any_more_is_dropped_but_keys_stay(
    log: EventLog, redis: Redis
) -> None:
    known = Known(log)
    await known.store.revoke(of_person(ANN.id), of_key("digest"))
    await known.list.read()
    long_ago = round(1000 * (time.time() - (DAYS + 2) * DAY_SECONDS))
    for name in (of_person(ANN.id), of_key("digest")):
        await redis.hset(AFTER, name, str(long_ago))
        await redis.zadd(NEWS, {name: long_ago})
    known = Known(log)
    await known.list.read()
    await known.store.revoke(of_person(BEN.id))
    kept = await redis.hkeys(AFTER)
    assert set(kept) == {of_person(BEN.id).encode(), of_key("digest").encode()}
    await known.list.read()
    assert not known.list.ends(TOKENS.new(ANN))
    assert known.list.ends(TOKENS.new(BEN))
    assert known.list.ends_key("digest")
    assert await redis.hlen(AFTER) == 2, "what was dropped is not put back"


# Over the wire


@pytest.fixture
def servers(url: str, tmp_path: Path) -> Iterator[list[ServerProcess]]:
    with ExitStack() as stack:
        yield [stack.enter_context(node(tmp_path / name, url)) for name in ("a", "b")]


async def post(url: str, path: str, body: object, token: str = "") -> Answer:
    headers = bearer(token) if token else {}
    return await asyncio.to_thread(ask, url, "POST", path, body, headers)


async def guest_at(url: str) -> Any:
    return (await post(url, "/v1/guests", {"name": "Ada"})).document


async def refused_at(url: str, token: str) -> tuple[str, str]:
    answer = await post(url, "/v1/me/links", {}, token)
    assert answer.status == 401, answer.body
    return answer.code, answer.document["error"]["params"]["detail"]


async def soon_refused_at(url: str, token: str) -> tuple[str, str]:
    async with asyncio.timeout(SOON_SECONDS):
        while (await post(url, "/v1/me/links", {}, token)).status != 401:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return await refused_at(url, token)


async def test_logging_out_everywhere_ends_all_tokens_links_and_connections(
    servers: list[ServerProcess],
) -> None:
    a, b = (server.url for server in servers)
    guest, other = await guest_at(a), await guest_at(a)
    token = guest["token"]
    room = await asyncio.to_thread(new_room, a, token)
    link = (await post(a, "/v1/me/links", {}, token)).document["link"].removeprefix("/#/l/")
    async with (
        inside(a, room["code"], token) as near,
        inside(b, room["code"], token) as far,
        inside(b, room["code"], other["token"]) as innocent,
    ):
        began = time.monotonic()
        revoked = await post(a, "/v1/me/revoke", {}, token)
        assert (revoked.status, revoked.document) == (200, {"id": guest["id"]})
        assert await refused_at(a, token) == REVOKED, "at once where it was asked for"
        assert await soon_refused_at(b, token) == REVOKED
        for raw in (near, far):
            async with asyncio.timeout(SOON_SECONDS):
                end = await raw.end()
            assert (end.code, end.reason, end.error) == (4401, "unauthorized", "unauthorized")
        assert time.monotonic() - began < SOON_SECONDS
        await innocent.quiet()
    for url in (a, b):
        assert (await post(url, "/v1/links", {"code": link})).code == "link_gone"
        async with connected(url, room["code"]) as raw:
            await raw.hello(token)
            assert (await raw.end()).reason == "unauthorized"
    assert await refused_at(a, token) == REVOKED


async def test_logging_out_the_others_keeps_the_newer_token_and_its_end(
    servers: list[ServerProcess],
) -> None:
    a, b = (server.url for server in servers)
    guest = await guest_at(a)
    room = await asyncio.to_thread(new_room, a, guest["token"], seats=2)
    newer = (await post(a, "/v1/me/tokens", {}, guest["token"])).document
    assert (newer["id"], newer["name"], newer["expires"]) == (
        guest["id"],
        guest["name"],
        guest["expires"],
    )
    async with (
        inside(a, room["code"], guest["token"]) as old,
        inside(b, room["code"], newer["token"]) as new,
    ):
        await old.quiet()
        wanted = {"others": True}
        too_old = await post(b, "/v1/me/revoke", wanted, guest["token"])
        assert too_old.code == "bad_request"
        await old.quiet()
        assert (await post(b, "/v1/me/revoke", wanted, newer["token"])).status == 200
        async with asyncio.timeout(SOON_SECONDS):
            assert (await old.end()).reason == "unauthorized"
        await new.done("sit")
    for url in (b, a):
        assert await soon_refused_at(url, guest["token"]) == REVOKED
        assert (await post(url, "/v1/me/links", {}, newer["token"])).status == 201
    # To ask again, because an answer was lost, changes nothing.
    assert (await post(a, "/v1/me/revoke", wanted, newer["token"])).status == 200
    assert (await post(a, "/v1/me/links", {}, newer["token"])).status == 201


async def test_the_python_client_logs_out_everywhere_else_and_then_everywhere(
    servers: list[ServerProcess],
) -> None:
    a, b = (server.url for server in servers)
    service = Service(a)
    guest = await service.guest("Ada")
    room = await service.create_room(guest.token, "five_towers", seats=2)
    newer = await service.newer_token(guest.token)
    assert (newer.id, newer.name, newer.expires) == (guest.id, guest.name, guest.expires)
    assert newer.expires > 1000 * time.time()
    async with connect(b, room.code, guest.token, retry=QUICK) as old:
        await old.sit()
        await service.revoke(newer.token, others=True)
        with pytest.raises(TableClosedError) as closed:
            await old.until(lambda: False)
    assert closed.value.code == "unauthorized"
    async with connect(b, room.code, newer.token, retry=QUICK) as new:
        await new.until(lambda: new.seat == 0)
    await service.revoke(newer.token)
    with pytest.raises(ServiceError) as refused:
        await service.my_rooms(newer.token)
    assert (refused.value.code, refused.value.status) == ("unauthorized", 401)


async def test_a_revoked_token_makes_no_newer_one_at_a_server_that_has_not_heard_of_it(
    servers: list[ServerProcess],
) -> None:
    a, b = (server.url for server in servers)
    for _ in range(5):
        guest = await guest_at(a)
        newer = (await post(a, "/v1/me/tokens", {}, guest["token"])).document
        await post(a, "/v1/me/revoke", {"others": True}, newer["token"])
        for path in ("/v1/me/tokens", "/v1/me/revoke"):
            stolen = await post(b, path, {}, guest["token"])
            assert (stolen.status, stolen.code) == (401, "unauthorized"), path
        assert (await post(b, "/v1/me/links", {}, newer["token"])).status == 201


async def test_a_link_hands_on_what_a_revocation_has_spared(servers: list[ServerProcess]) -> None:
    a, b = (server.url for server in servers)
    guest = await guest_at(a)
    newer = (await post(a, "/v1/me/tokens", {}, guest["token"])).document["token"]
    link = (await post(a, "/v1/me/links", {}, newer)).document["link"].removeprefix("/#/l/")
    await post(a, "/v1/me/revoke", {"others": True}, newer)
    carried = (await post(b, "/v1/links", {"code": link})).document
    await soon_refused_at(b, guest["token"])
    assert (await post(b, "/v1/me/links", {}, carried["token"])).status == 201


async def test_the_one_who_runs_the_service_revokes_tokens_of_anybody(
    servers: list[ServerProcess], url: str
) -> None:
    a, b = (server.url for server in servers)
    guest = await guest_at(a)
    told = await towerhall(url, "tokens", "revoke", "--", guest["id"])
    assert (told.status, told.out) == (0, f"all tokens of {guest['id']} are revoked\n")
    for each in (a, b):
        assert await soon_refused_at(each, guest["token"]) == REVOKED


async def towerhall(url: str, command: str, action: str, *arguments: str) -> Told:
    place = ("--redis-url", url)
    environ = {"TOWERHALL_OPERATOR_KEYS": OPERATORS["TOWERHALL_OPERATOR_KEYS"]}
    return await asyncio.to_thread(here, command, action, *place, *arguments, environ=environ)


async def test_an_operator_gets_new_tokens_for_its_people_after_a_revocation(
    servers: list[ServerProcess], url: str
) -> None:
    a, b = (server.url for server in servers)

    async def token_at(server: str) -> Any:
        answer = await asyncio.to_thread(as_operator, server, "POST", "/tokens", SEATS[0])
        return answer.document

    first = await token_at(a)
    await towerhall(url, "tokens", "revoke", "--", first["id"])
    # The other server may not have heard of it yet; what it issues holds all the same.
    second = await token_at(b)
    assert await soon_refused_at(a, first["token"]) == REVOKED
    assert await soon_refused_at(b, first["token"]) == REVOKED
    for each in (a, b):
        assert (await post(each, "/v1/me/links", {}, second["token"])).status == 201


async def bans_at(url: str, key: str) -> Answer:
    return await asyncio.to_thread(as_operator, url, "GET", "/bans", key=key)


async def test_a_revoked_key_of_an_operator_is_refused_everywhere(
    servers: list[ServerProcess], url: str
) -> None:
    listed = await towerhall(url, "operators", "ls")
    assert f"acme             {key_digest(ACME_KEY)}\n" in listed.out
    assert ACME_KEY not in listed.out
    digest = ("--key-digest", key_digest(ACME_KEY))
    assert (await towerhall(url, "operators", "revoke", *digest, "acme")).status == 0
    for server in servers:
        async with asyncio.timeout(SOON_SECONDS):
            while (await bans_at(server.url, ACME_KEY)).status != 401:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        refused = await bans_at(server.url, ACME_KEY)
        assert refused.code == "unauthorized"
        assert refused.document["error"]["params"] == {"detail": "this key was revoked"}
        for other in (NEW_ACME_KEY, OTHER_KEY):
            assert (await bans_at(server.url, other)).status == 200
    listed = await towerhall(url, "operators", "ls")
    assert f"{key_digest(ACME_KEY)}  revoked\n" in listed.out
    assert f"{key_digest(NEW_ACME_KEY)}\n" in listed.out
    assert (await towerhall(url, "operators", "revoke", "acme")).status == 0
    async with asyncio.timeout(SOON_SECONDS):
        while (await bans_at(servers[0].url, NEW_ACME_KEY)).status != 401:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert (await bans_at(servers[0].url, OTHER_KEY)).status == 200
    unknown = await towerhall(url, "operators", "revoke", "nobody")
    assert (unknown.status, "no key of nobody" in unknown.err) == (2, True)


async def test_a_revoked_key_gets_no_token_from_a_server_that_has_not_heard_of_it(
    servers: list[ServerProcess], url: str
) -> None:
    digest = ("--key-digest", key_digest(ACME_KEY))
    told = await towerhall(url, "operators", "revoke", *digest, "--tokens", "acme")
    assert told.status == 0
    body = {"game": "five_towers", "seats": SEATS}
    for path, wanted in (("/tokens", SEATS[0]), ("/rooms", body)):
        for server in servers:
            stolen = await asyncio.to_thread(as_operator, server.url, "POST", path, wanted)
            assert (stolen.status, stolen.code) == (401, "unauthorized")
            assert b"token" not in stolen.body.replace(b"a token of POST", b"")


async def test_tokens_of_an_operator_end_with_its_key_if_that_is_wanted(
    servers: list[ServerProcess], url: str
) -> None:
    a, b = (server.url for server in servers)
    made = (
        await asyncio.to_thread(
            as_operator, a, "POST", "/rooms", {"game": "five_towers", "seats": SEATS}
        )
    ).document
    ada, ben = (seat["token"] for seat in made["seats"])
    other = await asyncio.to_thread(as_operator, a, "POST", "/tokens", SEATS[0], key=OTHER_KEY)
    async with inside(a, made["code"], ada) as near, inside(b, made["code"], ben) as far:
        digest = ("--key-digest", key_digest(ACME_KEY))
        told = await towerhall(url, "operators", "revoke", *digest, "--tokens", "acme")
        assert told.status == 0
        for raw in (near, far):
            async with asyncio.timeout(SOON_SECONDS):
                assert (await raw.end()).reason == "unauthorized"
    assert await refused_at(a, ada) == REVOKED
    assert (await post(a, "/v1/me/links", {}, other.document["token"])).status == 201
    again = await asyncio.to_thread(as_operator, b, "POST", "/tokens", SEATS[0], key=NEW_ACME_KEY)
    async with inside(a, made["code"], again.document["token"]) as raw:
        await raw.done("sit")


async def test_a_bad_request_revokes_nothing(servers: list[ServerProcess]) -> None:
    url = servers[0].url
    guest = await guest_at(url)
    bodies: list[object] = [{"other": True}, {"others": "yes"}, []]
    for body in bodies:
        assert (await post(url, "/v1/me/revoke", body, guest["token"])).code == "bad_request"
    assert (await post(url, "/v1/me/links", {}, guest["token"])).status == 201
    assert (await post(url, "/v1/me/revoke", {})).code == "unauthorized"
