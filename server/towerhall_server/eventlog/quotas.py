"""Token buckets in the store, which all nodes share. Who is limited to what is decided elsewhere.

All buckets are in one slot, so that one script can take from several of them or from none. That is
one place for all of them also in a cluster: they are few and short-lived, unlike rooms.
"""

from collections.abc import Sequence
from hashlib import blake2b

import msgspec

from towerhall_server.eventlog.batch import Call
from towerhall_server.eventlog.calls import run_call, script_of

TAKE = script_of("quota.lua")


class Quota(msgspec.Struct, frozen=True):
    """A bucket: what it limits and whom, how fast it fills and how much it holds."""

    name: str
    whose: str
    per_second: float
    burst: int

    @property
    def key(self) -> str:
        # A digest keeps the key short whatever is limited, and lists no addresses.
        digest = blake2b(self.whose.encode(errors="surrogateescape"), digest_size=12).hexdigest()
        return f"towerhall:{{quotas}}:{self.name}:{digest}"


def take_call(quotas: Sequence[Quota]) -> Call:
    """Take one token from each; the answer is 0, or the milliseconds until that can be done."""
    keys = tuple(quota.key for quota in quotas)
    sizes = [(max(1, round(1e6 / quota.per_second)), quota.burst) for quota in quotas]
    return run_call(TAKE, keys, *(number for size in sizes for number in size))
