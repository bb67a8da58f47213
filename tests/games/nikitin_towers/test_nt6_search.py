"""NT 6: looking for a place after which the tower stands."""

import pytest

from tests.examples import examples
from tests.games.nikitin_towers.positions import POLICIES, SLOPE, heaped, played, tower_of
from towerhall_server.games.nikitin_towers.blocks import CATALOGUE, ORIENTATIONS
from towerhall_server.games.nikitin_towers.notation import read_placement
from towerhall_server.games.nikitin_towers.search import (
    Unfinished,
    candidates,
    find_standing,
    places,
)
from towerhall_server.games.nikitin_towers.stability import stands, stands_with
from towerhall_server.games.nikitin_towers.tower import (
    Placed,
    Tower,
    height,
    ring_level,
    why_illegal,
)


def tower_from(*texts: str) -> Tower:
    blocks = []
    for turn, text in enumerate(texts):
        found = read_placement(text)
        assert found is not None
        assert found.z is not None
        blocks.append(Placed(turn, found.kind, found.orientation, found.x, found.y, found.z))
    return Tower(tuple(blocks))


ROOF = tower_from("D6.6@0,1,0", "E1.22@0,1,2", "A1.1@1,1,4", "F4.5@0,0,5")
"""A wide roof on a thin foot, from a played game."""


def test_nt6_a_block_may_fit_nowhere() -> None:
    assert stands(ROOF, SLOPE)
    for kind in ("D2", "E4", "F1", "F2", "F6"):
        assert find_standing(ROOF, kind, SLOPE) is None
        assert not any(stands(ROOF.plus(place), SLOPE) for place in places(ROOF, kind))


def test_nt6_a_search_that_uses_up_its_checks_says_so() -> None:
    hopeful = len(list(candidates(ROOF, "F2", SLOPE)))
    assert hopeful > 30
    assert find_standing(ROOF, "F2", SLOPE, hopeful) is None
    assert find_standing(ROOF, "F2", SLOPE, hopeful - 1) == Unfinished(hopeful - 1)


@pytest.mark.parametrize("kind", ["A1", "B1", "C2", "D4", "E6", "F3"])
def test_nt6_a_place_that_is_found_stands_and_none_means_none(kind: str) -> None:
    nowhere = 0
    for seed in range(examples(2, 40)):
        for policy in POLICIES:
            *_, tower = played(seed, policy, 6)
            found = find_standing(tower, kind, SLOPE, turn=77)
            if found is None:
                nowhere += 1
                assert not any(stands_with(tower, place, SLOPE) for place in places(tower, kind))
            else:
                assert isinstance(found, Placed)
                assert found.turn == 77
                assert why_illegal(tower, kind, found.cubes) is None
                assert stands(tower.plus(found), SLOPE)
    assert nowhere < examples(2, 40) * len(POLICIES)


def test_nt6_the_answer_is_the_same_each_time() -> None:
    *_, tower = played(5, POLICIES[2], 12)
    again = Tower(tower.blocks)
    for kind in CATALOGUE:
        assert find_standing(tower, kind, SLOPE) == find_standing(again, kind, SLOPE)


def test_nt6_low_places_are_tried_first() -> None:
    found = find_standing(tower_of("000", "001"), "A1", SLOPE)
    assert isinstance(found, Placed)
    assert found.z == 0


@pytest.mark.parametrize("kind", ["B1", "D3", "E5"])
def test_nt6_candidates_are_all_places_that_can_stand(kind: str) -> None:
    """A block that its own footing does not hold falls, whatever is below."""
    for seed in range(examples(3, 60)):
        *_, tower = played(seed, POLICIES[seed % 3], 5)
        found = list(candidates(tower, kind, SLOPE, 9))
        hopeful = {candidate.placed for candidate in found}
        everywhere = list(places(tower, kind, 9))
        assert [place for place in everywhere if place in hopeful] == [c.placed for c in found]
        for place in everywhere:
            if place not in hopeful:
                assert not stands(tower.plus(place), SLOPE)
        for candidate in found:
            after = tower.plus(candidate.placed)
            assert candidate.height == height(after)
            assert candidate.ring_level == ring_level(after)
            assert candidate.top == 1 + max(z for _, _, z in candidate.placed.cubes)


def test_nt6_places_are_all_legal_and_each_is_listed_once() -> None:
    for seed in range(examples(5, 60)):
        tower = heaped(seed, 6)
        for kind in ("A1", "C2", "F6"):
            listed = list(places(tower, kind))
            assert len(set(listed)) == len(listed)
            assert len(listed) >= len(ORIENTATIONS[kind])
            assert all(why_illegal(tower, kind, place.cubes) is None for place in listed)
