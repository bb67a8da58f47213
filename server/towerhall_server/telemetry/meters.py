"""What a server counts while it works: plain numbers, read by whoever asks and reset by nobody.

Counting must cost next to nothing, so nothing here locks, formats or looks up a label while a move
is under way: a counter is an attribute, a histogram adds one to one of a few numbers. Codes and
routes are counted by name, off the way of a move. No name of a person, no code of a room and no
address may become the name of a count: there would be no end of them, and they are not for metrics.
"""

from bisect import bisect_left
from collections import Counter
from typing import Final

import msgspec

FAST: Final = (0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 3.0, 10.0)
"""Upper bounds in seconds, for what should take milliseconds."""


CONNECTION_OBJECTS: Final = 40
ROOM_OBJECTS: Final = 500
"""What may be left behind in cycles when one of them ends, at most. Of a room it is mostly plain
data that hangs on a few objects, and is counted by what it weighs."""


class Histogram:
    """How often something took how long. The last count is of all that exceeded every bound."""

    __slots__ = ("bounds", "counts", "seconds")

    def __init__(self, bounds: tuple[float, ...] = FAST) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.seconds = 0.0

    def observe(self, seconds: float) -> None:
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.seconds += seconds


class Meters:
    """All that one server has counted since its start."""

    __slots__ = (
        "answers",
        "append_seconds",
        "appends",
        "bad_messages",
        "broadcast_seconds",
        "closes",
        "duplicates",
        "http",
        "lag_seconds",
        "left_behind",
        "lost_commits",
        "pauses",
        "quotas_unasked",
        "rejects",
        "resyncs",
        "rooms_created",
    )

    def __init__(self) -> None:
        self.append_seconds = Histogram()
        """From asking the store until its answer was known, whatever it was."""
        self.broadcast_seconds = Histogram()
        """From a command's arrival until its frame was handed to all connections."""
        self.lag_seconds = Histogram()
        """How much later than planned the event loop came to something."""
        self.appends = 0
        """Commits that this server put into logs."""
        self.answers: Counter[str] = Counter()
        """What the store answered to appends that it did not do: conflict, duplicate, ..."""
        self.duplicates = 0
        """Commands that were in the log already, wherever that was found out."""
        self.rejects: Counter[str] = Counter()
        """Commands that were refused, by code."""
        self.bad_messages: Counter[str] = Counter()
        """Messages that were answered with an error, by code."""
        self.closes: Counter[str] = Counter()
        """Connections that this server ended, by reason; `too_slow` are the slow readers."""
        self.http: Counter[tuple[str, str, int]] = Counter()
        """Answers by method, route and status."""
        self.resyncs = 0
        """Viewers that fell behind and started again from a snapshot."""
        self.pauses = 0
        """How often a room had to wait for the store."""
        self.lost_commits = 0
        """Commits that viewers had seen and the log has lost."""
        self.rooms_created = 0
        self.left_behind = 0
        """Objects of connections and rooms that have ended, which perhaps only a sweep frees."""
        self.quotas_unasked = 0
        """Quotas that were judged here alone, because the store did not answer."""


class Levels(msgspec.Struct, frozen=True):
    """What there is at the moment, on this server."""

    rooms: int
    paused: int
    seated: int
    watching: int
    sockets: int
    ready: bool
