"""NT 7: when a game ends, and who has won."""

from collections.abc import Iterator

import pytest

from tests.games.nikitin_towers.positions import pole, tower_of
from tests.games.nikitin_towers.tables import (
    GIVE_BACK,
    MANUAL,
    ROLL,
    RUN_OUT,
    SHAKY_POLE,
    THIN_FOOT,
    act,
    bot_game,
    choose,
    facts,
    moment,
    new_game,
    place,
    refused,
    restless_game,
    seed_with,
    shown,
    told,
    whole_story,
)
from towerhall_server.game import Result, Seat
from towerhall_server.games.nikitin_towers import GAME
from towerhall_server.games.nikitin_towers.blocks import Cube
from towerhall_server.games.nikitin_towers.events import (
    BlockPlaced,
    DieRolled,
    GameEnded,
    WhyOver,
)
from towerhall_server.games.nikitin_towers.options import Options
from towerhall_server.games.nikitin_towers.state import State
from towerhall_server.games.nikitin_towers.tower import Placed, Tower, height, ring_level

RING = Options(win="ring")
CUBE = place("A1.1", 0, 0)


def cubes(*cells: Cube) -> Tower:
    """Single cubes, wherever they are said to be."""
    return Tower(tuple(Placed(turn, "A1", 1, *cell) for turn, cell in enumerate(cells)))


def ring(*levels: int, but: tuple[int, int] | None = None) -> Tower:
    """The rim on these levels, without one of its cells."""
    rim = [(x, y) for x in range(3) for y in range(3) if (x, y) != (1, 1)]
    return cubes(*((x, y, level - 1) for level in levels for x, y in rim if (x, y) != but))


def over(*towers: Tower, win: str = "height") -> State:
    """A game whose last turn gives a block back."""
    options = RING if win == "ring" else Options()
    state = moment(
        block="A1", towers=towers, seats=len(towers), turns=120, least=0, options=options
    )
    return act(state, RUN_OUT)


def ended(state: State, command: dict[str, object]) -> GameEnded | None:
    """How the game ends by this command of the seat that has to act."""
    event = told(state, GAME.to_act(state)[0], command)[-1]
    return event if isinstance(event, GameEnded) else None


def why(state: State, command: dict[str, object]) -> WhyOver | None:
    event = ended(state, command)
    return None if event is None else event.why


# --- the pile is empty ---


def test_nt7_the_game_ends_after_a_turn_that_leaves_the_pile_empty() -> None:
    state = moment(block="A1", pile={}, least=1, turn=1)
    assert facts(told(state, 1, CUBE)) == [
        ("block_placed", 1, "A1.1@0,0,0", 1, 0),
        ("game_ended", "pile", (0, 1), (0, 0)),
    ]
    after = act(state, CUBE)
    assert (after.phase, GAME.to_act(after)) == ("over", ())
    assert shown(after)["end"] == "pile"
    assert not {"turn", "to_act", "die", "size", "block"} & set(shown(after))


def test_nt7_an_empty_pile_does_not_end_the_turn_of_the_last_block() -> None:
    state = moment("choose", size=1, pile={"A1": 1})
    state = act(state, choose("A1"))
    assert state.in_pile == 0
    assert (state.phase, GAME.result(state)) == ("place", None)
    assert GAME.offers(state, Seat(0))
    assert why(state, CUBE) == "pile"


def test_nt7_the_last_block_may_fall_or_go_back_and_the_game_goes_on() -> None:
    state = moment(block="A1", pile={}, least=1, towers=(SHAKY_POLE,))
    assert why(state, place("A1.1", 0, 2)) is None
    assert why(state, place("A1.1", 0, 0)) == "pile"
    assert why(state, RUN_OUT) is None
    assert why(moment(block="D2", pile={}, least=1, towers=(THIN_FOOT,)), GIVE_BACK) is None


def test_nt7_without_auto_roll_the_game_ends_before_another_roll() -> None:
    assert why(moment(block="A1", pile={}, least=1, options=MANUAL), CUBE) == "pile"


# --- no progress ---


@pytest.mark.parametrize(("quiet", "end"), [(27, None), (28, None), (29, "stall"), (30, "stall")])
def test_nt7_thirty_turns_without_a_new_minimum_end_the_game(quiet: int, end: str | None) -> None:
    assert why(moment(block="A1", quiet=quiet), RUN_OUT) == end


@pytest.mark.parametrize("quiet", [28, 29])
def test_nt7_a_new_minimum_in_the_thirtieth_turn_keeps_the_game_going(quiet: int) -> None:
    state = moment(block="A1", quiet=quiet, least=45)
    assert why(state, CUBE) is None
    assert act(state, CUBE).quiet == 0
    # 44 blocks are left: as few as there were before is not fewer.
    assert why(moment(block="A1", quiet=quiet, least=44), CUBE) == ("stall" if quiet > 28 else None)


