"""The compose file: valid, complete, and in step with the settings of the server."""

import ipaddress
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.files import (
    COMPOSE,
    SECRETS,
    compose,
    environment,
    filled_in,
    image_of,
    make_secrets,
    seconds,
    servers,
    services,
    store_flags,
)
from tests.end_to_end.topology import store
from tests.store.engines import client
from towerhall_server.config.settings import FILE, PREFIX, READERS, ServerSettings, read_settings
from towerhall_server.config.settings import SECRETS as SECRET_SETTINGS
from towerhall_server.store.check import check_store

GO_SECONDS = 2
"""How long clients get to leave by themselves before a server drains."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the secrets of the file."""
    folder = tmp_path_factory.mktemp("compose") / "secrets"
    make_secrets(folder)
    return folder


def settings_of(service: dict[str, Any], made: Path) -> ServerSettings:
    return read_settings(environment(service, {}, made) | {"HOME": "nowhere"}, {})


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
    assert first["build"]["context"] == "."
    assert first["build"]["dockerfile"] == "server/Dockerfile"
    without_build = {name: value for name, value in first.items() if name != "build"}
    assert all(other == without_build for other in others)


def test_every_variable_of_a_server_is_a_setting() -> None:
    for service in servers().values():
        for variable in service["environment"]:
            name = variable.removeprefix(PREFIX).removesuffix(FILE).lower()
            assert name in READERS, variable
            assert (name in SECRET_SETTINGS) is (variable.endswith(FILE) or name == "redis_url")


def test_servers_use_the_store_of_the_file_as_its_user(made: Path) -> None:
    password = (made / "store_password").read_text().strip()
    for service in servers().values():
        settings = settings_of(service, made)
        assert settings.redis_url == f"redis://towerhall:{password}@store:6379/0"
        assert settings.require_durable
        assert service["depends_on"] == {"store": {"condition": "service_healthy"}}


def test_there_is_time_to_drain_before_a_server_is_killed(made: Path) -> None:
    for service in servers().values():
        needed = settings_of(service, made).drain_seconds + GO_SECONDS
        assert seconds(service["stop_grace_period"]) >= needed + 10


def test_servers_believe_the_proxy_and_nobody_else(made: Path) -> None:
    network = compose()["networks"]["back"]["ipam"]["config"][0]
    address = services()["proxy"]["networks"]["back"]["ipv4_address"]
    assert ipaddress.ip_address(address) in ipaddress.ip_network(network["subnet"])
    # Nobody else can be given it.
    assert ipaddress.ip_address(address) not in ipaddress.ip_network(network["ip_range"])
    for service in servers().values():
        assert settings_of(service, made).trusted_proxies == (address,)


def test_hosts_are_any_unless_a_variable_lists_them(made: Path) -> None:
    for service in servers().values():
        assert settings_of(service, made).hosts == ()
        variables = environment(service, {"TOWERHALL_HOSTS": "towers.example.org"}, made)
        assert read_settings(variables, {}).hosts == ("towers.example.org",)


# Secrets


def test_no_secret_is_written_down() -> None:
    for service in services().values():
        for name, value in service.get("environment", {}).items():
            if re.search(r"KEY|SECRET|PASSWORD|TOKEN", name):
                assert name.endswith(FILE)
                assert str(value).startswith(f"{SECRETS}/"), name


def test_each_secret_is_a_file_that_the_command_makes_and_that_somebody_uses(made: Path) -> None:
    declared = compose()["secrets"]
    for name, secret in declared.items():
        assert secret == {"file": f"./secrets/{name}"}
    assert set(declared) == {path.name for path in made.iterdir()}
    used: set[str] = set()
    for name, service in services().items():
        words = [*service.get("environment", {}).values(), *service.get("command", [])]
        read = set(re.findall(rf"{SECRETS}/(\w+)", " ".join(map(str, words))))
        assert read == set(service.get("secrets", [])), name
        used |= read
    assert used == set(declared)


