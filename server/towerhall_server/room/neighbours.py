"""The other nodes of this store, as far as they have been heard of."""

from time import monotonic
from typing import Final

NEIGHBOUR_SECONDS: Final = 10.0
"""A node that has not said for so long that it is there has gone."""


class Neighbours:
    """Other nodes, and when they were heard of last. True if there are any."""

    def __init__(self) -> None:
        self._heard_at: dict[str, float] = {}

    def __bool__(self) -> bool:
        return bool(self._heard_at)

    def hear(self, node: str) -> None:
        """That node is there."""
        self._heard_at[node] = monotonic()

    def miss(self) -> tuple[str, ...]:
        """Those that have gone since this was asked last."""
        late = monotonic() - NEIGHBOUR_SECONDS
        gone = tuple(node for node, heard_at in self._heard_at.items() if heard_at < late)
        for node in gone:
            del self._heard_at[node]
        return gone
