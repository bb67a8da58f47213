"""The short marks of a log's newest commits: enough to know a place again, in bounded memory.

Older marks are forgotten. To check an older place, read its entry.
"""

from typing import Final

from towerhall_server.eventlog.entry import MARK_BYTES

KEPT: Final = 512
"""Fewest marks that a replica keeps of a longer log."""


class Marks:
    """Marks by seq, the newest ones only."""

    __slots__ = ("_first", "_marks")

    def __init__(self, first: int = 1) -> None:
        """`first` is the seq of the first mark that will be added."""
        self._first = first
        self._marks = bytearray()

    @property
    def first(self) -> int:
        """The lowest seq that is remembered."""
        return self._first

    @property
    def last(self) -> int:
        return self._first - 1 + len(self._marks) // MARK_BYTES

    def add(self, *chains: bytes) -> None:
        """Remember the chains after the next commits."""
        marks = self._marks
        marks += b"".join([chain[:MARK_BYTES] for chain in chains])
        if len(marks) > 2 * KEPT * MARK_BYTES:
            # Half of them go at a time: this is seldom, and need not be fast.
            gone = len(marks) // MARK_BYTES - KEPT
            del marks[: gone * MARK_BYTES]
            self._first += gone

    def at(self, seq: int) -> bytes:
        """The mark of that commit; no bytes if it is not remembered."""
        start = MARK_BYTES * (seq - self._first)
        return bytes(self._marks[start : start + MARK_BYTES]) if start >= 0 else b""

    def shared_with(self, other: "Marks") -> int:
        """The last seq up to which two logs are the same. If they remember no seq in common, the
        shorter one counts as a part of the longer one."""
        last = min(self.last, other.last)
        for seq in range(max(self._first, other._first), last + 1):
            if self.at(seq) != other.at(seq):
                return seq - 1
        return last
