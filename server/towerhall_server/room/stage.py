"""The same thing done to many rooms in one go, because it is cheaper than one room after the other.

A move runs through more code than a core keeps at hand. Under load many moves come in one tick: if
each of them went all its way alone, the code of every step would have to be fetched anew for each.
So they go together, step by step: they are decided; then they leave for the store in one write, and
what will be told of them is drafted; and when the answers come, which they do together, all are
told first and books are kept after that.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Final, TypeVar

logger = logging.getLogger(__name__)
Item = TypeVar("Item")

AT_ONCE: Final = 250
"""With more, what the first rooms hold has left the caches before the next step comes to them."""


class Stage:
    """One step of the way. What it is given is done in order, and soon; then the next step follows
    for all of it."""

    __slots__ = ("_then", "_todo")

    def __init__(self, then: Callable[[], None]) -> None:
        self._then = then
        self._todo: list[tuple[Callable[[Any], None], Any]] = []

    def add(self, do: Callable[[Item], None], item: Item) -> None:
        """Have that done with the item. It should not fail; if it does, others go on."""
        if not self._todo:
            asyncio.get_running_loop().call_soon(self._do_some)
        self._todo.append((do, item))

    def _do_some(self) -> None:
        todo, self._todo = self._todo[:AT_ONCE], self._todo[AT_ONCE:]
        if self._todo:
            asyncio.get_running_loop().call_soon(self._do_some)
        for do, item in todo:
            try:
                do(item)
            except Exception:
                logger.exception("a step of one room has failed")
        self._then()
