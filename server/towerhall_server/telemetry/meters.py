"""Counters of a running server: plain numbers, read on demand and never reset.

Counting must cost next to nothing. Nothing here locks, formats or looks up a label during a
move: a counter is an attribute, a histogram increments one of a few numbers. Codes and routes are
counted by name, off the hot path. No name of a person, no code of a room and no address may become
a label: labels must be few, and metrics must name no one.
"""

from bisect import bisect_left
from collections import Counter
from typing import Final

import msgspec

FAST: Final = (0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 3.0, 10.0)
"""Upper bounds in seconds, for work that should take milliseconds."""


class Histogram:
    """A histogram of durations. The last count is of those above every bound."""

    __slots__ = ("bounds", "counts", "seconds")

    def __init__(self, bounds: tuple[float, ...] = FAST) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.seconds = 0.0

    def observe(self, seconds: float) -> None:
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.seconds += seconds


class Meters:
    """All counts of one server since its start."""

    __slots__ = (
        "answers",
        "append_seconds",
        "appends",
        "audit_lost",
        "bad_messages",
        "broadcast_seconds",
        "broken_logs",
        "closes",
        "duplicates",
        "fast_path_faults",
        "http",
        "lag_seconds",
        "log_faults",
        "log_leaves",
        "lost_commits",
        "pauses",
        "quotas_unasked",
        "rejects",
        "resyncs",
        "rooms_created",
        "snapshots",
    )

    def __init__(self) -> None:
        self.append_seconds = Histogram()
        """From a call to the store until its answer, of any kind."""
        self.broadcast_seconds = Histogram()
        """From a command's arrival until its frame was handed to all connections."""
        self.lag_seconds = Histogram()
        """Delay of timers on the event loop."""
        self.appends = 0
        """Commits that this server appended."""
        self.answers: Counter[str] = Counter()
        """Appends that the store refused, by answer: conflict, duplicate, ..."""
        self.duplicates = 0
        """Commands that were in the log already, however this was found out."""
        self.fast_path_faults = 0
        """Commands that failed on the fast path; the actor decided and answered them."""
        self.rejects: Counter[str] = Counter()
        """Refused commands, by code."""
        self.bad_messages: Counter[str] = Counter()
        """Messages that were answered with an error, by code."""
        self.closes: Counter[str] = Counter()
        """Connections that this server closed, by reason; `too_slow` are the slow readers."""
        self.http: Counter[tuple[str, str, int]] = Counter()
        """HTTP answers by method, route and status."""
        self.resyncs = 0
        """Viewers that fell behind and were resynchronised."""
        self.pauses = 0
        """Times that a room had to wait for the store."""
        self.lost_commits = 0
        """Commits that viewers had seen and the log has lost."""
        self.broken_logs = 0
        """Logs that this server could read only in part."""
        self.rooms_created = 0
        self.snapshots: Counter[str] = Counter()
        """Snapshots of rooms, by outcome."""
        """Objects of ended connections and rooms, which perhaps only a full collection frees."""
        self.quotas_unasked = 0
        """Quotas that were decided locally, because the store did not answer."""
        self.log_leaves = 0
        """Leaves that this server added to the public log."""
        self.log_faults = 0
        """Looks at an inconsistent public log. Nothing is added or signed then."""
        self.audit_lost = 0
        """Acts missing from the audit log, because the store did not accept them."""


class Levels(msgspec.Struct, frozen=True):
    """The current levels of this server."""

    rooms: int
    paused: int
    seated: int
    watching: int
    sockets: int
    ready: bool
