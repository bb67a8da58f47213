"""A connection that does not read: little is held for it, it is reset once, and then let go.

Chat makes the bytes: many lines to everybody, in a room where a game is played.
"""

import asyncio
import re
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.games import play_out, seated
from tests.end_to_end.raw import NO_CLOSE, Raw, inside, new_guest, unpack
from tests.end_to_end.servers import LIMITS, ServerProcess, running
from towerhall_client.http import Service

FAST = LIMITS | {
    "TOWERHALL_LIMIT_WATCHER_CHAT": "100000/s burst 100000",
    "TOWERHALL_LIMIT_WATCHER_CHAT_PER_ROOM": "100000/s burst 100000",
    "TOWERHALL_LIMIT_COMMANDS": "100000/s burst 100000",
}
LINE = "😀" * 300
LINE_BYTES = 1200
TOGETHER = 8
"""Lines that one person says at once: half as many as may be under way."""
RECEIVE_BYTES = 4096
KIB = 1024
MOST_HELD = 480 * KIB
"""The backlog of 256 KiB, and what the kernel and the client's library hold besides."""
MOST_WAIT_SECONDS = 2.0
"""For one in ten, on a machine that does much else; whoever waits for slow ones waits for 20."""
MOST_GROWTH = 32 * KIB * KIB
TOO_SLOW = {4413, NO_CLOSE}
"""Whoever has too much to read to ever see the close is cut off without one."""


@pytest.fixture(scope="module")
def lively(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server on which people may talk as fast as they can."""
    with running(tmp_path_factory.mktemp("lively") / "data", limits=FAST) as process:
        yield process
        assert "Traceback" not in process.log


async def flood(speakers: Sequence[Raw], lines: int) -> None:
    """All of them talk at once, each waiting for its own lines before the next ones."""
    await asyncio.gather(*(_talk(speaker, lines // len(speakers)) for speaker in speakers))


async def _talk(speaker: Raw, lines: int) -> None:
    # Lines of a tenth of a second are told together, so it would take long to wait for each.
    for first in range(0, lines, TOGETHER):
        for number in range(first, min(first + TOGETHER, lines)):
            mine = f"{speaker.origin} {number} ".ljust(24, ".")
            await speaker.say("chat", mine + LINE[: 300 - len(mine)])
        heard: list[Any] = ["presence"]
        while heard[0] != "chat" or not heard[4].startswith(mine):
            heard = await speaker.hear()
            assert heard[0] != "error", heard


async def latencies(raw: Raw, enough: asyncio.Event) -> list[float]:
    """How long a ping takes, again and again."""
    measured = []
    while not enough.is_set():
        began = time.monotonic()
        await raw.quiet()
        measured.append(time.monotonic() - began)
        await asyncio.sleep(0.02)
    return measured


async def held_for(raw: Raw) -> tuple[int, list[list[Any]]]:
    """Read up to the reset: how many bytes there were, and the messages."""
    size, heard = 0, [[""]]
    while heard[-1][0] != "reset":
        async with asyncio.timeout(15):
            data = await raw.wire.recv()
        size += len(data)
        heard.append(unpack(data))
    return size, heard[1:]


def resident_bytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) * KIB


async def test_a_slow_reader_is_reset_once_and_let_go_when_it_falls_behind_again(
    lively: ServerProcess,
) -> None:
    url = lively.url
    async with seated(Service(url), 2, bots=["easy"] * 3) as (made, tables), AsyncExitStack() as e:

        async def come(receive_bytes: int | None = None) -> Raw:
            token = new_guest(url)
            entering = inside(url, made.code, token, receive_bytes=receive_bytes)
            return await e.enter_async_context(entering)

        slow = [await come(RECEIVE_BYTES) for _ in range(3)]
        speakers = [await come() for _ in range(2)]
        normal = await come()
        before = resident_bytes(lively.pid)
        enough = asyncio.Event()
        watching = asyncio.create_task(latencies(normal, enough))
        # Nobody reads for the slow ones: not what is said, and then nothing of a whole game either.
        most_of_it, rest_of_it = 420, 100
        await flood(speakers, most_of_it)
        await tables[0].start()
        views, _ = await asyncio.gather(play_out(tables), flood(speakers, rest_of_it))
        enough.set()
        waited = await watching
        assert statistics.quantiles(waited, n=10)[-1] < MOST_WAIT_SECONDS
        assert views[0] == views[1]
        assert resident_bytes(lively.pid) - before < MOST_GROWTH

        assert (most_of_it + rest_of_it) * LINE_BYTES > 1.25 * MOST_HELD
        for raw in slow:
            size, heard = await held_for(raw)
            assert size < MOST_HELD
            assert not any(message[0] == "frame" for message in heard)
            _, cursor, view, lost = heard[-1]
            assert (cursor[1], lost) == (tables[0].seq, 0)
            assert view == views[0]
            # What else it missed is told as it is now; then it hears what everybody hears.
            rest = await raw.quiet()
            assert rest[:2] == [["seat", -1], ["paused", False]]
            assert not any(message[0] == "reset" for message in rest)

        # One of them reads on; the others have learnt nothing.
        good, *bad = slow
        reading = asyncio.create_task(read_on(good))
        await flood(speakers, 400)
        for raw in bad:
            end = await raw.end()
            assert end.code in TOO_SLOW
            assert not any(message[0] == "reset" for message in end.messages)
        await normal.say("chat", "and so on")
        await normal.wait_for("chat")
        # Who has gone may be told later than that.
        assert await reading - {"presence"} == {"chat"}
        await normal.wait_for("presence", [0, 1], len(speakers) + 2)


async def read_on(raw: Raw) -> set[str]:
    """Read until somebody says that it goes on; which messages came."""
    kinds = set()
    while (message := await raw.hear())[0] != "chat" or message[4] != "and so on":
        kinds.add(message[0])
    return kinds


class Impatient(ServerProcess):
    module = "tests.end_to_end.impatient_server"


async def test_a_reader_that_never_reads_is_let_go_after_a_while(tmp_path: Path) -> None:
    with running(tmp_path / "data", limits=FAST, kind=Impatient) as server:
        async with seated(Service(server.url), 1, bots=["easy"]) as (made, (table,)):
            token = new_guest(server.url)
            async with (
                inside(server.url, made.code, token, receive_bytes=RECEIVE_BYTES) as never,
                inside(server.url, made.code, token) as normal,
                inside(server.url, made.code, token) as speaker,
            ):
                await normal.wait_for("presence", [0], 3)
                await flood([speaker], 400)
                await normal.wait_for("presence", [0], 2)
                end = await never.end()
                assert end.code in TOO_SLOW
                assert sum(map(len, end.data)) < MOST_HELD
                assert not any(message[0] == "reset" for message in end.messages)
                assert table.is_up
        assert "Traceback" not in server.log
