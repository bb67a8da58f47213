"""Possible builds (FT 6 and 7): a small calculus on values, without seats or state.

Kinds do not influence each other, so one question is enough: which sequences of the shown values of
one kind fit on a given top? At most five values are shown, so all orders are tried. The answers
repeat all the time and are cached.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

import msgspec

from towerhall_server.games.five_towers.cards import (
    KINDS,
    SPIRE,
    TOP_VALUE,
    Card,
    Values,
    name_cards,
    values_by_kind,
)
from towerhall_server.games.five_towers.options import Options
from towerhall_server.games.five_towers.scoring import penalty, tower_points

NO_TOWER = -1
"""Stands for the top of a tower that does not exist."""


def can_place(top: int, value: int, eight: str) -> bool:
    """FT 6: whether a card may be laid on this top."""
    if top == NO_TOWER or value < top:
        return True
    if value == 9 and top != SPIRE:
        return True
    return value == 8 if eight == "cap" else top == 8


def top_of(tower: Values) -> int:
    return tower[-1] if tower else NO_TOWER


def can_demolish(tower: Values, options: Options) -> bool:
    """FT 6b: whether the top of this tower may be taken away."""
    return bool(tower) and (tower[-1] != SPIRE or options.demolish_spire)


@lru_cache(maxsize=1 << 14)
def chains(top: int, values: Values, eight: str) -> tuple[tuple[int, Values, bool], ...]:
    """All sequences of some of the values that fit on the top: (length, values, with a spire).

    Sorted by length, so that the last one is a longest one.
    """
    found = sorted(dict.fromkeys(_sequences(top, values, eight)), key=len)
    return tuple([(len(chain), chain, SPIRE in chain) for chain in found])


def _sequences(top: int, values: Values, eight: str) -> Iterator[Values]:
    """The same, unsorted, and more than once where a value is shown twice."""
    yield ()
    for index, value in enumerate(values):
        if can_place(top, value, eight):
            for rest in _sequences(value, values[:index] + values[index + 1 :], eight):
                yield (value, *rest)


def most_cards(towers: tuple[Values, ...], display: tuple[Card, ...], options: Options) -> int:
    """M of FT 7: how many cards of the display could be built at most, with one demolition."""
    total = best_gain = 0
    for kind, count, longest_on in _longest_by_kind(display, options.eight):
        tower = towers[kind]
        if not tower:
            total += longest_on[NO_TOWER]
            continue
        longest = longest_on[tower[-1]]
        total += longest
        if longest < count and can_demolish(tower, options):
            gain = longest_on[tower[-2] if len(tower) > 1 else NO_TOWER] - longest
            if gain > best_gain:
                best_gain = gain
    return total + best_gain


@lru_cache(maxsize=1 << 10)
def _longest_by_kind(
    display: tuple[Card, ...], eight: str
) -> tuple[tuple[int, int, tuple[int, ...]], ...]:
    """For each kind that is shown: (kind, how many cards, longest chain by top)."""
    return tuple(
        [
            (kind, len(values), _longest_chains(values, eight))
            for kind, values in enumerate(values_by_kind(display))
            if values
        ]
    )


@lru_cache(maxsize=1 << 13)
def _longest_chains(values: Values, eight: str) -> tuple[int, ...]:
    """The length of the longest chain for each top 0..15; `NO_TOWER` indexes the last item."""
    # Longest chains that begin with each value: the rest of the chain is the same question.
    beginning = {
        value: 1 + _longest_chains(values[:index] + values[index + 1 :], eight)[value]
        for index, value in enumerate(values)
    }
    return tuple(
        max((size for value, size in beginning.items() if can_place(top, value, eight)), default=0)
        for top in (*range(TOP_VALUE + 1), NO_TOWER)
    )


class Build(msgspec.Struct, frozen=True, gc=False):
    """One way to build: which kind loses its top, what the kinds get, and the score after it."""

    demolish: int | None
    chains: tuple[tuple[int, Values], ...]
    """(kind, values from the bottom up) for each kind that gets cards."""
    score: int

    def parameters(self, display: tuple[Card, ...]) -> dict[str, object]:
        """The `build` command of this build (FT 14)."""
        named: dict[str, object] = {"cards": name_cards(display, self.chains)}
        if self.demolish is not None:
            named["demolish"] = KINDS[self.demolish]
        return named


def builds(
    towers: tuple[Values, ...],
    demolished: int,
    display: tuple[Card, ...],
    number: int,
    options: Options,
) -> list[Build]:
    """Every build of that many cards, one for each different outcome."""
    loss = penalty(demolished)
    next_loss = penalty(demolished + 1) - loss
    # FT 6: a spire finishes its tower, unless an option opens it again.
    spires_finish = options.eight == "base" and not options.demolish_spire
    grounds, idle = [], []
    fit_later = 0
    for kind, values in enumerate(values_by_kind(display)):
        tower = towers[kind]
        if values and not (spires_finish and tower and tower[-1] == SPIRE):
            ground, most = _grounds(tower, values, next_loss, options)
            grounds.append((kind, ground, most))
            fit_later += most
        elif tower:
            idle.append((kind, tower))
    # Share the number out among the kinds that may grow in every way, adding up the score.
    partial: list[_Partial] = [(number, None, (), loss, 0)]
    for kind, ground, most in grounds:
        fit_later -= most
        partial = [
            (
                left - size,
                kind if bared else demolish,
                (*chains, (kind, chain)) if size else chains,
                points + change + (height + size) * (2 if spire else each),
                main if main > height + size else height + size,
            )
            for left, demolish, chains, points, main in partial
            for bared, height, each, change, fitting in ground
            if demolish is None or not bared
            for size, chain, spire in fitting
            if size <= left <= size + fit_later
        ]
    outcomes = _idle_outcomes(idle, next_loss, options)
    return [
        Build(
            demolish if idle_demolish is None else idle_demolish,
            chains,
            points + idle_points + (main if main > tallest else tallest),
        )
        for left, demolish, chains, points, main in partial
        if left == 0
        for idle_demolish, idle_points, tallest in outcomes
        if demolish is None or idle_demolish is None
    ]


_Partial: TypeAlias = tuple[int, int | None, tuple[tuple[int, Values], ...], int, int]
"""A build in the making: (cards still to place, demolished kind, chains, points, tallest)."""
_Ground: TypeAlias = tuple[bool, int, int, int, tuple[tuple[int, Values, bool], ...]]
"""A tower to build on: (whether its top goes, height, points for each card, cost of the demolition,
chains that fit)."""


def _grounds(
    tower: Values, values: Values, next_loss: int, options: Options
) -> tuple[list[_Ground], int]:
    """A tower that may grow, whole and without its top; and the most cards it may get."""
    if not tower:
        fitting = chains(NO_TOWER, values, options.eight)
        return [(False, 0, 1, 0, fitting)], fitting[-1][0]
    fitting = chains(tower[-1], values, options.eight)
    most = fitting[-1][0]
    found: list[_Ground] = [(False, len(tower), 2 if SPIRE in tower else 1, 0, fitting)]
    if can_demolish(tower, options):
        base = tower[:-1]
        fitting = chains(base[-1] if base else NO_TOWER, values, options.eight)
        found.append((True, len(base), 2 if SPIRE in base else 1, next_loss, fitting))
        if fitting[-1][0] > most:
            most = fitting[-1][0]
    return found, most


def _idle_outcomes(
    idle: list[tuple[int, Values]], next_loss: int, options: Options
) -> list[tuple[int | None, int, int]]:
    """The effect of the towers that cannot grow, as (demolished kind, points, tallest)."""
    whole = tallest = second = 0
    bared = []
    for kind, tower in idle:
        points, height = tower_points(tower), len(tower)
        whole += points
        if height > tallest:
            tallest, second = height, tallest
        elif height > second:
            second = height
        if can_demolish(tower, options):
            bared.append((kind, height, tower_points(tower[:-1]) - points + next_loss))
    outcomes: list[tuple[int | None, int, int]] = [(None, whole, tallest)]
    for kind, height, change in bared:
        # Only the one tallest tower makes a difference to it, and then by one.
        left = height - 1 if height == tallest > second else tallest
        outcomes.append((kind, whole + change, left))
    return outcomes
