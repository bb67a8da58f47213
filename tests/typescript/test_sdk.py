"""The TypeScript client: its own tests and types, and a whole game against a real server."""

import asyncio
import json
import subprocess
from pathlib import Path

import pytest

from tests.end_to_end.servers import running
from tests.proxy.cutting import CuttingProxy, Traffic, split
from tests.record.record_games import SMALL, STORIES, record_of_story
from tests.typescript.node import SDK, TOGETHER, npm
from towerhall_protocol.codec import FROM_SERVER, decode
from towerhall_protocol.messages import Arrival, ClientHello, ServerFrame, ServerWelcome
from towerhall_protocol.wire import read_client, read_server

GAME_SECONDS = 60
MIDDLE = 25
"""So many messages have come when the connection is cut: about a third of a game."""

pytestmark = pytest.mark.timeout(240)  # packages may have to be fetched first
UPGRADED = b"HTTP/1.1 101 "
UPGRADING = b"GET /v1/rooms/"


def test_its_own_tests_pass(tmp_path: Path) -> None:
    for number, story in enumerate((*STORIES, SMALL)):
        (tmp_path / f"{number}.record.json").write_bytes(record_of_story(story))
    command, environment = npm()
    done = subprocess.run(
        [*command, "run", "--silent", "test", "--", "--reporter=verbose", *TOGETHER],
        cwd=SDK,
        env=environment | {"TOWERHALL_RECORDS": str(tmp_path), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"a true record holds: {tmp_path}" in done.stdout, "it did not look at the new records"


def test_the_readme_shows_the_bot_as_it_is() -> None:
    bot = (SDK / "examples" / "bot.ts").read_text()
    assert len(bot.splitlines()) <= 30
    assert f"```ts\n{bot}```" in (SDK / "README.md").read_text()


async def test_the_bot_of_the_readme_plays_a_whole_game_over_a_cut(tmp_path: Path) -> None:
    command, environment = npm()
    with running(tmp_path / "data") as server:
        async with CuttingProxy(server.port) as proxy:
            bot = await asyncio.create_subprocess_exec(
                *command, "run", "--silent", "bot", "--", proxy.url.rstrip("/"),
                cwd=SDK, env=environment,
                stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            )  # fmt: skip
            cutting = asyncio.create_task(cut_in_the_middle(proxy))
            try:
                async with asyncio.timeout(GAME_SECONDS):
                    out, err = await bot.communicate()
            finally:
                cutting.cancel()
                if bot.returncode is None:
                    bot.kill()
                    await bot.wait()
            assert bot.returncode == 0, (out + err).decode()
            first, second = sockets(proxy)
    told = json.loads(out.splitlines()[-1])
    assert len(told["result"]["scores"]) == 3
    assert {check["name"]: check["ok"] for check in told["checks"]} == dict.fromkeys(
        (
            "commitment",
            "deals",
            "nonces",
            "seed",
            "draws",
            "chain",
            "facts",
            "names",
            "result",
            "signature",
            "log",
            "seen",
        ),
        True,
    )
    unchecked = {check["name"] for check in told["checks"] if "skipped" in check}
    assert unchecked <= {"log"}, "the log gets the record a moment later"
    assert next(c for c in told["checks"] if c["name"] == "nonces")["detail"]["seats"] == [0]
    seen, rest = seqs(first), seqs(second)
    assert first.cut is not None
    assert cursor_of(second) == seen[-1], "it came back with where it was cut off"
    arrival = arrival_of(second)
    # Who missed much is shown the whole view instead (P-22), and goes on from there.
    assert (arrival.cursor.seq == seen[-1]) or arrival.view is not None
    assert seen == list(range(2, seen[-1] + 1))
    assert rest == list(range(arrival.cursor.seq + 1, told["seq"] + 1)), "all came once, in order"


async def cut_in_the_middle(proxy: CuttingProxy) -> None:
    while not any(len(from_server(each)) >= MIDDLE for each in sockets(proxy)):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    proxy.drop_all()


def sockets(proxy: CuttingProxy) -> list[Traffic]:
    """The connections that became WebSockets."""
    return [each for each in proxy.traffic if UPGRADED in each.down]


def from_server(traffic: Traffic) -> tuple[bytes, ...]:
    # Node may use a connection for requests first and then for the WebSocket.
    return split(bytes(traffic.down[traffic.down.find(UPGRADED) :])).messages


def from_client(traffic: Traffic) -> tuple[bytes, ...]:
    return split(bytes(traffic.up[traffic.up.find(UPGRADING) :])).messages


def seqs(traffic: Traffic) -> list[int]:
    """Of the commits that came as frames."""
    messages = (read_server(decode(data, FROM_SERVER)) for data in from_server(traffic))
    return [message.seq for message in messages if isinstance(message, ServerFrame)]


def arrival_of(traffic: Traffic) -> Arrival:
    welcome = read_server(decode(from_server(traffic)[0], FROM_SERVER))
    assert isinstance(welcome, ServerWelcome)
    return welcome.arrival


def cursor_of(traffic: Traffic) -> int:
    hello = read_client(decode(from_client(traffic)[0]))
    assert isinstance(hello, ClientHello)
    assert hello.greeting.cursor is not None
    return hello.greeting.cursor.seq
