"""All signing keys of this service with their times, kept in the store forever and published.

A starting server publishes its keys, and ends those that are not in its settings. A server writes
its copy back if the store became an older copy of itself.
"""

import asyncio
from collections.abc import Mapping, Sequence
from time import time
from typing import Any, Final

import msgspec

from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.statements import key_id
from towerhall_server.eventlog.log import EventLog
from towerhall_server.store.batch import Call
from towerhall_server.store.errors import StoreError
from towerhall_server.store.resp import Argument, packed

KEYS: Final = "towerhall:{log}:keys"
LOOK_SECONDS: Final = 30.0


class Life(msgspec.Struct, frozen=True, array_like=True):
    """When a key was published. It signs nothing before, and nothing after `until_ms`."""

    since_ms: int
    until_ms: int | None = None


class PublishedKey(msgspec.Struct, frozen=True, omit_defaults=True):
    """One key in its public form."""

    key: str
    public: str
    since_ms: int
    until_ms: int | None = None


Lives = Mapping[str, Life]
"""By public key."""


def at_start(found: Lives, own: Sequence[str], now_ms: int) -> dict[str, Life]:
    """Return the history after a server with these keys has started."""
    ended = {
        public: Life(life.since_ms, now_ms if life.until_ms is None else life.until_ms)
        for public, life in found.items()
    }
    return ended | {
        public: Life(found[public].since_ms if public in found else now_ms) for public in own
    }


class KeyHistory:
    """The published keys of one store."""

    def __init__(self, log: EventLog, public: Sequence[bytes]) -> None:
        self._log = log
        self._own = tuple(map(base64url, public))
        self._known: dict[str, Life] = {}

    @property
    def published(self) -> tuple[PublishedKey, ...]:
        """Return all keys: those of this server first, then the newest."""
        first = [(public, self._known[public]) for public in self._own if public in self._known]
        others = [item for item in self._known.items() if item[0] not in self._own]
        others.sort(key=lambda item: -item[1].since_ms)
        return tuple(
            PublishedKey(key_id(from_base64url(public)), public, life.since_ms, life.until_ms)
            for public, life in (*first, *others)
        )

    async def open(self) -> None:
        """Publish the own keys, and end the others. Raises `StoreError` if the store does not
        answer."""
        found = await self._read()
        self._known = at_start(found, self._own, round(1000 * time()))
        await self._write({k: life for k, life in self._known.items() if found.get(k) != life})

    async def follow(self) -> None:
        """Take keys of other servers, and write back what the store has lost, forever."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self.look()
            except StoreError:
                continue

    async def look(self) -> None:
        found = await self._read()
        lost = {public: life for public, life in self._known.items() if public not in found}
        self._known = found | lost
        await self._write(lost)

    async def _read(self) -> dict[str, Life]:
        found = await self._ask("HGETALL", KEYS)
        pairs = zip(found[::2], found[1::2], strict=True)
        return {name.decode(): msgspec.json.decode(data, type=Life) for name, data in pairs}

    async def _write(self, lives: Lives) -> None:
        for public, life in lives.items():
            await self._ask("HSET", KEYS, public, msgspec.json.encode(life))

    async def _ask(self, *command: Argument) -> Any:
        return await self._log.call(Call(packed(*command)))
