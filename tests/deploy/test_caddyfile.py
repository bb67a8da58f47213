"""The Caddyfile: what Caddy itself makes of it, and whether compose file and Caddyfile fit."""

import json
import os
import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import pytest
import uvicorn

from tests.deploy.files import CADDYFILE, environment, servers, services
from tests.end_to_end.raw import ask
from tests.end_to_end.topology import HERE, caddy, caddy_binary, node, store
from tests.sockets import free_port

SECOND = 1_000_000_000
"""Caddy counts in nanoseconds."""
SERVER_KEEPS_SECONDS = uvicorn.Config("any:app").timeout_keep_alive


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


def proxies(**variables: str) -> list[dict[str, Any]]:
    """Its two reverse proxies: of sockets to rooms, and of all the rest."""
    document = json.loads(ask_caddy("adapt", **variables))
    (server,) = document["apps"]["http"]["servers"].values()
    found: list[dict[str, Any]] = []

    def look(routes: list[dict[str, Any]]) -> None:
        for route in routes:
            for handler in route["handle"]:
                if handler["handler"] == "subroute":
                    look(handler["routes"])
                else:
                    found.append(handler)

    look(server["routes"])
    assert [handler["handler"] for handler in found] == ["reverse_proxy"] * 2
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
        assert active["uri"] == "/readyz"
        assert active["interval"] <= 2 * SECOND
        assert handler["health_checks"]["passive"]["fail_duration"] > 0
        assert handler["load_balancing"]["try_duration"] >= 5 * SECOND
        assert "flush_interval" not in handler
        assert handler["transport"]["keep_alive"]["idle_timeout"] < SERVER_KEEPS_SECONDS * SECOND


def test_only_sockets_of_rooms_are_kept_together() -> None:
    rooms, rest = (handler["load_balancing"]["selection_policy"] for handler in proxies())
    assert rooms == {"policy": "uri_hash"}
    assert rest == {"policy": "round_robin"}


def test_its_variables_are_explained_and_those_of_the_compose_file_are_used() -> None:
    text = CADDYFILE.read_text()
    explained = set(re.findall(r"^#   (TOWERHALL_\w+)", text, re.MULTILINE))
    used = set(re.findall(r"\{\$(\w+)", text))
    assert explained == used
    assert set(environment(services()["proxy"], {})) <= used


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
