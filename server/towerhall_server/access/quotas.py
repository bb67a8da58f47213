"""Rates that hold for all nodes together, in the store, with local buckets as a fallback.

A client gains nothing by asking another node. A refused client is refused locally for the time that
the store named, so a flood does not reach the store. If the store does not answer, this node's own
buckets decide. A person may then have the rate of each node, and no person is locked out.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from time import monotonic
from typing import Final, Protocol

import msgspec

from towerhall_server.access.rates import (
    KEYS_MAX,
    Buckets,
    Limits,
    Rate,
    whole_ms,
)
from towerhall_server.eventlog.buckets import Quota
from towerhall_server.store.errors import StoreError
from towerhall_server.telemetry.meters import Meters

ANSWER_SECONDS: Final = 1.0
"""Seconds to wait for a slow store before the local buckets decide."""


class Store(Protocol):
    """The part of a log that quotas need."""

    async def take(self, quotas: tuple[Quota, ...]) -> int: ...


class Quotas:
    """The cluster-wide rates, by the names in the limits."""

    def __init__(self, store: Store, limits: Limits, meters: Meters) -> None:
        self._store = store
        self._meters = meters
        self._rates: dict[str, Rate] = {
            name: rate
            for name, rate in msgspec.structs.asdict(limits).items()
            if isinstance(rate, Rate)
        }
        self._here = {name: Buckets(rate) for name, rate in self._rates.items()}
        self._refused: OrderedDict[tuple[Quota, ...], float] = OrderedDict()

    async def take(self, **whose: str) -> int:
        """Take one token of each, as in `guests_per_ip="10.0.0.1"`, and return 0. If one is
        missing, take none and return the milliseconds to wait."""
        quotas = tuple(
            Quota(name, key, self._rates[name].per_second, self._rates[name].burst)
            for name, key in whose.items()
        )
        now = monotonic()
        wait_ms = whole_ms(self._refused.get(quotas, now) - now)
        if wait_ms:
            return wait_ms
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                wait_ms = await self._store.take(quotas)
        except (StoreError, TimeoutError):
            self._meters.quotas_unasked += 1
            return self._take_here(whose, now)
        if wait_ms:
            self._remember(quotas, now + wait_ms / 1000, now)
        else:
            self._take_here(whose, now)
        return wait_ms

    def _take_here(self, whose: Mapping[str, str], now: float) -> int:
        wait_ms = max(self._here[name].wait_ms(key, now) for name, key in whose.items())
        if not wait_ms:
            for name, key in whose.items():
                self._here[name].take(key, now)
        return wait_ms

    def _remember(self, quotas: tuple[Quota, ...], until: float, now: float) -> None:
        self._refused[quotas] = until
        self._refused.move_to_end(quotas)
        # Evict two for each new one, so that memory shrinks after a rush.
        for _ in range(2):
            oldest, end = next(iter(self._refused.items()))
            if end > now and len(self._refused) <= KEYS_MAX:
                return
            del self._refused[oldest]
