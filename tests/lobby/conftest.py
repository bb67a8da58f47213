"""The lobby on every kind of engine: who asks for `redis`, `url` or `proxy` runs on each."""

from tests.eventlog.conftest import engine_url, proxy, redis
from tests.live.conftest import one, other, url

__all__ = ["engine_url", "one", "other", "proxy", "redis", "url"]
