"""Data behind a code that works once: links to oneself, challenges for passkeys.

The store has a digest of the code, so a reader of the store learns no usable code. All nodes
remember used codes: an older copy of the store would have them unused. What the data means is
unknown here. Every call may raise `StoreError`.
"""

from hashlib import blake2b
from typing import Any, Final

from towerhall_server.eventlog.log import EventLog
from towerhall_server.store.batch import Call
from towerhall_server.store.resp import Argument, packed

USED: Final = b""
"""The value of a used code."""
USED_MS: Final = 15 * 60_000
"""Milliseconds for which nodes remember a used code: longer than any code is valid."""


class SingleUse:
    """All codes of one kind."""

    def __init__(self, log: EventLog, kind: str) -> None:
        self._log, self._kind = log, kind

    def key(self, code: str) -> str:
        digest = blake2b(code.encode(errors="surrogatepass"), digest_size=16).hexdigest()
        return f"towerhall:{self._kind}:{digest}"

    async def keep(self, code: str, data: bytes, ms: int) -> None:
        await self._ask("SET", self.key(code), data, "PX", ms)

    async def take(self, code: str) -> bytes | None:
        """Return the data of a code, to one caller only; None if it was used or has expired."""
        key = self.key(code)
        if self._log.memory.get(key) == USED:
            return None
        found: bytes | None = await self._ask("SET", key, USED, "XX", "KEEPTTL", "GET")
        if not found:
            return None
        self._log.memory.note(key, USED, USED_MS)
        return found

    async def _ask(self, *command: Argument) -> Any:
        return await self._log.call(Call(packed(*command)))
