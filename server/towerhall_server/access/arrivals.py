"""Decides which connections are accepted, before their first byte is read.

One network holds a limited number of connections; all networks together are limited by file
descriptors. A few spare connections are accepted for health checks alone. Nothing here knows
sockets or time.
"""

import ipaddress
from collections.abc import Sequence
from typing import Final

import msgspec

from towerhall_server.access.rates import Counts, ip_key

SPARE: Final = 32
"""Spare connections for health checks, beyond the normal limit."""
FEW: Final = 4
"""With this many connections a network gets no spare one: it could take them all."""


class Arrival(msgspec.Struct, frozen=True, gc=False):
    """An accepted connection. It must be released."""

    network: str
    """Empty: a trusted proxy, which is not counted."""
    is_spare: bool = False
    """Whether only health checks are accepted."""


class Arrivals:
    """The connections of one server."""

    __slots__ = ("_room", "_trusted", "of_networks", "total")

    def __init__(self, per_network: int, room: int, trusted: Sequence[str] = ()) -> None:
        """`room` is the number of connections that descriptors allow. `trusted` are addresses and
        networks of proxies: each stands for many clients and has its own limits."""
        self.of_networks = Counts(per_network)
        self._room = room
        self._trusted = [ipaddress.ip_network(each) for each in trusted]
        self.total = 0

    def enter(self, address: str) -> Arrival | None:
        """Accept a connection from this address; None refuses it."""
        network = "" if self._is_trusted(address) else ip_key(address)
        is_spare = self.total >= self._room
        if is_spare and (self.total >= self._room + SPARE or self.of_networks.of(network) >= FEW):
            return None
        if network and not self.of_networks.enter(network):
            return None
        self.total += 1
        return Arrival(network, is_spare)

    def leave(self, arrival: Arrival) -> None:
        """The connection has ended."""
        self.total -= 1
        if arrival.network:
            self.of_networks.leave(arrival.network)

    def _is_trusted(self, address: str) -> bool:
        try:
            ip = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(ip in network for network in self._trusted)
