"""The README is short, and its figures are those that the latest release measured."""

import json
import re
import tomllib

import pytest

from tests.docs.pages import blocks, text
from tests.programs.bench.peers.installing import versions
from tests.programs.bench.summary import (
    AGAINST_PEER,
    PEERS,
    RESULTS,
    ROWS,
    Results,
    VoidFigureError,
    newest,
    peers_tables,
    table,
)

README = text("README.md")
LINES_MAX = 150


def peers() -> Results:
    """What the part `peers` measured last."""
    results: Results = json.loads(newest(RESULTS / "peers").read_text())
    return results


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= LINES_MAX
    assert len(re.findall(r"!\[[^]]+\]\(", README)) == 2
    (commands,) = blocks(README, "sh")
    assert len(commands.splitlines()) == 2


def test_its_figures_are_those_of_the_latest_release() -> None:
    assert len(ROWS) == 5
    assert table(json.loads(newest().read_text()), peers()) in README


def test_its_figures_of_fuzzed_frames_are_those_of_the_measurements() -> None:
    told = next(each for each in README.split("\n\n") if "fuzzed frames" in each)
    (row,) = re.findall(r"^\| fuzzed frames .*", text("docs/measured.md"), re.MULTILINE)
    figures = re.findall(r"\d[\d,.]*\d|\d", told)
    assert len(figures) == 6
    assert set(figures) <= set(re.findall(r"\d[\d,.]*\d|\d", row))


def test_figures_of_other_servers_are_those_of_the_last_run() -> None:
    page = text("docs/measured.md")
    assert peers_tables(peers()) in page
    pinned = versions()
    for package, name in (("@colyseus/core", "Colyseus"), ("boardgame.io",) * 2, ("node",) * 2):
        assert f"{name} {pinned[package]}" in page


def test_a_disturbed_comparison_is_told_as_one() -> None:
    results = peers()
    ratios = [each for each in results[PEERS] if each["unit"] == "x"]
    for each in ratios:
        each["void"] = "something else took a core meanwhile"
    assert peers_tables(results).count("void: disturbed") == sum(
        each["at_most"] is not None for each in ratios
    )
    assert "times, on a disturbed machine |" in table(json.loads(newest().read_text()), results)
    (ratio,) = (each for each in ratios if each["name"] == AGAINST_PEER)
    ratio |= {"void": "", "value": 9.0}
    assert " | 9.00 times |" in table(json.loads(newest().read_text()), results)
    assert "| missed |" in peers_tables(results)


def test_it_names_the_release_that_was_measured_and_that_is_not_newer() -> None:
    assert f"Release {newest().stem}, " in README
    version = tomllib.loads(text("pyproject.toml"))["project"]["version"]
    assert [int(n) for n in newest().stem.split(".")] <= [int(n) for n in version.split(".")]


def test_a_disturbed_measurement_is_no_figure_of_a_release() -> None:
    results = json.loads(newest().read_text())
    (durable,) = (each for each in results[ROWS[0].section] if each["name"] == ROWS[0].figure)
    durable["void"] = "something else took a core meanwhile"
    with pytest.raises(VoidFigureError, match="measure again on a quiet machine"):
        table(results, peers())
