"""The documentation promises only what works: its examples are run, its commands exist."""

import re
import shlex
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, blocks, commanded, spans, targets, text
from towerhall_server.cli.main import build_parser

PAGES = commanded()
ENV = ".venv/bin/"


def lines_of(page: str) -> list[str]:
    """Commands of all blocks for a shell, without comments."""
    found = "".join(blocks(page, "sh") + blocks(page)).replace("\\\n", " ").splitlines()
    return [line.partition(" #")[0].strip() for line in found if line.strip()]


def typed(page: str) -> list[str]:
    """Everything that a reader may type: lines of blocks, and spans that begin with a command."""
    starts = ("make ", "towerhall ", ENV)
    return lines_of(page) + [span for span in spans(page) if span.startswith(starts)]


def test_the_python_example_plays_a_game_to_its_result() -> None:
    (_, example) = blocks(text("docs/write-a-client.md"), "python")
    printed = StringIO()
    with redirect_stdout(printed):
        exec(compile(example, "docs/write-a-client.md", "exec"), {})
    assert printed.getvalue().startswith("Result(scores=(")


@pytest.mark.parametrize("name", PAGES)
def test_every_towerhall_command_is_one(name: str) -> None:
    for line in lines_of(PAGES[name]):
        if line.startswith(f"{ENV}towerhall "):
            build_parser().parse_args(shlex.split(re.split(r"[|>]", line)[0])[1:])


def test_commands_are_found_where_they_are() -> None:
    found = "\n".join(line for page in PAGES.values() for line in typed(page))
    for command in ("make run", "towerhall serve --redis-url", "towerhall rooms show", "make docs"):
        assert command in found


@pytest.mark.parametrize("name", PAGES)
def test_every_make_target_exists(name: str) -> None:
    for line in typed(PAGES[name]):
        if line.startswith("make "):
            words = shlex.split(line.partition(";")[0])[1:]
            assert {word for word in words if "=" not in word} <= targets(), line


@pytest.mark.parametrize("name", PAGES)
def test_every_program_and_folder_of_tests_that_is_run_exists(name: str) -> None:
    for line in typed(PAGES[name]):
        for module in re.findall(r"-m (tests[\w.]+)", line):
            assert Path(ROOT, *module.split(".")).is_dir() or (
                Path(ROOT, *module.split(".")).with_suffix(".py").is_file()
            ), line
        for path in re.findall(r"(?<![\w/.])(?:tests|clients|server|docs)/[\w./-]+\b", line):
            is_example = "/chess" in path or "/results/" in path
            assert is_example or (ROOT / path).exists(), line
