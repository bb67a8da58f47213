"""What a room will do by itself and when, and what moves do."""

from itertools import pairwise

import pytest

from tests.games.tile_duel import GAME as TILE_DUEL
from tests.room.pure_rooms import (
    ADA,
    BEN,
    CYD,
    HOST,
    PureRoom,
    open_nonce,
    sealed_nonce,
    whole_room,
)
from towerhall_protocol.fairness import bot_entropy
from towerhall_server.game import AnyGame, Rejected, Seat
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.room import steps
from towerhall_server.room.closing import abandon_step
from towerhall_server.room.events import (
    TimedOut,
)
from towerhall_server.room.explaining import effect_of, explain
from towerhall_server.room.seats import Person
from towerhall_server.room.state import seed_of
from towerhall_server.room.steps import ABANDONED_MS, EMPTY_MS, IDLE_MS, KEPT_MS, OPEN_MS, Due
from towerhall_server.room.view import shown_cause

both_games = pytest.mark.parametrize("rules", [FIVE_TOWERS, TILE_DUEL], ids=lambda r: r.name)


def playing(*people: Person, turn_seconds: int = 0, bot_delay_ms: int = 600) -> PureRoom:
    """A game of two without nonces; bots take the seats that are left."""
    pure = PureRoom(turn_seconds=turn_seconds, bot_delay_ms=bot_delay_ms)
    return pure.seat_people(*people, sealed=False).deal()


def test_an_empty_room_goes_after_ten_minutes() -> None:
    pure = PureRoom()
    assert steps.due(pure.room) == Due("remove", EMPTY_MS, "commit")
    assert steps.deadline_ms(pure.room) == pure.now_ms + 10 * 60_000


def test_a_room_in_which_nobody_does_anything_is_closed_after_a_day() -> None:
    pure = PureRoom()
    pure.say(BEN, "sit")
    assert steps.due(pure.room) == Due("close", IDLE_MS, "commit")
    pure.now_ms += 3_600_000
    pure.say(BEN, "ready")
    assert steps.deadline_ms(pure.room) == pure.now_ms + 24 * 3_600_000


def test_a_room_that_everybody_left_is_empty_again() -> None:
    pure = PureRoom()
    pure.say(BEN, "sit")
    pure.say(BEN, "stand")
    assert steps.due(pure.room).errand == "remove"


def test_ten_seconds_count_from_the_sealing_whatever_others_open() -> None:
    pure = PureRoom(seats=3).seat_people(ADA, BEN, CYD)
    pure.say(HOST, "start")
    sealed_ms = pure.now_ms
    assert steps.due(pure.room) == Due("open", OPEN_MS, "decision")
    for person in (BEN, CYD):
        pure.now_ms += 3_000
        pure.say(person, "open", nonce=open_nonce(person))
        assert steps.deadline_ms(pure.room) == sealed_ms + 10_000


def test_every_sealing_has_ten_seconds_of_its_own() -> None:
    pure = PureRoom().seat_people(ADA, BEN)
    pure.say(HOST, "start")
    pure.say(BEN, "open", nonce=open_nonce(BEN))
    pure.wait()
    pure.say(ADA, "sit", nonce=sealed_nonce(ADA, 2))
    pure.say(BEN, "ready")
    pure.say(HOST, "start")
    assert steps.deadline_ms(pure.room) == pure.now_ms + 10_000


def test_a_bot_acts_after_its_delay_with_a_clock_or_without() -> None:
    for clock in (0, 30):
        pure = playing(turn_seconds=clock, bot_delay_ms=250)
        assert steps.due(pure.room) == Due("bot", 250, "decision")
        assert steps.deadline_ms(pure.room) == pure.now_ms + 250
        assert steps.bot_to_act(pure.room) == pure.room.to_act()[0]


def test_a_bot_waits_longer_after_an_auction_was_won_and_before_the_first_bid() -> None:
    pure = PureRoom(bot_delay_ms=250, beat_ms=1000).seat_people(sealed=False).deal()
    waits: dict[str, set[int]] = {"deal": set(), "bid": set(), "build": set()}
    for room in pure.play_on(60).rooms:
        if room.playing:
            what = "build" if room.game.phase == "build" else "bid" if room.game.calls else "deal"
            waits[what].add(steps.due(room).ms)
    assert waits == {"deal": {1250}, "bid": {250}, "build": {1250}}


def test_without_a_beat_and_in_games_without_results_bots_wait_as_ever() -> None:
    for rules, beat_ms in ((FIVE_TOWERS, 0), (TILE_DUEL, 1000)):
        pure = PureRoom(rules, bot_delay_ms=250, beat_ms=beat_ms).seat_people(sealed=False).deal()
        rooms = pure.play_on(10).rooms
        assert {steps.due(room).ms for room in rooms if room.playing} == {250}


def test_only_a_bot_whose_turn_it_is_acts() -> None:
    pure = playing(ADA, turn_seconds=30)
    errands = set()
    for before, after in pairwise(pure.play_on(30).rooms):
        if before.playing and after.playing:
            (seat,) = before.to_act()
            errands.add((seat, steps.due(before).errand))
    assert errands == {(0, "turn"), (1, "bot")}


