"""What a part has found: for people as a table, for machines as JSON. Every zero has its N."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from tests.programs.bench.report import Figure, bar, verdict
from tests.programs.faults.checker import Violation

MOST_SHOWN = 10


class Outcome(msgspec.Struct, frozen=True):
    """One part, judged."""

    part: str
    seconds: float
    rooms: int
    commands: int
    acks: int
    rejects: int
    unknown: int
    """How often a connection ended before the answer to a command came."""
    frames: int
    """Commits and snapshots that clients compared with the log."""
    faults: Mapping[str, int]
    in_flight: Sequence[int]
    """How many commands were under way at each fault."""
    violations: Sequence[Violation]
    failures: Sequence[str] = ()
    """What else went wrong, in words."""
    figures: Sequence[Figure] = ()

    def with_figures(self, more: Sequence[Figure]) -> "Outcome":
        return msgspec.structs.replace(self, figures=(*self.figures, *more))

    @property
    def ok(self) -> bool:
        return not self.violations and not self.failures and all(f.met for f in self.figures)


def failed(part: str, seconds: float, why: str) -> Outcome:
    """A part that did not come to its end."""
    return Outcome(part, seconds, 0, 0, 0, 0, 0, 0, {}, (), (), (why,))


def share_in_flight(in_flight: Sequence[int], at_least: float = 0.5) -> Figure:
    """A run counts only if faults hit something."""
    hit = sum(count > 0 for count in in_flight)
    return Figure(
        "faults that hit commands under way",
        hit / max(1, len(in_flight)),
        "share",
        at_least=at_least,
        note=f"{hit} of {len(in_flight)} faults, {sum(in_flight)} commands",
    )


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that so many are not above; nothing at all counts as missed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("inf")


def print_outcome(title: str, outcome: Outcome) -> None:
    faults = ", ".join(f"{count} {kind}" for kind, count in outcome.faults.items()) or "none"
    print(f"\n{outcome.part}: {title} ({outcome.seconds:.0f} s)")
    print(f"  faults: {faults}")
    print(
        f"  {outcome.rooms} rooms, {outcome.commands} commands, {outcome.acks} acks,"
        f" {outcome.rejects} rejects, {outcome.unknown} unknown, {outcome.frames} frames compared"
    )
    for figure in outcome.figures:
        print(
            f"  {figure.name:<44} {figure.value:>10.3f} {figure.unit:<6}"
            f" {bar(figure):>9} {verdict(figure):<6} {figure.note}"
        )
    print(f"  violations: {len(outcome.violations)} in {outcome.commands} commands")
    for violation in outcome.violations[:MOST_SHOWN]:
        print(f"    {violation.rule}: {violation.room} {violation.who}: {violation.detail}")
    for failure in outcome.failures[:MOST_SHOWN]:
        print(f"    FAILED: {failure}")
    print(f"  {'ok' if outcome.ok else 'RED'}", flush=True)


def json_target() -> Path | None:
    """The file named in `FAULTS_JSON`, tried at once: a run takes too long to fail after it."""
    name = os.environ.get("FAULTS_JSON")
    if not name:
        return None
    target = Path(name)
    try:
        target.write_text("{}\n")
    except OSError as error:
        sys.exit(f"FAULTS_JSON={name} cannot be written: {error}")
    return target


def write_json(outcomes: Sequence[Outcome], target: Path | None) -> None:
    if target is not None:
        document = {
            outcome.part: msgspec.to_builtins(outcome) | {"ok": outcome.ok} for outcome in outcomes
        }
        target.write_text(json.dumps(document, indent=2) + "\n")
