"""The benchmarks themselves: that they run, and that what they say they count is what happened."""

import sys

import pytest

from tests.bench.driving import driven, spares_for
from tests.bench.frames import bid_of_typical_size
from tests.bench.load import Step, Window
from tests.bench.moves import Pair, Run, figures
from tests.bench.report import Figure, verdict
from tests.bench.servers import baseline, towerhall

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="loads are pinned to cores and read /proc, which only Linux has"
)

ROOMS = 5
STEADY = Step("steady", moves=150, warm_up=50, rate=100)
SATURATED = Step("saturated", moves=300, warm_up=100)


def is_sane(window: Window, step: Step) -> bool:
    """As many times as moves, all of them possible, and a rate not above the wanted one."""
    return (
        window.moves == len(window.latencies_us) == step.moves - step.warm_up
        and 0 < window.latencies_us[0] <= window.latencies_us[-1] < window.seconds * 1e6 + 1e6
        and window.server_cpu >= 0 <= window.store_cpu
        and (not step.rate or window.moves / window.seconds < 1.5 * step.rate)
    )


def test_a_load_plays_real_games_and_every_move_reaches_all_four() -> None:
    spares = spares_for(STEADY.moves + SATURATED.moves)
    with towerhall() as server, driven(server, ROOMS, spares=spares) as load:
        steady, saturated = load.play(STEADY), load.play(SATURATED)
    assert is_sane(steady, STEADY)
    assert is_sane(saturated, SATURATED)
    assert load.ready.rss_after > load.ready.rss_before


def test_the_same_load_plays_on_the_baseline() -> None:
    command, frame = bid_of_typical_size()
    with baseline(frame) as server, driven(server, ROOMS, command=command) as load:
        steady, saturated = load.play(STEADY), load.play(SATURATED)
    assert is_sane(steady, STEADY)
    assert is_sane(saturated, SATURATED)
    assert steady.store_cpu == 0


def test_a_load_without_spare_tables_fails_when_a_game_ends() -> None:
    too_long = Step("too long", moves=1000, warm_up=1)
    ended = pytest.raises(RuntimeError, match="the load has ended")
    with towerhall() as server, driven(server, 1) as load, ended:
        load.play(too_long)


def window(
    per_cpu_second: float, latency_us: int, client_cpu: float = 0.5, others_cpu: float = 0.0
) -> Window:
    cpu = 1000 / per_cpu_second
    return Window("any", 1000, 1.0, cpu, 0.1, client_cpu, others_cpu, (latency_us,) * 1000, 0)


def judged(plain: Window, ours: Window) -> dict[str, str]:
    pair = Pair(Run(plain, plain), Run(ours, ours))
    return {figure.name.strip(): verdict(figure) for figure in figures([pair])}


def test_ratios_are_judged_against_their_bars() -> None:
    good = judged(window(8000, 300), window(5000, 900))
    assert good["durable moves against the baseline"] == "ok"
    assert good["move to all four, p50"] == "ok"
    assert good["p50 against the baseline"] == "ok"
    bad = judged(window(8000, 300), window(3000, 1600))
    assert bad["durable moves against the baseline"] == "MISSED"
    assert bad["move to all four, p50"] == "MISSED"
    assert bad["p50 against the baseline"] == "MISSED"
    assert bad["p99 against the baseline"] == "MISSED"


def test_there_is_no_verdict_on_a_slow_or_busy_machine_or_with_a_slow_load() -> None:
    name = "durable moves against the baseline"
    disturbed = judged(window(8000, 300, others_cpu=0.5), window(5000, 900, others_cpu=0.5))
    assert disturbed[name] == disturbed["move to all four, p50"] == "VOID"
    assert judged(window(6000, 300), window(5000, 900))[name] == "VOID"
    assert judged(window(8000, 300), window(5000, 900, client_cpu=0.95))[name] == "VOID"


def test_a_figure_without_a_bar_has_no_verdict() -> None:
    assert verdict(Figure("any", 1.0, "us")) == ""
