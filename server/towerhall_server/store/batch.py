"""One write per loop tick: all calls of one tick are sent together.

A batch does not wait for the batch before: a lone call leaves at once. Under load the engine
finds many commits in its socket after the last write, and makes them durable with one fsync. A
caller's work in the meantime overlaps with the engine's.

A call ends in one of three ways: its answer, `StoreRefusedError` if the engine answered with an
error, or another `StoreError` if no answer came. After an error a write may or may not have
happened: the caller repeats the same bytes until the script tells.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, TypeAlias

import msgspec

from towerhall_server.store.confirming import ConfirmingConnection
from towerhall_server.store.connection import Connection, Find
from towerhall_server.store.errors import StoreError
from towerhall_server.store.resp import Script

__all__ = ["Batch", "Call", "Caller", "Later", "batch_to", "give"]

Later: TypeAlias = Callable[[], None]
Caller: TypeAlias = Callable[[Any], Later | None]
"""Receives the answer or the `StoreError`. Its return value is called once the whole batch has its
answers. Neither may raise: one failure blocks the batch."""
Redirect: TypeAlias = Callable[["Call", Caller, StoreError], bool]
"""Receives a call that failed. Returns whether it was sent elsewhere."""


class Call(msgspec.Struct, frozen=True, gc=False):
    """One packed command, and the script whose digest it names, if any."""

    command: bytes
    script: Script | None = None
    hops: int = 0
    """Redirections that it went through."""
    is_durable: bool = False
    """Whether replicas must have it before it is answered, where the URL of the store asks for
    that."""


class Batch:
    """Collects the calls of one loop tick and sends them to the store."""

    def __init__(
        self,
        connection: Connection | ConfirmingConnection,
        redirect: Redirect | None = None,
        confirmed: "Batch | None" = None,
    ) -> None:
        self._connection = connection
        self._redirect = redirect
        self._confirmed = confirmed
        """The way of durable calls, if replicas have to confirm them."""
        self._calls: list[Call] = []
        self._callers: list[Caller] = []
        self._meanwhile: list[Callable[[], None]] = []

    def ask(self, call: Call, caller: Caller, meanwhile: Callable[[], None] | None = None) -> None:
        """Make a call. `caller` gets its answer as soon as it arrives. `meanwhile` is called after
        the call was sent, mostly before its answer, and must not raise either."""
        if self._confirmed is not None and call.is_durable:
            self._confirmed.ask(call, caller, meanwhile)
            return
        if not self._calls:
            asyncio.get_running_loop().call_soon(self.leave)
        self._calls.append(call)
        self._callers.append(caller)
        if meanwhile is not None:
            self._meanwhile.append(meanwhile)

    def call(self, call: Call) -> asyncio.Future[Any]:
        """The same as a future. Cancelling it does not take the call back."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.ask(call, partial(give, answer))
        return answer

    async def call_all(self, calls: Sequence[Call]) -> list[Any]:
        """Return an answer or a `StoreError` for each of many calls."""
        return await asyncio.gather(*map(self.call, calls), return_exceptions=True)

    async def call_lanes(self, calls: Sequence[Call]) -> list[Any]:
        """The same for calls of several shards. Raises if no primary answered all of its calls;
        only a cluster has several."""
        answers = await self.call_all(calls)
        for answer in answers:
            if isinstance(answer, StoreError):
                raise answer
        return answers

    def lanes_of(self, calls: Sequence[Call]) -> Sequence[Sequence[int]]:
        """Return the indexes of these calls, grouped by the primary that they go to."""
        return (range(len(calls)),)

    async def first_lanes(
        self, lanes: Sequence[Coroutine[Any, Any, None]], *, within_seconds: float = 0.0
    ) -> None:
        """Run one coroutine for each primary, at the same time."""
        await asyncio.gather(*lanes)

    def is_down(self, call: Call) -> bool:
        """Whether the primary of a call is down while another one is up."""
        return False

    def drop(self, why: str) -> None:
        """End calls under way with a `StoreError`."""
        self._connection.renew(why)
        if self._confirmed is not None:
            self._confirmed.drop(why)

    async def close(self) -> None:
        """Wait for calls under way."""
        self.leave()
        if self._confirmed is not None:
            await self._confirmed.close()
        await self._connection.close()

    def leave(self) -> None:
        """Send pending calls now, as at the end of a tick."""
        if self._confirmed is not None:
            self._confirmed.leave()
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
        """Hand out the answers. Calls whose script a restarted engine has forgotten are sent again
        with the script's text."""
        untaught: list[Call] = []
        unanswered: list[Caller] = []
        afterwards: list[Later] = []
        for call, caller, answer in zip(calls, callers, answers, strict=True):
            if isinstance(answer, StoreError):
                why = str(answer)
                if call.script is not None and why.startswith("NOSCRIPT"):
                    taught = call.script.in_full(call.command)
                    untaught.append(Call(taught, None, call.hops, call.is_durable))
                    unanswered.append(caller)
                    continue
                if self._redirect is not None and self._redirect(call, caller, answer):
                    continue
                if why.startswith("READONLY"):
                    # A demoted primary may stay connected forever; its address leads elsewhere.
                    self._connection.renew(why)
            later = caller(answer)
            if later is not None:
                afterwards.append(later)
        for later in afterwards:
            later()
        if untaught:
            self._carry(untaught, unanswered)


def batch_to(where: str | Find, replicas: int = 0, redirect: Redirect | None = None) -> Batch:
    """Return the batch of one engine. Durable calls wait for that many replicas."""
    confirmed = None
    if replicas:
        confirmed = Batch(ConfirmingConnection(Connection(where), replicas), redirect)
    return Batch(Connection(where), redirect, confirmed)


def give(future: asyncio.Future[Any], answer: Any) -> None:
    """Resolve the future, unless it was cancelled."""
    if not future.done():
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
