"""Live rooms on every kind of engine: who asks for `redis`, `url` or `proxy` runs on each."""

from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from tests.eventlog.conftest import engine_url, proxy, redis
from tests.live.live_rooms import LiveNode, live_node
from towerhall_server.room import pace

__all__ = ["engine_url", "proxy", "redis"]


@pytest.fixture
def url(engine_url: str, redis: Redis) -> str:
    """Where an empty store of each kind is."""
    return engine_url


@pytest.fixture
async def one(url: str) -> AsyncIterator[LiveNode]:
    """A node that hears of the others."""
    async with live_node(url, "one") as node:
        yield node


@pytest.fixture
async def other(url: str) -> AsyncIterator[LiveNode]:
    """Another one on the same store."""
    async with live_node(url, "other") as node:
        yield node


@pytest.fixture
async def deaf(url: str) -> AsyncIterator[LiveNode]:
    """A node to which no news come: it knows what it reads."""
    async with live_node(url, "deaf", listens=False) as node:
        yield node


@pytest.fixture
def unpaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """People may change their minds as often as they like."""
    monkeypatch.setattr(pace, "MOST_AT_ONCE", 1_000_000)
