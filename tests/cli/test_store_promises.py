"""What `towerhall serve` says about the settings of a store of one's own, and when it refuses it.

Engines are started with each setting, as an operator would; what is promised with which setting
stands in a table in `tests/store/test_durability.py`.
"""

import re
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.test_serve import KEYS, complain, serving
from tests.end_to_end.raw import ask
from tests.end_to_end.topology import listens, wait_until
from tests.store.engines import KINDS, binary_of

BEST = {
    "appendonly": "yes",
    "appendfsync": "always",
    "maxmemory": "64mb",
    "maxmemory-policy": "noeviction",
    "min-replicas-to-write": "0",
}
ORDER = ["appendonly", "appendfsync", "maxmemory", "maxmemory-policy", "min-replicas-to-write"]
SAID = re.compile(r"(INFO|WARNING).*?the store: (.*)")


@contextmanager
def engine(kind: str, folder: Path, settings: Mapping[str, str]) -> Iterator[str]:
    folder.mkdir()
    flags = [word for name, value in settings.items() for word in (f"--{name}", value)]
    path = folder / "engine.sock"
    command = [str(binary_of(kind)), *flags, "--save", "", "--port", "0", "--unixsocket", str(path)]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: listens(path))
        yield f"unix://{path}"
    finally:
        process.kill()
        process.wait()


def said(url: str) -> list[tuple[str, str]]:
    """The level and the text of all that a server says about its store when it starts."""
    with serving("--redis-url", url, **KEYS) as server:
        assert ask(server.url, "GET", "/healthz").status == 200
        assert server.end(signal.SIGTERM) == 0
    return SAID.findall(server.err)


@pytest.mark.parametrize("kind", KINDS)
def test_each_setting_is_told_in_one_line_and_weak_ones_as_warnings(
    kind: str, tmp_path: Path
) -> None:
    with engine(kind, tmp_path / "best", BEST) as url:
        found = said(url)
        assert [text.partition(" is ")[0] for _, text in found] == ORDER
        warned = [text for level, text in found if level == "WARNING"]
        assert warned == []
    weak = {"appendonly": "no", "appendfsync": "everysec", "maxmemory": "0"}
    with engine(kind, tmp_path / "weak", BEST | weak) as url:
        warned = [text.partition(":")[0] for level, text in said(url) if level == "WARNING"]
        assert warned == ["appendonly is no", "appendfsync is everysec"]


@pytest.mark.parametrize(
    ("kind", "settings", "change"),
    [
        ("valkey", {"appendonly": "no"}, "set appendonly yes"),
        ("redis", {"appendfsync": "everysec"}, "set appendfsync always"),
        ("valkey", {"appendfsync": "no"}, "set appendfsync always"),
    ],
)
def test_durable_storage_can_be_required(
    kind: str, tmp_path: Path, settings: dict[str, str], change: str
) -> None:
    with engine(kind, tmp_path / "engine", BEST | settings) as url:
        by_flag = complain("--redis-url", url, "--require-durable", **KEYS)
        by_variable = complain("--redis-url", url, **KEYS, TOWERHALL_REQUIRE_DURABLE="yes")
        for told in (by_flag, by_variable):
            assert change in told
            assert "--require-durable" in told
        with serving("--redis-url", url, **KEYS):
            pass  # who does not require it is served


@pytest.mark.parametrize("kind", KINDS)
def test_a_durable_store_may_be_required(kind: str, tmp_path: Path) -> None:
    with (
        engine(kind, tmp_path / "engine", BEST) as url,
        serving("--redis-url", url, "--require-durable", **KEYS) as server,
    ):
        assert ask(server.url, "GET", "/readyz").status == 200


def test_the_embedded_store_is_durable_and_nothing_is_said_about_it(tmp_path: Path) -> None:
    data = ("--data-folder", str(tmp_path / "data"))
    with serving(*data, "--require-durable") as server:
        assert server.end(signal.SIGTERM) == 0
    assert SAID.findall(server.err) == []


def test_a_store_that_evicts_is_refused_whatever_is_required(tmp_path: Path) -> None:
    with engine("redis", tmp_path / "engine", BEST | {"maxmemory-policy": "allkeys-lru"}) as url:
        assert "Set it to noeviction" in complain("--redis-url", url, **KEYS)


def test_enough_replicas_are_told_with_what_they_do_not_promise(tmp_path: Path) -> None:
    with engine("redis", tmp_path / "engine", BEST | {"min-replicas-to-write": "1"}) as url:
        # Without its replica this store takes no writes, so that no server starts on it.
        told = complain("--redis-url", url, **KEYS)
        assert "min-replicas-to-write is 1: without that many connected replicas" in told
