"""A store for accounts: each test runs on an empty one."""

from tests.eventlog.conftest import engine_url, log, redis

__all__ = ["engine_url", "log", "redis"]
