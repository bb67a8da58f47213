"""The engines of a store one by one, for copies of it.

Nothing here is for servers: some questions need a user with more rights than they have.
"""

import asyncio
from typing import Final

import msgspec

from towerhall_server.store.address import Place, read_address
from towerhall_server.store.endpoint import endpoint
from towerhall_server.store.errors import StoreError
from towerhall_server.store.resp import packed
from towerhall_server.store.sentinels import Sentinels, ask_once, quick
from towerhall_server.store.slot_map import read_map

LOOKS: Final = 20
LOOK_SECONDS: Final = 0.05
"""Seconds between two looks whether a replica has caught up."""
_ROLE: Final = packed("ROLE")
_NODES: Final = packed("CLUSTER", "NODES")


class UnsettledError(StoreError):
    """Slots of a cluster are being moved."""


class Primary(msgspec.Struct, frozen=True):
    """One engine that holds a part of a store's data."""

    url: str
    """As of one engine alone; it may hold a password."""
    slots: tuple[tuple[int, int], ...] = ()
    """First and last slot of each of its ranges, in a cluster."""


async def primaries(url: str) -> tuple[Primary, ...]:
    """Return the engines that hold all data of the store. Raises `StoreError`; `UnsettledError`
    while slots are being moved from one to another."""
    address = read_address(url)
    if address.kind == "single":
        return (Primary(url),)
    if address.kind == "sentinel":
        found = await Sentinels(address).find()
        return (Primary(address.at((found.host, found.port))),)
    model = endpoint(address.at(address.nodes[0]))
    slot_map = await read_map(model, address.nodes)
    slots: dict[Place, list[tuple[int, int]]] = {}
    for first, last, place in slot_map.ranges:
        slots.setdefault(place, []).append((first, last))
    for place in slots:
        (told,) = await ask_once(quick(endpoint(address.at(place))), _NODES)
        # Only the two nodes of a move know of it.
        if b"->-" in told or b"-<-" in told:
            raise UnsettledError(f"slots of {place[0]}:{place[1]} are being moved: try again later")
    return tuple(
        Primary(address.at(place), tuple(sorted(ranges))) for place, ranges in sorted(slots.items())
    )


async def replica_of(url: str, primary: Primary) -> str | None:
    """Return the URL of a replica that has all that its primary has now; None if there is none."""
    address = read_address(url)
    if address.kind == "single":
        return None  # a replica may listen at another place for servers than for its primary
    ((_, offset, replicas),) = await ask_once(quick(endpoint(primary.url)), _ROLE)
    places = [(host.decode(), int(port)) for host, port, _ in replicas]
    for _ in range(LOOKS if places else 0):
        for place in places:
            there = address.at(place)
            try:
                (role,) = await ask_once(quick(endpoint(there)), _ROLE)
            except StoreError:
                continue
            if role[0] == b"slave" and role[3] == b"connected" and role[4] >= offset:
                return there
        await asyncio.sleep(LOOK_SECONDS)
    return None
