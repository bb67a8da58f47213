"""Checks the stamps of a log. Neither a store nor a clock is known here.

- Neither clock runs back.
- The service clock runs no faster than the wall clock. It stops while no server runs, so it may be
  slower.
- A timed step happens neither before it is due nor long after.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Final

import msgspec

from towerhall_server.eventlog.entry import Entry
from towerhall_server.record.findings import Findings
from towerhall_server.room import steps
from towerhall_server.room.state import Room
from towerhall_server.room.steps import Errand

FASTER_MS: Final = 2_500
"""Milliseconds that the service clock may gain on the wall clock within one log, in all.

`append.lua` keeps the difference of the two stamps within 250 ms of the store's own clocks, so two
commits can be wrong by 500 ms. The rest allows for a wall clock that is set back: by a time server,
or because another machine replaces the store. The shortest turn is 5 s.
"""

LATE_MS: Final[Mapping[Errand, int]] = {
    "open": 30_000,
    "bot": 300_000,
    "turn": 300_000,
    "close": 300_000,
}
"""Milliseconds of service time after which a timed step is late.

The clock stops while no server runs. It goes on while one node dies, and another takes the room
over within 6 s. A search takes 60 s at most and is tried three times, and a player's time does not
run out before a search has ended. No search runs while nonces are opened.
"""


def check_times(entries: tuple[Entry, ...], found: Findings) -> None:
    """Compare each commit's stamps with those of the commits before it."""
    leads = [entry.stamps.served_ms - entry.stamps.wall_ms for entry in entries]
    least = leads[0]
    for place, (before, entry) in enumerate(pairwise(entries), start=2):
        where, old, new = f"commit {place}", before.stamps, entry.stamps
        if new.wall_ms < old.wall_ms:
            found.add("time", where, "its wall time is before that of the last one")
        if new.served_ms < old.served_ms:
            found.add("time", where, "its service time is before that of the last one")
        ahead = leads[place - 1] - least
        if ahead > FASTER_MS:
            detail = f"since an earlier commit, {ahead} ms more of service time than of wall time"
            found.add("clock", where, f"{detail} have passed")
        least = min(least, leads[place - 1])


class _Owed(msgspec.Struct, frozen=True):
    """The next timed step of a room, and its time."""

    errand: Errand
    due_ms: int
    from_ms: int
    """Not before the commit that caused it: a player who leaves after an hour is late with no
    move."""


class Duties:
    """The pending timed step of a room as its log goes on."""

    def __init__(self) -> None:
        self._owed: _Owed | None = None

    def follow(self, room: Room) -> None:
        """Take the room after a commit."""
        due, at_ms = steps.due(room), steps.deadline_ms(room)
        owed = self._owed
        if owed is None or (owed.errand, owed.due_ms) != (due.errand, at_ms):
            self._owed = _Owed(due.errand, at_ms, max(at_ms, room.served_ms))

    def check(self, served_ms: int, where: str, found: Findings) -> None:
        """Whether the next commit may have that time."""
        owed = self._owed
        most = None if owed is None else LATE_MS.get(owed.errand)
        if owed is None or most is None:
            return
        late_ms = served_ms - owed.from_ms
        if late_ms > most:
            detail = f"{ERRANDS[owed.errand]} was due {late_ms} ms before"
            found.add("late", where, f"{detail}, and {most} ms are the most")


ERRANDS: Final[Mapping[Errand, str]] = {
    "bot": "a move of a bot",
    "turn": "the end of a player's time",
    "open": "the end of the time for nonces",
    "close": "the end of the room",
}
"""Describe a timed step in words."""
