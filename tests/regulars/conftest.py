"""Stores for regulars: each test runs on an empty store."""

import pytest

from tests.eventlog.conftest import engine_url, log, redis
from tests.regulars.games import FEW_SHARDS

__all__ = ["engine_url", "log", "redis"]


@pytest.fixture(autouse=True)
def few_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each new consumer looks at all shards."""
    monkeypatch.setattr("towerhall_server.regulars.consumer.SHARDS", FEW_SHARDS)
