"""The figures of a finished game, as the tables of NT 8 show them."""

from tests.games.nikitin_towers.positions import pole
from tests.games.nikitin_towers.tables import bot_game, moment, restless_game, whole_story
from tests.games.nikitin_towers.test_nt7_end import cubes, ring
from towerhall_server.game import Seat
from towerhall_server.games.nikitin_towers import GAME
from towerhall_server.games.nikitin_towers.events import (
    BlockChosen,
    BlockPlaced,
    BlockReturned,
    DieRolled,
    Event,
    GameEnded,
    TowerCollapsed,
)
from towerhall_server.games.nikitin_towers.figures import figures
from towerhall_server.games.nikitin_towers.options import Options
from towerhall_server.games.nikitin_towers.tower import Tower

EVENTS: tuple[Event, ...] = (
    DieRolled(Seat(0), 1, 6, 6),
    BlockChosen(Seat(1), "F1", "choice"),
    BlockPlaced(Seat(0), "F1.1@0,0,0", 1, 0),
    DieRolled(Seat(1), 2, 1, 0),
    BlockPlaced(Seat(2), "A1.1@0,0,0", 1, 0),
    TowerCollapsed(Seat(2), (("1", "2"), ("3",)), 0, 0),
    BlockPlaced(Seat(0), "A1.1@0,0,1", 2, 0),
    TowerCollapsed(Seat(0), (("9",),), 0, 0),
    BlockReturned(Seat(1), "D2", "nowhere"),
    BlockReturned(Seat(1), "D2", "time"),
)


def test_figures_count_turns_blocks_and_collapses() -> None:
    state = moment("over", towers=(ring(1, 2), pole(0, 0, 5), cubes((0, 0, 0))), seats=3, turns=77)
    assert figures(state, EVENTS) == {
        "turns": 77,
        "turns_with_a_block": 5,
        "blocks_returned": 2,
        "collapses": 2,
        "blocks_fallen": 4,
        "highest_tower": 5,
        "lowest_tower": 1,
        "highest_ring": 2,
        "equal_highest": 0,
        "ended_by_stall": 0,
    }


def test_figures_tell_a_tie_for_the_highest_tower() -> None:
    for towers, tie in (
        ((pole(0, 0, 3), pole(1, 1, 3), Tower()), 1),
        ((pole(0, 0, 3), pole(1, 1, 2), pole(1, 1, 2)), 0),
        ((Tower(), Tower(), Tower()), 1),
    ):
        assert figures(moment("over", towers=towers, seats=3), ())["equal_highest"] == tie


def test_figures_of_a_stalled_game() -> None:
    steps = restless_game(2, 9, Options())
    state = steps[-1].after
    assert state.end == "stall"
    found = figures(state, whole_story(steps)[1])
    assert (found["ended_by_stall"], found["turns"]) == (1, state.turns)


def test_figures_of_a_whole_game_are_those_of_its_log() -> None:
    steps = bot_game(("careful", "careful"))
    _, events = whole_story(steps)
    found = figures(steps[-1].after, events)
    (end,) = (event for event in events if isinstance(event, GameEnded))
    assert found["highest_tower"] == max(end.heights)
    assert found["lowest_tower"] == min(end.heights)
    assert found["highest_ring"] == max(end.rings)
    assert found["turns_with_a_block"] - found["blocks_returned"] == 45
    assert found["collapses"] == found["blocks_fallen"] == found["ended_by_stall"] == 0
    assert GAME.figures is figures
