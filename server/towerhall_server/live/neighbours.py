"""The other nodes of this store that this node has heard of, and what nodes share among them."""

from time import monotonic
from typing import Final

from towerhall_server.eventlog.keys import SHARDS

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

    def turn_of(self, own: str) -> tuple[int, int]:
        """Return the number of this node among all nodes, and their count."""
        nodes = sorted({own, *self._heard_at})
        return nodes.index(own), len(nodes)

    def miss(self) -> tuple[str, ...]:
        """The nodes that have gone since the last call."""
        late = monotonic() - NEIGHBOUR_SECONDS
        gone = tuple(node for node, heard_at in self._heard_at.items() if heard_at < late)
        for node in gone:
            del self._heard_at[node]
        return gone


def idle_shards(second: int, every: int, number: int, nodes: int) -> list[int]:
    """Return the shards that a node beats in this second although it has no open room there. Each
    shard has its turn `every` that many seconds, by one node after the other: if one is dead or
    its clock is wrong, the next turn is that of another node."""
    return [
        shard
        for shard in range(SHARDS)
        if (second + shard) % every == 0 and (second + shard) // every % nodes == number
    ]
