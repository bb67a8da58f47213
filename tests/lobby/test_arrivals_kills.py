"""Servers that are killed right after they gave a seat: another one frees it, if nobody comes."""

import asyncio
import secrets
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from tests.end_to_end.raw import ask, bearer, inside, new_guest
from tests.end_to_end.servers import LIMITS, ServerProcess

WISH = {"game": "five_towers", "seats": 3}
PATIENCE_SECONDS = 20


class ShortServer(ServerProcess):
    module = "tests.lobby.short_node"


def started(folder: Path, url: str, limits: dict[str, str], stack: ExitStack) -> ShortServer:
    server = ShortServer(folder, "--redis-url", url, limits=limits)
    server.start()
    stack.callback(end, server)
    return server


def end(server: ShortServer) -> None:
    with suppress(ProcessLookupError, AssertionError):
        server.kill()


def seated(server: ShortServer, token: str) -> dict[str, Any]:
    answer = ask(server.url, "POST", "/v1/quickplay", WISH, bearer(token))
    assert answer.status == 200, answer.body
    found: dict[str, Any] = answer.document
    return found


async def test_a_seat_that_a_killed_server_gave_is_freed_by_another(
    url: str, tmp_path: Path
) -> None:
    limits = LIMITS | {"TOWERHALL_TOKEN_KEYS": secrets.token_urlsafe(32)}
    with ExitStack() as stack:
        a, b = (started(tmp_path / name, url, limits, stack) for name in ("a", "b"))
        ann, bob = new_guest(a.url, "Ann"), new_guest(a.url, "Bob")
        first, second = seated(a, ann), seated(a, bob)
        assert first["code"] == second["code"]
        a.kill()
        async with inside(b.url, first["code"], bob) as raw:
            # Bob has come to the other server, and Ann never does.
            frame = await asyncio.wait_for(raw.wait_for("frame"), PATIENCE_SECONDS)
            assert frame[4][0][:2] == ["seat_left", first["seat"]]
            # Bob is not ready either, but there.
            await asyncio.sleep(3)
            assert not [message for message in await raw.quiet() if message[0] == "frame"]
            cyd = seated(b, new_guest(b.url, "Cyd"))
            assert (cyd["code"], cyd["seat"]) == (first["code"], first["seat"])