def test_a_persons_clock_counts_from_the_decision_and_not_from_other_commits() -> None:
    pure = playing(ADA, BEN, turn_seconds=30)
    began_ms = pure.now_ms
    assert steps.due(pure.room) == Due("turn", 30_000, "decision")
    tag = pure.room.tag
    pure.mutter(after_ms=5_000)
    assert pure.room.served_ms == began_ms + 5_000
    assert steps.deadline_ms(pure.room) == began_ms + 30_000
    assert pure.room.tag == tag
    pure.play_on(1)
    assert pure.room.tag != tag
    assert steps.deadline_ms(pure.room) == pure.now_ms + 30_000


def test_a_game_without_a_clock_is_abandoned_thirty_days_after_the_day_of_its_last_commit() -> None:
    pure, day_ms = playing(ADA, BEN), 24 * 3_600_000
    assert steps.due(pure.room) == Due("close", ABANDONED_MS, "day")
    pure.play_on(3)
    today = pure.now_ms // day_ms
    assert steps.deadline_ms(pure.room) == (today + 1 + 30) * day_ms
    pure.now_ms = (today + 1) * day_ms - 1
    pure.play_on(1)
    assert steps.deadline_ms(pure.room) == (pure.now_ms // day_ms + 1 + 30) * day_ms


def test_a_room_that_is_over_is_kept_for_a_day() -> None:
    won, closed = whole_room("five_towers"), playing(ADA, BEN)
    closed.append(abandon_step(closed.room))
    for pure in (won, closed):
        assert steps.due(pure.room) == Due("remove", KEPT_MS, "commit")
        assert steps.deadline_ms(pure.room) == pure.now_ms + 24 * 3_600_000


# --- moves ---


def test_a_bot_moves_by_what_its_seat_sees_and_by_the_seed_of_the_deal() -> None:
    pure = playing()
    seat = steps.bot_to_act(pure.room)
    assert seat is not None
    step = steps.bot_step(pure.room, seat)
    again = steps.bot_step(pure.room, seat)
    assert step == again
    assert not isinstance(step, Rejected)
    assert shown_cause(step.commit.cause) == (seat,)
    choose = FIVE_TOWERS.bots["easy"]
    seen = FIVE_TOWERS.view(pure.room.game, seat)
    offers = FIVE_TOWERS.offers(pure.room.game, seat)
    entropy = bot_entropy(seed_of(pure.room, pure.room.table.deal), pure.room.began_seq)
    assert step.commit.command == choose(seen, offers, entropy)


def test_each_decision_of_a_bot_draws_from_other_entropy() -> None:
    pure = playing(ADA)
    drawn = []
    while (seat := steps.bot_to_act(pure.room)) is not None or pure.room.to_act():
        if seat is not None:
            drawn.append(steps.bot_job(pure.room, seat).entropy)
            pure.mutter()
            assert steps.bot_job(pure.room, seat).entropy == drawn[-1]
        pure.play_on(1)
    assert len(drawn) == len(set(drawn)) > 5


def test_a_seat_whose_time_is_up_plays_the_games_default() -> None:
    pure = playing(ADA, BEN, turn_seconds=30)
    (seat,) = pure.room.to_act()
    before = pure.room
    step = pure.wait()
    assert step.commit.room == (TimedOut(seat),)
    assert shown_cause(step.commit.cause) == (seat,)
    assert step.commit.command == FIVE_TOWERS.timeout(before.game, seat)
    assert pure.now_ms == before.began_ms + 30_000


def test_a_command_for_another_decision_is_stale() -> None:
    pure = playing(ADA, BEN)
    tag = pure.room.tag
    (seat,) = pure.room.to_act()
    body = pure.offered(seat, 0)
    person = pure.holder(seat)
    assert not isinstance(pure.ask(person, body, tag), Rejected)
    pure.play_on(1)
    assert pure.ask(person, body, tag) == Rejected("stale", "P-43")
    assert pure.ask(person, body, "") == Rejected("stale", "P-43")


@both_games
def test_the_effect_of_a_command_is_what_its_offer_says(rules: AnyGame) -> None:
    pure = PureRoom(rules, 2).seat_people(ADA, BEN, sealed=False).deal().play_on(6)
    told = 0
    for room in pure.rooms:
        for seat in room.to_act():
            for offer in room.rules.offers(room.game, seat):
                for command, effect in offer.with_effects():
                    told += bool(effect)
                    assert effect_of(room, seat, command) == effect
            assert effect_of(room, seat, {"command": "nonsense"}) == {}
    assert told


def test_a_refusal_is_explained_by_the_page_that_it_cites() -> None:
    of_game = explain(TILE_DUEL, Rejected("no_such_tile", "3", {"size": 2}))
    assert of_game == "Choose a tile of size 2."
    of_room = explain(TILE_DUEL, Rejected("seat_taken", "P-51", {"seat": 1}))
    assert of_room == "seat 1 is taken"
    # Both have a code of that name.
    texts = {
        explain(TILE_DUEL, Rejected("bad_command", rule, {"detail": "so"}))
        for rule in ("2", "P-41")
    }
    assert texts == {
        "Not a command: so.",
        "a command is a map with its name under `command`: so",
    }


@pytest.mark.parametrize("command", ["ready", "stand", "open"])
def test_a_command_to_the_room_has_no_effect_that_could_be_told_beforehand(command: str) -> None:
    pure = PureRoom().seat_people(ADA, BEN)
    assert effect_of(pure.room, Seat(0), {"command": command}) == {}
