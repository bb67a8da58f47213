"""One node's knowledge of the public log: its right edge, and its newest leaves.

A node that knows more of the log than the store can put the rest back. It also tells a log that
lost its end from one that was changed. Pure: no call is made here.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from towerhall_protocol.merkle import Edge, Piece, edge_root, grown, leaf_hash

KEPT: Final = 1024
"""Leaves remembered, at least; at most twice as many: half a megabyte."""


class Growth(msgspec.Struct, frozen=True):
    """The log with more leaves."""

    leaves: tuple[bytes, ...]
    edge: Edge
    root: bytes
    pieces: tuple[Piece, ...]


class Seen:
    """The log up to the newest leaf that this node has seen."""

    def __init__(self, edge: Edge) -> None:
        self._base = self.edge = edge
        self.root = edge_root(edge)
        self._leaves: list[bytes] = []
        """The leaves after the base."""

    @property
    def size(self) -> int:
        return self.edge.size

    def with_more(self, leaves: Sequence[bytes]) -> Growth:
        """Compute the log after these leaves."""
        edge, pieces = grown(self.edge, map(leaf_hash, leaves))
        return Growth(tuple(leaves), edge, edge_root(edge), pieces)

    def take(self, growth: Growth) -> None:
        """Take a longer log."""
        self.edge, self.root = growth.edge, growth.root
        self._leaves += growth.leaves
        if len(self._leaves) > 2 * KEPT:
            self._base, _ = grown(self._base, map(leaf_hash, self._leaves[:KEPT]))
            del self._leaves[:KEPT]

    def copy(self) -> "Seen":
        """Return a copy, for a tentative continuation."""
        other = Seen(self._base)
        other.edge, other.root, other._leaves = self.edge, self.root, list(self._leaves)
        return other

    def before(self, size: int) -> "Seen | None":
        """Return the log at that size; None if it is no longer known."""
        if size == self.size:
            return self
        if not self._base.size <= size <= self.size:
            return None
        earlier = Seen(self._base)
        earlier.take(earlier.with_more(self._leaves[: size - self._base.size]))
        return earlier

    def since(self, size: int) -> list[bytes]:
        """Return the leaves from that size on."""
        return self._leaves[size - self._base.size :]
