"""The whole way: two servers on one store, a game over sockets, a push service, an erasure."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.end_to_end.games import QUICK
from tests.end_to_end.raw import ask, bearer
from tests.end_to_end.servers import LIMITS, ServerProcess
from tests.end_to_end.topology import TOKEN_KEYS
from tests.operators.certificates import Authority
from tests.push.double import Device, PushService
from tests.store.engines import running
from towerhall_client.connection import Table, connect
from towerhall_client.http import Service

VARIABLES = {"TOWERHALL_TOKEN_KEYS": TOKEN_KEYS, "TOWERHALL_PUSH_NETWORKS": "127.0.0.0/8"}


class SoonServer(ServerProcess):
    module = "tests.push.soon_node"


@pytest.fixture
def servers(tmp_path: Path, authority: Authority) -> Iterator[list[SoonServer]]:
    variables = LIMITS | VARIABLES | {"SSL_CERT_FILE": str(authority.path)}
    with running("valkey", tmp_path / "store") as engine:
        started = [
            SoonServer(tmp_path / name, "--redis-url", engine.url, limits=variables)
            for name in ("here", "there")
        ]
        try:
            for server in started:
                server.start()
            yield started
        finally:
            for server in started:
                with suppress(ProcessLookupError, AssertionError):
                    server.kill()


async def play_until(table: Table, ready: Callable[[], object], service: PushService) -> None:
    """Move whenever it is one's turn, until it is so."""
    while not ready():
        if table.offers:
            await table.send(next(iter(table.offers[0].commands())))
        await asyncio.sleep(0.05)
        assert service.faults == []


async def test_who_has_gone_hears_of_their_turn_from_any_server(
    servers: list[SoonServer], service: PushService
) -> None:
    here, there = (Service(server.url) for server in servers)
    ann, ben = await here.guest("Ann"), await here.guest("Ben")
    phone, tablet = Device(service), Device(service)
    key = await there.push_key()
    assert key == await here.push_key()
    service.key = key or ""
    await there.subscribe(ben.token, **phone.subscription, language="bg")
    await there.subscribe(ben.token, **tablet.subscription)
    service.answer = lambda device: (410 if device is tablet else 201, "")
    made = await here.create_room(ann.token, "five_towers", seats=2, turn_seconds=0)
    async with (
        connect(here.url, made.code, ann.token, retry=QUICK) as first,
        connect(there.url, made.code, ben.token, retry=QUICK) as second,
    ):
        for table in (first, second):
            await table.sit()
            await table.ready()
        await first.start()
        await asyncio.sleep(1)  # more than it takes to tell who is away
        assert service.asked == 0, "both are there"
    # Nobody is there now. It is the turn of one of them.
    async with connect(here.url, made.code, ann.token, retry=QUICK) as first:
        await play_until(first, lambda: phone.got, service)
        assert phone.notes[0]["kind"] == "turn"
        assert (phone.notes[0]["room"], phone.notes[0]["names"]) == (made.code, ["Ann"])
        assert phone.notes[0]["language"] == "bg"
        # After a visit the next turn is told, too.
        async with connect(there.url, made.code, ben.token, retry=QUICK) as back:
            await back.turn()
            while back.offers:
                await back.send(next(iter(back.offers[0].commands())))
        await play_until(first, lambda: len(phone.got) == 2, service)
        kept = (await there.export(ben.token))["subscriptions"]
        assert [each["endpoint"] for each in kept] == [phone.endpoint]
        await here.erase(ben.token, ben.id)
    refused = await asyncio.to_thread(
        ask, servers[0].url, "GET", "/v1/me/export", None, bearer(ben.token)
    )
    assert refused.status == 401
