"""Rates that hold for all nodes together, taken from the store, and from here where it is silent.

Nobody gets more by asking another node. Whoever was refused is refused here, without asking again,
for as long as the store has said: a flood does not get through to it. If the store does not answer,
this node's own buckets decide, which have kept count of what they saw: then a person may have the
rate of each node, and nobody is locked out.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from time import monotonic
from typing import Final, Protocol

import msgspec

from towerhall_server.eventlog.errors import StoreError
from towerhall_server.eventlog.quotas import Quota
from towerhall_server.gateway.limits import (
    KEYS_MAX,
    Buckets,
    Limits,
    Rate,
    whole_ms,
)
from towerhall_server.telemetry.meters import Meters

ANSWER_SECONDS: Final = 1.0
"""Whoever wants a token shall not wait longer for a store that hangs."""


class Store(Protocol):
    """What quotas need of a log."""

    async def take(self, quotas: tuple[Quota, ...]) -> int: ...


class Quotas:
    """All rates among the limits that are named when something is taken."""

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
        """0 and one token less of each, as in `guests_per_ip="10.0.0.1"`; or the milliseconds until
        all of them have one, and nothing is taken."""
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
        # Two out for one in, so that the memory of a rush goes away.
        for _ in range(2):
            oldest, end = next(iter(self._refused.items()))
            if end > now and len(self._refused) <= KEYS_MAX:
                return
            del self._refused[oldest]
