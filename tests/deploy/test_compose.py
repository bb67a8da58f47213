"""The compose file: valid, complete, and in step with the settings of the server."""

import ipaddress
import re
import secrets
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.files import (
    COMPOSE,
    MissingVariableError,
    compose,
    environment,
    filled_in,
    seconds,
    servers,
    services,
)
from tests.end_to_end.topology import store
from tests.eventlog.engines import client
from towerhall_server.eventlog.store import check_store
from towerhall_server.settings import PREFIX, READERS, Settings, read_settings

KEY = {"TOWERHALL_TOKEN_KEYS": secrets.token_urlsafe(32)}
GO_SECONDS = 2
"""How long clients get to leave by themselves before a server drains."""


def settings_of(service: dict[str, Any]) -> Settings:
    return read_settings(environment(service, KEY) | {"HOME": "nowhere"}, {})


def follows_the_specification(path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    return subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)


def test_the_file_follows_the_specification_of_compose_files() -> None:
    told = follows_the_specification(COMPOSE)
    assert told.returncode == 0, told.stdout


@pytest.mark.parametrize(
    ("good", "bad"), [("read_only:", "readonly:"), ("stop_grace_period: 30s", "stop_grace: 30s")]
)
def test_a_word_that_does_not_exist_is_seen(tmp_path: Path, good: str, bad: str) -> None:
    text = COMPOSE.read_text()
    assert good in text
    other = tmp_path / "docker-compose.yml"
    other.write_text(text.replace(good, bad))
    assert follows_the_specification(other).returncode != 0


# The servers


def test_there_are_several_servers_and_they_differ_in_nothing_but_who_builds() -> None:
    first, *others = servers().values()
    assert len(others) >= 2
    assert first["build"] == {"context": ".", "dockerfile": "server/Dockerfile"}
    without_build = {name: value for name, value in first.items() if name != "build"}
    assert all(other == without_build for other in others)


def test_every_variable_of_a_server_is_a_setting() -> None:
    for service in servers().values():
        for name in service["environment"]:
            assert name.removeprefix(PREFIX).lower() in READERS, name


def test_without_a_key_nothing_starts_and_the_message_makes_one() -> None:
    for service in servers().values():
        with pytest.raises(MissingVariableError, match="TOWERHALL_TOKEN_KEYS") as told:
            environment(service, {})
        advice = re.search(r"python3 (-c '.*?')", str(told.value))
        assert advice is not None
        command = [sys.executable, *shlex.split(advice[1])]
        made = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        variables = environment(service, {"TOWERHALL_TOKEN_KEYS": made})
        assert read_settings(variables | {"HOME": "nowhere"}, {}).token_keys == (made.encode(),)


def test_no_secret_is_written_down() -> None:
    for service in services().values():
        for name, value in service.get("environment", {}).items():
            if re.search(r"KEY|SECRET|PASSWORD|TOKEN", name):
                assert re.fullmatch(rf"\$\{{{name}:\?[^}}]+\}}", str(value)), name


def test_servers_use_the_store_of_the_file() -> None:
    for service in servers().values():
        settings = settings_of(service)
        assert settings.redis_url == "redis://store:6379/0"
        assert service["depends_on"] == {"store": {"condition": "service_healthy"}}


def test_there_is_time_to_drain_before_a_server_is_killed() -> None:
    for service in servers().values():
        needed = settings_of(service).drain_seconds + GO_SECONDS
        assert seconds(service["stop_grace_period"]) >= needed + 10


def test_servers_believe_the_proxy_and_nobody_else() -> None:
    network = compose()["networks"]["back"]["ipam"]["config"][0]
    address = services()["proxy"]["networks"]["back"]["ipv4_address"]
    assert ipaddress.ip_address(address) in ipaddress.ip_network(network["subnet"])
    # Nobody else can be given it.
    assert ipaddress.ip_address(address) not in ipaddress.ip_network(network["ip_range"])
    for service in servers().values():
        assert settings_of(service).trusted_proxies == (address,)


# The store


async def test_the_store_keeps_what_it_says_and_throws_nothing_out(tmp_path: Path) -> None:
    with store(tmp_path) as url:
        async with client(url) as redis:
            found = await redis.config_get("*")
            assert found["appendonly"] == "yes"
            assert found["appendfsync"] == "always"
            assert found["maxmemory-policy"] == "noeviction"
            assert found["save"] == ""
            await check_store(redis)
    assert [volume.partition(":") for volume in services()["store"]["volumes"]] == [
        ("store", ":", "/data")
    ]


# The proxy


def test_the_proxy_knows_every_server_and_nothing_else() -> None:
    variables = environment(services()["proxy"], {})
    assert variables["TOWERHALL_UPSTREAMS"].split() == [f"{name}:8000" for name in servers()]
    assert services()["proxy"]["depends_on"] == list(servers())
    assert variables["TOWERHALL_SITE"] == ":80"
    assert filled_in("${A:-:80}", {"A": "towers.example.org"}) == "towers.example.org"


def test_only_the_proxy_can_be_reached_from_outside() -> None:
    assert compose()["networks"]["back"]["internal"] is True
    for name, service in services().items():
        if name == "proxy":
            assert {port.partition(":")[0] for port in service["ports"]} == {"80", "443"}
        else:
            assert "ports" not in service
            assert service["networks"] == ["back"]


def test_the_proxy_runs_the_caddyfile_that_is_mounted() -> None:
    proxy = services()["proxy"]
    source, target, mode = proxy["volumes"][0].split(":")
    assert (COMPOSE.parent / source).is_file()
    assert mode == "ro"
    assert proxy["command"] == ["caddy", "run", "--config", target, "--adapter", "caddyfile"]


# Everything


def test_every_service_is_watched_restarted_and_has_few_rights() -> None:
    for name, service in services().items():
        assert service["restart"] == "unless-stopped", name
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        check = service["healthcheck"]
        assert check["test"][0] in ("CMD", "CMD-SHELL"), name
        assert seconds(check["timeout"]) <= seconds(check["interval"]), name


def test_volumes_and_networks_are_declared_and_used() -> None:
    document = compose()
    each = services().values()
    mounted = [
        volume.partition(":")[0] for service in each for volume in service.get("volumes", ())
    ]
    assert {name for name in mounted if not name.startswith(".")} == set(document["volumes"])
    assert {name for service in each for name in service["networks"]} == set(document["networks"])
