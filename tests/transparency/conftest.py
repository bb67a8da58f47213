"""Engines for the public log: each test runs on every engine, on an empty store."""

from tests.eventlog.conftest import engine_url, log, redis

__all__ = ["engine_url", "log", "redis"]
