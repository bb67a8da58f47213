"""NT 6: the opening roll, the die, the neighbour's choice, giving back, and the clock."""

from collections import Counter
from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import Step, seed_bytes
from tests.games.nikitin_towers.positions import tower_of
from tests.games.nikitin_towers.tables import (
    GIVE_BACK,
    MANUAL,
    ROLL,
    RUN_OUT,
    SHAKY_POLE,
    THIN_FOOT,
    TURNS,
    act,
    bot_game,
    choose,
    die,
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
from tests.room.pure_rooms import ADA, BEN, PureRoom
from towerhall_protocol.fairness import Act, witnessed
from towerhall_protocol.offers import Choice, Offer
from towerhall_server.game import Seat
from towerhall_server.games.nikitin_towers import GAME, rules
from towerhall_server.games.nikitin_towers.blocks import CATALOGUE, ORIENTATIONS
from towerhall_server.games.nikitin_towers.events import (
    NO_ROLL,
    BlockChosen,
    BlockPlaced,
    BlockReturned,
    DieRolled,
    GameEnded,
    GameStarted,
    TowerCollapsed,
)
from towerhall_server.games.nikitin_towers.options import Options
from towerhall_server.games.nikitin_towers.search import MOST_CHECKS
from towerhall_server.games.nikitin_towers.stability import stands
from towerhall_server.games.nikitin_towers.state import State
from towerhall_server.games.nikitin_towers.tower import Placed, Tower

RING = Options(win="ring")
EVERY_OPTIONS = (Options(), MANUAL, RING)
SQUARES = 8
"""Places on the thin foot whose own footing holds a square; with none of them the tower stands."""


def started(state: State) -> GameStarted:
    (event, *_) = GAME.setup(state)
    assert isinstance(event, GameStarted)
    return event


def opening(seats: int, seed: int) -> GameStarted:
    return started(GAME.start(MANUAL, seats, seed_bytes(seed)))


# --- the opening roll ---


@pytest.mark.parametrize("seats", [2, 3])
def test_nt6_the_highest_roll_begins_and_ties_roll_again(seats: int) -> None:
    kinds: Counter[tuple[int, ...]] = Counter()
    for seed in range(400):
        event = opening(seats, seed)
        rolling, number = list(range(seats)), 0
        for dice in event.rolls:
            assert len(rolling) > 1
            wanted = [NO_ROLL] * seats
            for seat in rolling:
                wanted[seat] = die(seed_bytes(seed), number)
                number += 1
            assert list(dice) == wanted
            rolling = [seat for seat in rolling if dice[seat] == max(dice)]
        assert rolling == [event.start]
        kinds[tuple(seats - dice.count(NO_ROLL) for dice in event.rolls)] += 1
    assert kinds[(seats,)] > kinds[(seats, 2)] > 0
    assert seats == 2 or kinds[(3, 3)] > 0
    assert any(len(kind) > 2 for kind in kinds)


def test_nt6_only_the_tied_seats_roll_again() -> None:
    event = opening(3, seed_with(5, 2, 5, 1, 6))
    assert event.rolls == ((5, 2, 5), (1, NO_ROLL, 6))
    assert event.start == 2


def test_nt6_a_seat_that_dropped_out_does_not_win_by_a_higher_roll_of_before() -> None:
    event = opening(3, seed_with(6, 6, 5, 2, 1))
    assert event.rolls == ((6, 6, 5), (2, 1, NO_ROLL))
    assert event.start == 0


def test_nt6_all_may_tie_and_tie_again() -> None:
    event = opening(3, seed_with(4, 4, 4, 3, 3, 1))
    assert event.rolls[:2] == ((4, 4, 4), (3, 3, 1))
    assert all(dice[2] == NO_ROLL for dice in event.rolls[2:])
    assert event.start in (0, 1)


def test_nt6_the_winner_of_the_opening_builds_first_and_its_neighbour_chooses() -> None:
    state = new_game(3, seed=seed_with(1, 2, 3, 6))
    assert (state.turn, state.turns, state.die, state.phase) == (2, 1, 6, "choose")
    assert GAME.to_act(state) == (0,)


# --- the die ---


def test_nt6_the_next_smaller_size_counts() -> None:
    state = moment("roll", pile={"A1": 2, "B1": 1, "E1": 1}, options=MANUAL, seed=seed_with(4))
    rolled = told(state, 0, ROLL)[0]
    assert facts([rolled]) == [("die_rolled", 0, TURNS + 1, 4, 2)]


@given(st.sets(st.sampled_from(sorted(CATALOGUE)), min_size=1), st.integers(1, 6))
def test_nt6_the_size_is_the_largest_up_to_the_die_that_is_left(
    left: set[str], number: int
) -> None:
    state = moment("roll", pile=dict.fromkeys(left, 1), options=MANUAL, seed=seed_with(number))
    rolled = told(state, 0, ROLL)[0]
    sizes = [CATALOGUE[kind].size for kind in left if CATALOGUE[kind].size <= number]
    assert rolled == DieRolled(Seat(0), TURNS + 1, number, max(sizes, default=0))


def test_nt6_empty_turns_are_over_in_the_same_commit() -> None:
    state = moment(
        towers=(Tower(), Tower(), SHAKY_POLE),
        block="A1",
        turn=1,
        pile={"F1": 1, "F2": 1},
        seats=3,
        seed=seed_with(3, 5, 1, 2, 6),
    )
    events = told(state, 1, place("A1.1", 0, 0))
    assert facts(events) == [
        ("block_placed", 1, "A1.1@0,0,0", 1, 0),
        ("die_rolled", 2, TURNS + 1, 3, 0),
        ("die_rolled", 0, TURNS + 2, 5, 0),
        ("die_rolled", 1, TURNS + 3, 1, 0),
        ("die_rolled", 2, TURNS + 4, 2, 0),
        ("die_rolled", 0, TURNS + 5, 6, 6),
    ]
    after = GAME.play(state, events)
    assert (after.phase, after.turn, GAME.to_act(after)) == ("choose", 0, (1,))
    assert after.quiet == 4


@pytest.mark.parametrize("seats", [2, 3])
def test_nt6_no_commit_leaves_a_roll_to_do_unless_players_roll(seats: int) -> None:
    phases = {step.after.phase for step in restless_game(seats, 1, Options())}
    assert phases == {"choose", "place", "over"}


# --- players roll themselves ---


def test_nt6_without_auto_roll_the_builder_rolls() -> None:
    state = new_game(3, MANUAL, seed_with(2, 6, 1, 3))
    assert (state.phase, state.turn, GAME.to_act(state)) == ("roll", 1, (1,))
    assert GAME.offers(state, Seat(1)) == (Offer("roll"),)
    assert GAME.offers(state, Seat(0)) == GAME.offers(state, Seat(2)) == ()
    assert not {"die", "size", "block"} & set(shown(state))
    for seat in (0, 2):
        assert refused(state, seat, ROLL).params == {"turn": 1}
    assert facts(told(state, 1, ROLL)) == [("die_rolled", 1, 1, 3, 3)]


def test_nt6_without_auto_roll_each_turn_waits_for_a_roll() -> None:
    rolled = 0
    for step in restless_game(3, 2, MANUAL):
        dice = [event for event in step.events if isinstance(event, DieRolled)]
        assert len(dice) == (step.command == ROLL)
        rolled += len(dice)
    assert rolled == step.after.turns > 30


def test_nt6_after_an_empty_turn_the_next_player_rolls() -> None:
    seed = seed_with(5, 6)
    state = moment("roll", turn=1, pile={"F1": 1, "F2": 1}, options=MANUAL, seed=seed)
    assert facts(told(state, 1, ROLL)) == [("die_rolled", 1, TURNS + 1, 5, 0)]
    state = act(state, ROLL)
    assert (state.phase, state.turn, GAME.to_act(state)) == ("roll", 0, (0,))
    assert not {"die", "size", "block"} & set(shown(state))
    assert facts(told(state, 0, ROLL)) == [("die_rolled", 0, TURNS + 2, 6, 6)]


def test_nt6_out_of_time_to_roll_the_die_is_rolled() -> None:
    state = new_game(2, MANUAL)
    assert GAME.timeout(state, state.turn) == ROLL
    assert refused(state, state.turn, RUN_OUT).code == "wrong_phase"


@pytest.mark.parametrize("options", [Options(), RING])
def test_nt6_nobody_rolls_where_the_game_does(options: Options) -> None:
    state = new_game(2, options)
    for seat in (0, 1):
        assert refused(state, seat, ROLL).params == {"phase": "choose"}


# --- the neighbour ---


@pytest.mark.parametrize(("seats", "builder"), [(2, 0), (2, 1), (3, 0), (3, 1), (3, 2)])
def test_nt6_the_next_player_in_order_chooses(seats: int, builder: int) -> None:
    state = moment("choose", size=4, turn=builder, seats=seats)
    neighbour = (builder + 1) % seats
    assert GAME.to_act(state) == (neighbour,)
    assert shown(state)["to_act"] == neighbour
    assert shown(state)["turn"] == builder
    for seat in set(range(seats)) - {neighbour}:
        assert GAME.offers(state, Seat(seat)) == ()
        assert refused(state, seat, choose("D4")).params == {"turn": neighbour}
    assert facts(told(state, neighbour, choose("D4"))) == [
        ("block_chosen", neighbour, "D4", "choice")
    ]
    state = act(state, choose("D4"))
    assert (state.phase, state.turn, GAME.to_act(state)) == ("place", builder, (builder,))
    assert refused(state, neighbour, place("D4.1", 0, 0)).params == {"turn": builder}
    assert act(state, place("D4.1", 0, 0)).turn == neighbour


def test_nt6_the_neighbour_is_offered_the_kinds_of_that_size_that_are_left() -> None:
    towers = (tower_of("000 100 010", "001 101 011", "002 102 012"), tower_of("000 100 200 010"))
    assert GAME.offers(moment("choose", size=3, towers=towers), Seat(1)) == (
        Offer("choose", choices=(Choice({"block": "C1"}),)),
    )
    assert GAME.offers(moment("choose", size=4, towers=towers), Seat(1)) == (
        Offer("choose", choices=tuple(Choice({"block": f"D{n}"}) for n in (1, 2, 4, 5, 6))),
    )


def test_nt6_only_a_block_of_that_size_that_is_left_can_be_chosen() -> None:
    tower = tower_of("000 100 200 010")
    state = moment("choose", size=4, towers=(tower,))
    assert refused(state, 1, choose("D3")).code == "not_in_pile"
    for kind in ("A1", "C2", "E1", "F6"):
        answer = refused(state, 1, choose(kind))
        assert (answer.code, answer.params) == ("wrong_size", {"block": kind, "size": 4})


@pytest.mark.parametrize("seats", [2, 3])
def test_nt6_a_choice_of_one_kind_is_made_by_the_game(seats: int) -> None:
    state = moment(
        block="A1",
        pile={"C2": 3, "D1": 1, "D2": 1},
        turn=1,
        seats=seats,
        seed=seed_with(3),
    )
    events = told(state, 1, place("A1.1", 0, 0))
    builder, neighbour = 2 % seats, 3 % seats
    assert facts(events[1:]) == [
        ("die_rolled", builder, TURNS + 1, 3, 3),
        ("block_chosen", neighbour, "C2", "forced"),
    ]
    after = GAME.play(state, events)
    assert (after.phase, GAME.to_act(after), after.act) == ("place", (builder,), 1)
    assert shown(after)["pile"] == {"C2": 2, "D1": 1, "D2": 1}


def test_nt6_a_roll_by_hand_is_followed_by_a_choice_of_one_kind() -> None:
    state = moment("roll", pile={"B1": 1, "E1": 1}, options=MANUAL, seed=seed_with(2))
    assert [fact[0] for fact in facts(told(state, 0, ROLL))] == ["die_rolled", "block_chosen"]


@pytest.mark.parametrize("options", EVERY_OPTIONS)
def test_nt6_choices_in_whole_games_are_forced_exactly_where_there_is_one_kind(
    options: Options,
) -> None:
    how = Counter[str]()
    for step in restless_game(2, 3, options):
        state = step.before
        for event in step.events:
            if isinstance(event, BlockChosen):
                kinds = [
                    kind
                    for kind, left in shown(state)["pile"].items()
                    if CATALOGUE[kind].size == state.size and left
                ]
                assert (event.how == "forced") == (len(kinds) == 1)
                assert event.block in kinds
                assert event.seat == (state.turn + 1) % 2
                how[event.how] += 1
            state = GAME.fold(state, event)
    assert len(how) == 3


# --- giving back ---


def standing_places(tower: Tower, kind: str) -> list[Placed]:
    """All places at which the tower stands, by trying every column far and wide."""
    state = moment(towers=(tower,), block=kind)
    found = []
    for number in range(1, len(ORIENTATIONS[kind]) + 1):
        for x, y in product(range(-6, 9), repeat=2):
            answer = GAME.foresee(state, Seat(0), place(f"{kind}.{number}", x, y))
            if isinstance(answer, dict):
                z = int(str(answer["rests"]).rpartition(",")[2])
                found.append(Placed(TURNS, kind, number, x, y, z))
    assert found
    return [placed for placed in found if stands(tower.plus(placed), 10)]


def test_nt6_a_block_with_a_standing_place_is_not_taken_back() -> None:
    tower = tower_of("110", "111 011 211 101 121")
    for kind in ("A1", "E4"):
        state = moment(towers=(tower,), block=kind)
        assert standing_places(tower, kind)
        assert refused(state, 0, GIVE_BACK).code == "place_exists"
    assert refused(moment(block="D1"), 0, GIVE_BACK).params == {}


def test_nt6_a_block_without_a_standing_place_goes_back() -> None:
    assert standing_places(THIN_FOOT, "D2") == []
    state = moment(towers=(THIN_FOOT,), block="D2", turn=0)
    events = told(state, 0, GIVE_BACK)
    assert facts(events)[0] == ("block_returned", 0, "D2", "nowhere")
    after = GAME.play(state, events[:1])
    assert (after.turn, after.phase, after.block) == (1, "roll", "")
    assert after.towers == state.towers
    assert shown(after)["pile"] == {**shown(state)["pile"], "D2": 1}
    assert isinstance(events[1], DieRolled)


@pytest.mark.parametrize("kind", ["D1", "D4", "F4"])
def test_nt6_what_stands_on_the_thin_foot_is_not_taken_back(kind: str) -> None:
    assert standing_places(THIN_FOOT, kind)
    state = moment(towers=(THIN_FOOT,), block=kind)
    assert refused(state, 0, GIVE_BACK).code == "place_exists"


def test_nt6_giving_back_asks_for_the_lean_of_the_game() -> None:
    state = moment(towers=(THIN_FOOT,), block="D2", options=Options(lean="calm"))
    assert refused(state, 0, GIVE_BACK).code == "place_exists"


@pytest.mark.parametrize("checks", range(0, SQUARES, 3))
def test_nt6_a_search_that_stops_early_says_that_a_place_may_exist(
    checks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MOST_CHECKS", checks)
    state = moment(towers=(THIN_FOOT,), block="D2")
    answer = refused(state, 0, GIVE_BACK)
    assert (answer.code, answer.params) == ("place_may_exist", {})


def test_nt6_a_search_whose_bound_is_just_enough_takes_the_block_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rules, "MOST_CHECKS", SQUARES)
    state = moment(towers=(THIN_FOOT,), block="D2")
    assert isinstance(told(state, 0, GIVE_BACK)[0], BlockReturned)


def test_nt6_the_bound_of_a_search_is_300_checks() -> None:
    assert MOST_CHECKS == 300


def test_nt6_the_search_is_worth_beginning_once_the_block_is_chosen() -> None:
    state = moment("choose", size=4)
    assert GAME.ahead(state) is None
    seat, command = GAME.ahead(act(state, choose("D4"))) or (None, {})
    assert (seat, command) == (0, GIVE_BACK)
    assert GAME.slow(act(state, choose("D4")), Seat(0), GIVE_BACK)


# --- out of time ---


def test_nt6_out_of_time_to_choose_the_block_is_drawn_by_lot() -> None:
    pile, drawn = {"C1": 3, "C2": 1, "D1": 1}, Counter[str]()
    for seed in range(200):
        state = moment("choose", size=3, pile=pile, act=5, turn=1, seats=3, seed=seed)
        assert GAME.timeout(state, Seat(2)) == RUN_OUT
        with witnessed() as draws:
            (event,) = told(state, 2, RUN_OUT)
        wanted = ("C1", "C1", "C1", "C2")[Act(seed_bytes(seed), 5).below(4)]
        assert facts([event]) == [("block_chosen", 2, wanted, "lot")]
        assert [(draw.act, draw.given) for draw in draws] == [(5, 4)]
        drawn[wanted] += 1
    assert drawn["C1"] > 2 * drawn["C2"] > 0


def test_nt6_out_of_time_to_place_the_block_goes_back() -> None:
    state = moment(block="D4", turn=1, act=9, seats=3, quiet=3)
    assert GAME.timeout(state, Seat(1)) == RUN_OUT
    events = told(state, 1, RUN_OUT)
    assert facts(events)[0] == ("block_returned", 1, "D4", "time")
    after = GAME.play(state, events[:1])
    assert (after.phase, after.turn, after.block) == ("roll", 2, "")
    assert after.towers == state.towers
    assert after.in_pile == 45
    assert isinstance(events[1], DieRolled)


def test_nt6_the_clock_acts_for_the_seat_that_has_to_act_only() -> None:
    state = moment("choose", size=4, turn=0)
    assert refused(state, 0, RUN_OUT).code == "not_your_turn"
    assert refused(moment(block="D4", turn=0), 1, RUN_OUT).code == "not_your_turn"


def test_nt6_a_person_cannot_say_that_the_time_is_up() -> None:
    pure = PureRoom(GAME, 2).seat_people(ADA, BEN).deal()
    (seat,) = pure.room.to_act()
    assert pure.refused(pure.holder(seat), "run_out") == "bad_command"


# --- chance ---


def acts_used(steps: Sequence[Step]) -> Counter[str]:
    """Derive every die and lot of a game again, from the seed and a count of acts."""
    state, events = whole_story(steps)
    seed, number = state.seed, 0
    used = Counter[str]()
    for event in events:
        if isinstance(event, GameStarted):
            for rolled in (one for dice in event.rolls for one in dice if one != NO_ROLL):
                assert rolled == die(seed, number)
                number += 1
        if isinstance(event, DieRolled):
            assert event.die == die(seed, number)
            used["die"] += 1
            number += 1
        if isinstance(event, BlockChosen) and event.how == "lot":
            blocks = sorted(
                kind
                for kind, left in shown(state)["pile"].items()
                if CATALOGUE[kind].size == state.size
                for _ in range(left)
            )
            assert event.block == blocks[Act(seed, number).below(len(blocks))]
            used["lot"] += 1
            number += 1
        state = GAME.fold(state, event)
        assert state.act == number
    return used


@pytest.mark.parametrize("options", EVERY_OPTIONS)
@pytest.mark.parametrize("seats", [2, 3])
def test_nt6_every_die_and_every_lot_is_the_next_act(seats: int, options: Options) -> None:
    used = acts_used(restless_game(seats, 4, options))
    assert used["die"] > 40
    assert used["lot"] > 5


# --- what goes on in a turn ---


def test_nt10_4_the_pile_the_towers_and_the_hand_always_hold_the_45_blocks() -> None:
    everything = {kind: each.count for kind, each in CATALOGUE.items()}
    collapses = 0
    for options in EVERY_OPTIONS:
        for step in restless_game(3, 5, options):
            state = step.after
            found = Counter(shown(state)["pile"])
            found.update(placed.kind for tower in state.towers for placed in tower.blocks)
            found.update([state.block] if state.block else [])
            assert found == everything
            collapses += any(isinstance(event, TowerCollapsed) for event in step.events)
    assert collapses > 10


def test_nt6_blocks_that_fall_go_back_to_the_pile_the_new_one_too() -> None:
    state = moment(towers=(SHAKY_POLE,), block="B1")
    events = told(state, 0, place("B1.1", 0, 2))
    assert facts(events)[:2] == [
        ("block_placed", 0, "B1.1@0,2,9", 11, 0),
        ("tower_collapsed", 0, ((*map(str, range(9)), str(TURNS)),), 0, 0),
    ]
    after = GAME.play(state, events[:2])
    assert after.towers[0] == Tower()
    assert after.in_pile == 45


def test_nt6_turns_go_round_in_the_order_of_seats() -> None:
    for seats in (2, 3):
        _, events = whole_story(restless_game(seats, 6, Options()))
        dice = [event for event in events if isinstance(event, DieRolled)]
        first = opening(seats, 6).start
        assert [event.seat for event in dice] == [(first + at) % seats for at in range(len(dice))]
        assert [event.turn for event in dice] == list(range(1, len(dice) + 1))
        builder = first
        for event in events:
            builder = event.seat if isinstance(event, DieRolled) else builder
            if isinstance(event, BlockPlaced | BlockReturned | TowerCollapsed):
                assert event.seat == builder
            if isinstance(event, BlockChosen):
                assert event.seat == (builder + 1) % seats


def test_nt6_a_turn_is_a_die_a_choice_and_a_block() -> None:
    """Nothing else happens between two dice, and a game ends after a turn only."""
    for steps in (restless_game(2, 7, Options()), bot_game(("careful", "mean"))):
        last = ""
        for event in whole_story(steps)[1]:
            name = type(event).__name__
            if isinstance(event, DieRolled | GameEnded):
                assert last in (
                    "GameStarted",
                    "BlockPlaced",
                    "TowerCollapsed",
                    "BlockReturned",
                    "empty turn",
                )
                name = name if isinstance(event, GameEnded) or event.size else "empty turn"
            else:
                assert (last, name) in {
                    ("", "GameStarted"),
                    ("DieRolled", "BlockChosen"),
                    ("BlockChosen", "BlockPlaced"),
                    ("BlockChosen", "BlockReturned"),
                    ("BlockPlaced", "TowerCollapsed"),
                }
            last = name
        assert last == "GameEnded"


def ends_a_turn(event: object) -> bool:
    return isinstance(event, BlockPlaced | BlockReturned) or (
        isinstance(event, DieRolled) and not event.size
    )


@pytest.mark.parametrize("options", [Options(), MANUAL], ids=["auto", "manual"])
def test_bots_let_people_see_how_a_turn_ended(options: Options) -> None:
    shown = Counter[tuple[bool, bool]]()
    for step in restless_game(2, 7, options):
        if GAME.to_act(step.after):
            # Where only one block is possible, the next builder holds it already.
            ended = any(map(ends_a_turn, step.events)) and step.after.phase != "place"
            shown[ended, GAME.shows_result(step.after)] += 1
    assert shown.keys() == {(True, True), (False, False)}
