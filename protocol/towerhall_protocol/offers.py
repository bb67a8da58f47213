"""Offers: the commands that are legal for a seat now, so that a client without rules can play.

An offer is one command name with its possible parameters: nothing (the command as it is), whole
numbers in a range, a list of choices, or both. A choice may say beforehand what it leads to (its
`effect`, such as the score after it). Where telling whether a command is legal takes long, its
offer is `unsure`: the server may refuse the command.
"""

from collections.abc import Iterator, Mapping
from itertools import product

import msgspec

from towerhall_protocol.document import Document


class Range(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Every whole number from `least` to `most`, both included."""

    least: int
    most: int


class Choice(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Parameters that go together, and what they lead to as far as anyone may know."""

    parameters: Document
    effect: Document = {}


class Offer(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One command that may be given now."""

    command: str
    ranges: Mapping[str, Range] = {}
    choices: tuple[Choice, ...] | None = None
    unsure: bool = False

    def count(self) -> int:
        """How many different commands this offers."""
        count = 1 if self.choices is None else len(self.choices)
        for numbers in self.ranges.values():
            count *= max(0, numbers.most - numbers.least + 1)
        return count

    def commands(self) -> Iterator[dict[str, object]]:
        """Each command that this offers."""
        return (command for command, _ in self.with_effects())

    def with_effects(self) -> Iterator[tuple[dict[str, object], Document]]:
        """Each command that this offers, beside what it leads to."""
        names = tuple(self.ranges)
        numbers = [range(r.least, r.most + 1) for r in self.ranges.values()]
        for choice in (Choice({}),) if self.choices is None else self.choices:
            for values in product(*numbers):
                command = {"command": self.command, **choice.parameters}
                command.update(zip(names, values, strict=True))
                yield command, choice.effect
