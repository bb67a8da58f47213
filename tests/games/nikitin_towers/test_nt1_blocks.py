"""NT 1: the catalogue and its orientations."""

import pytest

from towerhall_server.games.nikitin_towers.blocks import (
    CATALOGUE,
    KINDS_OF_SIZE,
    ORIENTATIONS,
    ROTATIONS,
    Cubes,
    at_zero,
    size_of,
    turned,
)

# NT 1, column "distinct orientations".
# fmt: off
DISTINCT = {
    "A1": 1, "B1": 3, "C1": 3, "C2": 12,
    "D1": 3, "D2": 3, "D3": 24, "D4": 12, "D5": 12, "D6": 8,
    "E1": 24, "E2": 12, "E3": 12, "E4": 3, "E5": 12, "E6": 24,
    "F1": 6, "F2": 12, "F3": 24, "F4": 6, "F5": 24, "F6": 12,
}
# fmt: on
CHIRAL = {"E6", "F6"}


def test_nt1_box_holds_45_blocks_of_138_cubes() -> None:
    kinds = CATALOGUE.values()
    assert sum(kind.count for kind in kinds) == 45
    assert sum(kind.count * kind.size for kind in kinds) == 138


def test_nt1_counts_by_size_are_those_of_the_booklet() -> None:
    counts = {
        size: sum(CATALOGUE[name].count for name in names) for size, names in KINDS_OF_SIZE.items()
    }
    assert counts == {1: 12, 2: 9, 3: 6, 4: 6, 5: 6, 6: 6}


def test_nt1_kinds_of_size_list_each_kind_once() -> None:
    assert [name for names in KINDS_OF_SIZE.values() for name in names] == list(CATALOGUE)
    assert all(size_of(name) == size for size, names in KINDS_OF_SIZE.items() for name in names)


def test_nt1_each_kind_has_its_number_of_distinct_orientations() -> None:
    assert {name: len(shapes) for name, shapes in ORIENTATIONS.items()} == DISTINCT


def test_nt1_there_are_24_rotations_and_none_mirrors() -> None:
    corner: Cubes = ((0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0), (0, 1, 0), (0, 2, 0), (0, 0, 1))
    turns = {turned(corner, rotation) for rotation in ROTATIONS}
    assert len(turns) == len(ROTATIONS) == 24
    assert at_zero(tuple((-x, y, z) for x, y, z in corner)) not in turns


@pytest.mark.parametrize("name", CATALOGUE)
def test_nt1_only_the_chiral_kinds_lack_their_mirror_image(name: str) -> None:
    mirrored = at_zero(tuple((-x, y, z) for x, y, z in CATALOGUE[name].cubes))
    assert (mirrored not in ORIENTATIONS[name]) == (name in CHIRAL)


@pytest.mark.parametrize("name", CATALOGUE)
def test_nt1_orientations_are_sorted_at_the_zero_corner_and_hold_the_table(name: str) -> None:
    shapes = ORIENTATIONS[name]
    assert list(shapes) == sorted(set(shapes))
    assert CATALOGUE[name].cubes in shapes
    for shape in shapes:
        assert at_zero(shape) == shape
        assert len(set(shape)) == size_of(name)


def test_nt1_all_kinds_but_the_bar_of_4_fit_a_box_of_3() -> None:
    large = {
        name
        for name, shapes in ORIENTATIONS.items()
        if any(max(cube) > 2 for shape in shapes for cube in shape)
    }
    assert large == {"D1"}


def test_nt1_no_two_kinds_have_the_same_shape() -> None:
    shapes = [shape for shapes in ORIENTATIONS.values() for shape in shapes]
    assert len(set(shapes)) == len(shapes) == sum(DISTINCT.values())


def test_nt1_numbers_of_orientations_never_change() -> None:
    """Logs and clients name orientations by number."""
    assert ORIENTATIONS["C1"] == (
        ((0, 0, 0), (0, 0, 1), (0, 0, 2)),
        ((0, 0, 0), (0, 1, 0), (0, 2, 0)),
        ((0, 0, 0), (1, 0, 0), (2, 0, 0)),
    )
    assert ORIENTATIONS["D4"][2] == ((0, 0, 0), (0, 1, 0), (0, 1, 1), (0, 2, 0))
    assert ORIENTATIONS["E6"][0] == ((0, 0, 0), (0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 0, 2))
