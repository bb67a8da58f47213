"""FT 8 and 9: clean-up, the next start player, the second lap and the end."""

from collections import Counter

import pytest

from tests.builders import (
    act,
    bot_game,
    build,
    call,
    discarded,
    new_game,
    pass_,
    plain,
    play_out,
    ruined,
    standing,
    table,
    told,
)
from towerhall_server.game import Seat
from towerhall_server.games.five_towers import GAME
from towerhall_server.games.five_towers.cards import deck
from towerhall_server.games.five_towers.events import (
    AuctionEmpty,
    DisplayCleared,
    GameEnded,
    PileReshuffled,
    RoundStarted,
)
from towerhall_server.games.five_towers.options import Options
from towerhall_server.games.five_towers.state import PASS, State

FIVE = "sand:15 candy:15 tree:15 scrap:15 spooky:15"
OTHERS = tuple(card for card in deck(2) if card not in FIVE.split())
EVERY_GAME = pytest.mark.parametrize(
    ("bot", "seats", "seed"),
    [
        (bot, seats, seed)
        for bot in ("random", "greedy")
        for seats in (2, 3, 4, 5)
        for seed in (1, 2)
    ],
)


def end_of_lap(discard: int = 0, *, lap: int = 1, start: int = 0, display: str = FIVE) -> State:
    """Two seats at the last display of a lap."""
    thrown = " ".join(OTHERS[:discard])
    return table(
        display=display,
        seats=2,
        start_seat=start,
        pile="",
        discard=thrown,
        lap=lap,
        round_number=16,
    )


def finish_round(state: State, number: int) -> State:
    """The start player takes the first so many cards of the display."""
    if number == 0:
        return call(state, 0, PASS)
    won = call(state, number, *([PASS] if number < len(state.display) else []))
    return act(won, won.turn, build(*won.display[:number]))


# --- FT 8 ---


def test_ft8_leftovers_go_to_the_discard_pile() -> None:
    state = table(
        display="sand:7 tree:3 candy:1",
        discard="scrap:4",
        calls=(1, PASS, PASS, PASS),
        phase="build",
    )
    after = act(state, 0, build("tree:3"))
    assert discarded(after) == ["candy:1", "sand:7", "scrap:4"]


@pytest.mark.parametrize("builder", range(4))
def test_ft8_the_seat_left_of_the_builder_starts_next(builder: int) -> None:
    calls = [PASS] * 4
    calls[0], calls[builder] = 0, 1
    state = table(display=FIVE, start_seat=0, calls=calls, phase="build")
    after = act(state, builder, build("tree:15"))
    assert (after.start, after.turn) == ((builder + 1) % 4, (builder + 1) % 4)


@pytest.mark.parametrize("start", range(4))
def test_ft8_the_start_player_stays_when_nobody_builds(start: int) -> None:
    after = call(table(display=FIVE, start_seat=start), 0, PASS, PASS, PASS)
    assert (after.start, after.turn, after.round) == (start, start, 2)


def test_ft8_the_next_round_shows_the_top_of_the_pile() -> None:
    state = new_game(3)
    after = call(state, 0, PASS, PASS)
    assert after.display == state.pile[:5]
    assert after.pile == state.pile[5:]


# --- FT 9: the first time ---


@pytest.mark.parametrize(("seats", "rounds"), [(2, 16), (3, 16), (4, 22), (5, 22)])
def test_ft9_the_first_lap_has_full_displays_only(seats: int, rounds: int) -> None:
    dealt = [
        event
        for step in bot_game("random", seats, 1)
        for event in step.events
        if isinstance(event, RoundStarted | PileReshuffled)
    ]
    first = dealt[: next(i for i, event in enumerate(dealt) if isinstance(event, PileReshuffled))]
    sizes = [len(event.display) for event in first if isinstance(event, RoundStarted)]
    assert [5, *sizes] == [5] * rounds


def test_ft9_the_last_display_of_the_first_lap_is_played_in_full() -> None:
    state = end_of_lap(10)
    assert (state.pile, state.lap) == ((), 1)
    won = call(state, 2, PASS)
    assert (won.phase, won.turn, won.lap) == ("build", 0, 1)


def test_ft9_the_reshuffle_comes_after_the_clean_up_of_that_round() -> None:
    state = call(end_of_lap(10), 2, PASS)
    events = told(state, 0, build("tree:15", "sand:15"))
    assert events[3:5] == (
        DisplayCleared(("candy:15", "scrap:15", "spooky:15")),
        PileReshuffled(13),
    )
    after = GAME.play(state, events)
    expected = {*OTHERS[:10], "candy:15", "scrap:15", "spooky:15"}
    assert {*after.display, *after.pile} == expected
    assert (discarded(after), after.lap, after.round) == ([], 2, 17)


def test_ft9_the_reshuffle_also_follows_a_round_without_a_build() -> None:
    state = call(end_of_lap(1), 0)
    events = told(state, 1, pass_())
    assert events[1:4] == (AuctionEmpty(), DisplayCleared(state.display), PileReshuffled(6))


