"""NT 4: the fast solver gives the verdicts of rational arithmetic, and of another solver.

Each test prints how many positions it compared; `pytest -s` shows it.
"""

from collections.abc import Iterator
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from tests.examples import examples
from tests.games.nikitin_towers import exact
from tests.games.nikitin_towers.positions import (
    POLICIES,
    critical_insets,
    heaped,
    placed,
    played,
    shaken,
)
from towerhall_server.games.nikitin_towers import stability
from towerhall_server.games.nikitin_towers.footing import INSET
from towerhall_server.games.nikitin_towers.search import candidates
from towerhall_server.games.nikitin_towers.simplex import Lean
from towerhall_server.games.nikitin_towers.stability import forget, stands, stands_with, statics
from towerhall_server.games.nikitin_towers.tower import Tower

SLOPES = (10, 20, 0)
pytestmark = pytest.mark.timeout(examples(60, 900))
"""Seconds: thousands of positions take minutes."""


def tell(what: str, verdicts: list[bool]) -> None:
    falling = verdicts.count(False)
    print(f"\n{what}: N = {len(verdicts)}, {falling} of them fall, 0 disagreements")
    assert falling
    assert falling < len(verdicts)


def one_more(tower: Tower, seed: int) -> Tower:
    """The tower with one of the blocks that its own footing holds."""
    chance = Random(f"more {seed}")
    while True:
        kind = chance.choice(["A1", "B1", "C1", "C2", "D4", "D1", "E2", "E5", "F2", "F6"])
        if found := list(candidates(tower, kind, 10, len(tower.blocks))):
            return tower.plus(chance.choice(found).placed)


def played_positions(games: int, blocks: int) -> Iterator[Tower]:
    """Towers of played games, each with one more block that may make it fall."""
    for seed in range(games):
        for policy in POLICIES:
            for number, tower in enumerate(played(seed, policy, blocks)):
                yield one_more(tower, 100 * seed + number)


def heaps(count: int, most: int) -> Iterator[Tower]:
    for seed in range(count):
        yield heaped(seed, 2 + seed % (most - 1))


def test_nt4_verdicts_on_random_towers_are_exact() -> None:
    verdicts = []
    for seed, tower in enumerate(heaps(examples(100, 2500), examples(7, 9))):
        slope = SLOPES[seed % 5 % 3]
        verdicts.append(stands(tower, slope))
        assert verdicts[-1] == exact.stands(tower, slope), (seed, tower)
    tell("random towers, exact", verdicts)


def test_nt4_verdicts_on_played_towers_are_exact() -> None:
    verdicts = []
    for tower in played_positions(examples(2, 45), examples(7, 10)):
        verdicts.append(stands(tower, 10))
        assert verdicts[-1] == exact.stands(tower, 10), tower
    tell("played towers, exact", verdicts)


@pytest.mark.parametrize("digits", [3, 6])
def test_nt4_verdicts_on_near_ties_are_exact(digits: int) -> None:
    """An inset on either side of the one at which the tower would balance exactly."""
    verdicts = []
    for tower in heaps(examples(25, 350), examples(5, 8)):
        for slope in SLOPES[:2]:
            for inset in critical_insets(tower, slope, digits) or ():
                verdicts.append(stands(tower, slope, inset=inset))
                assert verdicts[-1] == exact.stands(tower, slope, inset), (tower, inset)
    tell(f"near ties of 1e-{digits}, exact", verdicts)


def test_nt4_exact_ties_stand() -> None:
    """Without lean and inset a centre of mass over an edge is common, and equality stands."""
    verdicts = []
    for tower in heaps(examples(40, 1500), examples(6, 8)):
        verdicts.append(stands(tower, 0, inset=Fraction(0)))
        assert verdicts[-1] == exact.stands(tower, 0, Fraction(0)), tower
    tell("ties, exact", verdicts)


def by_linprog(tower: Tower, slope: int) -> bool:
    """The verdict of HiGHS on the same equations."""
    from scipy.optimize import linprog  # costs a second of each worker that collects this file

    solved = statics(tower, slope)
    for lean in range(len(solved.firm)):
        contacts = len(solved.upper)
        matrix = np.zeros((len(tower.blocks) + 1, 3, contacts))
        each = np.arange(contacts)
        matrix[solved.upper, :, each] += solved.points[lean]
        matrix[solved.lower, :, each] -= solved.points[lean]
        answer = linprog(
            np.zeros(contacts),
            A_eq=matrix[:-1].reshape(-1, contacts),
            b_eq=solved.load[lean],
            bounds=(0, None),
            method="highs",
        )
        assert answer.status in (0, 2)
        if answer.status == 2:
            return False
    return True


