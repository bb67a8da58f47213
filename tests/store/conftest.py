"""Stores of every kind, as the tests of logs have them."""

import asyncio
from collections.abc import Callable

import pytest

from tests.eventlog.conftest import LOOPS, engine_url, log, proxy, redis, temporary

__all__ = ["engine_url", "log", "proxy", "redis", "temporary"]

ON_BOTH_LOOPS = {"test_batch.py", "test_connection.py"}


def pytest_asyncio_loop_factories(
    item: pytest.Item,
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """What is about sockets runs on the server's loop and on asyncio's own."""
    return LOOPS if item.path.name in ON_BOTH_LOOPS else {"asyncio": LOOPS["asyncio"]}