def quiet_game(progress: int, options: Options | None = None) -> Iterator[State]:
    """A game whose first turns place a block on the mat, and all others none."""
    state = new_game(2, options, seed=3)
    while GAME.to_act(state):
        yield state
        if state.phase == "place" and state.turns <= progress:
            (offer, *_) = GAME.offers(state, state.turn)
            state = act(state, next(offer.commands()))
        else:
            state = act(state, GAME.timeout(state, GAME.to_act(state)[0]))
    yield state


@pytest.mark.parametrize("options", [Options(), MANUAL])
@pytest.mark.parametrize("progress", [0, 1, 2])
def test_nt7_a_game_without_progress_ends_after_exactly_thirty_turns(
    progress: int, options: Options
) -> None:
    *states, last = quiet_game(progress, options)
    assert (last.end, last.turns, last.quiet) == ("stall", progress + 30, 30)
    assert shown(last)["quiet"] == 30
    assert max(state.turns for state in states) == progress + 30
    assert sum(len(tower.blocks) for tower in last.towers) == progress


def test_nt7_empty_turns_count_and_may_end_the_game_at_once() -> None:
    left = {"F1": 1, "F2": 1}
    for quiet, dice in ((28, (1,)), (27, (2, 3)), (25, (1, 1, 4, 5))):
        state = moment(block="A1", quiet=quiet, pile=left, least=2, seed=seed_with(*dice))
        events = told(state, 0, CUBE)
        assert [event.die for event in events if isinstance(event, DieRolled)] == list(dice)
        assert facts(events)[-1] == ("game_ended", "stall", (1, 0), (0, 0))


def test_nt7_an_empty_turn_by_hand_may_end_the_game() -> None:
    left = {"F1": 1, "F2": 1}
    state = moment("roll", pile=left, least=2, quiet=28, options=MANUAL, seed=seed_with(3))
    assert [fact[0] for fact in facts(told(state, 0, ROLL))] == ["die_rolled", "game_ended"]


def test_nt7_after_a_collapse_the_old_minimum_still_counts() -> None:
    """36 were left, nine fall: the next minimum is 35, so ten blocks more bring no progress."""
    state = moment(block="A1", towers=(SHAKY_POLE,), least=36, quiet=4)
    state = GAME.play(state, told(state, 0, place("A1.1", 0, 2))[:2])
    assert state.in_pile == 45
    quiet, places = 4, [(x, y) for x in range(3) for y in range(3)]
    for number in range(10):
        built = moment(
            block="A1",
            towers=(cubes(*((x, y, 0) for x, y in places[:number])),),
            least=state.least,
            quiet=quiet,
        )
        column = places[number] if number < len(places) else (0, 0)
        events = told(built, 0, place("A1.1", *column))
        after = GAME.play(built, events[:2])
        quiet += 1
        if number < 9:
            assert (after.least, after.quiet) == (36, quiet)
        else:
            assert (after.least, after.quiet) == (35, 0)


@pytest.mark.parametrize("seats", [2, 3])
def test_nt7_quiet_counts_turns_since_the_last_new_minimum_of_the_pile(seats: int) -> None:
    state, events = whole_story(restless_game(seats, 8, Options()))
    least, quiet, turns, most = 45, 0, 0, 0
    for event in events:
        if isinstance(event, DieRolled | GameEnded) and turns:
            left = sum(shown(state)["pile"].values())
            least, quiet = (left, 0) if left < least else (least, quiet + 1)
        state = GAME.fold(state, event)
        turns = state.turns
        if state.phase in ("choose", "place", "over"):
            assert shown(state)["quiet"] == quiet
        most = max(most, quiet)
    assert state.phase == "over"
    assert most >= 10


# --- 120 turns ---


@pytest.mark.parametrize(("turns", "end"), [(118, None), (119, None), (120, "turns")])
@pytest.mark.parametrize("command", [CUBE, RUN_OUT])
def test_nt7_the_game_ends_after_120_turns(
    turns: int, end: str | None, command: dict[str, object]
) -> None:
    assert why(moment(block="A1", turns=turns), command) == end


def test_nt7_a_slow_game_is_played_up_to_the_end_of_its_120th_turn() -> None:
    state, last = new_game(2, seed=5), ""
    while GAME.to_act(state):
        assert state.turns <= 120
        last = f"{state.turns} {state.phase}"
        command = GAME.timeout(state, GAME.to_act(state)[0])
        if state.phase == "place" and state.turns % 25 == 0:
            command = GAME.bots["careful"](shown(state), GAME.offers(state, state.turn), b"")
        state = act(state, command)
    assert (state.end, state.turns, last) == ("turns", 120, "120 place")


def test_nt7_the_120th_turn_is_played_to_its_end() -> None:
    state = moment("choose", size=4, turns=120, quiet=29)
    assert told(state, 1, choose("D4"))[-1].__class__.__name__ == "BlockChosen"
    state = act(state, choose("D4"))
    assert state.phase == "place"
    assert ended(state, place("D4.1", 0, 0)) == GameEnded("turns", (3, 0), (0, 0))


