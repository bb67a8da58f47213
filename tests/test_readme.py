"""The README promises only what works: its examples are run, its commands exist."""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from towerhall_server.cli.main import build_parser

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
MAKEFILE = (ROOT / "Makefile").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def test_the_python_example_plays_a_game_to_its_result() -> None:
    (_, example) = blocks("python")
    printed = StringIO()
    with redirect_stdout(printed):
        exec(compile(example, "README.md", "exec"), {})
    assert printed.getvalue().startswith("Result(scores=(")


def test_every_towerhall_command_is_one() -> None:
    commands = re.findall(r"^\.venv/bin/towerhall ([^|#\n]+)", "".join(blocks("sh")), re.MULTILINE)
    assert commands
    for command in commands:
        build_parser().parse_args(command.split())


def test_every_make_target_exists() -> None:
    targets = set(re.findall(r"\bmake ([a-z]+)\b", "".join(blocks("sh")))) | set(
        re.findall(r"`make ([a-z]+)`", README)
    )
    assert {"test", "check", "bench"} <= targets
    for target in targets:
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target


def test_every_path_that_the_tree_names_exists() -> None:
    (tree,) = blocks("text")
    folders: list[tuple[int, Path]] = [(-1, ROOT)]
    for line in tree.splitlines():
        indent = len(line) - len(line.lstrip())
        while folders[-1][0] >= indent:
            folders.pop()
        inside = folders[-1][1]
        for name in re.split(r" {2,}", line.strip())[0].split():
            path = inside / name
            assert path.exists() or path.with_name(f"{name}.py").exists(), path
            folders.append((indent, path))
