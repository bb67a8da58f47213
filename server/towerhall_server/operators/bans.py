"""Who may not come in, as this node knows it, and who is here.

The list is in the store and is short. Every node keeps all of it, so that asking costs nothing, and
asks once a second whether it has changed. Whoever is found on it leaves at once.
"""

import asyncio
import logging
from time import monotonic
from typing import Final, Protocol

from towerhall_server.eventlog.errors import StoreError
from towerhall_server.operators.store import OperatorStore

logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 1.0
READ_SECONDS: Final = 60.0
"""The list is read so often even if it does not seem to have changed."""


class Visitor(Protocol):
    """Somebody who is here."""

    def shut_out(self) -> None:
        """You are banned: go."""
        ...


class Bans:
    """Everybody who is banned, and the connections of everybody else by identity."""

    def __init__(self) -> None:
        self._banned: frozenset[str] = frozenset()
        self._here: dict[str, set[Visitor]] = {}
        self._version: bytes | None = None
        self._read_at = 0.0

    def __contains__(self, identity: str) -> bool:
        return identity in self._banned

    def __len__(self) -> int:
        """How many people are here."""
        return len(self._here)

    def enter(self, identity: str, visitor: Visitor) -> bool:
        """Let somebody in unless they are banned. Only who was let in leaves."""
        if identity in self._banned:
            return False
        self._here.setdefault(identity, set()).add(visitor)
        return True

    def leave(self, identity: str, visitor: Visitor) -> None:
        here = self._here[identity]
        here.discard(visitor)
        if not here:
            del self._here[identity]

    def take(self, banned: frozenset[str]) -> None:
        """From now on these are banned, and nobody else."""
        self._banned = banned
        for identity in self._here.keys() & banned:
            for visitor in tuple(self._here[identity]):
                visitor.shut_out()

    async def read(self, store: OperatorStore) -> None:
        """Take the list from the store, if it may have changed."""
        version = await store.bans_version()
        if version == self._version and monotonic() - self._read_at < READ_SECONDS:
            return
        self.take(frozenset(ban.id for ban in await store.bans()))
        # A change between the two reads leads to one reading too many, never to one too few.
        self._version, self._read_at = version, monotonic()

    async def follow(self, store: OperatorStore) -> None:
        """Keep to the store's list, for ever."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self.read(store)
            except StoreError as error:
                logger.debug("the list of bans was not read: %s", error)
