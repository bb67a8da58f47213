"""NT 5: which blocks fall. Worked examples by their numbers, laws, and exact solutions."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.games.nikitin_towers import exact
from tests.games.nikitin_towers.positions import SLOPE, heaped, pole, tower_of
from tests.games.nikitin_towers.test_nt4_standing import MOVES, moved
from towerhall_server.games.nikitin_towers import least_squares
from towerhall_server.games.nikitin_towers.collapse import accelerations, collapse
from towerhall_server.games.nikitin_towers.stability import stands, stands_with, statics
from towerhall_server.games.nikitin_towers.tower import Placed, Tower, height

COUNTERWEIGHTS = (
    "100 101 102 202",
    "210 211 212 221 311",
    "003 103 203 213 223",
    "-1,0,4 0,0,4 0,0,5 1,0,5 1,0,6",
    "020",
    "224",
    "-1,2,1 0,1,1 0,2,1 0,3,1 1,2,1",
    "2,-1,4 2,0,4 2,1,4",
    "302 312 313 322 402 422",
)
# The number in NT 5: blocks with the new one last, rounds, height of what is left.
EXAMPLES: dict[str, tuple[Sequence[str], tuple[tuple[int, ...], ...], int]] = {
    "1": ([*(f"02{z}" for z in range(9)), "0,2,9 0,2,10"], (tuple(range(10)),), 0),
    "2": (
        ["000 100 010 110", "001 002 003 004", "005 006 007", "0,0,8 0,0,9 0,0,10"],
        ((1, 2, 3),),
        1,
    ),
    "3": (["100 110 120", "111 121 131", "122 132 142"], ((1, 2),), 1),
    "3, with a cube before": (["100 110 120", "111 121 131", "112", "122 132 142"], (), 3),
    "4": (["110", "101 111 121", "122 123 124"], ((0, 1, 2),), 0),
    "5": ([*COUNTERWEIGHTS, "107 108"], ((3, 9), (0, 1, 2, 5, 7, 8)), 2),
}


@pytest.mark.parametrize("number", EXAMPLES)
def test_nt5_worked_examples(number: str) -> None:
    blocks, rounds, left = EXAMPLES[number]
    tower = tower_of(*blocks)
    assert stands(Tower(tower.blocks[:-1]), SLOPE)
    assert stands(tower, SLOPE) == (not rounds)
    assert collapse(tower, SLOPE) == rounds
    assert height(tower.without(frozenset(index for some in rounds for index in some))) == left


@pytest.mark.parametrize("number", EXAMPLES)
@pytest.mark.parametrize("name", sorted(MOVES))
def test_nt5_worked_examples_turned_or_mirrored(number: str, name: str) -> None:
    blocks, rounds, _ = EXAMPLES[number]
    turned = moved(tower_of(*blocks), MOVES[name])
    assert turned is not None
    assert collapse(turned, SLOPE) == rounds


@pytest.mark.parametrize("number", EXAMPLES)
def test_nt5_worked_examples_are_those_of_exact_arithmetic(number: str) -> None:
    blocks, rounds, _ = EXAMPLES[number]
    assert exact.collapse(tower_of(*blocks), SLOPE) == rounds


def test_nt5_a_standing_tower_loses_nothing() -> None:
    assert collapse(Tower(), SLOPE) == ()
    assert collapse(pole(1, 1, 9), SLOPE) == ()


heaps = st.builds(
    heaped, st.integers(0, 10_000), st.integers(1, 14), careless=st.sampled_from([0.0, 0.3])
)


@settings(max_examples=examples(40, 300), deadline=None)
@given(heaps, st.sampled_from([10, 20]))
def test_nt10_3_and_5_the_rest_stands_and_what_falls_is_not_empty(tower: Tower, slope: int) -> None:
    rounds = collapse(tower, slope)
    fallen = [index for some in rounds for index in some]
    assert len(set(fallen)) == len(fallen)
    assert bool(fallen) == (not stands(tower, slope))
    assert stands(tower.without(frozenset(fallen)), slope)
    assert all(list(some) == sorted(some) for some in rounds)
    assert all(rounds)


@settings(max_examples=examples(30, 200), deadline=None)
@given(heaps, st.sampled_from(sorted(MOVES)))
def test_nt10_1_turning_or_mirroring_does_not_change_what_falls(tower: Tower, name: str) -> None:
    turned = moved(tower, MOVES[name])
    if turned is not None:
        assert collapse(turned, SLOPE) == collapse(tower, SLOPE)


def test_nt5_collapses_are_exact() -> None:
    """All rounds against an active-set method in fractions; `pytest -s` shows N."""
    fallen = rounds = 0
    count = examples(16, 400)
    for seed in range(count):
        tower = heaped(seed, 2 + seed % examples(3, 6), careless=0.3)
        found = collapse(tower, SLOPE)
        assert found == exact.collapse(tower, SLOPE), (seed, tower)
        fallen += bool(found)
        rounds += len(found) > 1
    print(f"\ncollapses, exact: N = {count}, {fallen} of them fall, {rounds} in several rounds")
    assert 0 < fallen < count


def test_nt5_accelerations_are_exact() -> None:
    """So masses and moments of inertia are right, not only the question what moves."""
    compared = 0
    for seed in range(examples(12, 100)):
        tower = heaped(seed, 2 + seed % 3)
        solved = statics(tower, SLOPE)
        for number, lean in enumerate(exact.leans(SLOPE)):
            moving = exact.accelerations(
                *exact.equations(tower, lean, exact.DELTA), exact.mobility(tower)
            )
            for block, found in enumerate(accelerations(tower, solved, number)):
                expected = max(abs(part) for part in moving[3 * block :][:3])
                assert found == pytest.approx(float(expected), abs=1e-9)
                compared += expected != 0
    assert compared > 10


def test_nt5_collapses_of_towers_with_holes_are_exact() -> None:
    """A round may take away everything that a block rests on, and the block in the next one."""
    rounds = 0
    for seed in range(examples(10, 200)):
        whole = heaped(seed, 4 + seed % examples(2, 4))
        tower = whole.without(frozenset({seed % 3}))
        found = collapse(tower, SLOPE)
        assert found == exact.collapse(tower, SLOPE), (seed, tower)
        assert stands(tower, SLOPE) == (not found)
        rounds += len(found)
    assert rounds


def test_nt5_a_block_in_the_air_falls() -> None:
    tower = Tower((*pole(0, 0, 2).blocks, *pole(1, 0, 4).blocks[3:]))
    assert not stands(tower, SLOPE)
    assert not stands_with(tower, Placed(9, "A1", 1, 2, 2, 0), SLOPE)
    assert collapse(tower, SLOPE) == ((2,),)


def test_nt5_the_orthogonal_solver_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the fast solver hands on if its own check fails."""
    towers = [heaped(seed, 4 + seed % 16) for seed in range(examples(8, 100))]
    fast = [collapse(tower, SLOPE) for tower in towers]
    assert any(fast)
    monkeypatch.setattr(least_squares, "_Quick", least_squares._Orthogonal)
    assert [collapse(tower, SLOPE) for tower in towers] == fast
