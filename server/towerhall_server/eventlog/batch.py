"""One write per loop tick: calls to the store that are made together travel together.

While one batch is on its way, the next one fills. So under load the engine gets few large writes,
and makes many commits durable with one fsync, and a lone call still leaves at once.

A call ends in one of three ways: its answer, `StoreRefusedError` if the engine answered with an
error, or another `StoreError` if no answer came. After an error a write may or may not have
happened: the caller repeats the same bytes until the script knows.
"""

import asyncio
from collections.abc import Sequence
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
        self._carrier: asyncio.Task[None] | None = None

    def call(self, call: Call) -> asyncio.Future[Any]:
        """The answer, as soon as it has come. To cancel it does not take the call back."""
        if self._carrier is None:
            # A task of its own: a caller that is cancelled takes no write with it.
            self._carrier = asyncio.create_task(self._carry())
        answer: asyncio.Future[Any] = self._carrier.get_loop().create_future()
        self._calls.append(call)
        self._futures.append(answer)
        return answer

    async def call_all(self, calls: Sequence[Call]) -> list[Any]:
        """An answer or a `StoreError` for each of many calls, in one write of their own."""
        answers = await self._connection.ask([call.command for call in calls])
        refused = [at for at, answer in enumerate(answers) if isinstance(answer, StoreRefusedError)]
        if refused:
            await self._look_at(calls, answers, refused)
        return answers

    async def close(self) -> None:
        """Wait for what is on its way."""
        while self._carrier is not None:
            await asyncio.shield(self._carrier)
        await self._connection.close()

    async def _carry(self) -> None:
        try:
            while self._calls:
                calls, self._calls = self._calls, []
                futures, self._futures = self._futures, []
                try:
                    answers = await self.call_all(calls)
                except Exception as error:  # noqa: BLE001 - every caller has to know of a fault here
                    answers = [error] * len(calls)
                for future, answer in zip(futures, answers, strict=True):
                    if future.done():
                        continue
                    if isinstance(answer, Exception):
                        future.set_exception(answer)
                    else:
                        future.set_result(answer)
        finally:
            self._carrier = None

    async def _look_at(self, calls: Sequence[Call], answers: list[Any], refused: list[int]) -> None:
        """A restarted engine has forgotten its scripts; each call that needs one says so itself."""
        unknown = {}
        for at in refused:
            why, script = str(answers[at]), calls[at].script
            if script is not None and why.startswith("NOSCRIPT"):
                unknown[at] = script.in_full(calls[at].command)
            elif why.startswith("READONLY"):
                # A demoted primary may stay connected for ever; the address now leads elsewhere.
                self._connection.renew(why)
        if unknown:
            again = await self._connection.ask(list(unknown.values()))
            for at, answer in zip(unknown, again, strict=True):
                answers[at] = answer
