"""A part is red for a violation, a failure, a missed bar, or faults that hit nothing."""

import pytest
from msgspec.structs import replace

from tests.programs.bench.report import Figure
from tests.programs.faults.checker import Violation
from tests.programs.faults.report import Outcome, percentile, share_in_flight

GOOD = Outcome(
    part="part",
    seconds=1.0,
    rooms=1,
    commands=10,
    acks=10,
    rejects=0,
    unknown=0,
    frames=40,
    faults={"kill": 2},
    in_flight=(1, 2),
    violations=(),
    figures=(share_in_flight((1, 2)),),
)


def test_a_clean_part_is_ok() -> None:
    assert GOOD.ok


@pytest.mark.parametrize(
    "red",
    [
        replace(GOOD, violations=(Violation("once", "ABCDEF", "log", "again"),)),
        replace(GOOD, failures=("a node has ended",)),
        GOOD.with_figures((Figure("exit", 21.0, "s", at_most=20.0),)),
        replace(GOOD, figures=(share_in_flight((0, 0, 1)),)),
        replace(GOOD, figures=(share_in_flight(()),)),
    ],
)
def test_anything_else_is_red(red: Outcome) -> None:
    assert not red.ok


def test_a_percentile_of_nothing_misses_every_bar() -> None:
    assert percentile([], 0.99) == float("inf")
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile(range(100), 0.99) == 99
