"""The benchmarks themselves: that they run, and that what they say they count is what happened."""

import os
import sys
from threading import Thread
from time import process_time, thread_time

import pytest

from tests.programs.bench import bounded, chat, cluster, drawing, patches, people, searches
from tests.programs.bench.alternating import Series, together
from tests.programs.bench.driving import driven, spares_for
from tests.programs.bench.load import Step, Window
from tests.programs.bench.moves import Pair, Run, figures, run_pairs
from tests.programs.bench.report import Figure, verdict
from tests.programs.bench.servers import towerhall
from tests.programs.bench.usage import cpu_seconds

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="loads are pinned to cores and read /proc, which only Linux has"
)

ROOMS = 5
STEADY = Step("steady", moves=150, warm_up=50, rate=100)
SATURATED = Step("saturated", moves=300, warm_up=100)


def is_sane(window: Window, step: Step, windows: int = 1) -> bool:
    """As many times as moves, all of them possible, and a rate not above the wanted one."""
    return (
        window.moves == len(window.latencies_us) == windows * (step.moves - step.warm_up)
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


def test_a_repeat_plays_all_windows_on_both_servers() -> None:
    (pair,) = run_pairs(ROOMS, 1, Series(STEADY, 1), Series(SATURATED, 2))
    for run in (pair.baseline, pair.towerhall):
        assert is_sane(run.steady, STEADY)
        assert is_sane(run.saturated, SATURATED, windows=2)
    assert pair.baseline.saturated.store_cpu == 0 < pair.towerhall.saturated.store_cpu


def test_rooms_at_the_pace_of_people_are_measured_with_all_that_happens_meanwhile() -> None:
    (found,) = people.run_windows(rooms=50, repeats=1, seconds=2)
    assert is_sane(found, Step("people", moves=30, warm_up=10, rate=10))
    assert found.seconds > 1
    whole, server, store, _ = people.figures([found])
    assert 0 < server.value < whole.value == server.value + store.value


def test_rooms_search_beside_a_load_and_only_when_they_are_told_to() -> None:
    (pair,) = searches.run_pairs(ROOMS, 1, Series(STEADY, 1), search_ms=20)
    assert is_sane(pair.quiet, STEADY)
    assert is_sane(pair.searching, STEADY)
    assert pair.searches >= searches.SEARCHING_ROOMS
    assert 0.02 <= pair.busy / pair.searches < 0.05
    assert 0 < pair.queue < searches.SEARCHING_ROOMS
    assert {figure.name for figure in searches.figures([pair])} >= {"  p99 against quiet"}


def test_a_crowd_chats_beside_a_load_and_only_when_it_is_told_to() -> None:
    (pair,) = chat.run_pairs(ROOMS, 1, Series(STEADY, 1), chatting_rooms=2, watchers=10)
    assert is_sane(pair.quiet, STEADY)
    assert is_sane(pair.chatting, STEADY)
    # The load plays for 1.5 s, in which each of 20 says a line a second.
    assert 10 < pair.told.said < 200
    assert pair.told.heard > pair.told.said
    assert {figure.name for figure in chat.figures([pair])} >= {"  p99 against quiet"}


def test_frames_of_the_board_are_measured() -> None:
    calls, script, whole = drawing.measure(repeats=1, frames=4)
    assert 3 < calls.value <= drawing.MOST_CALLS
    assert 0 < script.value < whole.value


def test_patches_of_games_are_measured_against_their_views() -> None:
    found = {figure.name: figure.value for figure in patches.measure(repeats=1, share=0.05)}
    assert found["bid: patch told"] < found["bid: views made and compared"]
    assert {name.partition(":")[0] for name in found} >= {"bid", "five_towers", "nikitin_towers"}
    assert all(value > 0 for value in found.values())


def test_a_long_log_is_measured_against_a_short_one() -> None:
    figures = {figure.name.strip(): figure for figure in bounded.measure(600, 3)}
    assert len([figure for figure in figures.values() if figure.at_most]) == 5
    assert all(figure.value > 0 for figure in figures.values())
    # Six times as many commits. Bars are for `make bench`: here others may be at work.
    assert figures["loading"].value < 4


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


def figure_of(plain: list[Window], ours: list[Window], name: str) -> float:
    """Of one repeat with these windows."""
    plain_run, our_run = together(plain), together(ours)
    found = figures([Pair(Run(plain_run, plain_run), Run(our_run, our_run))])
    return next(figure.value for figure in found if figure.name.strip() == name)


def test_the_ratio_of_a_repeat_is_made_from_the_sums_of_its_windows() -> None:
    plain, ours = [window(10_000, 300)] * 2, [window(10_000, 900), window(10_000 / 7, 900)]
    # Four times the CPU in all; the mean of the two windows' ratios would be 0.57.
    ratio = figure_of(plain, ours, "durable moves against the baseline")
    assert ratio == pytest.approx(0.25)


def test_the_latencies_of_a_repeat_are_those_of_all_its_windows() -> None:
    plain, fast, slow = (window(10_000, latency_us) for latency_us in (300, 900, 6000))
    # Of a hundred windows' moves one in a hundred, or two, were slow: only two reach p99.
    for slow_ones, p99 in ((1, 0.9), (2, 6.0)):
        ours = [slow] * slow_ones + [fast] * (100 - slow_ones)
        assert figure_of([plain], ours, "move to all four, p50") == 0.9
        assert figure_of([plain], ours, "move to all four, p99") == p99
        assert figure_of([plain], ours, "p99 against the baseline") == pytest.approx(p99 / 0.3)


def test_the_clock_of_a_process_counts_all_its_threads() -> None:
    def work() -> None:
        until = thread_time() + 0.05
        while thread_time() < until:
            pass

    began = cpu_seconds(os.getpid())
    thread = Thread(target=work)
    thread.start()
    thread.join()
    before = process_time()
    now = cpu_seconds(os.getpid())
    assert before <= now <= process_time()
    assert now - began >= 0.05


def test_a_figure_without_a_bar_has_no_verdict() -> None:
    assert verdict(Figure("any", 1.0, "us")) == ""


def test_moves_on_three_primaries_are_measured_against_one_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, size in (("ROOMS", 8), ("ROUNDS", 3), ("STRETCHES", 3)):
        monkeypatch.setattr(cluster, name, size)
    found = cluster.measure()
    assert all(figure.value > 0 for figure in found)
    here, there, here_on_three, there_on_three, full, *ratios = (each.value for each in found)
    assert ratios == [here_on_three / here, there_on_three / there, 3 * there / full]
