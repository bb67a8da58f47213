"""What the forge reads: workflows and forms are well-formed and call what exists."""

import json
import subprocess
import sys
import tomllib
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.docs.pages import ROOT, targets, text
from tests.examples import LONG

SCHEMAS = {
    "workflows/check.yml": "vendor.github-workflows",
    "workflows/nightly.yml": "vendor.github-workflows",
    "ISSUE_TEMPLATE/bug.yml": "vendor.github-issue-forms",
    "ISSUE_TEMPLATE/idea.yml": "vendor.github-issue-forms",
    "ISSUE_TEMPLATE/config.yml": "vendor.github-issue-config",
}


def read(name: str) -> dict[str, Any]:
    document: dict[str, Any] = YAML(typ="safe").load(text(name))
    return document


def commands(workflow: dict[str, Any]) -> list[str]:
    return [
        step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step
    ]


def test_all_files_are_checked() -> None:
    assert {str(p.relative_to(ROOT / ".github")) for p in (ROOT / ".github").rglob("*.yml")} == {
        *SCHEMAS
    }


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_file_has_the_form_that_the_forge_wants(name: str) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", SCHEMAS[name]]
    done = subprocess.run([*command, ROOT / ".github" / name], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_push_runs_what_everybody_runs_with_every_python() -> None:
    workflow = read(".github/workflows/check.yml")
    assert commands(workflow) == [".ci/run"]
    (job,) = workflow["jobs"].values()
    pythons = job["strategy"]["matrix"]["python"]
    assert pythons == ["3.11", "3.12", "3.13", "3.14"]
    least = tomllib.loads(text("pyproject.toml"))["project"]["requires-python"]
    assert least == f">={pythons[0]}"


def test_each_night_runs_all_tests_faults_mutants_and_benchmarks() -> None:
    workflow = read(".github/workflows/nightly.yml")
    (job,) = workflow["jobs"].values()
    nightly = job["strategy"]["matrix"]["target"]
    assert nightly == ["test", "browser", "faults", "mutants", "bench"]
    set_up, run = commands(workflow)
    assert run == "make ${{ matrix.target }}"
    (environ,) = (step["env"] for step in job["steps"] if step.get("run") == run)
    assert environ == {LONG: "${{ matrix.target == 'test' && '1' || '' }}"}
    assert {*nightly, *set_up.split()[1:]} <= targets()


def test_the_hook_before_commits_runs_what_is_typed_by_hand() -> None:
    (repo,) = read(".pre-commit-config.yaml")["repos"]
    (hook,) = repo["hooks"]
    assert (repo["repo"], hook["language"], hook["entry"]) == (
        "local",
        "system",
        "make format check",
    )


def test_the_container_for_development_is_set_up_by_targets() -> None:
    container = json.loads(text(".devcontainer/devcontainer.json"))
    make, *wanted = container["postCreateCommand"].split()
    assert make == "make"
    assert {*wanted} <= targets()