def test_nt4_verdicts_on_random_towers_are_those_of_linprog() -> None:
    verdicts = []
    for tower in heaps(examples(20, 2000), 15):
        verdicts.append(stands(tower, 10))
        assert verdicts[-1] == by_linprog(tower, 10), tower
    tell("random towers, linprog", verdicts)


def test_nt4_verdicts_on_high_towers_are_those_of_linprog() -> None:
    verdicts = []
    for seed in range(examples(1, 10)):
        for policy in POLICIES:
            for number, tower in enumerate(played(seed, policy)):
                if number % examples(10, 1) == 0:
                    more = one_more(tower, 100 * seed + number)
                    verdicts.append(stands(more, 10))
                    assert verdicts[-1] == by_linprog(more, 10), more
    tell("high towers, linprog", verdicts)


def test_nt4_verdicts_after_collapses_are_those_of_linprog() -> None:
    """What a collapse leaves stands, though the tower may never have stood with these blocks."""
    verdicts = []
    for seed in range(examples(12, 100)):
        tower = shaken(seed, 14)
        forget()
        assert stands(tower, 10)
        more = one_more(tower, seed)
        verdicts.append(stands(more, 10))
        assert verdicts[-1] == by_linprog(more, 10), more
    tell("after collapses, linprog", verdicts)


def test_nt4_verdicts_do_not_depend_on_what_was_asked_before() -> None:
    verdicts = []
    for tower in played_positions(examples(1, 6), examples(30, 45)):
        before, last = Tower(tower.blocks[:-1]), tower.blocks[-1]
        warm = stands_with(before, last, 10)
        assert stands(tower, 10) == warm
        forget()
        assert stands(Tower(tower.blocks), 10) == warm
        forget()
        assert stands_with(before, last, 10) == warm
        verdicts.append(warm)
    tell("three ways of asking", verdicts)


def test_nt4_verdicts_do_not_change_within_a_millionth_of_the_inset() -> None:
    """NT 4 says that floating point is safe: no tie is near in played games."""
    verdicts = []
    narrow, wide = INSET - Fraction(1, 10**6), INSET + Fraction(1, 10**6)
    for tower in played_positions(examples(1, 6), examples(20, 45)):
        verdicts.append(stands(tower, 10))
        assert stands(tower, 10, inset=narrow) == verdicts[-1]
        assert stands(tower, 10, inset=wide) == verdicts[-1]
    tell("inset give or take 1e-6", verdicts)


def test_nt4_forces_of_a_standing_tower_carry_it() -> None:
    """The errors of all exchanges since the first block stay far below the tolerance."""
    worst = 0.0
    for policy in POLICIES:
        forget()
        for tower in played(1, policy, examples(30, 45)):
            solved = statics(tower, 10)
            for number in range(len(solved.firm)):
                assert solved.forces[number].min() >= -1e-9
                worst = max(worst, solved.lean(number).error())
    print(f"\nworst error of a force: {worst:.1e}")
    assert worst < 1e-9


def test_nt4_an_inverse_with_errors_is_made_anew() -> None:
    """The same verdicts although every inverse was damaged before its first exchange."""
    verdicts = []
    for seed in range(examples(20, 400)):
        tower = heaped(seed, 4 + seed % 12)
        solved = statics(tower, 10)
        for number, firm in enumerate(solved.firm):
            lean = solved.lean(number)
            damaged = Lean(
                lean.upper,
                lean.lower,
                lean.points,
                lean.load,
                lean.inverse * (1 + 1e-4 * np.random.default_rng(seed).random(lean.inverse.shape)),
                lean.forces * 1.001 - 0.001,
                lean.basis.copy(),
            )
            assert damaged.settle() == firm
            assert not firm or not damaged.pivots or damaged.error() < 1e-9
            verdicts.append(firm)
    tell("damaged inverses", verdicts)


def test_nt4_a_tower_is_solved_from_the_one_before_its_last_block() -> None:
    """And from no other that is remembered, such as the one without its first block."""
    for seed in range(5):
        tower = heaped(seed, 6)
        forget()
        fresh = statics(tower, 10)
        forget()
        for blocks in (tower.blocks[:1], tower.blocks[:-1], tower.blocks[:-2]):
            statics(Tower(blocks), 10)
        assert np.array_equal(statics(tower, 10).load, fresh.load)
    row = Tower(tuple(placed([(x, 0, 0)]) for x in range(3)))
    fresh = statics(row, 10)
    forget()
    statics(Tower(row.blocks[1:]), 10)
    assert np.array_equal(statics(row, 10).load, fresh.load)


def test_nt4_few_towers_are_remembered() -> None:
    forget()
    for tower in played(3, POLICIES[1], 40):
        stands(tower, 10)
        stands(tower, 20)
    assert len(stability._remembered) == stability.MOST_REMEMBERED
