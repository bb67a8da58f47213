"""A connection whose answers count once replicas have the writes (`WAIT`).

`WAIT` holds its connection up until the replicas have answered. Commands are gathered while one
is out, and leave together. A caller that asks again upon an answer, such as a room with its next
command, joins them: else it would wait for two of these exchanges each time. Reads and all calls
that need not survive a failover go another way.

If too few replicas answer in time, the outcome is unknown: each answer becomes a `StoreError`. The
caller sends the same bytes again. A command that is sent again must write, even if it has nothing
to change: Valkey 9 waits only for what this connection wrote, and would confirm a read at once.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from towerhall_server.store.connection import Answered, Connection
from towerhall_server.store.errors import StoreError
from towerhall_server.store.resp import packed

WAIT_MS: Final = 500
"""Milliseconds for replicas to answer. The connection must not be taken for a silent one."""
TICKS: Final = 2
"""Turns of the loop in which a room reads an answer and asks again."""
UNCONFIRMED: Final = "too few replicas have it yet"


class ConfirmingConnection:
    """The same for callers as `Connection`."""

    def __init__(self, connection: Connection, replicas: int) -> None:
        self._connection = connection
        self._replicas = replicas
        self._wait = packed("WAIT", replicas, WAIT_MS)
        self._gathered: list[tuple[Sequence[bytes], Answered]] = []
        self._is_out = False

    def ask(self, commands: Sequence[bytes], answered: Answered) -> None:
        """As of `Connection`."""
        self._gathered.append((commands, answered))
        if not self._is_out:
            self._leave()

    def renew(self, why: str) -> None:
        """As of `Connection`."""
        self._connection.renew(why)

    async def close(self) -> None:
        """As of `Connection`."""
        await self._connection.close()
        while self._is_out:
            await asyncio.sleep(0)
            await self._connection.close()

    def _leave(self) -> None:
        exchanges, self._gathered = self._gathered, []
        self._is_out = True
        together = [command for commands, _ in exchanges for command in commands]
        self._connection.ask([*together, self._wait], partial(self._confirmed, exchanges))

    def _confirmed(
        self, exchanges: Sequence[tuple[Sequence[bytes], Answered]], answers: list[Any]
    ) -> None:
        *found, replicas = answers
        if isinstance(replicas, StoreError) or replicas < self._replicas:
            # A refusal stands: nothing was written.
            found = [
                each if isinstance(each, StoreError) else StoreError(UNCONFIRMED) for each in found
            ]
        rest = iter(found)
        for commands, answered in exchanges:
            answered([next(rest) for _ in commands])
        self._leave_in(TICKS)

    def _leave_in(self, ticks: int) -> None:
        if ticks:
            asyncio.get_running_loop().call_soon(self._leave_in, ticks - 1)
        elif self._gathered:
            self._leave()
        else:
            self._is_out = False
