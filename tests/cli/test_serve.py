"""`towerhall serve` as an operator meets it: what it prints, what it refuses, how it ends."""

import asyncio
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import pytest

from tests.end_to_end.forked import Forked
from tests.end_to_end.raw import ask, connected, inside, new_guest, new_room
from tests.store import engines

URL_LINE = re.compile(r"Towerhall is at (http://\S+:\d+/)\n")
SOON_SECONDS = 15
"""Enough for a start, an end or a complaint, whatever else the machine does."""
STOP_SECONDS = 8
KEYS = {"TOWERHALL_TOKEN_KEYS": secrets.token_urlsafe(32)}


class OwnPython:
    """As users start it: like `Forked`, but with an interpreter that has imported nothing yet."""

    def __init__(
        self, module: str, arguments: Sequence[str], environ: Mapping[str, str], log: Path
    ) -> None:
        with log.open("a") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                env=environ,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert self._process.stdout is not None
        self.stdout: IO[str] = self._process.stdout
        self.pid = self._process.pid

    def kill(self) -> None:
        self._process.kill()

    def wait(self, seconds: float) -> int:
        status = self._process.wait(seconds)
        self.stdout.close()
        return status


Kind = type[Forked] | type[OwnPython]


def environ(more: dict[str, str]) -> dict[str, str]:
    """Of a machine on which nobody has set anything."""
    return {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ} | more


def complain(*flags: str, **more: str) -> str:
    """What a server that cannot start says, and nothing else."""
    with TemporaryDirectory(prefix="serve-") as folder:
        log = Path(folder) / "log"
        process = Forked("towerhall_server", ["serve", *flags], environ(more), log)
        assert process.stdout.read() == ""
        assert process.wait(SOON_SECONDS) not in (0, -signal.SIGKILL)
        told = log.read_text()
    assert "Traceback" not in told
    return told


class Serving:
    """A server, and all that it says."""

    def __init__(self, kind: Kind, flags: Sequence[str], more: dict[str, str]) -> None:
        self._folder = TemporaryDirectory(prefix="serve-")
        self._log = Path(self._folder.name) / "log"
        arguments = ["serve", "--port", "0", *flags]
        self._process = kind("towerhall_server", arguments, environ(more), self._log)
        self._first = self._process.stdout.readline()
        found = URL_LINE.fullmatch(self._first)
        self.url = found[1] if found else ""
        self.out = self.err = ""
        self._ended = False

    def end(self, number: signal.Signals) -> int:
        """Ask it to stop; its exit status."""
        os.kill(self._process.pid, number)
        return self._hear(STOP_SECONDS)

    def kill(self) -> None:
        if not self._ended:
            self._process.kill()
            self._hear(SOON_SECONDS)

    def _hear(self, seconds: float) -> int:
        self.out = self._first + self._process.stdout.read()
        status = self._process.wait(seconds)
        self.err = self._log.read_text()
        self._folder.cleanup()
        self._ended = True
        return status


def serving(*flags: str, **more: str) -> AbstractContextManager[Serving]:
    return _serving(Forked, flags, more)


@contextmanager
def _serving(kind: Kind, flags: Sequence[str], more: dict[str, str]) -> Iterator[Serving]:
    process = Serving(kind, flags, more)
    try:
        assert process.url, process._first
        yield process
    finally:
        process.kill()


@pytest.fixture
def data(tmp_path: Path) -> tuple[str, str]:
    return "--data-folder", str(tmp_path / "data")


# How it starts


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_prints_one_line_and_ends_with_status_0_when_asked(
    data: tuple[str, str], number: signal.Signals
) -> None:
    with _serving(OwnPython, data, {}) as server:
        assert ask(server.url, "GET", "/healthz").status == 200
        async with connected(server.url, "ZZZZZZ") as raw:
            await raw.say("ping", 1)
            await raw.hear()
            began = time.monotonic()
            assert await asyncio.to_thread(server.end, number) == 0
            assert time.monotonic() - began < STOP_SECONDS
            assert (await raw.end()).code == 1012
        assert URL_LINE.fullmatch(server.out)
        assert "Traceback" not in server.err


