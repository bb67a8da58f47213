"""Closes that no room and no session asked for are counted like all others."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.frames import Opcode

from tests.end_to_end.raw import Raw, connected, inside, new_guest, new_room
from tests.end_to_end.servers import running
from tests.gateway.ws.socket_frames import masked
from tests.sockets import free_port
from tests.telemetry.scraped import scrape

BAD = {
    "message_too_large": masked(Opcode.BINARY, bytes(4097)),
    "malformed_message": masked(Opcode.TEXT, b"\xff"),
    "too_many": masked(Opcode.PONG) * 40,
}


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    folder: Path = tmp_path_factory.mktemp("closes")
    port = free_port()
    with running(folder / "data", "--metrics-port", str(port)) as server:
        yield server.url, port


async def ended(raw: Raw, frames: bytes) -> str:
    raw.wire.transport.write(frames)
    return (await raw.end()).reason


@pytest.mark.parametrize("reason", BAD)
async def test_what_the_socket_itself_ends_is_counted_by_the_same_name(
    watched: tuple[str, int], reason: str
) -> None:
    url, port = watched
    token = new_guest(url)
    code = new_room(url, token)["code"]
    before = await asyncio.to_thread(scrape, port)
    async with inside(url, code, token) as raw:
        assert await ended(raw, BAD[reason]) == reason
    async with connected(url, "", path="/v1/lobby") as raw:
        await raw.say("hello", {"token": token, "level": 1})
        await raw.wait_for("welcome")
        await raw.say("what?")
        await raw.wait_for("error")
        assert await ended(raw, BAD[reason]) == reason
    after = await asyncio.to_thread(scrape, port)

    def more(name: str, **labels: str) -> float:
        return after.value(name, **labels) - before.value(name, **labels)

    assert more("closes_total", reason=reason) == 2
    assert sum(more("closes_total", **labels) for labels in after.labels("closes_total")) == 2
    assert more("bad_messages_total", code="unknown_message") == 1
