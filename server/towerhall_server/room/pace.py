"""The rate of changes by one person outside the game: a token bucket that follows from the log.

Seats, readiness and the wish to end can be changed back and forth without end, and each change is a
commit. Each person in a room has a bucket. It is part of the folded room, so all nodes agree on it,
and it fills by the store's service clock. There is no bucket per room: one person could empty it
and lock all others out.
"""

from collections.abc import Mapping
from typing import Final

from towerhall_server.game import Rejected

MOST_AT_ONCE: Final = 60
"""Changes that a full bucket allows at once."""
RETURNS_MS: Final = 3_000
"""Milliseconds of service time after which the bucket gains one change."""


def after_one_more(full_at: Mapping[str, int], person: str, served_ms: int) -> dict[str, int]:
    """The buckets after a change at that service time. A bucket is the time at which it is full
    again; a full one is left out."""
    left = {each: at for each, at in full_at.items() if at > served_ms}
    # A log from before there was this rate may hold more changes than it allows.
    empty = served_ms + MOST_AT_ONCE * RETURNS_MS
    left[person] = min(max(left.get(person, 0), served_ms) + RETURNS_MS, empty)
    return left


def not_before_ms(full_at: Mapping[str, int], person: str) -> int:
    """The service time from which a person may make one more change."""
    return full_at.get(person, 0) - (MOST_AT_ONCE - 1) * RETURNS_MS


def refusal(ms_left: int) -> Rejected:
    """The answer to a change that came too early."""
    return Rejected("too_many", "P-72", {"retry_ms": ms_left})
