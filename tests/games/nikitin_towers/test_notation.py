"""The text notation: one spelling for each shape and placement, and no other is read."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from towerhall_server.games.nikitin_towers.blocks import ORIENTATIONS
from towerhall_server.games.nikitin_towers.notation import (
    Placement,
    Shape,
    read,
    read_placement,
    read_shape,
    spell,
    spell_resting,
)
from towerhall_server.games.nikitin_towers.tower import Placed

shapes = st.sampled_from(
    [(kind, number + 1) for kind, some in ORIENTATIONS.items() for number in range(len(some))]
)
offsets = st.integers(-99, 99)


@given(shapes, offsets, offsets, st.none() | st.integers(0, 999))
def test_what_is_spelled_is_read(shape: tuple[str, int], x: int, y: int, z: int | None) -> None:
    assert read(spell(*shape)) == Shape(*shape)
    assert read(spell(*shape, x, y, z)) == Placement(*shape, x, y, z)


def test_spellings_are_those_of_the_rules() -> None:
    assert spell("D4", 3) == "D4.3"
    assert spell("D4", 3, 1, -1) == "D4.3@1,-1"
    assert spell("D4", 3, 1, -1, 5) == "D4.3@1,-1,5"
    assert spell_resting(Placed(17, "D4", 3, 1, -1, 5)) == "D4.3@1,-1,5"


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "D4",
            "D4.",
            "D4.0",
            "D4.03",
            "D4.13",
            "D7.1",
            "G1.1",
            "A1.2",
            "d4.3",
            "D4.3@",
            "D4-3",
        ),
        *("D4.3@1", "D4.3@1,", "D4.3@-0,1", "D4.3@1,-0", "D4.3@01,1", "D4.3@1,1,-1", "D4.3@+1,1"),
        *(
            "D4.3@1,1,01",
            "D4.3@1,1,00",
            "D4.3@100,1",
            "D4.3@1,-100",
            "D4.3@1,1,1000",
            "D4.3@1,1,1,",
        ),
        *(" D4.3", "D4.3 ", "D4.3\n", "D4.3@1,1\n", "D4.3@1, 1", "D4.3@1.0,1", "D4.٣", "D4.3@١,1"),
        *(None, 3, b"D4.3", ["D4.3"], ("D4", 3)),
    ],
)
def test_everything_else_is_refused(text: object) -> None:
    assert read(text) is None


@given(st.from_regex(r"[A-G][0-7]\.-?[0-9]{1,3}(@-?[0-9]{0,3},-?[0-9]{0,3}(,-?[0-9]{0,4})?)?\s?"))
@example("D4.3@1,-1,5")
def test_what_is_read_is_spelled_the_same(text: str) -> None:
    found = read(text)
    assert found is None or spell(*found) == text


def test_shapes_and_placements_are_not_mixed_up() -> None:
    assert read_shape("D4.3") == ("D4", 3)
    assert read_shape("D4.3@1,1") is None
    assert read_placement("D4.3@1,1") == ("D4", 3, 1, 1, None)
    assert read_placement("D4.3") is None
