"""The levels of bots are those of the game: one may be enough."""

from dataclasses import replace
from typing import Any

import pytest

from tests.games import tile_duel as duel
from tests.room.pure_rooms import ADA, BEN, HOST, PureRoom
from towerhall_server.game import AnyGame, discover
from towerhall_server.lobby.games import describe_game
from towerhall_server.record.rederive import UndecidedError, decide_first
from towerhall_server.room.events import BotSat, BotStoodIn, SeatResigned, Settings
from towerhall_server.room.steps import Plan, found


def with_levels(*levels: str) -> AnyGame:
    return replace(duel.GAME, bots=dict.fromkeys((*levels, "random"), duel.choose))


@pytest.mark.parametrize(
    ("levels", "weakest", "stand_in"),
    [
        (("easy", "medium", "hard"), "easy", "medium"),
        (("hard", "medium"), "medium", "hard"),
        (("hard",), "hard", "hard"),
        (("easy",), "easy", "easy"),
    ],
)
def test_bots_are_seated_and_stand_in_by_the_games_own_levels(
    levels: tuple[str, ...], weakest: str, stand_in: str
) -> None:
    pure = PureRoom(with_levels(*levels), 3)
    pure.say(ADA, "sit")
    pure.say(BEN, "sit")
    for level in {"easy", "medium", "hard", "random"} - set(levels):
        assert pure.refused(HOST, "add_bot", level=level) == "bad_command"
    assert pure.say(HOST, "add_bot").commit.room == (BotSat(2, weakest),)
    pure.say(ADA, "ready")
    pure.say(BEN, "ready")
    pure.say(HOST, "start")
    assert pure.refused(ADA, "leave", level="random") == "bad_command"
    assert pure.say(ADA, "leave").commit.room == (BotStoodIn(0, stand_in),)
    assert pure.say(BEN, "resign").commit.room == (SeatResigned(1, stand_in),)
    pure.play_on()
    assert pure.room.table.status == "over"


def test_a_refusal_names_the_levels_that_there_are() -> None:
    answer = PureRoom(with_levels("hard", "easy")).ask(HOST, {"command": "add_bot", "level": "x"})
    assert answer.params == {"detail": "level is one of easy, hard"}


@pytest.mark.parametrize("level", [1, [], {}, True])
def test_what_is_no_level_is_refused(level: Any) -> None:
    pure = PureRoom(with_levels("easy"))
    assert pure.refused(HOST, "add_bot", level=level) == "bad_command"


def test_a_lobby_is_told_the_levels_that_there_are() -> None:
    described = describe_game(with_levels("hard"))
    assert described["levels"] == ("hard",)
    assert described["level_texts"] == {"hard": "level.hard"}


@pytest.mark.parametrize("level", ["hard", "random"])
def test_a_log_that_begins_with_a_bot_that_the_game_has_not_is_a_lie(level: str) -> None:
    rules, secret = with_levels("easy"), bytes(32)
    options, bots = rules.presets["standard"], ("", level)
    plan = Plan(rules, options, 2, Settings(), "", bots=bots, operator="acme")
    commit = found(plan, "ABCDEF", bytes(16), secret).commit
    with pytest.raises(UndecidedError, match="bots"):
        decide_first({**discover(), "tile_duel": rules}, secret, commit)
