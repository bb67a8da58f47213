"""A game is one folder: the smallest game is added to a copy of the tree, and nothing else is.

In the copy all that holds for every game must hold for this one: in its own processes, which know
the copy only. A browser shows such a game in a test of the page.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.games import dice_duel
from tests.games.dice_duel import GAME
from tests.games.test_playthroughs import missing

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("server", "protocol", "clients/python")
NEEDED = (*PACKAGES, "tests", "pyproject.toml", "Makefile")
NOT_NEEDED = shutil.ignore_patterns(".hypothesis", "browser", "programs")
FOLDER = f"server/towerhall_server/games/{GAME.name}"
EVERY_GAME = (
    "tests/games/test_game_laws.py",
    "tests/games/test_discovery.py",
    "tests/games/test_playthroughs.py",
    "tests/client/test_text.py",
    "tests/protocol/test_plain_command.py",
    "tests/versions/test_golden_logs.py",
    "tests/cli/test_command_line.py",
    "tests/test_project.py",
    "tests/process/test_garbage.py",
)
"""Where tests of all discovered games are. Those that are for each game have its name."""
OF_ALL_GAMES = (
    "whatever_has_a_folder",
    "every_game_has_a_golden_playthrough",
    "no_released_file_is_missing",
    "this_version_has_golden_logs",
    "golden_logs_show",
    "games_lists_options",
    "games_touch_nothing",
)
"""The tests that look at all games at once."""
MOST_LINES = 100
"""Of the smallest game: it is shown whole in the guide."""
SECONDS = 50


class Tree:
    """A copy of this tree, and processes in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        path = os.pathsep.join(str(root / package) for package in PACKAGES)
        self.environ = kept | {"PYTHONPATH": path}

    def run(self, *command: str, given: str = "") -> str:
        """What the command prints. It must succeed."""
        done = subprocess.run(
            command,
            cwd=self.root,
            env=self.environ,
            input=given,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def towerhall(self, arguments: str, given: str = "") -> str:
        words = arguments.split()
        return self.run(sys.executable, "-m", "towerhall_server", *words, given=given)

    def pytest(self, *arguments: str) -> str:
        return self.run(
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            *arguments,
        )

    @contextmanager
    def served(self) -> Iterator[str]:
        """The address of a server on a store of its own."""
        flags = ["serve", "--port", "0", "--data-folder", str(self.root / "data")]
        server = subprocess.Popen(
            [sys.executable, "-m", "towerhall_server", *flags],
            cwd=self.root,
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        with server:
            try:
                assert server.stdout is not None
                found = re.search(r"http://[^ ]+:\d+/", server.stdout.readline())
                assert found, "the server did not start"
                yield found[0]
            finally:
                server.terminate()


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """With the folder, and with what the two commands write that a newcomer is told to run."""
    root = tmp_path_factory.mktemp("tree")
    for name in NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=NOT_NEEDED)
        else:
            shutil.copy(ROOT / name, root / name)
    module = Path(dice_duel.__file__)
    (root / FOLDER).mkdir()
    shutil.copy(module, root / FOLDER / "__init__.py")
    shutil.copy(module.with_suffix(".md"), root / FOLDER / "RULES.md")
    tree = Tree(root)
    tree.run(sys.executable, "-m", "tests.versions.golden")
    (advice,) = missing([GAME], root / "tests/games/playthroughs")
    tree.towerhall(advice.partition("towerhall ")[2])
    return tree


def test_all_that_holds_for_every_game_holds_for_a_new_folder(tree: Tree) -> None:
    told = tree.pytest(*EVERY_GAME, "-k", " or ".join((GAME.name, *OF_ALL_GAMES)))
    assert re.search(r"\n\d+ passed, \d+ deselected in ", told), told


def test_the_directions_of_imports_hold_for_a_new_folder(tree: Tree) -> None:
    lint = str(Path(sys.executable).with_name("lint-imports"))
    assert "0 broken" in tree.run(lint, "--no-logo", "--no-cache")


def test_the_command_line_knows_a_new_folder(tree: Tree) -> None:
    assert f"{GAME.name}: 2-4 players, rules 1\n" in tree.towerhall("games")
    played = tree.towerhall(f"simulate {GAME.name} --bots easy,easy,easy --games 5 --jobs 1")
    assert played.startswith(f"{GAME.name}, 5 games, seed 1, rounds=3\n")
    assert "seat 1, easy: " in tree.towerhall(f"playthrough {GAME.name} --bots easy,easy")


def test_a_server_plays_a_new_game_with_bots_and_with_people(tree: Tree) -> None:
    with tree.served() as url:
        assert "3 games, " in tree.towerhall(f"bots --game {GAME.name} --rooms 3 --url {url}")
        flags = f"--game {GAME.name} --bots easy --bot-delay-ms 0 --url {url}"
        said = tree.towerhall(f"play {flags}", given="name 5\n" * 3)
    assert "your turn: name number 1..6" in said
    assert said.count("rolled 0 5 ") == 3


def test_the_page_has_no_folder_for_the_new_game() -> None:
    """What it shows then is tested with the page, for a game of this name."""
    assert not (ROOT / "clients/web/src/games" / GAME.name).exists()
    assert GAME.name in (ROOT / "clients/web/tests/no_folder.test.ts").read_text()


def test_the_guide_shows_the_smallest_game_whole_and_it_is_small() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    module = Path(dice_duel.__file__)
    code, rules = module.read_text(), module.with_suffix(".md").read_text()
    assert f"```python\n{code}```\n" in guide
    assert f"```markdown\n{rules}```\n" in guide
    assert len(code.splitlines()) <= MOST_LINES


def test_the_commands_of_the_guide_make_a_new_game(tree: Tree) -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    commands = guide.partition("```\nmkdir ")[2].partition("```")[0]
    tree.run("sh", "-ec", f"mkdir {commands}")
    try:
        assert "chess: 2-4 players, rules 1\n" in tree.towerhall("games")
        laws = re.search(r"-m (pytest tests/\S+ -k chess)`", guide)
        assert laws
        tree.run(sys.executable, "-m", *laws[1].split(), "-q")
    finally:
        shutil.rmtree(tree.root / "server/towerhall_server/games/chess")


def test_a_law_that_the_new_game_breaks_is_told(tree: Tree) -> None:
    """The processes above do read the folder in the copy."""
    code = tree.root / FOLDER / "__init__.py"
    text = code.read_text()
    code.write_text(text.replace('{"turns": state.turns,', '{"seed": state.seed.hex(),'))
    try:
        with pytest.raises(AssertionError, match="law nobody_sees_what_is_hidden, game dice_duel"):
            tree.pytest("tests/games/test_game_laws.py", "-k", f"laws_hold and {GAME.name}")
    finally:
        code.write_text(text)
