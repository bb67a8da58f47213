"""A client for checks of the store, and the requirements that a store must meet."""

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ResponseError

from towerhall_server.store import durability

CONNECT_SECONDS = 2.0
ANSWER_SECONDS = 3.0
OLDEST = {"redis": (7, 0), "valkey": (8, 0)}


class UnfitStoreError(Exception):
    """This store must not hold rooms; the message says what to change."""


def connect(url: str) -> Redis:
    """Make a client that never retries by itself.

    The library's own retries would append twice if a reply was lost. The caller of a script knows
    whether and how to retry.
    """
    return Redis.from_url(
        url,
        socket_connect_timeout=CONNECT_SECONDS,
        socket_timeout=ANSWER_SECONDS,
        retry=Retry(NoBackoff(), 0),
        health_check_interval=0,
    )


async def configuration(redis: Redis) -> dict[str, str]:
    """Return the settings of the store that matter to rooms; empty if it does not tell."""
    try:
        found = await redis.config_get(*durability.ASKED)
    except ResponseError:
        # Hosted stores may forbid CONFIG, and so may the rights of this server's user.
        return {}
    return {_text(name): _text(value) for name, value in found.items()}


async def check_store(redis: Redis, *, durable: bool = False) -> str:
    """Return the engine's name and version, if rooms are safe there. `durable` refuses a store
    unless it acknowledges moves after they are on its disk."""
    info = await redis.info("server")
    name = str(info.get("server_name", "redis"))
    version = str(info[f"{name}_version"])
    parts = tuple(int(part) for part in version.split(".")[:2])
    oldest = OLDEST.get(name)
    if oldest is None or parts < oldest:
        known = ", ".join(f"{n} >= {'.'.join(map(str, v))}" for n, v in OLDEST.items())
        raise UnfitStoreError(f"the store is {name} {version}; it must be one of: {known}")
    found = await configuration(redis)
    # The console of a hosted store shows the settings that CONFIG hides.
    policy = found.get("maxmemory-policy", "noeviction")
    if policy != "noeviction":
        raise UnfitStoreError(
            f"the store's maxmemory-policy is {policy!r}: it would evict rooms when memory is"
            " full. Set it to noeviction"
        )
    problem = durability.shortcoming(found) if durable else None
    if problem is not None:
        raise UnfitStoreError(
            f"{problem}. Durable storage is required here (--require-durable); without it this"
            " server starts, and a power cut may lose acknowledged moves"
        )
    return f"{name} {version}"


def _text(found: object) -> str:
    return found.decode() if isinstance(found, bytes) else str(found)
