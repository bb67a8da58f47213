"""The Caddyfile: what Caddy itself makes of it, and whether compose file and Caddyfile fit."""

import asyncio
import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.deploy.files import CADDYFILE, environment, servers, services
from tests.end_to_end.raw import SECONDS, Answer, ask, inside, new_guest, new_room
from tests.end_to_end.topology import HERE, caddy, caddy_binary, node, store
from tests.operators.processes import ACME_KEY
from tests.sockets import free_port
from towerhall_server.access.rates import Limits
from towerhall_server.gateway.ws.request_socket import IDLE_SECONDS

SECOND = 1_000_000_000
"""Caddy counts in nanoseconds."""


def ask_caddy(command: str, **variables: str) -> str:
    """What a subcommand says about the Caddyfile."""
    with TemporaryDirectory() as home:  # where Caddy would keep its certificates
        done = subprocess.run(
            [caddy_binary(), command, "--config", str(CADDYFILE), "--adapter", "caddyfile"],
            env={"PATH": os.environ["PATH"], "HOME": home} | variables,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return done.stdout


def server_of(**variables: str) -> dict[str, Any]:
    """What it makes of the site."""
    document = json.loads(ask_caddy("adapt", **variables))
    server: dict[str, Any]
    (server,) = document["apps"]["http"]["servers"].values()
    return server


def proxies(**variables: str) -> list[dict[str, Any]]:
    """Its two reverse proxies: of sockets to rooms, and of all the rest."""
    server = server_of(**variables)
    found: list[dict[str, Any]] = []

    def look(routes: list[dict[str, Any]]) -> None:
        for route in routes:
            for handler in route["handle"]:
                if handler["handler"] == "subroute":
                    look(handler["routes"])
                elif handler["handler"] == "reverse_proxy":
                    found.append(handler)

    look(server["routes"])
    assert len(found) == 2
    return found


def test_it_is_written_as_caddy_would_write_it() -> None:
    done = subprocess.run(
        [caddy_binary(), "fmt", str(CADDYFILE)], capture_output=True, text=True, check=False
    )
    assert done.stdout == CADDYFILE.read_text()


@pytest.mark.parametrize("site", ["", ":80", "towers.example.org", "http://127.0.0.1:8000"])
def test_it_is_valid_for_every_kind_of_site(site: str) -> None:
    ask_caddy("validate", **({"TOWERHALL_SITE": site} if site else {}))


def test_it_serves_all_servers_of_the_compose_file() -> None:
    variables = environment(services()["proxy"], {})
    wanted = [{"dial": f"{name}:8000"} for name in servers()]
    assert [handler["upstreams"] for handler in proxies(**variables)] == [wanted] * 2


def test_it_looks_after_the_health_of_servers_and_of_connections() -> None:
    for handler in proxies():
        active = handler["health_checks"]["active"]
        assert active["uri"] == "/readyz?watch"
        assert active["interval"] <= 2 * SECOND
        assert handler["health_checks"]["passive"]["fail_duration"] > 0
        assert handler["load_balancing"]["try_duration"] >= 5 * SECOND
        assert "flush_interval" not in handler
        assert handler["transport"]["keep_alive"]["idle_timeout"] < IDLE_SECONDS * SECOND


def test_it_holds_the_limits_that_servers_cannot_hold_for_it() -> None:
    server, limits = server_of(), Limits()
    assert server["read_timeout"] == server["read_header_timeout"]
    assert server["read_timeout"] == limits.request_seconds * SECOND
    assert server["max_header_bytes"] == limits.header_bytes
    assert server["idle_timeout"] <= 60 * SECOND
    assert server["write_timeout"] <= 120 * SECOND


def test_only_sockets_of_rooms_are_kept_together() -> None:
    rooms, rest = (handler["load_balancing"]["selection_policy"] for handler in proxies())
    assert rooms == {"policy": "uri_hash"}
    assert rest == {"policy": "round_robin"}


def test_its_variables_are_explained_and_those_of_the_compose_file_are_used() -> None:
    text = CADDYFILE.read_text()
    explained = set(re.findall(r"^# +(TOWERHALL_\w+) ", text, re.MULTILINE))
    used = set(re.findall(r"\{\$(\w+)", text))
    assert explained == used
    assert set(environment(services()["proxy"], {})) <= used


POST = b"POST /v1/guests HTTP/1.1\r\nhost: here\r\ncontent-type: application/json\r\n"
SLOW = {
    "headers": b"GET /v1/games HTTP/1.1\r\nhost: here\r\n",
    "body": POST + b"content-length: 100\r\n\r\n{",
    "chunks": POST + b"transfer-encoding: chunked\r\n\r\n",
    "nothing": b"",
}


async def test_slow_clients_of_the_proxy_are_parted_with_and_players_are_not(
    tmp_path: Path,
) -> None:
    with (
        store(tmp_path) as store_url,
        node(tmp_path / "node", store_url) as server,
        caddy(tmp_path / "caddy", f"{HERE}:{server.port}", TOWERHALL_REQUEST_TIME="1s") as url,
    ):
        token = new_guest(url)
        code = new_room(url, token)["code"]
        async with inside(url, code, token) as raw:
            async with asyncio.timeout(SECONDS):
                told = await asyncio.gather(*(told_slowly(url, each) for each in SLOW.values()))
            # Caddy 2.6 tells some of them 200, without a word of the service.
            assert not any(b"json" in each for each in told), told
            header = await told_slowly(url, b"GET / HTTP/1.1\r\nx: %b\r\n" % (b"x" * 40_000))
            assert header.startswith(b"HTTP/1.1 431")
            path = ask(url, "GET", f"/v1/games?{'x' * 5_000}")
            assert (path.status, path.code) == (414, "path_too_long")
            large = ask(url, "POST", "/v1/guests", b" " * 200_000)
            assert large.status in (413, 502)
            await raw.say("ping", 1)
            await raw.wait_for("pong")


async def told_slowly(url: str, first: bytes) -> bytes:
    """What comes until the proxy hangs up on a client that goes on sending bytes."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    heard, told = b"", asyncio.create_task(reader.read())
    writer.write(first)
    while not told.done():
        await asyncio.sleep(0.1)
        if first:
            writer.write(b"1")
    with suppress(ConnectionError):
        heard = told.result()
    writer.transport.abort()
    return heard


def test_the_health_check_of_the_proxy_asks_for_what_is_there(tmp_path: Path) -> None:
    """A proxy without servers would be no reason to restart it, so its own state is asked for."""
    *_, url = services()["proxy"]["healthcheck"]["test"]
    asked = urlsplit(url)
    assert f"localhost:{asked.port}" in CADDYFILE.read_text()
    admin = f"localhost:{free_port()}"
    with (
        store(tmp_path) as store_url,
        node(tmp_path / "node", store_url) as server,
        caddy(tmp_path / "caddy", f"{HERE}:{server.port}", TOWERHALL_ADMIN=admin),
    ):
        answer = ask(f"http://{admin}".replace("localhost", HERE), "GET", asked.path)
        assert answer.status == 200
        assert [each["address"] for each in answer.document] == [f"{HERE}:{server.port}"]


# What is not published


PRIVATE = (
    "/readyz",
    "/v1/operator",
    "/v1/operator/",
    "/v1/operator/rooms",
    "/v1/operator/rooms/ABCDEF/close",
    "/v1/operator/tokens",
    "/v1/operator/bans/AAAAAAAAAAA",
    "/v1/%6Fperator/rooms",
    "/V1/Operator/rooms",
    "/v1//operator/rooms",
    "//v1/operator/rooms",
    "/v1/./operator/rooms",
    "/v1/rooms/../operator/rooms",
    "/v1/operator/rooms?x=/v1/rooms",
    "/%72eadyz",
    "/readyz?x",
)
PROTECTING = {
    "cache-control": "no-store",
    "content-type": "application/json",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


class Proxied:
    """A server that knows an operator, and three proxies in front of it."""

    def __init__(self, here: str, strangers: str, friends: str, others: str) -> None:
        self.here, self.strangers, self.friends, self.others = here, strangers, friends, others


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    folder = tmp_path_factory.mktemp("proxied")
    known = {"TOWERHALL_OPERATOR_KEYS": f"acme:{ACME_KEY}"}
    networks = "TOWERHALL_OPERATOR_NETWORKS"
    with store(folder) as url, node(folder / "node", url, **known) as server:
        at = f"{HERE}:{server.port}"
        with (
            caddy(folder / "strangers", at) as strangers,
            caddy(folder / "friends", at, **{networks: "192.0.2.0/24 127.0.0.0/8"}) as friends,
            caddy(folder / "others", at, **{networks: "192.0.2.0/24"}) as others,
        ):
            yield Proxied(server.url, strangers, friends, others)


def as_acme(url: str, method: str, path: str) -> Answer:
    return ask(url, method, path, headers={"authorization": f"Bearer {ACME_KEY}"})


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
@pytest.mark.parametrize("path", PRIVATE)
def test_strangers_find_neither_operators_nor_whether_a_server_is_ready(
    proxied: Proxied, path: str, method: str
) -> None:
    nothing = ask(proxied.here, "GET", "/nowhere")
    for url in (proxied.strangers, proxied.others):
        answer = as_acme(url, method, path)
        assert (answer.status, answer.code) == (404, "not_found")
        # Word for word what a server says of an address that is none.
        assert answer.document == nothing.document
        assert PROTECTING.items() <= answer.headers.items()


def test_a_forwarded_address_opens_nothing(proxied: Proxied) -> None:
    for name in ("x-forwarded-for", "x-real-ip", "forwarded"):
        headers = {"authorization": f"Bearer {ACME_KEY}", name: "192.0.2.1"}
        answer = ask(proxied.others, "GET", "/v1/operator/bans", headers=headers)
        assert (answer.status, answer.code) == (404, "not_found")


def test_operators_come_from_the_networks_that_are_listed(proxied: Proxied) -> None:
    assert as_acme(proxied.friends, "GET", "/v1/operator/bans").status == 200
    assert as_acme(proxied.friends, "GET", "/readyz").status == 404
    assert as_acme(proxied.here, "GET", "/v1/operator/bans").status == 200


def test_all_else_is_published(proxied: Proxied) -> None:
    for url in (proxied.strangers, proxied.friends):
        for path in ("/", "/healthz", "/v1/games", "/v1/log", "/.well-known/towerhall"):
            assert ask(url, "GET", path).status == 200
        assert ask(url, "POST", "/v1/guests", {"name": "Ada"}).status == 201
        assert ask(url, "GET", "/v1/operators").code == "not_found"
