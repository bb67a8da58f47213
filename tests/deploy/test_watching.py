"""Dashboard and alert rules ask for metrics and labels that servers export, and for no others.

`promtool check rules` reads the expressions as Prometheus does. Its package is large, so that test
is on the rare list.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.deploy.files import ROOT
from tests.telemetry.scraped import Scrape
from towerhall_server.telemetry.families import registry
from towerhall_server.telemetry.meters import Levels, Meters

RULES = ROOT / "deploy/prometheus/alerts.yml"
BOARD = ROOT / "deploy/grafana/towerhall.json"
ALWAYS = {"up"}
"""Metrics of Prometheus itself."""
VARIABLES = {"$job": "towerhall", "$__rate_interval": "5m", "$__range": "1h"}
NAME = re.compile(r"\b(?:towerhall|process|python)_\w+|\bup\b")


def alerts() -> list[dict[str, Any]]:
    (group,) = YAML(typ="safe").load(RULES.read_text())["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(BOARD.read_text())["panels"]
    return found


def expressions() -> Iterator[str]:
    for rule in alerts():
        yield rule["expr"]
    for panel in panels():
        for target in panel["targets"]:
            text = target["expr"]
            for name, value in VARIABLES.items():
                text = text.replace(name, value)
            yield text


@pytest.fixture(scope="module")
def exported() -> Scrape:
    """All metrics of a server in which everything has happened once."""
    from prometheus_client import generate_latest

    meters = Meters()
    for counts in (meters.answers, meters.snapshots, meters.rejects, meters.bad_messages):
        counts["wrong"] += 1
    meters.closes["server_fault"] += 1
    meters.http["GET", "/v1/rooms", 200] += 1
    levels = Levels(rooms=1, paused=0, seated=1, watching=1, sockets=1, ready=True)
    made = registry(meters, lambda: levels, {"version": "1", "node": "a"})
    return Scrape(generate_latest(made).decode())


def test_every_metric_and_label_is_one_that_servers_export(exported: Scrape) -> None:
    names: dict[str, set[str]] = {name: {"job", "instance"} for name in ALWAYS}
    for name, labels in exported._samples:
        names.setdefault(name, {"job", "instance"}).update(label for label, _ in labels)
    asked = [(name, text) for text in expressions() for name in NAME.findall(text)]
    assert asked
    for name, text in asked:
        assert name in names, f"{name} in {text}"
    for text in expressions():
        known = set().union(*(names[name] for name in NAME.findall(text)))
        grouped = re.findall(r"\bby \(([^)]*)\)", text)
        wanted = {label.strip() for group in grouped for label in group.split(",")}
        wanted |= set(re.findall(r"(\w+)=\"", text))
        assert wanted <= known, text


def test_every_alert_tells_what_is_wrong_and_what_to_do() -> None:
    names = [rule["alert"] for rule in alerts()]
    assert len(set(names)) == len(names) > 8
    for rule in alerts():
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert rule["annotations"].keys() == {"summary", "description"}
        for label in re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]):
            assert label == "instance"
            assert "sum by (job)" not in rule["expr"]


def test_what_the_list_of_metrics_calls_worth_an_alert_has_one() -> None:
    text = (ROOT / "server/towerhall_server/telemetry/README.md").read_text()
    worth = set(NAME.findall(text.partition("Worth an alert:")[2]))
    asked = {name for rule in alerts() for name in NAME.findall(rule["expr"])}
    assert len(worth) > 5
    for name in worth:
        assert any(each.startswith(name) for each in asked), name


def test_panels_have_each_a_place_and_a_source_that_the_reader_chooses() -> None:
    places = {tuple(panel["gridPos"].values()) for panel in panels()}
    assert len(places) == len(panels()) == len({panel["id"] for panel in panels()})
    for panel in panels():
        sources = [panel["datasource"], *(target["datasource"] for target in panel["targets"])]
        assert {each["uid"] for each in sources} == {"${source}"}


def test_promtool_reads_every_expression(tmp_path: Path) -> None:
    assert shutil.which("promtool"), "promtool is missing: `apt-get install prometheus` brings it"
    board = tmp_path / "board.yml"
    rules = [{"record": f"r{n}", "expr": text} for n, text in enumerate(expressions())]
    board.write_text(json.dumps({"groups": [{"name": "board", "rules": rules}]}))
    for path in (RULES, board):
        told = subprocess.run(
            ["promtool", "check", "rules", path], capture_output=True, text=True, check=False
        )
        assert told.returncode == 0, told.stderr
    board.write_text(board.read_text().replace("sum(", "summ(", 1))
    refused = subprocess.run(["promtool", "check", "rules", board], check=False)
    assert refused.returncode != 0
