"""Batch one step across rooms per loop tick.

A move runs through more code than the caches of a core hold. Under load many moves come in one
tick. One by one, each of them would load the code of every step anew. So they go step by step:
decide all; send all to the store in one write; encode their frames meanwhile; and when the answers
come together, send all frames before the bookkeeping.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final, Generic, TypeVar

logger = logging.getLogger(__name__)
Result = TypeVar("Result")

AT_ONCE: Final = 250
"""Rooms per batch. With more, the first rooms' data leaves the caches before the next step."""


class Stage(Generic[Result]):
    """One step. Its items are handled in order in the next tick. The next step gets their results,
    `None` left out."""

    __slots__ = ("_then", "_todo")

    def __init__(self, then: Callable[[list[Result]], None]) -> None:
        self._then = then
        self._todo: list[Callable[[], Result | None]] = []

    def add(self, do: Callable[[], Result | None]) -> None:
        """Call `do` in the next tick. An exception is logged, and the others go on."""
        if not self._todo:
            asyncio.get_running_loop().call_soon(self._do_some)
        self._todo.append(do)

    def _do_some(self) -> None:
        todo, self._todo = self._todo[:AT_ONCE], self._todo[AT_ONCE:]
        if self._todo:
            asyncio.get_running_loop().call_soon(self._do_some)
        results: list[Result] = []
        for do in todo:
            try:
                result = do()
            except Exception:
                logger.exception("a step of one room has failed")
            else:
                if result is not None:
                    results.append(result)
        self._then(results)
