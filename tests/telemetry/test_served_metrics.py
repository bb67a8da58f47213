"""Metrics of real servers: that they tell what happened, and nobody else gets them."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.games import play_out, seated
from tests.end_to_end.raw import ask, connected, inside, new_guest, new_room
from tests.end_to_end.servers import ServerProcess, running
from tests.end_to_end.test_workers import gone, workers_of
from tests.sockets import free_port
from tests.telemetry.scraped import Scrape, answers_at, read, scrape
from towerhall_client.http import Service

TOKEN = "the-token-of-these-metrics"


class Watched:
    def __init__(self, server: ServerProcess, port: int) -> None:
        self.server = server
        self.url = server.url
        self.port = port

    async def scrape(self) -> Scrape:
        return await asyncio.to_thread(scrape, self.port)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    port = free_port()
    with running(tmp_path / "data", "--metrics-port", str(port)) as server:
        yield Watched(server, port)


async def test_a_game_is_counted_move_by_move(watched: Watched) -> None:
    before = await watched.scrape()
    assert before.value("appends_total") == before.value("rooms") == 0
    async with seated(Service(watched.url), 2, bots=["easy"]) as (made, tables):
        async with inside(watched.url, made.code, new_guest(watched.url)):
            await tables[0].start()
            during = await watched.scrape()
            assert during.value("rooms") == 1
            assert during.value("viewers", kind="seated") == 2
            assert during.value("viewers", kind="watching") == 1
            assert during.value("sockets") == 3
            await play_out(tables)
        commits = tables[0].seq
    after = await watched.scrape()
    # The first commit made the room.
    assert after.value("appends_total") == commits - 1
    assert after.value("append_seconds_count") == commits - 1
    assert 0 < after.value("broadcast_seconds_count") < commits - 1, "bots give no commands"
    assert 0 < after.value("append_seconds_sum") < after.value("broadcast_seconds_sum") * 10
    assert after.value("rooms_created_total") == 1
    assert after.value("conflicts_total") == 0
    assert after.value("loop_lag_seconds_count") > 0
    assert after.value("viewers", kind="seated") == after.value("sockets") == 0
    created = {"method": "POST", "route": "/v1/rooms", "status": "201"}
    assert after.value("http_answers_total", **created) == 1
    assert made.code not in after.text


async def test_what_goes_wrong_is_counted_by_its_code(watched: Watched) -> None:
    token = new_guest(watched.url)
    code = new_room(watched.url, token, seats=2)["code"]
    ask(watched.url, "GET", "/v1/rooms/ZZZZZZ")
    ask(watched.url, "GET", "/nowhere/at/all")
    async with inside(watched.url, code, token) as raw:
        await raw.done("sit", n=1)
        assert (await raw.answer(await raw.command("sit", n=1)))[0] == "duplicate"
        assert await raw.refused("sit", n=2) == "already_seated"
        assert await raw.refused("pass", n=3) == "not_playing"
        await raw.say("what?")
        await raw.wait_for("error")
        await raw.command("ready", n=5)
        await raw.command("ready", n=4)
        assert (await raw.answer(4))[2] == "stale"
        async with inside(watched.url, code, token):
            assert (await raw.end()).reason == "replaced"
    found = await watched.scrape()
    assert found.value("duplicates_total") == 1
    assert found.value("rejects_total", code="already_seated") == 1
    assert found.value("rejects_total", code="not_playing") == 1
    assert found.value("stale_total") == 1
    assert found.value("bad_messages_total", code="unknown_message") == 1
    assert found.value("closes_total", reason="replaced") == 1
    gone_room = {"method": "GET", "route": "/v1/rooms/{code}", "status": "404"}
    assert found.value("http_answers_total", **gone_room) == 1
    lost = {"method": "GET", "route": "elsewhere", "status": "404"}
    assert found.value("http_answers_total", **lost) == 1


async def test_a_store_that_is_silent_is_seen_as_a_pause(watched: Watched) -> None:
    token = new_guest(watched.url)
    code = new_room(watched.url, token, seats=2)["code"]
    engine = watched.server.engine_pid()
    async with inside(watched.url, code, token) as raw:
        os.kill(engine, signal.SIGSTOP)
        try:
            n = await raw.command("sit")
            await raw.wait_for("paused")
            assert (await watched.scrape()).value("rooms_paused") == 1
        finally:
            os.kill(engine, signal.SIGCONT)
        await raw.answer(n)
        found = await watched.scrape()
    assert found.value("store_pauses_total") == 1
    assert found.value("rooms_paused") == 0
    assert found.value("append_seconds_bucket", le="+Inf") == 1
    assert found.value("append_seconds_bucket", le="1.0") == 0


PINGS = 30_000
"""Their answers are far more than anybody holds for a connection."""


async def test_slow_readers_are_counted_when_they_start_again_and_when_they_are_given_up(
    tmp_path: Path,
) -> None:
    port = free_port()
    limits = {"TOWERHALL_LIMIT_COMMANDS": "1000000/s burst 1000000"}
    flags = ("--metrics-port", str(port))
    with running(tmp_path / "data", *flags, limits=limits) as server:
        watched = Watched(server, port)
        token = new_guest(server.url)
        code = new_room(server.url, token, seats=2)["code"]
        pings = [["ping", seq] for seq in range(PINGS)]
        async with (
            inside(server.url, code, new_guest(server.url)) as other,
            inside(server.url, code, token, receive_bytes=4096) as raw,
        ):
            # When the other one sees the seat taken, the server has answered what came before it.
            raw.burst(*pings, ["command", 1, "", {"command": "sit"}, False])
            await other.wait_for("frame")
            await raw.wait_for("reset")
            found = await watched.scrape()
            assert found.value("resyncs_total") == 1
            assert found.value("slow_readers_closed_total") == 0
            raw.burst(*pings)
            await other.wait_for("presence", [], 1)
            await raw.end()
            found = await watched.scrape()
    assert found.value("resyncs_total") == 1
    assert found.value("slow_readers_closed_total") == 1
    assert found.value("sockets") == 1


def test_without_a_port_there_are_no_metrics(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server:
        assert ask(server.url, "GET", "/metrics").status == 404


def test_the_public_port_shows_no_metrics_and_the_private_one_nothing_else(
    watched: Watched,
) -> None:
    assert ask(watched.url, "GET", "/metrics").status == 404
    for path in ("/", "/v1/rooms", "/healthz", "/metrics/"):
        assert read(watched.port, path=path).status == 404
    assert read(watched.port, method="POST").status == 405


def test_whoever_has_no_token_is_turned_away(tmp_path: Path) -> None:
    port = free_port()
    limits = {"TOWERHALL_METRICS_TOKEN": TOKEN}
    flags = ("--metrics-port", str(port), "--metrics-host", "0.0.0.0")
    with running(tmp_path / "data", *flags, "--log-level", "debug", limits=limits) as server:
        assert scrape(port, TOKEN).value("ready") == 1
        for wrong in ("", "not-" + TOKEN, TOKEN[:-1]):
            answer = read(port, wrong)
            assert answer.status == 401
            assert answer.headers["www-authenticate"] == "Bearer"
            assert b"towerhall_" not in answer.body
        assert TOKEN not in server.log


def refused(tmp_path: Path, *flags: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "towerhall_server", "serve", "--port", "0", *flags],
        env={"PATH": os.environ["PATH"], "TOWERHALL_DATA_FOLDER": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_server_does_not_start_where_strangers_could_read_its_metrics(tmp_path: Path) -> None:
    told = refused(tmp_path, "--metrics-port", "9100", "--metrics-host", "0.0.0.0")
    assert told.startswith("towerhall serve: anybody could read the metrics at 0.0.0.0")


def test_a_port_that_is_taken_is_named(tmp_path: Path, watched: Watched) -> None:
    told = refused(tmp_path / "other", "--metrics-port", str(watched.port))
    assert f"no metrics at 127.0.0.1, port {watched.port}" in told


async def test_every_worker_shows_its_own_metrics_and_so_does_its_successor(
    tmp_path: Path,
) -> None:
    first = free_port(2)
    ports = (first, first + 1)
    flags = ("--workers", "2", "--metrics-port", str(first))
    with running(tmp_path / "data", *flags) as server:
        about = [(await asyncio.to_thread(scrape, port)).labels("build_info")[0] for port in ports]
        assert about[0]["node"] != about[1]["node"]
        token = new_guest(server.url)
        code = new_room(server.url, token, seats=2)["code"]
        async with connected(server.url, code), connected(server.url, code):
            found = [await asyncio.to_thread(scrape, port) for port in ports]
            assert sum(each.value("sockets") for each in found) == 2
        assert sum(each.value("rooms_created_total") for each in found) == 1
        victim = workers_of(server)[0]
        os.kill(victim, signal.SIGKILL)
        await gone([victim])
        async with asyncio.timeout(20):
            while not all(answers_at("127.0.0.1", port) for port in ports):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        for port in ports:
            assert (await asyncio.to_thread(scrape, port)).value("ready") == 1
