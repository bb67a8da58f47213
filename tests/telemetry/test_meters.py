"""Counts: what is counted where, and that Prometheus reads it as it is."""

import asyncio
import re
import time
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import generate_latest
from starlette.routing import Route, WebSocketRoute
from starlette.types import Message, Receive, Scope, Send

from tests.telemetry.scraped import Scrape
from towerhall_server.telemetry.families import registry
from towerhall_server.telemetry.http_counts import CountedAnswers
from towerhall_server.telemetry.lag import watch_lag
from towerhall_server.telemetry.meters import FAST, Histogram, Levels, Meters

NOTHING = Levels(rooms=0, paused=0, seated=0, watching=0, sockets=0, ready=True)
ABOUT = {"version": "1.2.3", "python": "3.11.2", "node": "abcd"}


def shown(meters: Meters, levels: Levels = NOTHING) -> Scrape:
    return Scrape(generate_latest(registry(meters, lambda: levels, ABOUT)).decode())


@given(st.lists(st.floats(0, 100)))
def test_a_histogram_counts_everything_once_and_at_its_place(times: list[float]) -> None:
    meters = Meters()
    for seconds in times:
        meters.append_seconds.observe(seconds)
    found = shown(meters)
    for bound in FAST:
        within = sum(seconds <= bound for seconds in times)
        assert found.value("append_seconds_bucket", le=repr(bound)) == within
    assert found.value("append_seconds_count") == len(times)
    assert found.value("append_seconds_bucket", le="+Inf") == len(times)
    assert found.value("append_seconds_sum") == pytest.approx(sum(times))


def test_bounds_grow() -> None:
    assert list(FAST) == sorted(set(FAST))
    assert len(Histogram().counts) == len(FAST) + 1


def test_every_count_is_shown() -> None:
    meters = Meters()
    meters.appends = 5
    meters.answers["conflict"] = 2
    meters.duplicates = 3
    meters.rejects["stale"] = 4
    meters.rejects["not_your_turn"] = 1
    meters.bad_messages["malformed_message"] = 6
    meters.closes["too_slow"] = 7
    meters.http["GET", "/v1/rooms/{code}", 404] = 8
    meters.resyncs, meters.pauses, meters.lost_commits = 9, 10, 11
    meters.rooms_created, meters.quotas_unasked = 12, 13
    meters.snapshots["wrong"] = 14
    meters.fast_path_faults = 15
    found = shown(meters, Levels(rooms=1, paused=2, seated=3, watching=4, sockets=5, ready=False))
    assert found.value("appends_total") == 5
    assert found.value("conflicts_total") == 2
    assert found.value("append_refusals_total", answer="conflict") == 2
    assert found.value("duplicates_total") == 3
    assert found.value("stale_total") == found.value("rejects_total", code="stale") == 4
    assert found.value("rejects_total", code="not_your_turn") == 1
    assert found.value("bad_messages_total", code="malformed_message") == 6
    assert found.value("slow_readers_closed_total") == 7
    assert found.value("closes_total", reason="too_slow") == 7
    where = {"method": "GET", "route": "/v1/rooms/{code}", "status": "404"}
    assert found.value("http_answers_total", **where) == 8
    assert found.value("resyncs_total") == 9
    assert found.value("store_pauses_total") == 10
    assert found.value("lost_commits_total") == 11
    assert found.value("rooms_created_total") == 12
    assert found.value("quotas_unasked_total") == 13
    assert found.value("snapshots_total", fate="wrong") == 14
    assert found.value("fast_path_faults_total") == 15
    assert found.value("rooms") == 1
    assert found.value("rooms_paused") == 2
    assert found.value("viewers", kind="seated") == 3
    assert found.value("viewers", kind="watching") == 4
    assert found.value("sockets") == 5
    assert found.value("ready") == 0
    assert found.value("build_info", **ABOUT) == 1
    assert "process_resident_memory_bytes" in found.families


def test_nothing_that_was_never_counted_is_missing() -> None:
    """An alarm on a counter that is not there never rings."""
    found = shown(Meters())
    for name in ("appends", "conflicts", "duplicates", "resyncs", "slow_readers_closed"):
        assert found.labels(f"{name}_total") == [{}]


async def test_a_loop_that_is_held_up_is_seen() -> None:
    lag = Histogram()
    watching = asyncio.create_task(watch_lag(lag))
    await asyncio.sleep(0.05)
    time.sleep(0.6)  # noqa: ASYNC251 - this is what is to be seen
    await asyncio.sleep(0.05)
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
    late = sum(lag.counts[FAST.index(0.25) + 1 :])
    assert late == 1
    assert lag.seconds > 0.4


# Answers over HTTP


async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
    raise NotImplementedError


async def counted(scope: Scope, status: int) -> Meters:
    """What is counted of an application that found this endpoint and answers that status."""
    meters = Meters()
    sent: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        kind = "websocket.http" if scope["type"] == "websocket" else "http"
        await send({"type": f"{kind}.response.start", "status": status})
        await send({"type": f"{kind}.response.body", "body": b""})

    async def receive() -> Message:
        raise NotImplementedError

    async def send(message: Message) -> None:
        sent.append(message)

    table = [Route("/v1/rooms/{code}", endpoint), WebSocketRoute("/v1/lobby", receive)]
    layer = CountedAnswers(app, meters, table)
    if scope.get("endpoint") == "socket":
        scope = {**scope, "endpoint": receive}
    await layer(scope, receive, send)
    assert len(sent) == 2
    return meters


async def test_answers_are_counted_by_route_and_never_by_what_was_asked() -> None:
    found = {"type": "http", "method": "GET", "path": "/v1/rooms/KXWMPA", "endpoint": endpoint}
    assert (await counted(found, 200)).http == {("GET", "/v1/rooms/{code}", 200): 1}
    lost = {"type": "http", "method": "GET", "path": "/wp-admin"}
    assert (await counted(lost, 404)).http == {("GET", "elsewhere", 404): 1}
    odd = {"type": "http", "method": "BREW", "path": "/"}
    assert (await counted(odd, 405)).http == {("other", "elsewhere", 405): 1}
    socket = {"type": "websocket", "path": "/v1/lobby", "endpoint": "socket"}
    assert (await counted(socket, 429)).http == {("socket", "/v1/lobby", 429): 1}


# The page


def test_the_page_of_metrics_names_what_is_shown() -> None:
    """With its type and its labels, and nothing else."""
    page = (files("towerhall_server.telemetry") / "README.md").read_text()
    rows = re.findall(r"^\| `(towerhall_\w+)` \| (\w+) \| ([^|]*) \|", page, re.MULTILINE)
    written = {name: (kind, tuple(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows}
    meters = Meters()
    counters = (meters.answers, meters.rejects, meters.bad_messages, meters.closes)
    for counted in (*counters, meters.snapshots):
        counted["something"] = 1
    meters.http["GET", "/v1/rooms", 200] = 1
    collected = {}
    for family in registry(meters, lambda: NOTHING, ABOUT).collect():
        if family.name.startswith("towerhall_"):
            labels = {name: None for sample in family.samples for name in sample.labels}
            labels.pop("le", None)
            collected[family.name] = (family.type, tuple(labels))
    assert collected == written
    assert len(rows) == len(written)
