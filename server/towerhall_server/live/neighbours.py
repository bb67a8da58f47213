"""The other nodes of this store that this node has heard of."""

from time import monotonic
from typing import Final

NEIGHBOUR_SECONDS: Final = 10.0
"""Seconds of silence after which a node counts as gone."""


class Neighbours:
    """Other nodes, and when each was last heard of. True if there are any."""

    def __init__(self) -> None:
        self._heard_at: dict[str, float] = {}

    def __bool__(self) -> bool:
        return bool(self._heard_at)

    def hear(self, node: str) -> None:
        """That node is there."""
        self._heard_at[node] = monotonic()

    def miss(self) -> tuple[str, ...]:
        """The nodes that have gone since the last call."""
        late = monotonic() - NEIGHBOUR_SECONDS
        gone = tuple(node for node, heard_at in self._heard_at.items() if heard_at < late)
        for node in gone:
            del self._heard_at[node]
        return gone
