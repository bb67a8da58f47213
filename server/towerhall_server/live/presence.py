"""Who is connected to a room on all nodes: told to the viewers here, and published to other nodes.

Presence is debounced, so that a crowd does not multiply it. It is not in the log: a message may be
lost, and what a node told is dropped when that node falls silent. `audience` has the connections.
"""

import asyncio
from collections.abc import Callable, Collection, Iterator
from time import monotonic
from typing import Final, Protocol

import msgspec

from towerhall_protocol.messages import ServerMessage, ServerPresence
from towerhall_server.game import Seat
from towerhall_server.live.guests import Guests

PRESENCE_SECONDS: Final = 0.1
"""Longest time from a change of presence until viewers are told."""
FOREVER: Final = float("inf")


class Local(Protocol):
    """The viewers of the room on this node."""

    @property
    def seats(self) -> Collection[Seat]:
        """Seats that are connected here."""
        ...

    @property
    def size(self) -> int:
        """Seats of the room; 0 before the first viewer."""
        ...

    @property
    def watching(self) -> int:
        """Viewers here without a seat."""
        ...

    def guests(self) -> Guests:
        """All of them, as other nodes are told."""
        ...


class Presence:
    """The presence of one room, as this node knows it."""

    def __init__(
        self,
        local: Local,
        tell: Callable[[ServerMessage], None],
        tell_others: Callable[[Guests], None],
    ) -> None:
        self._local = local
        self._tell_here = tell
        self._tell_others = tell_others
        self._elsewhere: dict[str, Guests] = {}
        """By node."""
        self._timer: asyncio.TimerHandle | None = None
        self._told: tuple[tuple[int, ...], int] | None = None
        self._told_others: Guests | None = Guests()
        self._asks, self._over = True, False
        self._since = monotonic()
        self._seen: dict[Seat, float] = {}
        """When a seat was last connected; forever while it is."""

    @property
    def online(self) -> tuple[int, ...]:
        """Seats that are connected, on any node."""
        elsewhere = [guests.claims for guests in self._elsewhere.values()]
        return tuple(sorted(set(self._local.seats).union(*elsewhere)))

    @property
    def watchers(self) -> int:
        """Viewers without a seat, on all nodes."""
        return self._local.watching + sum(guests.watchers for guests in self._elsewhere.values())

    @property
    def has_host(self) -> bool:
        """Whether the host is connected to any node."""
        return self._local.guests().host or any(each.host for each in self._elsewhere.values())

    def absent_seconds(self, seat: Seat) -> float:
        """Seconds for which no connection of that seat was known to this node."""
        return 0.0 if seat in self.online else monotonic() - self._seen.get(seat, self._since)

    def message(self) -> ServerPresence:
        """The presence of this moment, as viewers are told."""
        seats = map(Seat, range(self._local.size))
        away_ms = tuple(round(1000 * self.absent_seconds(seat)) for seat in seats)
        return ServerPresence(self.online, self.watchers, away_ms)

    def claims(self, seat: Seat) -> Iterator[int]:
        """The claims of connections of that seat to other nodes."""
        return (guests.claims.get(seat, 0) for guests in self._elsewhere.values())

    def changed(self) -> None:
        """Tell viewers and other nodes soon."""
        if self._timer is None and not self._over:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(PRESENCE_SECONDS, self._tell)

    def repeat_here(self) -> None:
        """Tell the viewers again, though nothing may have changed: one of them is new."""
        self._told = None
        self.changed()

    def repeat_elsewhere(self) -> None:
        """Tell other nodes again, though nothing may have changed: one of them has missed it."""
        self._told_others = None
        self.changed()

    def hear_of(self, node: str, guests: Guests) -> None:
        """Another node tells its viewers of this room."""
        self._elsewhere[node] = guests
        if guests.asks:
            self._told_others = None
        self.changed()

    def forget(self, nodes: Collection[str]) -> None:
        """These nodes have gone."""
        for node in nodes:
            if self._elsewhere.pop(node, None) is not None:
                self.changed()

    def ask_around(self) -> None:
        """Messages of other nodes may be missing: ask them, and tell them the viewers here."""
        self._cancel()
        self._asks, self._told_others = True, None
        self._tell()

    def close(self) -> None:
        """Tell other nodes that no viewer is left here, and nothing after that."""
        self._over = True
        self._cancel()
        if self._told_others != Guests():
            self._tell_others(Guests())

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _tell(self) -> None:
        self._timer = None
        online = self.online
        for seat in self._seen.keys() - set(online):
            self._seen[seat] = min(self._seen[seat], monotonic())
        self._seen |= dict.fromkeys(map(Seat, online), FOREVER)
        # The time of an absence goes on by itself.
        told = online, self.watchers
        if told != self._told:
            self._told = told
            self._tell_here(self.message())
        guests = self._local.guests()
        if guests != self._told_others:
            self._told_others = guests
            self._tell_others(msgspec.structs.replace(guests, asks=self._asks))
            self._asks = False
