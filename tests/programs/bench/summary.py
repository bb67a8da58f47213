"""The figures of the README and of other servers, as tables from the results that a release keeps.

    python -m tests.programs.bench.summary            the table of the README
    python -m tests.programs.bench.summary --peers    the tables of docs/measured.md

Each release keeps what `make bench BENCH_JSON=FILE` wrote as `results/VERSION.json`, and what
`make bench peers BENCH_JSON=FILE` wrote as `results/peers/VERSION.json`.
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from tests.programs.bench.report import Figure, bar, verdict

RESULTS: Final = Path(__file__).with_name("results")


class Row(NamedTuple):
    label: str
    section: str
    figure: str
    form: str


MOVES: Final = "Moves and their latency, 200 rooms of four"
ROWS: Final = (
    Row(
        "durable moves per second of CPU, 200 rooms of four",
        MOVES,
        "durable moves against the baseline",
        "{:.2f} times the baseline",
    ),
    Row(
        "a move sent until all four players have it, 1,000 moves a second",
        MOVES,
        "move to all four, p50",
        "median {:.2f} ms",
    ),
    Row("a bid on the wire", "Bytes on the wire", "bid frame without a clock", "{:.0f} bytes"),
    Row(
        "coming back by snapshot at half of a game of four",
        "Bytes on the wire",
        "snapshot at half of a game",
        "{:.0f} bytes",
    ),
    Row(
        "memory of a room and its four sockets", "Memory", "room with its four sockets", "{:.0f} KB"
    ),
)


PEERS: Final = "The bid game against other servers, 200 rooms of four"
SERVERS: Final = (
    "Towerhall",
    "Colyseus, durable",
    "Colyseus, in memory",
    "boardgame.io, durable",
    "boardgame.io, in memory",
)
COLUMNS: Final = {
    "server's CPU for a move": "{:.0f}",
    "store's CPU for a move": "{:.0f}",
    "server, paced": "{:.0f}",
    "store, paced": "{:.0f}",
    "p50": "{:.2f}",
    "p99": "{:.2f}",
}
AGAINST_PEER: Final = "server and store / Colyseus, durable"
Results = Mapping[str, list[dict[str, Any]]]


def newest(folder: Path = RESULTS) -> Path:
    """The results of the latest release."""
    return max(folder.glob("*.json"), key=lambda path: [int(n) for n in path.stem.split(".")])


class VoidFigureError(Exception):
    """Other processes disturbed the measurement: its figures are no figures of a release."""


def table(results: Results, peers: Results) -> str:
    """The table of the README."""
    lines = ["| what | figure |", "|---|---|"]
    for row in ROWS:
        (found,) = (each for each in results[row.section] if each["name"] == row.figure)
        if found["void"]:
            raise VoidFigureError(
                f"{row.figure}: {found['void']}; measure again on a quiet machine"
            )
        lines.append(f"| {row.label} | {row.form.format(found['value'])} |")
    ratio = {each["name"]: each for each in peers[PEERS]}[AGAINST_PEER]
    told = f"{ratio['value']:.2f} times" + (", on a disturbed machine" if ratio["void"] else "")
    lines.append(f"| CPU of server and store for a durable move, against Colyseus | {told} |")
    return "\n".join(lines)


def peers_tables(results: Results) -> str:
    """What a move costs each server and how long it takes, and ours against the others'."""
    figures = {each["name"]: each for each in results[PEERS]}
    lines = [
        "| server | CPU, us | store's CPU, us | CPU, paced | store's, paced | p50, ms | p99, ms |",
        "|---|---|---|---|---|---|---|",
    ]
    for server in SERVERS:
        cells = [_cell(figures[f"{server}: {name}"], COLUMNS[name]) for name in COLUMNS]
        lines.append(f"| {' | '.join([server, *cells])} |")
    lines += ["", "| ours / theirs | ratio | bar | verdict |", "|---|---|---|---|"]
    for name, each in figures.items():
        if each["unit"] == "x":
            figure = msgspec.convert({k: each[k] for k in each if k != "met"}, Figure)
            note = each["note"].partition(";")[0]
            told = f"{each['value']:.2f} ({note})"
            lines.append(f"| {name} | {told} | {bar(figure)} | {WORDS[verdict(figure)]} |")
    return "\n".join(lines)


WORDS: Final = {"": "", "ok": "met", "MISSED": "missed", "VOID": "void: disturbed"}


def _cell(figure: Mapping[str, Any], form: str) -> str:
    """The median, and least and most."""
    if not figure["value"]:
        return "none"
    least, most = figure["note"].partition(" in ")[0].replace(",", "").split(" to ")
    ends = " to ".join(form.format(float(end)) for end in (least, most))
    return f"{form.format(figure['value'])} ({ends})"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.programs.bench.summary", description=__doc__
    )
    parser.add_argument("--peers", action="store_true", help="the tables of other servers")
    peers = json.loads(newest(RESULTS / "peers").read_text())
    if parser.parse_args().peers:
        print(peers_tables(peers))
    else:
        print(table(json.loads(newest().read_text()), peers))


if __name__ == "__main__":
    main()
