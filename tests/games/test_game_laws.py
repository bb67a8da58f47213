"""Every law on every version of every game, over whole games played at random."""

from importlib.resources import files

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.games.laws import LAWS, Law, check_common_parts, check_reasons_cite_rules
from tests.games.plays import plays
from towerhall_server.game import AnyGame, discover

GAMES = [rules for game in discover().values() for rules in game.versions]
ORDERED: list[Law] = [*LAWS.values()]
every_game = pytest.mark.parametrize("game", GAMES, ids=lambda game: f"{game.name}-{game.version}")


@every_game
@settings(max_examples=examples(3, 100), suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_the_laws_hold(game: AnyGame, data: st.DataObject) -> None:
    """All laws judge the same plays: making a play takes longer than most laws."""
    whole = data.draw(plays(game))
    for law in [*ORDERED]:
        try:
            law(whole)
        except AssertionError:
            # It is asked first from now on, while Hypothesis looks for a shorter play.
            ORDERED.remove(law)
            ORDERED.insert(0, law)
            raise


@every_game
def test_the_game_has_the_parts_that_all_games_share(game: AnyGame) -> None:
    check_common_parts(game)


@every_game
def test_every_reason_cites_a_section_of_the_rules(game: AnyGame) -> None:
    folder = files(f"towerhall_server.games.{game.name}")
    if game is not discover()[game.name]:
        folder /= f"v{game.version}"
    rules = folder / "RULES.md"
    check_reasons_cite_rules(game, rules.read_text())