def test_ft9_the_new_pile_is_in_random_order() -> None:
    state = end_of_lap(40)
    after = finish_round(state, 0)
    order = (*after.display, *after.pile)
    assert order not in (tuple(sorted(order)), OTHERS[:40] + state.display)
    other = finish_round(GAME.resample(state, b"other"), 0)
    assert (*other.display, *other.pile) != order


@pytest.mark.parametrize(("number", "next_start"), [(0, 1), (3, 0)])
def test_ft9_the_start_player_passes_over_the_reshuffle_as_always(
    number: int, next_start: int
) -> None:
    after = finish_round(end_of_lap(10, start=1), number)
    assert (after.lap, after.start, after.turn) == (2, next_start, next_start)


# --- FT 9: the second time ---


def second_lap(left_over: int) -> tuple[State, list[int]]:
    """The sizes of the second lap's displays when so many cards are shuffled into it."""
    state = end_of_lap(max(0, left_over - 5))
    state = finish_round(state, max(0, 5 - left_over))
    sizes = []
    while state.phase != "over":
        assert state.lap == 2
        sizes.append(len(state.display))
        state = finish_round(state, 0)
    return state, sizes


@pytest.mark.parametrize(
    ("left_over", "sizes"),
    [
        (1, [1]),
        (2, [2]),
        (3, [3]),
        (4, [4]),
        (5, [5]),
        (6, [5, 1]),
        (9, [5, 4]),
        (10, [5, 5]),
        (11, [5, 5, 1]),
        (37, [5] * 7 + [2]),
        (40, [5] * 8),
        (75, [5] * 15),
        (80, [5] * 16),
    ],
)
def test_ft9_the_second_lap_has_full_displays_and_the_rest(
    left_over: int, sizes: list[int]
) -> None:
    state, found = second_lap(left_over)
    assert found == sizes
    assert len(found) == -(-left_over // 5)
    assert found[-1] == (left_over - 1) % 5 + 1
    assert state.round == 16 + len(found)
    assert len(discarded(state)) == left_over


def test_ft9_nothing_to_reshuffle_ends_the_game_at_once() -> None:
    won = call(end_of_lap(0), 5)
    events = told(won, 0, build(*won.display))
    assert events[-3:-1] == (DisplayCleared(()), PileReshuffled(0))
    assert isinstance(events[-1], GameEnded)
    after = GAME.play(won, events)
    assert (after.phase, after.round, GAME.to_act(after)) == ("over", 16, ())


@pytest.mark.parametrize("size", range(1, 6))
def test_ft9_the_last_round_is_played_and_then_the_game_is_over(size: int) -> None:
    state = end_of_lap(20, lap=2, display=" ".join(FIVE.split()[:size]))
    won = call(state, size)
    assert (won.phase, won.turn) == ("build", 0)
    events = told(won, 0, build(*won.display))
    assert isinstance(events[-1], GameEnded)
    assert not any(isinstance(event, PileReshuffled) for event in events)
    after = GAME.play(won, events)
    assert after.phase == "over"
    assert sum(map(len, standing(after).values())) == size


def test_ft9_0_and_passes_end_the_last_round_too() -> None:
    state = call(end_of_lap(20, lap=2), 0)
    events = told(state, 1, pass_())
    assert events[1:3] == (AuctionEmpty(), DisplayCleared(state.display))
    assert isinstance(events[3], GameEnded)


def test_ft9_after_the_end_nothing_can_be_done() -> None:
    over = play_out(new_game(2), ("random", "random"))
    assert GAME.to_act(over) == ()
    for seat in (0, 1):
        assert GAME.offers(over, Seat(seat)) == ()


@EVERY_GAME
def test_ft9_there_is_exactly_one_reshuffle_and_one_end(bot: str, seats: int, seed: int) -> None:
    events = [event for step in bot_game(bot, seats, seed) for event in step.events]
    kinds = Counter(type(event) for event in events)
    assert (kinds[PileReshuffled], kinds[GameEnded]) == (1, 1)
    assert isinstance(events[-1], GameEnded)
    least = 16 if seats <= 3 else 22
    rounds = 1 + kinds[RoundStarted]
    assert least <= rounds <= 2 * least
    drawn = next(event.pile for event in events if isinstance(event, PileReshuffled))
    assert rounds == least + -(-drawn // 5)


@EVERY_GAME
def test_ft9_every_card_lies_in_exactly_one_place(bot: str, seats: int, seed: int) -> None:
    whole = plain(deck(seats))
    for step in bot_game(bot, seats, seed):
        state = step.after
        built = [
            f"{kind}:{value}"
            for seat in range(seats)
            for kind, tower in standing(state, seat).items()
            for value in tower
        ]
        lying = [card for seat in range(seats) for card in ruined(state, seat)]
        found = plain((*state.pile, *state.display, *built, *lying, *discarded(state)))
        assert found == whole


def test_ft9_the_longest_game_is_one_without_any_build() -> None:
    state = new_game(4, Options(auto_pass=False))
    while state.phase != "over":
        state = call(state, 0, PASS, PASS, PASS)
    assert state.round == 44
