"""Facts that a node remembers beside the store, because an older copy of the store lacks them.

Some facts have no log and must hold until they expire: a link is used, a request is answered, an
account has an identity. Each is one key with one value in the store. The node that writes it tells
the others, and every node remembers it until it expires. After a lost connection a node cannot know
whether the store went back in time. It writes all of its facts again.

The memory is bounded: the oldest facts are evicted first. The meaning of keys is unknown here.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from time import time
from typing import Any, Final

from towerhall_server.eventlog.keys import MEMORY
from towerhall_server.eventlog.notifications import Kept, Missed, Wake, encode_kept
from towerhall_server.store.batch import Call
from towerhall_server.store.errors import StoreError
from towerhall_server.store.resp import packed

MOST_BYTES: Final = 8 << 20
"""Bytes of keys and values that one node remembers."""
AT_ONCE: Final = 64
"""Facts that are written again in one batch."""
RETRY_SECONDS: Final = 0.5


class Memory:
    """The facts that one node remembers. `ask` carries a call to the store."""

    def __init__(self, ask: Callable[[Call], "asyncio.Future[Any]"]) -> None:
        self._ask = ask
        self._facts: OrderedDict[str, Kept] = OrderedDict()
        self._bytes = 0
        self._writing: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._facts)

    async def write(self, key: str, value: bytes, ms: int) -> None:
        """Write a fact with that life, and tell every node. Raises `StoreError` if the store does
        not answer; the fact is remembered all the same."""
        fact = Kept(key, value, round(1000 * time()) + ms)
        self.take(fact)
        await self._ask(Call(_written(fact)))
        self.tell(fact)

    def note(self, key: str, value: bytes, ms: int) -> None:
        """Remember and announce a fact that is in the store already."""
        fact = Kept(key, value, round(1000 * time()) + ms)
        self.take(fact)
        self.tell(fact)

    def tell(self, fact: Kept) -> None:
        """Tell the other nodes. The message may be lost."""
        told = self._ask(Call(packed("PUBLISH", MEMORY, encode_kept(fact))))
        told.add_done_callback(lambda told: told.cancelled() or told.exception())

    def take(self, fact: Kept) -> None:
        """Remember a fact. It replaces an older one of the same key."""
        self._drop(fact.key)
        self._facts[fact.key] = fact
        self._bytes += _size(fact)
        while self._bytes > MOST_BYTES:
            self._drop(next(iter(self._facts)))

    def get(self, key: str) -> bytes | None:
        """Return the value, or None if the fact is unknown or expired."""
        fact = self._facts.get(key)
        if fact is None:
            return None
        if fact.until_ms <= 1000 * time():
            self._drop(key)
            return None
        return fact.value

    async def tapped(self, wakes: AsyncIterator[Wake]) -> AsyncIterator[Wake]:
        """Pass news through: take facts out, and react to a break."""
        async for wake in wakes:
            if isinstance(wake, Kept):
                self.take(wake)
                continue
            if isinstance(wake, Missed):
                self.doubt()
            yield wake

    def doubt(self) -> None:
        """The store may have become an older copy of itself, perhaps again."""
        if self._writing is not None:
            self._writing.cancel()
        self._writing = asyncio.create_task(self._write_again(), name="memory")

    async def close(self) -> None:
        if self._writing is not None:
            self._writing.cancel()
            await asyncio.gather(self._writing, return_exceptions=True)

    async def _write_again(self) -> None:
        now_ms = 1000 * time()
        facts = [fact for fact in self._facts.values() if fact.until_ms > now_ms]
        while facts:
            calls = [self._ask(Call(_written(fact))) for fact in facts[:AT_ONCE]]
            answers = await asyncio.gather(*calls, return_exceptions=True)
            if any(isinstance(answer, StoreError) for answer in answers):
                await asyncio.sleep(RETRY_SECONDS)
            else:
                del facts[:AT_ONCE]

    def _drop(self, key: str) -> None:
        fact = self._facts.pop(key, None)
        if fact is not None:
            self._bytes -= _size(fact)


def _written(fact: Kept) -> bytes:
    return packed("SET", fact.key, fact.value, "PXAT", fact.until_ms)


def _size(fact: Kept) -> int:
    return len(fact.key) + len(fact.value)
