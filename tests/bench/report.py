"""Figures as a table for people, and the same figures as JSON for machines."""

import json
import os
import sys
from pathlib import Path

import msgspec


class Figure(msgspec.Struct, frozen=True):
    """One measured number, and the bar that it has to meet if there is one."""

    name: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""

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


def print_table(title: str, figures: list[Figure]) -> None:
    print(f"\n{title}")
    for figure in figures:
        verdict = "" if not bar(figure) else ("ok" if figure.met else "MISSED")
        print(
            f"  {figure.name:<38} {figure.value:>9.2f} {figure.unit:<6}"
            f" {bar(figure):>9} {verdict:<6} {figure.note}"
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
