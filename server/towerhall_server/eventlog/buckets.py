"""Token buckets in the store, shared by all nodes. Callers decide what is limited.

All buckets are in one slot, so that one script can take from several of them or from none. Also in
a cluster they stay in one place: unlike rooms, they are few and short-lived.
"""

from collections.abc import Sequence
from hashlib import blake2b

import msgspec

from towerhall_server.eventlog.scripts import run_call, script_of
from towerhall_server.store.batch import Call

TAKE = script_of("quota.lua")


class Quota(msgspec.Struct, frozen=True):
    """A bucket: its kind and key, its rate and its size."""

    name: str
    whose: str
    per_second: float
    burst: int

    @property
    def key(self) -> str:
        # A digest keeps the key short, and stores no addresses.
        digest = blake2b(self.whose.encode(errors="surrogateescape"), digest_size=12).hexdigest()
        return f"towerhall:{{quotas}}:{self.name}:{digest}"


def take_call(quotas: Sequence[Quota]) -> Call:
    """Take one token of each and return 0, or return the milliseconds until that is possible."""
    keys = tuple(quota.key for quota in quotas)
    sizes = [(max(1, round(1e6 / quota.per_second)), quota.burst) for quota in quotas]
    return run_call(TAKE, keys, *(number for size in sizes for number in size))
