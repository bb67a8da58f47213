"""NT 4: which towers stand; the examples that the rules name, and symmetry."""

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.games.nikitin_towers.positions import SLOPE, heaped, placed, pole, tower_of
from towerhall_server.games.nikitin_towers.blocks import Cube
from towerhall_server.games.nikitin_towers.stability import stands, stands_with
from towerhall_server.games.nikitin_towers.tower import MAT, Tower

NORMAL, CALM, UPRIGHT = 10, 20, 0
Move = Callable[[Cube], Cube]

MOVES: dict[str, Move] = {
    "quarter": lambda cube: (2 - cube[1], cube[0], cube[2]),
    "half": lambda cube: (2 - cube[0], 2 - cube[1], cube[2]),
    "mirror": lambda cube: (2 - cube[0], cube[1], cube[2]),
    "diagonal": lambda cube: (cube[1], cube[0], cube[2]),
}


def moved(tower: Tower, move: Move) -> Tower | None:
    """The tower turned or mirrored. Returns None if a chiral block has no mirror image."""
    try:
        return Tower(tuple(placed([move(cube) for cube in block.cubes]) for block in tower.blocks))
    except ValueError:
        return None


def test_nt4_an_empty_tower_and_a_single_cube_stand() -> None:
    assert stands(Tower(), NORMAL)
    assert stands(pole(1, 1, 1), NORMAL)


@pytest.mark.parametrize("cell", sorted(MAT))
def test_nt10_7_a_pole_of_cubes_stands_at_9_and_falls_at_10(cell: tuple[int, int]) -> None:
    assert stands(pole(*cell, 9), NORMAL)
    assert not stands(pole(*cell, 10), NORMAL)


@pytest.mark.parametrize(("width", "levels"), [(1, 9), (2, 19)])
def test_nt4_a_pole_stands_to_its_height_by_width(width: int, levels: int) -> None:
    def high(levels: int) -> Tower:
        sides = range(width)
        layers = [[(x, y, z) for x in sides for y in sides] for z in range(levels)]
        return Tower(tuple(map(placed, layers)))

    assert stands(high(levels), NORMAL)
    assert not stands(high(levels + 1), NORMAL)


def test_nt9_on_a_calm_table_the_pole_stands_to_18() -> None:
    assert stands(pole(0, 0, 18), CALM)
    assert not stands(pole(0, 0, 19), CALM)


def test_nt4_without_lean_a_pole_never_falls() -> None:
    assert stands(pole(2, 0, 45), UPRIGHT)


def test_nt10_6_without_lean_and_inset_a_bar_overhanging_by_one_stands() -> None:
    assert not stands(tower_of("000 100", "101 201 301"), UPRIGHT, inset=Fraction(0))
    assert stands(tower_of("000 100", "001 101 201"), UPRIGHT, inset=Fraction(0))


def test_nt10_6_without_lean_and_inset_a_half_overhanging_domino_is_the_tie() -> None:
    tower = tower_of("000", "001 101")
    assert stands(tower, UPRIGHT, inset=Fraction(0))
    assert not stands(tower, UPRIGHT, inset=Fraction(1, 1000))
    assert not stands(tower, UPRIGHT)


def test_nt4_the_upright_corner_on_one_foot_stands_by_a_narrow_margin() -> None:
    tower = tower_of("000 001 101")
    assert stands(tower, NORMAL)
    assert not stands(tower, NORMAL, inset=Fraction(7, 139))


def test_nt4_side_faces_hold_nothing() -> None:
    """An overhanging domino between two walls falls all the same."""
    walls = ["010", "011", "210", "211"]
    assert not stands(tower_of(*walls, "110", "111 1,0,1"), NORMAL)


def test_nt4_a_block_may_add_support_to_a_tower_that_does_not_stand() -> None:
    leaning = tower_of("000", "001 101")
    weight = placed([(0, 0, 2), (0, 0, 3)])
    assert stands_with(leaning, weight, NORMAL) == stands(leaning.plus(weight), NORMAL)


@settings(max_examples=examples(40, 1000), deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 12), st.sampled_from(sorted(MOVES)))
def test_nt10_1_turning_or_mirroring_does_not_change_the_verdict(
    seed: int, blocks: int, name: str
) -> None:
    tower = heaped(seed, blocks)
    turned = moved(tower, MOVES[name])
    if turned is not None:
        assert stands(turned, SLOPE) == stands(tower, SLOPE)


@settings(max_examples=examples(20, 300), deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 10))
def test_nt4_a_steeper_lean_or_a_wider_inset_never_helps(seed: int, blocks: int) -> None:
    tower = heaped(seed, blocks)
    for easy, hard in ((UPRIGHT, CALM), (CALM, NORMAL), (NORMAL, 5)):
        assert stands(tower, easy) or not stands(tower, hard)
    for inset in (Fraction(0), Fraction(1, 50)):
        assert stands(tower, NORMAL, inset=inset) or not stands(tower, NORMAL)
