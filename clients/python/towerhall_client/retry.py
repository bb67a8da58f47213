"""When to connect again: how long to wait, and whether at all.

Waits double and are drawn from the whole range below them (full jitter), so that the clients of a
server that went down do not come back in step. Nothing here waits; sleep and chance are given.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec

from towerhall_protocol.errors import BY_NUMBER

TRY_AGAIN_STATUS: Final = frozenset({408, 425, 429})


class Retry(msgspec.Struct, frozen=True):
    """How patient a client is."""

    first_seconds: float = 0.25
    most_seconds: float = 15.0
    patience_seconds: float = 30.0
    """Timeout for the first connection. Later ones are retried for ever: games last days."""
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    chance: Callable[[], float] = random.random
    """From 0 to 1."""


class Backoff:
    """The waits of one client, one after the other."""

    def __init__(self, retry: Retry) -> None:
        self._retry = retry
        self._attempts = 0

    def next_seconds(self, at_least: float = 0.0) -> float:
        """The next delay; never shorter than the server's `retry_ms`."""
        longest = min(self._retry.most_seconds, self._retry.first_seconds * 2.0**self._attempts)
        self._attempts = min(self._attempts + 1, 32)
        return at_least + self._retry.chance() * longest

    def reset(self) -> None:
        """The connection has lasted for a while."""
        self._attempts = 0


def may_return(close_code: int) -> bool:
    """Whether a client that was sent away by this code may come back by itself.

    Codes that this level does not know are taken for passing ones.
    """
    close = BY_NUMBER.get(close_code)
    return close is None or close.may_reconnect


def may_ask_again(status: int) -> bool:
    """The same for an HTTP status in place of a connection."""
    return status >= 500 or status in TRY_AGAIN_STATUS