def test_nt7_no_game_ends_in_the_middle_of_a_turn() -> None:
    ends = set()
    for options in (Options(), MANUAL, RING):
        for seats in (2, 3):
            for step in restless_game(seats, 9, options):
                state = step.before
                for event in step.events:
                    if isinstance(event, GameEnded):
                        assert (state.phase, state.block) == ("roll", "")
                        ends.add(event.why)
                    state = GAME.fold(state, event)
            assert isinstance(step.events[-1], GameEnded)
    assert bot_game(("careful", "careful"))[-1].after.end == "pile"
    assert ends <= {"stall", "turns", "pile"}
    assert "stall" in ends


def test_nt7_nothing_can_be_done_after_the_end() -> None:
    state = over(Tower(), Tower())
    for seat in (0, 1):
        assert GAME.offers(state, Seat(seat)) == ()
        for command in (ROLL, choose("A1"), CUBE, GIVE_BACK, RUN_OUT):
            assert refused(state, seat, command).params == {"phase": "over"}


# --- heights and rings ---


@pytest.mark.parametrize(
    ("tower", "level"),
    [
        (Tower(), 0),
        (cubes((1, 1, 0)), 1),
        (tower_of("110", "111", "112 012", "-1,1,3 013 113"), 4),
        (tower_of("110 111 112 113", "114 014 -1,1,4 -1,1,3"), 5),
        (tower_of("110", "111 011 -1,1,1", "-1,1,2"), 3),
        (pole(0, 0, 7), 7),
        (ring(1), 1),
    ],
)
def test_nt7_the_height_is_the_highest_level_with_a_cube(tower: Tower, level: int) -> None:
    assert height(tower) == level


@pytest.mark.parametrize(
    ("tower", "level"),
    [
        (Tower(), 0),
        (pole(0, 0, 7), 0),
        (ring(1, but=(2, 0)), 0),
        (ring(1, but=(0, 1)), 0),
        (ring(1), 1),
        (ring(1, 2, 3), 3),
        (ring(3), 3),
        (ring(1, 4), 4),
        (Tower((*ring(2).blocks, *ring(3, but=(1, 2)).blocks)), 2),
        (Tower((*ring(2, but=(1, 2)).blocks, *cubes((1, 1, 1)).blocks)), 0),
        (Tower((*ring(2, but=(1, 2)).blocks, *cubes((1, 3, 1)).blocks)), 0),
        (Tower((*ring(2).blocks, *cubes((1, 1, 1), (5, 5, 1), (1, 1, 6)).blocks)), 2),
    ],
)
def test_nt7_the_ring_level_is_the_highest_level_with_a_full_rim(tower: Tower, level: int) -> None:
    assert ring_level(tower) == level


def test_nt7_cubes_outside_the_mat_do_not_make_a_ring() -> None:
    shifted = cubes(*((x + 1, y, 1) for x in range(3) for y in range(3) if (x, y) != (1, 1)))
    assert ring_level(shifted) == 0


def test_nt7_placing_tells_height_and_ring_before_anything_falls() -> None:
    rim = tower_of("000 100 200 010 020", "210 220 120 110")
    state = moment(block="A1", towers=(rim,))
    for command, wanted in (((0, 0), (2, 1)), ((2, 2), (2, 1))):
        (event, *_) = told(state, 0, place("A1.1", *command))
        assert isinstance(event, BlockPlaced)
        assert (event.height, event.ring) == wanted


# --- the winner ---


def test_nt7_the_highest_tower_wins() -> None:
    state = over(pole(0, 0, 3), pole(1, 1, 5), ring(1, 2))
    assert GAME.result(state) == Result((3, 5, 2), (2, 1, 3))


def test_nt7_the_highest_ring_wins_whatever_the_heights() -> None:
    state = over(pole(0, 0, 3), pole(1, 1, 5), ring(1, 2), win="ring")
    assert GAME.result(state) == Result((0, 0, 2), (2, 2, 1))


@pytest.mark.parametrize("win", ["height", "ring"])
def test_nt7_equal_towers_share_the_win(win: str) -> None:
    result = GAME.result(over(ring(1), ring(1), Tower(), win=win))
    assert result == Result((1, 1, 0), (1, 1, 3))
    assert result.winners == (0, 1)
    nothing = GAME.result(over(Tower(), Tower(), Tower(), win=win))
    assert nothing == Result((0, 0, 0), (1, 1, 1))


def test_nt7_the_log_tells_heights_and_rings_of_both_ways_to_win() -> None:
    for options in (Options(), RING):
        state = moment(block="A1", towers=(ring(1, 2), pole(0, 0, 3)), turns=120, options=options)
        assert ended(state, RUN_OUT) == GameEnded("turns", (2, 3), (2, 0))


def test_nt7_there_is_no_result_before_the_end() -> None:
    steps = restless_game(2, 9, Options())
    assert all(GAME.result(step.before) is None for step in steps)
    assert GAME.result(steps[-1].after) is not None
