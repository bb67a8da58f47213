"""Nodes of different versions on every kind of engine."""

from tests.live.conftest import engine_url, redis, url

__all__ = ["engine_url", "redis", "url"]
