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
from typing import Any, TypeAlias

import msgspec

from towerhall_server.eventlog.commands import Script
from towerhall_server.eventlog.connection import Connection
from towerhall_server.eventlog.errors import StoreRefusedError

__all__ = ["Batch", "Call", "Caller", "Later", "give"]

Later: TypeAlias = Callable[[], None]
Caller: TypeAlias = Callable[[Any], Later | None]
"""Is given the answer, or the `StoreError` in its place. What it returns is called when all whose
calls travelled together have theirs. Neither must fail: others wait, too."""


class Call(msgspec.Struct, frozen=True, gc=False):
    """One packed command, and the script that it names by its digest, if it does."""

    command: bytes
    script: Script | None = None


class Batch:
    """Collects calls of one loop tick and carries them to the store."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._calls: list[Call] = []
        self._callers: list[Caller] = []
        self._meanwhile: list[Callable[[], None]] = []

    def ask(self, call: Call, caller: Caller, meanwhile: Callable[[], None] | None = None) -> None:
        """Make a call. `caller` gets its answer in the very moment in which it comes. Once the call
        has left, mostly before its answer, `meanwhile` is called, which must not fail either."""
        if not self._calls:
            asyncio.get_running_loop().call_soon(self.leave)
        self._calls.append(call)
        self._callers.append(caller)
        if meanwhile is not None:
            self._meanwhile.append(meanwhile)

    def call(self, call: Call) -> asyncio.Future[Any]:
        """The same for those who wait. To cancel it does not take the call back."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.ask(call, partial(give, answer))
        return answer

    async def call_all(self, calls: Sequence[Call]) -> list[Any]:
        """An answer or a `StoreError` for each of many calls."""
        return await asyncio.gather(*map(self.call, calls), return_exceptions=True)

    async def close(self) -> None:
        """Wait for what is on its way."""
        self.leave()
        await self._connection.close()

    def leave(self) -> None:
        """Send what there is, as at the end of a tick."""
        calls, self._calls = self._calls, []
        callers, self._callers = self._callers, []
        meanwhile, self._meanwhile = self._meanwhile, []
        if calls:
            self._carry(calls, callers)
        for do in meanwhile:
            do()

    def _carry(self, calls: list[Call], callers: list[Caller]) -> None:
        commands = [call.command for call in calls]
        self._connection.ask(commands, partial(self._answered, calls, callers))

    def _answered(self, calls: list[Call], callers: list[Caller], answers: list[Any]) -> None:
        """Hand out the answers, and teach a restarted engine the scripts that it has forgotten:
        each call that needs one says so itself."""
        untaught: list[Call] = []
        unanswered: list[Caller] = []
        afterwards: list[Later] = []
        for call, caller, answer in zip(calls, callers, answers, strict=True):
            if isinstance(answer, StoreRefusedError):
                why = str(answer)
                if call.script is not None and why.startswith("NOSCRIPT"):
                    untaught.append(Call(call.script.in_full(call.command)))
                    unanswered.append(caller)
                    continue
                if why.startswith("READONLY"):
                    # A demoted primary may stay connected for ever; its address leads elsewhere.
                    self._connection.renew(why)
            later = caller(answer)
            if later is not None:
                afterwards.append(later)
        for later in afterwards:
            later()
        if untaught:
            self._carry(untaught, unanswered)


def give(future: asyncio.Future[Any], answer: Any) -> None:
    """Tell whoever waits, if somebody still does."""
    if not future.done():
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
