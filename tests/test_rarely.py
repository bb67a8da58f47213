"""What is rarely run is there, and something else of its kind is always run."""

from typing import Final

import pytest

from tests.browser.catalogues import LANGUAGES
from tests.browser.rarely import RARELY
from tests.browser.test_accessibility import ON_PHONES, SCREENS
from tests.conftest import HERE, ON_BOTH_ENGINES, ON_ONE_ENGINE
from tests.eventlog.several import test_failover, test_same, test_slots
from tests.examples import LONG
from tests.programs.bench import test_bench, test_nodes, test_peers
from tests.programs.faults.__main__ import PARTS
from tests.rarely import (
    ENGINES,
    FAILOVERS,
    FAULTS,
    IN_PROGRAMS,
    NEEDS_MORE,
    ON_SEVERAL,
    RIGHTS,
    is_left_out,
)
from tests.regulars import test_stores

THERE = {
    "test_axe_finds_nothing": {screen.__name__ for screen in SCREENS},
    "test_axe_finds_nothing_on_a_phone": {screen.__name__ for screen in ON_PHONES},
    "test_every_screen_speaks_the_language": set(LANGUAGES),
    "test_every_screen_of_nikitin_towers_speaks_the_language": set(LANGUAGES),
    "test_the_log_says_you_in_the_language": set(LANGUAGES),
    "test_axe_finds_nothing_on_the_board": {"light", "dark"},
    "test_the_replay_shows_at_each_move_what_the_record_says": {"some", "all"},
    "test_turns_in_the_grid_by_keyboard": {"some", "all"},
    "test_turns_by_finger_on_a_phone": {"some", "all"},
    "test_a_die_that_was_changed_gets_a_cross": {"change_a_die", "change_the_opening"},
}
ALONE = {
    "test_a_whole_game_by_mouse",
    "test_a_reload_while_a_block_is_held_shows_the_same_towers",
    "test_without_webgl_the_grid_is_shown_and_played",
    "test_both_games_are_played_from_one_hall",
    "test_the_lesson_of_blocks_is_played_by_fingers",
    "test_a_newcomer_learns_and_builds_a_first_tower",
    "test_the_same_step_runs_as_a_program_in_go",
}
"""Long games whose parts other tests try: a turn by mouse, the grid by keyboard, and each game by
itself. A reload, which a killed server makes necessary as well. The lesson and the first game of
blocks, whose siblings with cards always run. The program in Go, whose siblings in Python
and JavaScript always run."""


def test_of_each_kind_some_are_always_run() -> None:
    rare: dict[str, set[str]] = {}
    for name in (name for names in RARELY.values() for name in names):
        kind, _, which = name.removesuffix("]").partition("[")
        rare.setdefault(kind, set()).add(which)
    assert rare.keys() == THERE.keys() | ALONE
    for kind in THERE:
        assert rare[kind] < THERE[kind], kind


def test_what_one_engine_tries_is_there_and_the_log_is_tried_on_both() -> None:
    assert ON_BOTH_ENGINES.is_file()
    assert all((HERE / folder).is_dir() for folder in ON_ONE_ENGINE)
    assert not {"eventlog", "store"} & set(ON_ONE_ENGINE)


PROGRAMS: Final = {
    "test_bench.py": test_bench,
    "test_nodes.py": test_nodes,
    "test_peers.py": test_peers,
}


def test_what_needs_more_is_there() -> None:
    for path, names in NEEDS_MORE.items():
        text = (HERE / path).read_text()
        assert all(f"def {name}(" in text for name in names), path


def test_most_parts_of_the_fault_suite_run_in_it_alone() -> None:
    assert set(FAULTS) < set(PARTS)
    assert len(set(FAULTS)) == len(FAULTS)


def test_what_only_runs_with_the_benchmarks_is_there() -> None:
    for file, module in PROGRAMS.items():
        tests = {name for name in vars(module) if name.startswith("test_")}
        assert {name.partition("[")[0] for name in IN_PROGRAMS[file]} < tests
    assert IN_PROGRAMS.keys() == PROGRAMS.keys() | {"test_short.py"}


def test_a_rare_test_runs_if_it_or_its_folder_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LONG, raising=False)
    (rare,) = IN_PROGRAMS["test_nodes.py"]
    test = f"tests/programs/bench/test_nodes.py::{rare}"
    assert is_left_out(test, ["tests"])
    assert not is_left_out(f"tests/live/test_nodes.py::{rare}", ["tests"])
    assert not is_left_out(f"{test}_too", ["tests"])
    for argument in (test, "tests/programs", "tests/programs/bench"):
        assert not is_left_out(test, [argument])
    monkeypatch.setenv(LONG, "1")
    assert not is_left_out(test, ["tests"])


def test_what_always_runs_on_several_engines_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LONG, raising=False)
    assert set(ON_SEVERAL) < set(vars(test_same))
    there = vars(test_failover).keys() | vars(test_slots).keys()
    assert {name.partition("[")[0] for name in FAILOVERS} < there
    folder = "tests/eventlog/several"
    for name in (f"{ON_SEVERAL[0]}[cluster]", "test_a_deadline_is_kept_or_removed[cluster]"):
        test = f"{folder}/test_same.py::{name}"
        assert is_left_out(test, ["tests"]) == (not name.startswith(ON_SEVERAL[0]))
        assert not is_left_out(test, [folder])
    assert is_left_out(f"{folder}/test_failover.py::{FAILOVERS[1]}", ["tests"])
    assert not is_left_out(f"{folder}/test_failover.py::{FAILOVERS[1][:-10]}[cluster]", ["tests"])
    rights = "tests/deploy/test_store_rights.py::test_it_suffices_on_stores_of_several_engines"
    assert "::".join(RIGHTS) == f"{rights.removeprefix('tests/')}[sentinel]"
    assert is_left_out(f"{rights}[sentinel]", ["tests"])
    assert not is_left_out(f"{rights}[cluster]", ["tests"])
    assert not is_left_out(f"{rights}[sentinel]", ["tests/deploy"])
    assert hasattr(test_stores, ENGINES[1])
    engines = f"tests/{'::'.join(ENGINES)}[cluster]"
    assert is_left_out(engines, ["tests"])
    assert not is_left_out(engines, ["tests/regulars"])
