"""`towerhall` as a person at a prompt meets it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from towerhall_server.cli.arguments import DEFAULT_GAME
from towerhall_server.cli.main import build_parser, main
from towerhall_server.game import discover

COMMANDS = ("games", "playthrough", "simulate")


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_shows_examples_that_are_valid(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_status:
        main([*command.split(), "--help"])
    assert exit_status.value.code == 0
    text = capsys.readouterr().out.replace("\\\n", "")
    examples = [line.split()[1:] for line in text.splitlines() if line.startswith("  towerhall ")]
    assert examples
    for example in examples:
        build_parser().parse_args(example)


def test_without_a_command_the_usage_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_status:
        main([])
    assert exit_status.value.code == 2
    assert "usage: towerhall" in capsys.readouterr().err


def test_games_lists_options_presets_and_bots(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["games"]) == 0
    text = capsys.readouterr().out
    for game in discover().values():
        for word in (game.name, *game.presets, *game.bots):
            assert word in text
        assert f"  levels of bots: {', '.join(game.levels)}\n" in text


def test_the_game_of_commands_without_one_is_installed_and_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert DEFAULT_GAME in discover()
    for command in ("bots", "play"):
        assert build_parser().parse_args([command]).game == DEFAULT_GAME
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert f"(default: {DEFAULT_GAME})" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("simulate chess --bots a,b", "there is no game 'chess'; the games are: "),
        ("simulate five_towers --bots greedy", "takes 2 to 5 players; --bots names 1"),
        ("simulate five_towers --bots greedy,genius", "no bot 'genius'; the bots are: random"),
        ("bots --bot genius", "no bot 'genius'; the bots are: random"),
        ("bots --seats 6", "--seats must be 2 to 5"),
        ("bots --game chess", "there is no game 'chess'; the games are: "),
        ("simulate five_towers --bots easy,easy --preset x", "preset must be one of standard"),
        ("simulate five_towers --bots easy,easy --option x=1", "no option 'x'; the options are"),
        ("simulate five_towers --bots easy,easy --option bids=no", "must be one of: strict, table"),
        ("simulate five_towers --bots easy,easy --games 0", "must be at least 1"),
        ("playthrough five_towers --bots greedy", "takes 2 to 5 players"),
    ],
)
def test_a_mistake_is_named_with_what_would_be_right(
    arguments: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments.split()) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"towerhall {arguments.split()[0]}: ")
    assert complaint in error


def test_the_module_runs_like_the_script() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "towerhall_server", "games"], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert "five_towers" in done.stdout


@pytest.mark.parametrize("command", ["games", "--help", "playthrough five_towers --bots easy,easy"])
def test_a_closed_pipe_ends_the_command_quietly(command: str) -> None:
    program = f"{sys.executable} -m towerhall_server {command}"
    done = subprocess.run(
        ["bash", "-c", f"(sleep 1; {program}) | true; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
    )
    assert (done.stderr, done.returncode) == ("", 141)


def test_a_playthrough_goes_to_the_named_file(tmp_path: Path) -> None:
    target = tmp_path / "new" / "game.txt"
    arguments = ["playthrough", "five_towers", "--bots", "easy,easy", "--out", str(target)]
    assert main(arguments) == 0
    assert target.read_text().startswith("# towerhall playthrough five_towers --bots easy,easy")
