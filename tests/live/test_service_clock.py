"""The service clock as a node guesses it between two beats."""

import pytest

from towerhall_server.eventlog.entry import Stamps
from towerhall_server.eventlog.shared import MOST_DOUBT_MS
from towerhall_server.live import node
from towerhall_server.live.node import ServiceClock


@pytest.mark.parametrize(
    ("seconds", "guess_ms"), [(0.0, 70_000), (1.2, 71_200), (5.0, 75_000), (600.0, 75_000)]
)
def test_without_a_beat_the_guess_goes_on_for_five_seconds(
    seconds: float, guess_ms: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(node, "monotonic", lambda: now)
    service = ServiceClock()
    service.hear(7, Stamps(9_000, 70_000))
    now += seconds
    assert service.now_ms(7) == guess_ms
    assert service.stamps(7) == (9_000 + round(1000 * seconds), guess_ms)


def test_the_guess_goes_on_as_long_as_the_store_counts_after_a_beat() -> None:
    assert MOST_DOUBT_MS == 5000


def test_a_clock_that_was_never_heard_of_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(node, "monotonic", lambda: now)
    service = ServiceClock()
    now += 60.0
    assert service.now_ms(7) == 0
