"""Stores for operators: who asks for `redis`, `url` or `log` runs on each kind of engine."""

import pytest
from redis.asyncio import Redis

from tests.eventlog.conftest import engine_url, log, redis

__all__ = ["engine_url", "log", "redis"]


@pytest.fixture
def url(engine_url: str, redis: Redis) -> str:
    """Where an empty store of each kind is."""
    return engine_url