def test_secrets_are_made_once_and_kept_from_other_users(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    make_secrets(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    # Containers read them as other users, through mounts that do not ask for the folder.
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o444}
    (folder / "store_users").chmod(0o644)
    (folder / "store_users").write_text("user default on nopass +@all ~*\n")
    make_secrets(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert before["token_keys"] != before["store_password"]
    assert before["store_password"].strip() not in before["store_users"]


# The store


async def test_the_store_keeps_what_it_says_and_throws_nothing_out(tmp_path: Path) -> None:
    with store(tmp_path) as url:
        async with client(url) as redis:
            found = await redis.config_get("*")
            assert found["appendonly"] == "yes"
            assert found["appendfsync"] == "always"
            assert found["maxmemory-policy"] == "noeviction"
            assert found["save"] == ""
            await check_store(redis, durable=True)
    assert [volume.partition(":") for volume in services()["store"]["volumes"]] == [
        ("store", ":", "/data")
    ]


def test_the_health_check_of_the_store_needs_no_password(tmp_path: Path) -> None:
    how, asked = services()["store"]["healthcheck"]["test"]
    assert how == "CMD-SHELL"
    assert asked.startswith("valkey-cli ping ")
    with store(tmp_path):
        here = asked.replace("valkey-cli", f"redis-cli -s {tmp_path / 'store.sock'}")
        assert subprocess.run(["sh", "-c", here], check=False).returncode == 0
        bad = here.replace(" ping ", " get towerhall:nodes ").replace("PONG", "NOPERM")
        assert subprocess.run(["sh", "-c", bad], check=False).returncode == 0


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
        is_done_once = name == "cluster"
        assert service["restart"] == ("on-failure" if is_done_once else "unless-stopped"), name
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        check = service["healthcheck"]
        assert ("disable" in check) is is_done_once
        if is_done_once:
            continue
        assert check["test"][0] in ("CMD", "CMD-SHELL"), name
        assert seconds(check["timeout"]) <= seconds(check["interval"]), name


BYTES = {"m": 1 << 20, "g": 1 << 30}


def size(text: str) -> int:
    """What `512m`, `2g` or the store's `1gb` mean."""
    found = re.fullmatch(r"(\d+)([mg])b?", text)
    assert found is not None, text
    return int(found[1]) * BYTES[found[2]]


def test_every_service_has_an_end_to_memory_processes_and_logs() -> None:
    for name, service in services().items():
        assert 1 << 28 <= size(service["mem_limit"]) <= 1 << 32, name
        assert 32 <= service["pids_limit"] <= 1024, name
        logging = service["logging"]
        assert logging["driver"] == "local", name
        assert size(logging["options"]["max-size"]) <= 100 << 20, name
        assert 1 <= int(logging["options"]["max-file"]) <= 10, name


def test_the_store_refuses_moves_before_its_container_is_killed() -> None:
    flags = store_flags()
    most = size(flags[flags.index("--maxmemory") + 1])
    # While the file of moves is rewritten, pages that change are there twice.
    assert 2 * most <= size(services()["store"]["mem_limit"])


def test_images_are_pinned_by_digest_and_can_be_replaced() -> None:
    digest = f"@sha256:{'0' * 64}"
    for name, variable in {"store": "STORE_IMAGE", "proxy": "CADDY_IMAGE"}.items():
        assert re.fullmatch(r"[a-z/]+:\d+\.\d+\.\d+-alpine@sha256:[0-9a-f]{64}", image_of(name)), (
            name
        )
        other = image_of(name).partition("@")[0] + digest
        assert filled_in(services()[name]["image"], {f"TOWERHALL_{variable}": other}) == other
        assert f"TOWERHALL_{variable}" in COMPOSE.read_text()
    assert servers()["server-1"]["build"]["args"] == ["TOWERHALL_PYTHON_IMAGE"]


def test_volumes_and_networks_are_declared_and_used() -> None:
    document = compose()
    each = services().values()
    mounted = [
        volume.partition(":")[0] for service in each for volume in service.get("volumes", ())
    ]
    assert {name for name in mounted if not name.startswith(".")} == set(document["volumes"])
    assert {name for service in each for name in service["networks"]} == set(document["networks"])
