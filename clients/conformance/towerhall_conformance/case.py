"""A case, its ways to end, and the list of all cases."""

from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

import msgspec

Subject = TypeVar("Subject")


class BrokenError(Exception):
    """The subject of a case broke a clause."""

    def __init__(self, clause: str, why: str) -> None:
        super().__init__(f"{clause}: {why}")


class NotTriedError(Exception):
    """The subject did not do what the case looks at, and need not do it."""


class Case(msgspec.Struct, Generic[Subject], frozen=True):
    """One situation that the subject is put into."""

    number: int
    name: str
    clauses: tuple[str, ...]
    about: str
    play: Callable[[Subject], Awaitable[None]]


class Verdict(msgspec.Struct, frozen=True):
    """How a case ended."""

    number: int
    name: str
    clauses: tuple[str, ...]
    verdict: str
    """`passed`, `failed`, or `not tried`."""
    why: str
    seconds: float


class Cases(Generic[Subject]):
    """Cases in the order in which they were written."""

    def __init__(self, first: int = 1) -> None:
        self._first = first
        self.all: list[Case[Subject]] = []

    def __call__(
        self, name: str, clauses: str, about: str
    ) -> Callable[[Callable[[Subject], Awaitable[None]]], Callable[[Subject], Awaitable[None]]]:
        """Adds the decorated function as a case."""

        def add(
            play: Callable[[Subject], Awaitable[None]],
        ) -> Callable[[Subject], Awaitable[None]]:
            self.add(name, clauses, about, play)
            return play

        return add

    def add(
        self, name: str, clauses: str, about: str, play: Callable[[Subject], Awaitable[Any]]
    ) -> None:
        self.all.append(
            Case(self._first + len(self.all), name, tuple(clauses.split()), about, play)
        )


def expect(condition: object, clause: str, why: str) -> None:
    """`BrokenError` unless it holds."""
    if not condition:
        raise BrokenError(clause, why)
