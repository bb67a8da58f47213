"""NT 3: the legal placements, and no others, are offered; each of them once."""

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.games.nikitin_towers.positions import tower_of
from tests.games.nikitin_towers.tables import (
    GIVE_BACK,
    MANUAL,
    SHAKY_POLE,
    THIN_FOOT,
    bot_game,
    moment,
    place,
    restless_game,
)
from towerhall_protocol.codec import encode
from towerhall_protocol.offers import Offer, Range
from towerhall_server.game import Rejected, Seat
from towerhall_server.games.nikitin_towers import GAME
from towerhall_server.games.nikitin_towers.blocks import CATALOGUE, ORIENTATIONS
from towerhall_server.games.nikitin_towers.offers import rectangles
from towerhall_server.games.nikitin_towers.options import Options
from towerhall_server.games.nikitin_towers.state import State
from towerhall_server.games.nikitin_towers.tower import Tower

OFFERS_BYTES_MAX = 6_000
ROOF = tower_of("110", "111 011 211 101 121", "012 -1,1,2 -2,1,2", "112 102 1,-1,2")
TOWERS = {
    "empty": Tower(),
    "thin foot": THIN_FOOT,
    "pole": SHAKY_POLE,
    "roof": ROOF,
}
Spot = tuple[str, int, int]


def offered(state: State) -> Counter[Spot]:
    """Every placement that is offered, and how often."""
    return Counter(
        (str(command["shape"]), int(str(command["x"])), int(str(command["y"])))
        for offer in GAME.offers(state, state.turn)
        if offer.command == "place"
        for command in offer.commands()
    )


def legal(state: State) -> Iterator[Spot]:
    """Every placement that is not refused, by trying all columns near the tower and the mat."""
    columns = {(0, 0), (2, 2)}
    columns |= {(x, y) for placed in state.towers[state.turn].blocks for x, y, _ in placed.cubes}
    xs, ys = ([column[axis] for column in columns] for axis in (0, 1))
    for number in range(1, len(ORIENTATIONS[state.block]) + 1):
        for x in range(min(xs) - 5, max(xs) + 3):
            for y in range(min(ys) - 5, max(ys) + 3):
                shape = f"{state.block}.{number}"
                answer = GAME.foresee(state, state.turn, place(shape, x, y))
                if not isinstance(answer, Rejected):
                    yield shape, x, y


@pytest.mark.parametrize("name", TOWERS)
def test_nt3_exactly_the_legal_placements_are_offered_each_once(name: str) -> None:
    for block in CATALOGUE if name == "roof" else ("A1", "B1", "C2", "D1", "E6", "F6"):
        state = moment(block=block, towers=(TOWERS[name],))
        found = offered(state)
        assert set(found) == set(legal(state))
        assert max(found.values()) == 1


@pytest.mark.parametrize("bots", [("careful", "careful"), ("ring", "ring"), ("random",) * 3])
def test_nt3_in_played_games_exactly_the_legal_placements_are_offered(
    bots: tuple[str, ...],
) -> None:
    states = [step.before for step in bot_game(bots) if step.before.phase == "place"][::9]
    for state in states:
        found = offered(state)
        assert set(found) == set(legal(state))
        assert max(found.values()) == 1
    assert len(states) > 4


def test_nt3_on_an_empty_mat_feet_stay_inside() -> None:
    assert offered(moment(block="A1")) == Counter(
        {("A1.1", x, y): 1 for x in range(3) for y in range(3)}
    )
    assert offered(moment(block="D1")) == Counter(
        {("D1.1", x, y): 1 for x in range(3) for y in range(3)}
    )
    wanted = {"x": Range(0, 2), "y": Range(0, 2)}
    assert GAME.offers(moment(block="A1"), Seat(0))[0].ranges == wanted


def test_nt3_giving_back_is_always_offered_as_unsure_and_last() -> None:
    for tower in TOWERS.values():
        *places, last = GAME.offers(moment(block="D2", towers=(tower,)), Seat(0))
        assert last == Offer("give_back", unsure=True)
        assert places
        assert {offer.command for offer in places} == {"place"}
        assert not any(offer.unsure for offer in places)
        assert list(last.commands()) == [GIVE_BACK]


def test_nt3_offers_go_to_the_seat_that_has_to_act_only() -> None:
    phases = set()
    for step in restless_game(3, 12, MANUAL):
        state = step.before
        phases.add(state.phase)
        for seat in map(Seat, range(3)):
            assert bool(GAME.offers(state, seat)) == (seat in GAME.to_act(state))
    assert phases == {"roll", "choose", "place"}
    assert GAME.offers(step.after, Seat(0)) == ()


@pytest.mark.parametrize("options", [Options(), MANUAL])
def test_nt6_what_is_offered_is_accepted(options: Options) -> None:
    for step in restless_game(2, 13, options):
        state = step.before
        for offer in GAME.offers(state, GAME.to_act(state)[0]):
            if offer.command in ("roll", "choose"):
                for command in offer.commands():
                    assert isinstance(GAME.decide(state, GAME.to_act(state)[0], command), tuple)


def test_nt3_offers_stay_small() -> None:
    sizes = [
        len(encode(list(GAME.offers(step.before, step.seat))))
        for bots in (("careful", "careful"), ("ring", "ring"), ("random",) * 3)
        for step in bot_game(bots)
    ]
    assert max(sizes) <= OFFERS_BYTES_MAX


def test_nt3_the_same_rectangle_is_offered_once_with_all_its_shapes() -> None:
    for block in CATALOGUE:
        *places, _ = GAME.offers(moment(block=block, towers=(ROOF,)), Seat(0))
        spots = [tuple(sorted(offer.ranges.items(), key=str)) for offer in places]
        assert len(set(map(str, spots))) == len(spots)


# --- rectangles ---

CELLS = st.sets(st.tuples(st.integers(-4, 6), st.integers(-4, 6)), max_size=60)


@given(CELLS)
def test_nt3_rectangles_cover_every_column_once_and_no_other(cells: set[tuple[int, int]]) -> None:
    covered = Counter(
        (x, y)
        for least_x, most_x, least_y, most_y in rectangles(cells)
        for x in range(least_x, most_x + 1)
        for y in range(least_y, most_y + 1)
    )
    assert set(covered) == cells
    assert all(times == 1 for times in covered.values())


@given(CELLS)
def test_nt3_rectangles_are_the_same_in_any_order(cells: set[tuple[int, int]]) -> None:
    assert list(rectangles(sorted(cells))) == list(rectangles(sorted(cells, reverse=True)))


@given(st.integers(-9, 9), st.integers(-9, 9), st.integers(0, 5), st.integers(0, 5))
def test_nt3_a_rectangle_stays_one(x: int, y: int, wide: int, deep: int) -> None:
    cells = [(x + dx, y + dy) for dx in range(wide + 1) for dy in range(deep + 1)]
    assert list(rectangles(cells)) == [(x, x + wide, y, y + deep)]


def test_nt3_rectangles_of_a_rim_and_of_two_parts() -> None:
    rim = [(x, y) for x in range(3) for y in range(3) if (x, y) != (1, 1)]
    assert sorted(rectangles(rim)) == [(0, 0, 1, 1), (0, 2, 0, 0), (0, 2, 2, 2), (2, 2, 1, 1)]
    apart = [(0, 0), (0, 1), (0, 3), (0, 4)]
    assert sorted(rectangles(apart)) == [(0, 0, 0, 1), (0, 0, 3, 4)]
    assert list(rectangles([])) == []
