"""A client that is gone before the server has begun to do what it asked for."""

import asyncio
import gc
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.end_to_end.raw import pack
from towerhall_protocol.codec import FROM_CLIENT
from towerhall_server.access.rates import Counts, Limits
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.ws.connection import RoomConnection
from towerhall_server.gateway.ws.socket import RoomSocket
from towerhall_server.telemetry.meters import Meters

HELLO = ["hello", {"token": "token", "level": 1, "origin": "b3JpZ2luMTE"}]


@pytest.fixture
def complaints(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What Python would write to the log by itself."""
    heard: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda about: heard.append(str(about.exc_value)))
    yield heard
    gc.collect()


def connection() -> RoomConnection:
    counts = Counts(1)
    counts.enter("address")
    hall = SimpleNamespace(
        limits=Limits(), codec=FROM_CLIENT, sockets_of_address=counts, meters=Meters()
    )
    return RoomConnection(
        cast(Hall, hall), cast(RoomSocket, SimpleNamespace()), "ABCDEF", "address", text=False
    )


async def test_nothing_is_left_that_was_never_begun(complaints: list[str]) -> None:
    made = connection()
    made.received(cast(Any, pack(HELLO, text=False)))
    made.lost()
    await asyncio.sleep(0.01)
    gc.collect()
    assert complaints == []
