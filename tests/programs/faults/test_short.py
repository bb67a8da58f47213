"""Every part of the fault suite in its short form, as `make faults` would run it."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.programs.faults.__main__ import MOST_SECONDS, PARTS

SEED, *OTHER_SEEDS = ("1", "2", "3")
ROOT = Path(__file__).resolve().parents[3]


Outcomes = Mapping[str, dict[str, Any]]
"""By part, as machines are told."""


def faults(*arguments: str, target: Path | None = None) -> subprocess.CompletedProcess[str]:
    # Asyncio's debug mode is for what is tested; these nodes and players are to be fast.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONASYNCIODEBUG"}
    environment = kept | {"FAULTS_JSON": str(target or "")}
    command = [sys.executable, "-m", "tests.programs.faults", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def outcomes(folder: Path, *arguments: str) -> Outcomes:
    """What a short run has found."""
    target = folder / "faults.json"
    done = faults(*arguments, "--short", target=target)
    found: Outcomes = json.loads(target.read_text())
    assert done.returncode == any(not each["ok"] for each in found.values()), done.stderr
    return found


@pytest.fixture(scope="module")
def first(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """Of all parts that are asked for; they are run beside each other."""
    here = (item for item in request.session.items if item.path == request.path)
    wanted = {item.callspec.params.get("part") for item in here if hasattr(item, "callspec")}
    parts = [part for part in PARTS if part in wanted]
    return outcomes(tmp_path_factory.mktemp("faults"), *parts, "--seed", SEED)


@pytest.mark.timeout(len(PARTS) * MOST_SECONDS[0])
@pytest.mark.parametrize("part", PARTS)
def test_a_short_run_is_clean(part: str, first: Outcomes, tmp_path: Path) -> None:
    outcome = first[part]
    for seed in OTHER_SEEDS:
        # A violation always counts. Whether the few faults of a short run hit anything is up to
        # chance: such a run is repeated.
        if outcome["violations"] or (not outcome["failures"] and sum(outcome["in_flight"]) > 0):
            break
        outcome = outcomes(tmp_path, part, "--seed", seed)[part]
    # Rates and times depend on what else this machine does: `make faults` alone judges bars.
    assert outcome["failures"] == [], outcome
    assert outcome["violations"] == []
    # A zero says something only beside these.
    assert outcome["commands"] > 0
    assert outcome["acks"] > 0
    assert outcome["frames"] > 0
    assert sum(outcome["faults"].values()) > 0
    assert sum(outcome["in_flight"]) > 0


def test_help_lists_every_part_with_its_duration_and_shows_examples() -> None:
    shown = faults("--help").stdout
    assert "examples:" in shown
    for name, part in PARTS.items():
        assert f"  {name} " in shown
        assert part.USUAL in shown


def test_an_unknown_part_is_named_beside_those_there_are() -> None:
    done = faults("node_kiled")
    assert done.returncode == 2
    assert "no such part: node_kiled; there are node_killed, " in done.stderr


def test_a_target_that_cannot_be_written_is_told_at_once(tmp_path: Path) -> None:
    done = faults("node_killed", "--short", target=tmp_path / "missing" / "faults.json")
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
