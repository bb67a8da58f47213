"""Which primary of a cluster has which slots, as its nodes tell."""

from collections.abc import Iterable
from typing import Any

import msgspec

from towerhall_server.store.address import Place
from towerhall_server.store.endpoint import Endpoint
from towerhall_server.store.errors import StoreError
from towerhall_server.store.resp import packed
from towerhall_server.store.sentinels import ask_once, at, quick

_QUESTIONS = packed("CLUSTER", "SLOTS"), packed("CLUSTER", "INFO")


class SlotMap(msgspec.Struct, frozen=True):
    """Ranges of slots with their primary, and all nodes that were named."""

    ranges: tuple[tuple[int, int, Place], ...]
    nodes: tuple[Place, ...]

    @property
    def primaries(self) -> frozenset[Place]:
        return frozenset(place for _, _, place in self.ranges)


async def read_map(model: Endpoint, nodes: Iterable[Place]) -> SlotMap:
    """Return the map of the first node that takes the cluster for sound. A node that was cut off
    does not, and its map may be old. Raises `StoreError` if there is none."""
    failed: StoreError = StoreError("no node of the cluster is known")
    for place in nodes:
        try:
            slots, info = await ask_once(quick(at(model, place)), *_QUESTIONS)
        except StoreError as error:
            failed = error
            continue
        if b"cluster_state:ok" not in info:
            failed = StoreError(f"CLUSTERDOWN as {place[0]}:{place[1]} sees it")
            continue
        return _read(slots, place[0])
    raise failed


def _read(slots: list[Any], asked: str) -> SlotMap:
    ranges = tuple((first, last, _place(nodes[0], asked)) for first, last, *nodes in slots)
    named = (_place(node, asked) for _, _, *nodes in slots for node in nodes)
    # Replicas are named once they have copied something; they know the map as well.
    return SlotMap(ranges, tuple(dict.fromkeys([*(place for _, _, place in ranges), *named])))


def _place(node: list[Any], asked: str) -> Place:
    """A node that does not know its own host leaves it out: it is the host that was asked."""
    host = (node[0] or b"").decode()
    return (asked if host in ("", "?") else host), int(node[1])