def test_the_log_can_be_one_json_document_per_line(data: tuple[str, str]) -> None:
    with serving(*data, "--log-format", "json", "--log-level", "debug") as server:
        ask(server.url, "GET", "/v1/rooms")
        assert server.end(signal.SIGTERM) == 0
    assert URL_LINE.fullmatch(server.out)
    lines = [json.loads(line) for line in server.err.splitlines()]
    assert lines
    for line in lines:
        assert {"time", "level", "logger", "message"} <= set(line)
    assert any(line["message"].startswith("the store is ") for line in lines)


async def test_it_serves_on_a_redis_of_ones_own_and_leaves_it_running(tmp_path: Path) -> None:
    async with engines.started("redis", tmp_path / "redis") as url:
        with serving("--redis-url", url, **KEYS) as server:
            token = new_guest(server.url)
            code = new_room(server.url, token, seats=2)["code"]
            async with inside(server.url, code, token) as raw:
                await raw.done("sit")
            assert ask(server.url, "GET", "/readyz").status == 200
            assert server.end(signal.SIGTERM) == 0
            assert "the store is redis " in server.err
        # The store and the tokens outlive it: the next one goes on.
        with serving("--redis-url", url, **KEYS) as server:
            async with inside(server.url, code, token) as raw:
                assert await raw.refused("sit") == "already_seated"


# What it complains about


def test_a_port_that_is_taken_is_named(data: tuple[str, str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        told = complain("--port", port, *data)
    assert "address already in use" in told
    assert port in told


def test_a_store_of_ones_own_needs_keys_for_tokens() -> None:
    told = complain("--redis-url", "redis://localhost:1/0")
    assert told.startswith("towerhall serve: TOWERHALL_TOKEN_KEYS is missing")
    assert told.count("\n") == 1


def test_a_store_that_cannot_be_reached_is_named_without_its_password() -> None:
    secret = "me:sesame"
    for place in ("127.0.0.1:1", "no-such-store.example:1"):
        told = complain("--redis-url", f"redis://{secret}@{place}/0", **KEYS)
        assert told.startswith(f"towerhall serve: redis://{place}/0 cannot be used as a store: ")
        assert told.count("\n") == 1
        assert "sesame" not in told


async def test_a_store_whose_password_is_wrong_is_named_without_it(tmp_path: Path) -> None:
    async with engines.started("redis", tmp_path / "redis") as url:
        async with engines.client(url) as redis:
            await redis.config_set("requirepass", "open sesame")
        for given in (url, url.replace("unix://", "unix://:wrong-sesame@")):
            told = await asyncio.to_thread(complain, "--redis-url", given, **KEYS)
            assert "cannot be used as a store" in told
            assert "sesame" not in told
        async with engines.client(url.replace("unix://", "unix://:open%20sesame@")) as redis:
            await redis.config_set("requirepass", "")


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (("--port", "http"), "--port cannot be used: 'http' is not a whole number"),
        (("--port", "70000"), "--port cannot be used"),
        (("--redis-url", "localhost"), "--redis-url cannot be used"),
        (("--log-format", "xml"), "'xml' is not one of text, json"),
        (("--origins", "example.org"), "'example.org' is not an origin"),
    ],
)
def test_a_flag_that_cannot_be_used_is_named(flags: tuple[str, ...], complaint: str) -> None:
    told = complain(*flags, **KEYS)
    assert told.startswith("towerhall serve: ")
    assert complaint in told


# How it ends


async def test_somebody_who_never_reads_does_not_keep_it_from_ending(tmp_path: Path) -> None:
    await asyncio.gather(
        *(
            end_with_somebody_deaf(tmp_path / number.name, number)
            for number in (signal.SIGTERM, signal.SIGINT)
        )
    )


async def end_with_somebody_deaf(folder: Path, number: signal.Signals) -> None:
    limits = {"TOWERHALL_LIMIT_COMMANDS": "1000000/s burst 1000000"}
    with serving("--data-folder", str(folder), **limits) as server:
        token = new_guest(server.url)
        code = new_room(server.url, token, seats=2)["code"]
        async with inside(server.url, code, token, receive_bytes=4096) as raw:
            await raw.done("sit")
            # Far more to read than anybody holds for a connection.
            raw.burst(*(["ping", seq] for seq in range(30_000)))
            await asyncio.sleep(0.5)
            assert await asyncio.to_thread(server.end, number) == 0
            assert "Traceback" not in server.err
            raw.wire.transport.abort()
