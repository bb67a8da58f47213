"""Goes through all states that can be reached, each once, and checks every one of them."""

from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple, TypeVar

from towerhall_server.store.errors import StoreError

S = TypeVar("S", bound=Hashable)


class BrokenError(AssertionError):
    """A state that must not be."""


class Explored(NamedTuple):
    """What was found."""

    states: int
    steps: int
    ends: int
    """States in which every question was answered."""
    broken: str = ""
    """What does not hold, if anything."""


def explore(
    first: S, following: Callable[[S], Iterable[S]], is_end: Callable[[S], bool]
) -> Explored:
    """Every history, up to the first state that must not be, which `is_end` tells."""
    todo = [first]
    seen = set(todo)
    steps = ends = 0
    try:
        while todo:
            state = todo.pop()
            ends += is_end(state)
            for after in following(state):
                steps += 1
                if after not in seen:
                    seen.add(after)
                    todo.append(after)
    except (BrokenError, StoreError) as broken:
        return Explored(len(seen), steps, ends, str(broken))
    return Explored(len(seen), steps, ends)
