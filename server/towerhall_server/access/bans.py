"""The list of bans, as this node knows it.

The list in the store is short. Every node keeps a copy, so that a lookup is free, and polls for
changes once a second. `admission` knows the connected people.
"""

from collections.abc import Iterable
from time import monotonic, time
from typing import Final

from towerhall_server.eventlog.operators import LIFTED_MS, Ban, BanList, OperatorStore

READ_SECONDS: Final = 60.0
"""Seconds between full reads of the list, even if its version has not changed."""

MEMORY_SECONDS: Final = LIFTED_MS / 2000
"""Seconds for which a node trusts its own list. The store keeps lifted bans for longer."""


class Bans:
    """All bans: global ones, and those of one operator's rooms."""

    def __init__(self) -> None:
        self._everywhere: frozenset[str] = frozenset()
        self._in_rooms: frozenset[tuple[str, str]] = frozenset()
        self._version: bytes | None = None
        self._read_at = 0.0
        self._list, self._read_time = BanList(), 0.0
        """The last list, and its wall time."""

    def bars(self, identity: str, operator: str = "") -> bool:
        """Whether a person is banned; `operator` is that of the room."""
        return identity in self._everywhere or (identity, operator) in self._in_rooms

    def take(self, bans: Iterable[Ban]) -> None:
        """Replace the list of bans."""
        bans = tuple(bans)
        self._everywhere = frozenset(ban.id for ban in bans if not ban.rooms_only)
        self._in_rooms = frozenset((ban.id, ban.operator) for ban in bans if ban.rooms_only)

    async def read(self, store: OperatorStore) -> bool:
        """Read the list from the store if it may have changed. Returns whether it was read."""
        version = await store.bans_version()
        if version == self._version and monotonic() - self._read_at < READ_SECONDS:
            return False
        found = await store.ban_list()
        if time() - self._read_time < MEMORY_SECONDS:
            found = await store.put_back(self._list, found)
        self.take(found.bans.values())
        # A change between the two reads leads to one extra read, never to a missing one.
        self._version, self._read_at = version, monotonic()
        self._list, self._read_time = found, time()
        return True
