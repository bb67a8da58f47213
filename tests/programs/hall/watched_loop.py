"""An event loop that notes how much processor time each callback and each of its rounds takes.

The clock is that of the thread: what other processes of the machine do does not count.
"""

import asyncio
from asyncio import events
from collections.abc import Iterator
from contextlib import contextmanager
from heapq import heappush, heappushpop
from time import thread_time
from typing import Any, Final

import msgspec

NOTED: Final = 5
"""Longest callbacks that are remembered."""


class Stalls(msgspec.Struct):
    """What a loop has done so far, in seconds of processor time."""

    callbacks: int = 0
    rounds: int = 0
    longest_round: float = 0.0
    long_rounds: int = 0
    """Rounds above the limit."""
    longest: list[tuple[float, str]] = []
    round: dict[str, float] = {}
    """Seconds by callback, of the round under way."""
    in_longest_round: dict[str, float] = {}

    @property
    def longest_callback(self) -> float:
        return max(self.longest, default=(0.0, ""))[0]

    def note(self, seconds: float, what: object) -> None:
        self.callbacks += 1
        name = _name(what)
        self.round[name] = self.round.get(name, 0.0) + seconds
        if len(self.longest) < NOTED:
            heappush(self.longest, (seconds, name))
        elif seconds > self.longest[0][0]:
            heappushpop(self.longest, (seconds, name))


class WatchedLoop(asyncio.SelectorEventLoop):
    """asyncio's own loop with a watch on it."""

    def __init__(self, limit_seconds: float) -> None:
        super().__init__()
        self.stalls = Stalls()
        self._limit_seconds = limit_seconds

    def _run_once(self) -> None:
        began = thread_time()
        super()._run_once()  # type: ignore[misc]
        spent = thread_time() - began
        self.stalls.rounds += 1
        if spent > self.stalls.longest_round:
            self.stalls.longest_round = spent
            self.stalls.in_longest_round = self.stalls.round
        self.stalls.round = {}
        self.stalls.long_rounds += spent > self._limit_seconds


@contextmanager
def watched_callbacks(loop: WatchedLoop) -> Iterator[None]:
    """Note each callback of the loop."""
    run = events.Handle._run

    def timed(self: Any) -> None:
        began = thread_time()
        run(self)
        loop.stalls.note(thread_time() - began, self)

    events.Handle._run = timed  # type: ignore[method-assign]
    try:
        yield
    finally:
        events.Handle._run = run  # type: ignore[method-assign]


def _name(handle: Any) -> str:
    callback = handle._callback
    owner = getattr(callback, "__self__", None)
    if isinstance(owner, asyncio.Task):
        return f"task {getattr(owner.get_coro(), '__qualname__', '?')}"
    return getattr(callback, "__qualname__", repr(callback))
