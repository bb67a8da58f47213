"""Figures as a table for people, and the same figures as JSON for machines."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

LEAST_WIDTH = 38
"""Characters for the name of a figure."""


class Figure(msgspec.Struct, frozen=True):
    """One measured number, and the bar that it has to meet if there is one."""

    name: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""
    void: str = ""
    """Why the bar cannot be judged; then it is neither met nor missed."""

    @property
    def met(self) -> bool:
        above = self.at_most is not None and self.value > self.at_most
        below = self.at_least is not None and self.value < self.at_least
        return not (above or below)


def bar(figure: Figure) -> str:
    """`<= 70`, `>= 0.8`, or nothing."""
    if figure.at_most is not None:
        return f"<= {figure.at_most:g}"
    return "" if figure.at_least is None else f">= {figure.at_least:g}"


def verdict(figure: Figure) -> str:
    """`ok`, `MISSED`, `VOID`, or nothing where there is no bar."""
    if not bar(figure):
        return ""
    if figure.void:
        return "VOID"
    return "ok" if figure.met else "MISSED"


def span(values: Sequence[float], places: int = 2) -> str:
    """Least and most of several repeats."""
    return f"{min(values):,.{places}f} to {max(values):,.{places}f} in {len(values)} repeats"


def print_table(title: str, figures: list[Figure]) -> None:
    print(f"\n{title}")
    width = max(LEAST_WIDTH, *(len(figure.name) for figure in figures))
    for figure in figures:
        note = "; ".join(filter(None, (figure.note, figure.void)))
        print(
            f"  {figure.name:<{width}} {figure.value:>9.2f} {figure.unit:<6}"
            f" {bar(figure):>9} {verdict(figure):<6} {note}"
        )


def json_target() -> Path | None:
    """The file named in `BENCH_JSON`, tried at once: measuring takes too long to fail after it."""
    name = os.environ.get("BENCH_JSON")
    if not name:
        return None
    target = Path(name)
    try:
        target.write_text("{}\n")
    except OSError as error:
        sys.exit(f"BENCH_JSON={name} cannot be written: {error}")
    return target


def write_json(sections: dict[str, list[Figure]], target: Path | None) -> None:
    if target is not None:
        document = {
            title: [msgspec.to_builtins(figure) | {"met": figure.met} for figure in figures]
            for title, figures in sections.items()
        }
        Path(target).write_text(json.dumps(document, indent=2) + "\n")
        print(f"\nwritten to {target}")
