"""Golden playthroughs: whole games, written down, that must come out the same again.

Found by listing `playthroughs/<game>/`. If a rule changed on purpose, the first line of a file is
the command that makes it anew (add `--out FILE`).
"""

import shlex
from pathlib import Path

import pytest

from towerhall_server.cli.main import main
from towerhall_server.game import discover

FOLDER = Path(__file__).parent / "playthroughs"
GOLDENS = sorted(FOLDER.glob("*/*.txt"))


def missing(games: list[str], folder: Path) -> list[str]:
    """For each game without a playthrough: what to run."""
    return [
        f"{name} has no playthrough; make one: towerhall playthrough {name} --bots random,random"
        f" --out tests/games/playthroughs/{name}/random_2.txt"
        for name in games
        if not any((folder / name).glob("*.txt"))
    ]


def test_every_game_has_a_golden_playthrough() -> None:
    assert missing(list(discover()), FOLDER) == []


def test_a_game_without_one_is_told_the_command_that_makes_it(tmp_path: Path) -> None:
    assert "towerhall playthrough new_game " in missing(["new_game"], tmp_path)[0]


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_golden_game_comes_out_the_same_again(golden: Path, tmp_path: Path) -> None:
    _, _, *arguments = shlex.split(golden.read_text().splitlines()[0])
    assert arguments[:2] == ["playthrough", golden.parent.name]
    again = tmp_path / "again.txt"
    assert main([*arguments, "--out", str(again)]) == 0
    assert again.read_text() == golden.read_text()
