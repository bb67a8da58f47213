"""The connection to the store, and what is required of a store before anything is trusted to it."""

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ResponseError

CONNECT_SECONDS = 2.0
ANSWER_SECONDS = 3.0
OLDEST = {"redis": (7, 0), "valkey": (8, 0)}


class UnfitStoreError(Exception):
    """This store must not hold rooms; the message says what to change."""


def connect(url: str) -> Redis:
    """A client that never repeats a command by itself.

    The library's own retries would append twice what was delivered once but not answered; whoever
    calls a script knows whether and how it may be asked again.
    """
    return Redis.from_url(
        url,
        socket_connect_timeout=CONNECT_SECONDS,
        socket_timeout=ANSWER_SECONDS,
        retry=Retry(NoBackoff(), 0),
        health_check_interval=0,
    )


async def check_store(redis: Redis) -> str:
    """The engine's name and version, if rooms are safe there."""
    info = await redis.info("server")
    name = str(info.get("server_name", "redis"))
    version = str(info[f"{name}_version"])
    parts = tuple(int(part) for part in version.split(".")[:2])
    oldest = OLDEST.get(name)
    if oldest is None or parts < oldest:
        known = ", ".join(f"{n} >= {'.'.join(map(str, v))}" for n, v in OLDEST.items())
        raise UnfitStoreError(f"the store is {name} {version}; one of these is needed: {known}")
    try:
        policy = (await redis.config_get("maxmemory-policy")).get("maxmemory-policy")
    except ResponseError:
        # Hosted stores may forbid CONFIG; what the policy is then stands in their console.
        policy = None
    if policy not in (None, "noeviction", b"noeviction"):
        raise UnfitStoreError(
            f"the store's maxmemory-policy is {policy!r}: it would throw rooms away when memory"
            " runs short. Set it to noeviction"
        )
    return f"{name} {version}"
