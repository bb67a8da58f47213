"""FT 7: calls that leave no choice are made by the game, if the room wants it."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.builders import (
    FINISHED,
    act,
    bid,
    bot_game,
    build,
    call,
    new_game,
    shown,
    table,
    told,
)
from towerhall_server.game import Seat
from towerhall_server.games.five_towers import GAME
from towerhall_server.games.five_towers.cards import KINDS, deck
from towerhall_server.games.five_towers.events import (
    AuctionEmpty,
    AuctionWon,
    BidMade,
    BidWithdrawn,
    DisplayCleared,
    Event,
    GameEnded,
    Passed,
    PileReshuffled,
    RoundStarted,
)
from towerhall_server.games.five_towers.options import Options
from towerhall_server.games.five_towers.state import PASS, State

FIVE = "sand:7 candy:14 tree:3 scrap:15 spooky:11"
MANUAL = Options(auto_pass=False)
TABLE = Options(bids="table")


def is_forced(event: Event) -> bool:
    return isinstance(event, BidMade | Passed) and event.forced


def test_ft7_a_seat_that_can_only_pass_is_passed_for() -> None:
    state = table(display=FIVE, towers={1: FINISHED})
    assert told(state, 0, bid(1)) == (BidMade(Seat(0), 1), Passed(Seat(1), forced=True))
    assert act(state, 0, bid(1)).turn == 2


def test_ft7_forced_passes_close_the_auction_in_the_same_commit() -> None:
    state = table(display=FIVE, towers={2: FINISHED, 3: FINISHED}, calls=(1,))
    assert told(state, 1, bid(3)) == (
        BidMade(Seat(1), 3),
        Passed(Seat(2), forced=True),
        Passed(Seat(3), forced=True),
        AuctionWon(Seat(1), 3),
    )


def test_ft7_a_start_player_that_can_build_nothing_names_0() -> None:
    state = table(
        display="sand:15",
        towers={1: FINISHED},
        calls=(1, PASS, PASS, PASS),
        phase="build",
        pile=" ".join(FIVE.split()),
    )
    events = told(state, 0, build("sand:15"))
    assert events[-2:] == (
        RoundStarted(2, Seat(1), tuple(FIVE.split()), 0),
        BidMade(Seat(1), 0, forced=True),
    )
    assert GAME.play(state, events).turn == 2


def test_ft7_with_auto_pass_every_call_is_a_choice() -> None:
    for seed in range(5):
        for step in bot_game("random", 4, seed):
            assert not is_forced(step.events[0])
            if step.before.phase == "auction":
                assert sum(offer.count() for offer in GAME.offers(step.before, step.seat)) >= 2


@pytest.mark.parametrize("options", [MANUAL, Options(bids="table", auto_pass=False)])
def test_ft7_without_auto_pass_nothing_is_forced(options: Options) -> None:
    single = 0
    for seed in range(3):
        for step in bot_game("random", 4, seed, options):
            assert not any(map(is_forced, step.events))
            if step.before.phase == "auction":
                single += sum(o.count() for o in GAME.offers(step.before, step.seat)) == 1
    assert single > 5


def by_hand(state: State, seat: Seat, command: object, events: tuple[Any, ...]) -> State:
    """The same without help: the command, then every forced call as a command of its own."""
    state = act(state, seat, command)
    for event in filter(is_forced, events):
        assert state.turn == event.seat
        assert sum(offer.count() for offer in GAME.offers(state, state.turn)) == 1
        state = call(state, PASS if isinstance(event, Passed) else event.number)
    return state


@pytest.mark.parametrize("bids", ["strict", "table"])
@pytest.mark.parametrize(
    ("bot", "seats"), [("random", 2), ("greedy", 3), ("random", 4), ("greedy", 5)]
)
def test_ft7_forced_calls_made_by_hand_lead_to_the_same(bids: Any, bot: str, seats: int) -> None:
    forced = 0
    for seed in range(3):
        helped = Options(bids=bids)
        manual = new_game(seats, replace(helped, auto_pass=False), seed)
        for step in bot_game(bot, seats, seed, helped):
            manual = by_hand(manual, step.seat, step.command, step.events)
            forced += sum(map(is_forced, step.events))
            assert view_without_options(manual) == view_without_options(step.after)
        assert manual.phase == "over"
    assert forced > 0 or (bids, bot) == ("table", "greedy")


def view_without_options(state: State) -> dict[str, object]:
    return {part: value for part, value in shown(state).items() if part != "options"}


# --- bids: table ---


def test_ft7_table_a_seat_that_can_build_nothing_still_has_a_choice() -> None:
    state = table(display=FIVE, towers={1: FINISHED}, options=TABLE)
    assert told(state, 0, bid(1)) == (BidMade(Seat(0), 1),)


def test_ft7_table_a_seat_is_passed_for_when_its_limit_leaves_nothing() -> None:
    state = table(display=FIVE, towers={1: FINISHED}, calls=(2, 3, PASS), options=TABLE)
    assert told(state, 3, {"command": "pass"}) == (
        Passed(Seat(3)),
        BidWithdrawn(Seat(1), 3, 1),
        Passed(Seat(1), forced=True),
    )


def test_ft7_table_a_start_player_that_took_back_1_names_0() -> None:
    state = table(display=FIVE, towers={0: FINISHED}, calls=(1, PASS, PASS), options=TABLE)
    events = told(state, 3, {"command": "pass"})
    assert events[1:] == (BidWithdrawn(Seat(0), 1, 0), BidMade(Seat(0), 0, forced=True))


def test_ft7_table_calls_are_forced_only_after_a_withdrawal() -> None:
    for seed in range(5):
        withdrawn: set[tuple[int, Seat]] = set()
        state = new_game(4, TABLE, seed)
        for step in bot_game("random", 4, seed, TABLE):
            for event in step.events:
                if isinstance(event, BidWithdrawn):
                    withdrawn.add((state.round, event.seat))
                if isinstance(event, BidMade | Passed) and event.forced:
                    assert (state.round, event.seat) in withdrawn
                state = GAME.fold(state, event)


# --- several rounds ---

LOW = (2, 1)
STUCK: dict[int, dict[str, tuple[int, ...]]] = {0: FINISHED, 1: dict.fromkeys(KINDS, LOW)}
HIGH = [card for card in deck(2) if int(card.split(":")[1]) not in (0, 1, 2, 9)]


def test_ft7_several_rounds_pass_in_one_commit_while_nobody_can_build() -> None:
    state = table(
        display="sand:9 tree:7",
        towers=STUCK,
        seats=2,
        start_seat=1,
        pile=" ".join((*HIGH[:10], "scrap:9", *HIGH[10:14])),
    )
    won = call(state, 1)
    events = told(won, 1, build("sand:9"))
    rounds = [event for event in events if isinstance(event, RoundStarted)]
    assert [event.round for event in rounds] == [2, 3, 4]
    assert sum(isinstance(event, AuctionEmpty) for event in events) == 2
    after = GAME.play(won, events)
    assert (after.round, after.turn, after.phase) == (4, 1, "auction")
    assert [event for event in events if is_forced(event)] == [
        BidMade(Seat(0), 0, forced=True), Passed(Seat(1), forced=True),
        BidMade(Seat(0), 0, forced=True), Passed(Seat(1), forced=True),
        BidMade(Seat(0), 0, forced=True),
    ]  # fmt: skip


def test_ft7_a_game_ends_in_one_commit_when_nobody_can_ever_build_again() -> None:
    state = table(
        display="sand:9",
        towers=STUCK,
        seats=2,
        start_seat=1,
        calls=(1, PASS),
        phase="build",
        pile=" ".join(HIGH[:20]),
        discard=" ".join(HIGH[20:27]),
        round_number=12,
    )
    events = told(state, 1, build("sand:9"))
    after = GAME.play(state, events)
    assert (after.phase, after.round, after.lap) == ("over", 12 + 4 + 6, 2)
    assert isinstance(events[-1], GameEnded)
    assert events.count(PileReshuffled(27)) == 1
    assert sum(isinstance(event, DisplayCleared) for event in events) == 11


def test_ft7_without_auto_pass_every_round_is_called_by_hand() -> None:
    state = table(display=FIVE, towers=STUCK, seats=2, options=MANUAL, pile=" ".join(HIGH[:5]))
    # tree:3 and the others fit neither on a spire nor on 2 1.
    after = call(state, 0)
    assert (after.round, after.turn) == (1, 1)
    assert call(after, PASS).round == 2
