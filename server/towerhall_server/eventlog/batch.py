"""One write per loop tick: calls to the store that are made together travel together.

Nobody waits for the batch before. So a lone call leaves at once, and under load the engine finds
many commits in its socket when it has written the last ones, and makes them durable with one fsync.
What a caller can do meanwhile, it can have done while the engine is busy with that.

A call ends in one of three ways: its answer, `StoreRefusedError` if the engine answered with an
error, or another `StoreError` if no answer came. After an error a write may or may not have
happened: the caller repeats the same bytes until the script knows.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec

from towerhall_server.eventlog.commands import Script
from towerhall_server.eventlog.connection import Connection
from towerhall_server.eventlog.errors import StoreError, StoreRefusedError

__all__ = ["Batch", "Call", "StoreError", "StoreRefusedError"]


class Call(msgspec.Struct, frozen=True, gc=False):
    """One packed command, and the script that it names by its digest, if it does."""

    command: bytes
    script: Script | None = None


class Batch:
    """Collects calls of one loop tick and carries them to the store."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._calls: list[Call] = []
        self._futures: list[asyncio.Future[Any]] = []
        self._meanwhile: list[Callable[[], None]] = []

    def call(self, call: Call, meanwhile: Callable[[], None] | None = None) -> asyncio.Future[Any]:
        """The answer, as soon as it has come. To cancel it does not take the call back. Once it has
        left, `meanwhile` is called, which must not fail."""
        loop = asyncio.get_running_loop()
        if not self._calls:
            loop.call_soon(self._send)
        answer: asyncio.Future[Any] = loop.create_future()
        self._calls.append(call)
        self._futures.append(answer)
        if meanwhile is not None:
            self._meanwhile.append(meanwhile)
        return answer

    async def call_all(self, calls: Sequence[Call]) -> list[Any]:
        """An answer or a `StoreError` for each of many calls."""
        return await asyncio.gather(*map(self.call, calls), return_exceptions=True)

    async def close(self) -> None:
        """Wait for what is on its way."""
        self._send()
        await self._connection.close()

    def _send(self) -> None:
        calls, self._calls = self._calls, []
        futures, self._futures = self._futures, []
        meanwhile, self._meanwhile = self._meanwhile, []
        if calls:
            self._ask(calls, futures)
        if meanwhile:
            # In the next tick: only at the end of this one do the bytes really leave.
            asyncio.get_running_loop().call_soon(_do_all, meanwhile)

    def _ask(self, calls: list[Call], futures: list[asyncio.Future[Any]]) -> None:
        commands = [call.command for call in calls]
        self._connection.ask(commands, partial(self._answered, calls, futures))

    def _answered(
        self, calls: list[Call], futures: list[asyncio.Future[Any]], answers: list[Any]
    ) -> None:
        """Hand out the answers, and teach a restarted engine the scripts that it has forgotten:
        each call that needs one says so itself."""
        untaught: list[Call] = []
        unanswered: list[asyncio.Future[Any]] = []
        for call, future, answer in zip(calls, futures, answers, strict=True):
            if not isinstance(answer, Exception):
                if not future.done():
                    future.set_result(answer)
                continue
            why = str(answer) if isinstance(answer, StoreRefusedError) else ""
            if call.script is not None and why.startswith("NOSCRIPT"):
                untaught.append(Call(call.script.in_full(call.command)))
                unanswered.append(future)
                continue
            if why.startswith("READONLY"):
                # A demoted primary may stay connected for ever; the address now leads elsewhere.
                self._connection.renew(why)
            if not future.done():
                future.set_exception(answer)
        if untaught:
            self._ask(untaught, unanswered)


def _do_all(meanwhile: list[Callable[[], None]]) -> None:
    for do in meanwhile:
        do()
