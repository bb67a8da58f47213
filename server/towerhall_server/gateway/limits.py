"""How much somebody may do: rates as token buckets, and counts of what lives.

The numbers are settings; what happens to whoever exceeds them is decided by the caller. Time is an
argument everywhere (monotonic seconds), so nothing here waits or reads a clock. All of it is local
to one process: what holds for all nodes together is in `quotas`.
"""

import ipaddress
from collections import OrderedDict
from functools import lru_cache
from math import ceil, inf
from typing import Final

import msgspec

KEYS_MAX: Final = 10_000
TOLERANCE_SECONDS: Final = 1e-6
"""Floats of a clock are not exact: who waited as long as told must not be told to wait again."""


class Rate(msgspec.Struct, frozen=True):
    """So many per second in the long run, and so many at once."""

    per_second: float
    burst: int

    def __post_init__(self) -> None:
        if not (0 < self.per_second < inf and self.burst >= 1):
            raise ValueError("a rate is above 0 per second with a burst of at least 1")

    def bucket(self) -> "Bucket":
        """A full bucket of this rate."""
        return Bucket(self.per_second, self.burst)


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one operator allows."""

    message_bytes: int = 4096
    hello_seconds: float = 5.0
    commands: Rate = Rate(10, 20)
    """Of one connection, as are the next three."""
    chat: Rate = Rate(1, 5)
    history: Rate = Rate(2, 10)
    bad_messages: Rate = Rate(1, 10)
    """The error budget: the connection of whoever exceeds it is closed."""
    sockets_per_ip: int = 256
    sockets_per_identity: int = 32
    spectators_per_room: int = 200
    rooms_per_identity: Rate = Rate(20 / 3600, 20)
    """Of all nodes together, as are all that follow."""
    rooms_per_ip: Rate = Rate(100 / 3600, 100)
    guests_per_ip: Rate = Rate(30 / 60, 30)
    questions_per_identity: Rate = Rate(5, 30)
    """For quickplay, for one's own rooms, and for links."""
    operator_requests: Rate = Rate(20, 100)
    """Of one operator; as many with wrong keys from one address."""


class Bucket:
    """A token bucket, kept as one number: the time at which it would be full again."""

    __slots__ = ("_full_at", "_room_seconds", "_token_seconds")

    def __init__(self, rate: float, burst: int) -> None:
        self._token_seconds, self._room_seconds = _pace(rate, burst)
        self._full_at = -inf

    def take(self, now: float) -> int:
        """0 and one token less; or the milliseconds until there is one, and nothing changes."""
        # Without further calls: every command passes here.
        full_at = max(self._full_at, now)
        wait = full_at - now - self._room_seconds
        if wait > TOLERANCE_SECONDS:
            return ceil(wait * 1000)
        self._full_at = full_at + self._token_seconds
        return 0

    def wait_ms(self, now: float) -> int:
        """0 if there is a token, or the milliseconds until there is one."""
        return whole_ms(max(self._full_at, now) - now - self._room_seconds)

    def is_full(self, now: float) -> bool:
        """Whether it cannot be told from a new one."""
        return self._full_at <= now


@lru_cache(maxsize=64)
def _pace(rate: float, burst: int) -> tuple[float, float]:
    """Seconds for one token, and for all but one. Thousands of buckets share the same two numbers:
    they are at hand then, and take no memory of each."""
    return 1 / rate, (burst - 1) / rate


class Buckets:
    """One bucket per key, in bounded memory.

    Full buckets are forgotten, which nobody can notice. If so many keys are busy that this is not
    enough, the one that was used longest ago is forgotten, and starts anew when it comes back.
    """

    __slots__ = ("_buckets", "_keys_max", "_rate")

    def __init__(self, rate: Rate, *, keys_max: int = KEYS_MAX) -> None:
        self._rate = rate
        self._keys_max = keys_max
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, key: str, now: float) -> int:
        """As `Bucket.take`, for this key."""
        self._forget_idle(now)
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = self._rate.bucket()
            if len(self._buckets) > self._keys_max:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(key)
        return bucket.take(now)

    def wait_ms(self, key: str, now: float) -> int:
        """As `Bucket.wait_ms`, for this key."""
        bucket = self._buckets.get(key)
        return 0 if bucket is None else bucket.wait_ms(now)

    def _forget_idle(self, now: float) -> None:
        # Two out for at most one in: the memory of a rush goes away while no call takes long.
        for _ in range(2):
            oldest = next(iter(self._buckets.items()), None)
            if oldest is None or not oldest[1].is_full(now):
                return
            del self._buckets[oldest[0]]


def whole_ms(seconds: float) -> int:
    """A time to wait in whole milliseconds; 0 if there is none."""
    return ceil(seconds * 1000) if seconds > TOLERANCE_SECONDS else 0


class Counts:
    """How many things of each key live now, such as the sockets of an address."""

    __slots__ = ("_most", "_of")

    def __init__(self, most: int) -> None:
        self._most = most
        self._of: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._of)

    def of(self, key: str) -> int:
        """How many live."""
        return self._of.get(key, 0)

    def total(self) -> int:
        """How many live, of all keys."""
        return sum(self._of.values())

    def enter(self, key: str) -> bool:
        """Count one more, or say no. Only who was let in leaves."""
        count = self.of(key)
        if count >= self._most:
            return False
        self._of[key] = count + 1
        return True

    def leave(self, key: str) -> None:
        """Count one less. Keys without anything alive cost nothing."""
        count = self._of[key] - 1
        if count:
            self._of[key] = count
        else:
            del self._of[key]


def ip_key(address: str) -> str:
    """What counts as one address: an IPv4 address, or the /64 network of an IPv6 one.

    Whoever has one IPv6 address has the 2^64 of its network. What is no address (the peer of a unix
    socket) is its own key.
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is None:
            return f"{ipaddress.IPv6Address(int(ip) >> 64 << 64)}/64"
        ip = ip.ipv4_mapped
    return str(ip)
