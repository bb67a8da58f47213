"""Golden playthroughs: whole games, written down, that must come out the same again.

Found by listing `playthroughs/<game>/`. If a rule changed on purpose, the first line of a file is
the command that makes it anew (add `--out FILE`).
"""

import shlex
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.games.dice_duel import GAME as DICE_DUEL
from towerhall_server.cli.main import build_parser, main
from towerhall_server.game import AnyGame, discover

FOLDER = Path(__file__).parent / "playthroughs"
GOLDENS = sorted(FOLDER.glob("*/*.txt"))


def missing(games: Iterable[AnyGame], folder: Path) -> list[str]:
    """For each game without a playthrough: what to run."""
    return [
        f"{game.name} has no playthrough; make one: towerhall playthrough {game.name}"
        f" --bots {','.join(game.levels[:1] * game.seats[0])}"
        f" --out tests/games/playthroughs/{game.name}/{game.levels[0]}_{game.seats[0]}.txt"
        for game in games
        if not any((folder / game.name).glob("*.txt"))
    ]


def test_every_game_has_a_golden_playthrough() -> None:
    assert missing(discover().values(), FOLDER) == []


@pytest.mark.parametrize("name", discover())
def test_a_game_without_one_is_told_the_command_that_makes_it(name: str, tmp_path: Path) -> None:
    game = discover()[name]
    (advice,) = missing([game], tmp_path)
    _, _, command = advice.partition("towerhall ")
    arguments = build_parser().parse_args(command.split())
    arguments.out = tmp_path / arguments.out.relative_to("tests/games/playthroughs")
    assert arguments.run(arguments) == 0
    assert arguments.out.exists()
    assert missing([game], tmp_path) == []


def test_a_game_with_one_level_of_bots_gets_a_command_that_can_be_run(tmp_path: Path) -> None:
    (advice,) = missing([replace(DICE_DUEL, bots={"hard": DICE_DUEL.bots["easy"]})], tmp_path)
    assert "towerhall playthrough dice_duel --bots hard,hard --out " in advice
    assert advice.endswith("tests/games/playthroughs/dice_duel/hard_2.txt")


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_golden_game_comes_out_the_same_again(golden: Path, tmp_path: Path) -> None:
    _, _, *arguments = shlex.split(golden.read_text().splitlines()[0])
    assert arguments[:2] == ["playthrough", golden.parent.name]
    again = tmp_path / "again.txt"
    assert main([*arguments, "--out", str(again)]) == 0
    assert again.read_text() == golden.read_text()
