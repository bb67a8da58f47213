"""NT 3: where a block comes to rest, and which placements are legal."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.games.nikitin_towers.positions import cubes, heaped, pole, tower_of
from towerhall_server.games.nikitin_towers.blocks import CATALOGUE, ORIENTATIONS, at_zero
from towerhall_server.games.nikitin_towers.tower import (
    MAT,
    Placed,
    Tower,
    columns,
    height,
    height_with,
    rest,
    ring_level,
    ring_level_with,
    why_illegal,
)

towers = st.builds(
    heaped, st.integers(0, 10_000), st.integers(0, 12), careless=st.sampled_from([0.0, 1.0])
)
kinds = st.sampled_from(list(CATALOGUE))
several = settings(max_examples=examples(25, 600), deadline=None)

BRIDGE = ("000", "200", "001 101 201")
"""A bar of 3 on two feet: the cell (1, 0, 0) is empty and covered."""


def reason(tower: Tower, kind: str, text: str) -> str | None:
    return why_illegal(tower, kind, tuple(cubes(text)))


def test_nt3_reasons_come_in_their_order() -> None:
    tower = tower_of(*BRIDGE)
    # Each of these breaks all rules from its own on, as far as they can be broken together.
    assert reason(tower, "A1", "000 001") == "shape"
    assert reason(tower, "B1", "001 000") == "overlap"
    assert reason(tower, "B1", "110 210") is None
    assert reason(tower, "B1", "1,0,0 1,-1,0") == "covered"
    assert reason(tower, "B1", "5,5,5 5,5,6") == "floating"
    assert reason(tower, "B1", "2,1,0 3,1,0") == "mat"


@pytest.mark.parametrize("text", ["000 001", "000 101", "000", "000 000", "000 100 200", ""])
def test_nt3_shape_must_be_a_rotation_of_the_block(text: str) -> None:
    expected = None if text == "000 001" else "shape"
    assert reason(Tower(), "B1", text) == expected


def test_nt3_mirror_images_of_chiral_blocks_are_another_shape() -> None:
    for kind in ("E6", "F6"):
        mirrored = tuple((2 - x, y, z) for x, y, z in CATALOGUE[kind].cubes)
        assert why_illegal(Tower(), kind, mirrored) == "shape"


def test_nt3_cells_must_be_free_and_not_below_the_table() -> None:
    assert reason(tower_of("000"), "A1", "000") == "overlap"
    assert reason(Tower(), "B1", "0,0,0 0,0,-1") == "overlap"


def test_nt3_covered_cells_cannot_be_filled() -> None:
    assert reason(tower_of(*BRIDGE), "A1", "100") == "covered"


def test_nt3_side_contact_is_no_support() -> None:
    assert reason(pole(0, 0, 3), "A1", "102") == "floating"
    assert reason(pole(0, 0, 3), "B1", "102 002") == "overlap"
    assert reason(pole(0, 0, 2), "B1", "102 002") is None


def test_nt3_only_the_lowest_level_must_be_over_the_mat() -> None:
    assert reason(Tower(), "B1", "200 300") == "mat"
    assert reason(Tower(), "A1", "300") == "mat"
    assert reason(tower_of("200"), "B1", "201 301") is None
    # An upright corner whose upper cube leaves the mat.
    assert reason(Tower(), "C2", "200 201 301") is None


def test_nt3_a_block_comes_down_until_a_cube_rests() -> None:
    tower = tower_of("000", "001", "100")
    bar_along_x, upright = ORIENTATIONS["C1"][2], ORIENTATIONS["C1"][0]
    assert rest(tower, bar_along_x, 0, 0) == 2
    assert rest(tower, bar_along_x, 1, 0) == 1
    assert rest(tower, upright, 1, 0) == 1
    assert rest(tower, upright, 2, 2) == 0
    assert rest(tower, upright, 50, -50) == 0


def test_nt3_an_overhanging_cube_lets_the_block_come_lower() -> None:
    """A cube of the block that is not its lowest one may be the one that rests."""
    hook = ORIENTATIONS["C2"].index(((0, 0, 0), (0, 0, 1), (1, 0, 1)))
    assert rest(tower_of("100"), ORIENTATIONS["C2"][hook], 0, 0) == 0
    assert rest(tower_of("100", "101"), ORIENTATIONS["C2"][hook], 0, 0) == 1


@several
@given(towers, kinds)
def test_nt3_columns_are_the_legal_resting_places(tower: Tower, kind: str) -> None:
    for number, shape in enumerate(ORIENTATIONS[kind], start=1):
        legal = {}
        for x in range(-8, 9):
            for y in range(-8, 9):
                z = rest(tower, shape, x, y)
                if why_illegal(tower, kind, Placed(0, kind, number, x, y, z).cubes) is None:
                    legal[x, y] = z
        within = {cell: z for cell, z in columns(tower, shape).items() if max(map(abs, cell)) <= 8}
        assert within == legal


@several
@given(towers, kinds, st.integers(0, 23), st.integers(-3, 4), st.integers(-3, 4))
def test_nt3_no_other_height_is_legal(tower: Tower, kind: str, turn: int, x: int, y: int) -> None:
    number = 1 + turn % len(ORIENTATIONS[kind])
    resting = rest(tower, ORIENTATIONS[kind][number - 1], x, y)
    for z in range(-2, height(tower) + 3):
        block = Placed(0, kind, number, x, y, z)
        if why_illegal(tower, kind, block.cubes) is None:
            assert z == resting


@several
@given(towers, st.randoms(use_true_random=False))
def test_nt10_2_the_order_of_cubes_does_not_matter(tower: Tower, chance: Random) -> None:
    kind = chance.choice(list(CATALOGUE))
    block = Placed(0, kind, 1, chance.randrange(3), chance.randrange(3), chance.randrange(4))
    mixed = chance.sample(block.cubes, len(block.cubes))
    assert at_zero(tuple(mixed)) == at_zero(block.cubes)
    assert why_illegal(tower, kind, tuple(mixed)) == why_illegal(tower, kind, block.cubes)


@several
@given(towers, kinds)
def test_nt7_measures_with_a_block_are_those_of_the_tower_with_it(tower: Tower, kind: str) -> None:
    for (x, y), z in columns(tower, ORIENTATIONS[kind][0]).items():
        block = Placed(99, kind, 1, x, y, z)
        after = tower.plus(block)
        assert height_with(tower, block.cubes) == height(after)
        assert ring_level_with(tower, block.cubes) == ring_level(after)


def test_nt7_height_counts_overhang_and_ring_level_needs_all_rim_cells() -> None:
    assert (height(Tower()), ring_level(Tower())) == (0, 0)
    ring = ["000 100 200", "020 120 220", "010", "210"]
    assert ring_level(tower_of(*ring[:3])) == 0
    assert ring_level(tower_of(*ring)) == 1
    # The middle cell, cubes off the mat and the levels below do not matter.
    upper = ["001 101 201", "021 121 221", "011", "211 311 411"]
    assert ring_level(tower_of(*ring, *upper)) == 2
    assert height(tower_of(*ring, *upper, "4,1,2 5,1,2")) == 3
    assert ring_level_with(tower_of(*ring[:3]), tuple(cubes("210"))) == 1


def test_nt2_mat_has_nine_cells() -> None:
    assert sorted(MAT) == [(x, y) for x in range(3) for y in range(3)]
