"""How long a refusal takes tells nobody whether a private room is there.

Rooms that are there and codes that are not are asked for by turns, and the times are compared by
rank: the share of pairs in which the room took longer. It is a half where nothing can be told, and
near 0 or 1 where something can. With 32 of each kind its standard deviation is 0.07 if there is no
difference, so that a test fails by chance once in some 100,000 runs.
"""

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable, Iterator, Sequence
from random import choice
from time import perf_counter

import pytest

from tests.end_to_end.raw import connected, new_guest, new_room
from tests.end_to_end.servers import LIMITS, ServerProcess, running
from tests.store.engines import running as engine_running
from towerhall_server.gateway.entering import REFUSED_SECONDS
from towerhall_server.live.directory import new_code

EACH, LANES = 32, 4
MOST_DIFFERENCE = 0.33


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[ServerProcess]]:
    """Two servers of one store: a room that was made at one sleeps at the other."""
    folder = tmp_path_factory.mktemp("equal")
    limits = LIMITS | {"TOWERHALL_TOKEN_KEYS": secrets.token_urlsafe(32)}
    with engine_running("valkey", folder / "store") as engine:
        flags = ("--redis-url", engine.url)
        with (
            running(folder / "a", *flags, limits=limits) as here,
            running(folder / "b", *flags, limits=limits) as there,
        ):
            yield [here, there]


def share_of_longer(first: list[float], second: list[float]) -> float:
    """The share of pairs in which the first one is longer; half of them where both are alike."""
    longer = sum((a > b) + (a == b) / 2 for a in first for b in second)
    return longer / (len(first) * len(second))


@pytest.mark.parametrize(
    ("first", "second", "share"),
    [([1.0, 2.0], [1.0, 2.0], 0.5), ([3.0], [1.0, 2.0], 1.0), ([1.0], [2.0, 3.0], 0.0)],
)
def test_the_comparison_sees_a_difference(
    first: list[float], second: list[float], share: float
) -> None:
    assert share_of_longer(first, second) == share


async def asked(server: ServerProcess, path: str, codes: Sequence[str]) -> list[float]:
    """Ask for rooms over one connection; the seconds of each refusal."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    times = []
    for code in codes:
        before = perf_counter()
        writer.write(f"GET {path.format(code)} HTTP/1.1\r\nHost: here\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        times.append(perf_counter() - before)
        assert head.startswith(b"HTTP/1.1 404 ")
        length = re.search(rb"content-length: (\d+)", head)
        assert length is not None
        assert b"room_gone" in await reader.readexactly(int(length[1]))
    writer.close()
    return times


async def greeted(server: ServerProcess, token: str, codes: Sequence[str]) -> list[float]:
    """Greet rooms, each over a socket of its own; the seconds of each refusal."""
    times = []
    for code in codes:
        async with connected(server.url, code) as raw:
            before = perf_counter()
            await raw.hello(token)
            refused = await raw.hear()
            times.append(perf_counter() - before)
            assert refused[:2] == ["error", "room_gone"]
    return times


@pytest.mark.parametrize("path", ["/v1/rooms/{}", "/v1/rooms/{}/record"])
@pytest.mark.parametrize("asleep", [False, True], ids=["in memory", "asleep"])
async def test_over_http_a_private_room_is_refused_as_fast_as_none(
    servers: list[ServerProcess], path: str, asleep: bool
) -> None:
    made_at, asked_at = servers[0], servers[asleep]
    await compare(made_at, lambda codes: asked(asked_at, path, codes))


@pytest.mark.parametrize("asleep", [False, True], ids=["in memory", "asleep"])
async def test_over_a_socket_a_private_room_is_refused_as_fast_as_none(
    servers: list[ServerProcess], asleep: bool
) -> None:
    made_at, asked_at = servers[0], servers[asleep]
    stranger = new_guest(made_at.url)
    await compare(made_at, lambda codes: greeted(asked_at, stranger, codes))


async def compare(
    made_at: ServerProcess, asks: Callable[[Sequence[str]], Awaitable[list[float]]]
) -> None:
    host = new_guest(made_at.url)
    there: list[float] = []
    nowhere: list[float] = []

    async def lane() -> None:
        """Refusals mostly wait, so some may be asked for beside each other."""
        codes = [new_room(made_at.url, host, private=True)["code"] for _ in range(EACH // LANES)]
        # In no fixed order: what servers do each second must not always meet the same kind.
        pairs = [choice([(room, new_code()), (new_code(), room)]) for room in codes]
        asked = [code for pair in pairs for code in pair]
        for code, seconds in zip(asked, await asks(asked), strict=True):
            (there if code in codes else nowhere).append(seconds)

    await asyncio.gather(*(lane() for _ in range(LANES)))
    assert len(there) == len(nowhere) == EACH
    # All of them have passed the place where refusals wait; loops round their timers.
    assert min(there + nowhere) > REFUSED_SECONDS - 0.005
    share = share_of_longer(there, nowhere)
    assert abs(share - 0.5) < MOST_DIFFERENCE, (sorted(there), sorted(nowhere))
