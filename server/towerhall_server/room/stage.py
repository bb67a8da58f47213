"""The same thing done to many rooms in one go, because it is cheaper than one room after the other.

A move runs through more code than a core keeps at hand. Under load many moves come in one tick: if
each of them went all its way alone, the code of every step would have to be fetched anew for each.
So they go together, step by step: all are decided, then all are asked for, then all are shown.
"""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

Item = TypeVar("Item")


class Stage:
    """One step of the way. What it is given is done in order, soon, and before anybody who was
    told of it can answer."""

    __slots__ = ("_todo",)

    def __init__(self) -> None:
        self._todo: list[tuple[Callable[[Any], None], Any]] = []

    def add(self, do: Callable[[Item], None], item: Item) -> None:
        """It must not fail: others come after it."""
        if not self._todo:
            asyncio.get_running_loop().call_soon(self._do_all)
        self._todo.append((do, item))

    def _do_all(self) -> None:
        todo, self._todo = self._todo, []
        for do, item in todo:
            do(item)
