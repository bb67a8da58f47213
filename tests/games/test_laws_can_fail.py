"""The laws are able to fail: each is broken by a game with one thing wrong, and only that one."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from tests.examples import examples
from tests.games.broken_duels import (
    BREAKS,
    CLOCKED,
    FORESEEING,
    PATCHING,
    view_tells_who_looks,
)
from tests.games.laws import LAWS, Law, check_common_parts, check_reasons_cite_rules
from tests.games.plays import Play, play, plays
from tests.games.tile_duel import GAME, RULES, Options
from towerhall_server.game import AnyGame, Reason

BROKEN = [(name, game) for name, games in BREAKS.items() for game in games]


def some_plays(game: AnyGame) -> Iterator[Play]:
    """A few short games with different seats, options and choices."""
    for seats, preset, first, picks in (
        (2, "standard", 54, [449, 569, 305]),
        (3, "quick", 31, [480, 115, 782]),
    ):
        yield play(game, game.presets[preset], seats, bytes([first]) * 32, picks, most_steps=100)


def complaint(law: Law, whole: Play) -> str:
    """What the law says, or nothing."""
    try:
        law(whole)
    except AssertionError as error:
        return str(error)
    return ""


@settings(max_examples=examples(5, 100), suppress_health_check=[HealthCheck.too_slow])
@given(plays(GAME))
def test_the_toy_keeps_the_laws(whole: Play) -> None:
    for law in LAWS.values():
        law(whole)


def test_the_toy_keeps_the_laws_about_the_game_itself() -> None:
    check_common_parts(GAME)
    check_reasons_cite_rules(GAME, RULES)


def test_the_toy_shows_all_that_it_is_for() -> None:
    events = {str(event) for whole in some_plays(GAME) for event in whole.events}
    for sign in ("forced=True", "size=0", "height=0", "GivenBack", "Ended"):
        assert any(sign in event for event in events), sign


def test_a_view_may_be_shared_or_not_as_long_as_the_game_says_so() -> None:
    for game in (replace(GAME, shared_view=True), replace(GAME, view=view_tells_who_looks)):
        assert not any(complaint(law, p) for law in LAWS.values() for p in some_plays(game))


def test_a_game_may_foresee_tell_its_patches_and_leave_commands_to_the_clock() -> None:
    for game in (CLOCKED, FORESEEING, PATCHING):
        assert not any(complaint(law, p) for law in LAWS.values() for p in some_plays(game))


def test_one_level_of_bots_is_enough() -> None:
    for level in ("easy", "medium", "hard"):
        check_common_parts(replace(GAME, bots={level: GAME.bots["easy"]}))


def test_every_law_has_a_game_that_breaks_it() -> None:
    assert BREAKS.keys() == LAWS.keys()


@pytest.mark.parametrize(("name", "game"), BROKEN)
def test_a_broken_game_breaks_this_law_and_no_other(name: str, game: AnyGame) -> None:
    complaints = ((each, complaint(law, p)) for each, law in LAWS.items() for p in some_plays(game))
    told = {each: said for each, said in complaints if said}
    assert told.keys() == {name}
    assert f"law {name}, game {game.name}, " in told[name]


@pytest.mark.parametrize(
    "game",
    [
        replace(GAME, presets={"quick": Options(short=True)}),
        replace(GAME, presets={"standard": Options(short=True)}),
        replace(GAME, reasons={"bad_command": GAME.reasons["bad_command"]}),
        replace(GAME, reasons={"bad_options": GAME.reasons["bad_options"]}),
        replace(GAME, bots={"greedy": GAME.bots["easy"]}),
        replace(GAME, name="Tile Duel"),
        replace(GAME, seats=range(3)),
        replace(GAME, version=0),
    ],
)
def test_a_game_without_a_common_part_is_seen(game: AnyGame) -> None:
    with pytest.raises(AssertionError, match="law check_common_parts, game"):
        check_common_parts(game)


@pytest.mark.parametrize(
    ("rule", "hint"), [("4", "No such section."), ("", "None."), ("3", "no end"), ("3", "A {}.")]
)
def test_a_reason_without_rule_or_hint_is_seen(rule: str, hint: str) -> None:
    game = replace(GAME, reasons={**GAME.reasons, "new": Reason(rule, hint)})
    with pytest.raises(AssertionError, match="game tile_duel, new"):
        check_reasons_cite_rules(game, RULES)


def test_two_sections_of_the_same_number_are_seen() -> None:
    with pytest.raises(AssertionError, match="two sections"):
        check_reasons_cite_rules(GAME, RULES + "## 3. Again\n")
