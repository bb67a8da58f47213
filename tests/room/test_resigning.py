"""Resigning: when it ends the game at once, who wins then, and what older logs did (P-58)."""

from typing import Any

import pytest

from tests.games.tile_duel import GAME as TILE_DUEL
from tests.room.pure_rooms import ADA, BEN, CYD, SECRET, PureRoom
from towerhall_server.game import AnyGame, Result
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.games.nikitin_towers import GAME as NIKITIN_TOWERS
from towerhall_server.room.events import GameOver, RoomClosed, SeatResigned, SecretRevealed
from towerhall_server.room.seats import Known
from towerhall_server.room.view import SHARED, view


def shown(pure: PureRoom) -> dict[str, Any]:
    document: Any = view(pure.room, SHARED)["room"]
    return dict(document)


def playing(*people: Any, seats: int = 2) -> PureRoom:
    return PureRoom(TILE_DUEL, seats).seat_people(*people, sealed=False).deal()


def test_resigning_ends_a_game_of_two_and_the_other_player_wins() -> None:
    pure = playing(ADA, BEN)
    step = pure.say(ADA, "resign")
    assert step.commit.room == (
        SeatResigned(0, "medium"),
        RoomClosed("resigned"),
        GameOver((0, 0), (2, 1)),
        SecretRevealed(SECRET),
    )
    assert (shown(pure)["status"], shown(pure)["closed"]) == ("over", "resigned")
    assert shown(pure)["result"] == {"scores": (0, 0), "places": (2, 1)}


def test_a_player_for_whom_a_bot_plays_wins_as_well_when_the_other_one_resigns() -> None:
    pure = playing(ADA, BEN)
    pure.say(ADA, "leave")
    pure.say(BEN, "resign")
    assert pure.room.table.closed == "resigned"
    assert pure.room.table.result == Result((0, 0), (1, 2))


def test_the_last_of_three_players_wins_once_the_others_have_resigned() -> None:
    pure = playing(ADA, BEN, CYD, seats=3)
    pure.say(ADA, "resign")
    assert pure.room.playing
    pure.say(CYD, "resign")
    assert pure.room.table.closed == "resigned"
    assert pure.room.table.result == Result((0, 0, 0), (2, 1, 2))


def test_resigning_ends_a_game_against_bots_alone() -> None:
    pure = playing(ADA, seats=3)
    pure.say(ADA, "resign")
    assert pure.room.table.closed == "resigned"
    assert pure.room.table.result == Result((0, 0, 0), (3, 1, 1))


def test_a_person_and_a_bot_play_on_when_another_person_resigns() -> None:
    pure = playing(ADA, BEN, seats=3)
    pure.say(BEN, "resign")
    assert pure.room.playing
    pure.play_on()
    assert pure.room.table.closed == ""
    assert pure.room.table.result is not None
    assert pure.room.table.result.places[1] == 3


def test_a_game_of_an_older_log_goes_on_after_a_resignation() -> None:
    """Its record is decided again, and nothing in it may change."""
    pure = playing(ADA, BEN)
    pure.known = Known(plays_on=True)
    assert pure.say(BEN, "resign").commit.room == (SeatResigned(1, "medium"),)
    assert pure.room.playing


@pytest.mark.parametrize("rules", [FIVE_TOWERS, NIKITIN_TOWERS])
def test_scores_at_a_resignation_are_those_of_the_moment(rules: AnyGame) -> None:
    pure = PureRoom(rules, 2).seat_people(ADA, BEN, sealed=False).deal()
    pure.play_on(12)
    assert pure.room.playing
    assert rules.standing is not None
    scores = rules.standing(pure.room.game)
    pure.say(ADA, "resign")
    assert pure.room.table.result == Result(scores, (2, 1))
