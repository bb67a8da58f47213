"""Limits per client: rates as token buckets, and counts of live connections.

The numbers are settings; the caller decides what a refusal means. Time is an argument everywhere
(monotonic seconds), so nothing here waits or reads a clock. All state is local to one process:
`quotas` has the limits of all nodes together.
"""

import ipaddress
from collections import OrderedDict
from functools import lru_cache
from math import ceil, inf
from typing import Final

import msgspec

KEYS_MAX: Final = 10_000
NETWORK_BITS: Final = 56
"""An IPv6 customer has 2^64 addresses in each /64 network, and often 256 such networks."""
TOLERANCE_SECONDS: Final = 1e-6
"""Tolerance for rounding of clocks: a client that waited as told must not be refused again."""


class Rate(msgspec.Struct, frozen=True):
    """Tokens per second in the long run, and the size of a burst."""

    per_second: float
    burst: int

    def __post_init__(self) -> None:
        if not (0 < self.per_second < inf and self.burst >= 1):
            raise ValueError("a rate must be above 0 per second, with a burst of at least 1")

    def bucket(self) -> "Bucket":
        """Return a full bucket of this rate."""
        return Bucket(self.per_second, self.burst)


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits that one operator sets."""

    message_bytes: int = 4096
    hello_seconds: float = 5.0
    request_seconds: float = 10.0
    """Seconds for a complete request, from the opening of the connection or from the last request.
    A client that reads next to nothing of its answer in this time is cut off."""
    header_bytes: int = 16_384
    path_bytes: int = 4096
    connections_per_ip: int = 512
    """Sockets included; counted before the first byte is read."""
    commands: Rate = Rate(10, 20)
    """Per connection, as are the next three."""
    history: Rate = Rate(2, 10)
    signatures: Rate = Rate(0.2, 5)
    bad_messages: Rate = Rate(1, 10)
    """The error budget: a connection that exceeds it is closed."""
    chat: Rate = Rate(1, 5)
    """Chat and emotes of one person with a seat in one room, over all their connections."""
    watcher_chat: Rate = Rate(0.5, 3)
    """The same for one person without a seat."""
    watcher_chat_per_room: Rate = Rate(2, 10)
    """Chat and emotes of all watchers of one room together. Seats do not use this bucket."""
    gets_per_ip: Rate = Rate(50, 500)
    """GET requests of one address, except for files of the page, health checks and operators."""
    sockets_per_ip: int = 256
    sockets_per_identity: int = 32
    sockets_per_bot: int = 128
    """The same for a bot account, which may play in a hundred rooms at once."""
    spectators_per_room: int = 200
    rooms_per_identity: Rate = Rate(20 / 3600, 20)
    """Cluster-wide, as are all that follow."""
    rooms_per_ip: Rate = Rate(100 / 3600, 100)
    guests_per_ip: Rate = Rate(30 / 60, 30)
    bots_per_ip: Rate = Rate(10 / 3600, 10)
    """New bot accounts, which count as guests, too."""
    questions_per_identity: Rate = Rate(5, 30)
    """Quickplay, a person's own rooms, links and tokens, profiles and lists of people."""
    invitations_per_identity: Rate = Rate(60 / 3600, 20)
    revocations_per_ip: Rate = Rate(20 / 3600, 20)
    """Each revocation is kept as long as tokens last, so a client must not make many."""
    recoveries_per_ip: Rate = Rate(20 / 3600, 20)
    """Recovery codes that are tried."""
    sign_ins_per_account: Rate = Rate(20 / 3600, 20)
    """By passkey or code. Each one may log an older device out, which is a revocation."""
    reports_per_identity: Rate = Rate(10 / 3600, 10)
    """Reports of people: each of them is read by people."""
    operator_requests: Rate = Rate(20, 100)
    """Per operator; the same for wrong keys from one address."""


WITHOUT_RATES: Final = dict.fromkeys(
    (
        *("commands", "history", "signatures", "chat", "watcher_chat", "watcher_chat_per_room"),
        *("gets_per_ip", "rooms_per_identity", "rooms_per_ip", "guests_per_ip"),
        *("questions_per_identity", "recoveries_per_ip", "sign_ins_per_account"),
    ),
    Rate(1_000_000, 1_000_000),
)
"""Rates of a sandbox server, which no test meets. All counts stay, and so does the budget of bad
messages, because a client has to keep to it."""


class Bucket:
    """A token bucket, stored as one number: the time at which it is full again."""

    __slots__ = ("_full_at", "_room_seconds", "_token_seconds")

    def __init__(self, rate: float, burst: int) -> None:
        self._token_seconds, self._room_seconds = _pace(rate, burst)
        self._full_at = -inf

    def take(self, now: float) -> int:
        """Take one token and return 0; if there is none, return the milliseconds to wait."""
        # No further calls: every command passes here.
        full_at = max(self._full_at, now)
        wait = full_at - now - self._room_seconds
        if wait > TOLERANCE_SECONDS:
            return ceil(wait * 1000)
        self._full_at = full_at + self._token_seconds
        return 0

    def wait_ms(self, now: float) -> int:
        """Return 0 if there is a token, or the milliseconds until there is one."""
        return whole_ms(max(self._full_at, now) - now - self._room_seconds)

    def is_full(self, now: float) -> bool:
        """Whether the bucket is full, and so equal to a new one."""
        return self._full_at <= now


@lru_cache(maxsize=64)
def _pace(rate: float, burst: int) -> tuple[float, float]:
    """Seconds for one token, and for all but one. Thousands of buckets share these two numbers,
    which saves memory."""
    return 1 / rate, (burst - 1) / rate


class Buckets:
    """One bucket per key, in bounded memory.

    Full buckets are evicted first, which changes nothing. If too many keys are busy, the least
    recently used one is evicted, and starts full when it comes back.
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
        # Evict two for at most one new: memory shrinks after a rush, and no call takes long.
        for _ in range(2):
            oldest = next(iter(self._buckets.items()), None)
            if oldest is None or not oldest[1].is_full(now):
                return
            del self._buckets[oldest[0]]


def whole_ms(seconds: float) -> int:
    """Return a waiting time in whole milliseconds; 0 if there is none."""
    return ceil(seconds * 1000) if seconds > TOLERANCE_SECONDS else 0


class Counts:
    """Counts the live things of each key, such as the sockets of an address."""

    __slots__ = ("_most", "_of")

    def __init__(self, most: int) -> None:
        self._most = most
        self._of: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._of)

    def of(self, key: str) -> int:
        """The number of live things of a key."""
        return self._of.get(key, 0)

    def total(self) -> int:
        """The number of live things of all keys."""
        return sum(self._of.values())

    def enter(self, key: str) -> bool:
        """Count one more, or return False at the limit. Call leave() only after this returned
        True."""
        count = self.of(key)
        if count >= self._most:
            return False
        self._of[key] = count + 1
        return True

    def leave(self, key: str) -> None:
        """Count one less. A key without live things takes no memory."""
        count = self._of[key] - 1
        if count:
            self._of[key] = count
        else:
            del self._of[key]


def ip_key(address: str) -> str:
    """Return the unit that limits count: an IPv4 address, or the network of an IPv6 one. Other text
    (the peer of a unix socket) is its own key."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is None:
            rest = 128 - NETWORK_BITS
            return f"{ipaddress.IPv6Address(int(ip) >> rest << rest)}/{NETWORK_BITS}"
        ip = ip.ipv4_mapped
    return str(ip)
