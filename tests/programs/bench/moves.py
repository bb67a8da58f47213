"""Durable moves against plain fan-out: per second of the server's CPU, and from hand to all hands.

Each repeat starts both servers afresh and leaves them alive together, each with all its tables and
a load of its own. Two steps are played on both: a steady 1000 moves per second, for the latency,
and as many as the server can do, for the cost. Each step is cut into short windows that alternate
between the servers, in an order that chance decides, so that a machine that changes its speed
within seconds changes it for both (see `alternating`). A repeat's cost is the CPU time of all its
windows for all their moves, and its latencies are those of all its windows; ratios are made of
these, within the repeat. A figure is the median of the repeats, and their range is told with it.
"""

import os
from collections.abc import Sequence
from random import Random
from statistics import median
from tempfile import TemporaryFile
from time import perf_counter

import msgspec

from tests.programs.bench.alternating import Series, alternated
from tests.programs.bench.driving import disturbed, driven, spares_for
from tests.programs.bench.frames import bid_of_typical_size
from tests.programs.bench.load import Step, Window
from tests.programs.bench.report import Figure, span
from tests.programs.bench.servers import baseline, towerhall
from tests.programs.bench.usage import refuse_other_systems
from towerhall_server.cli.progress import progress

ROOMS = 200
REPEATS = 5
RATE = 1000
STEADY = Series(Step("steady", moves=750, warm_up=125, rate=RATE), windows=4)
SATURATED = Series(Step("saturated", moves=3_000, warm_up=500), windows=8)
"""The warm-up touches every room twice, which brings back what the other server drove out."""

BASELINE_BAR = 6_500
"""Less than this from the baseline, and the machine is too slow for a verdict."""
RATIO_BAR, RATIO_AIM = 0.5, 0.8
P50_RATIO_BAR, P50_BAR_MS, P99_RATIO_BAR = 4.0, 1.0, 5.0
BUSY = 0.9
"""A core that works more than this share of the time may be what holds the rest up."""
SYNCS, SYNC_BYTES = 200, 512


class Run(msgspec.Struct, frozen=True):
    """One server in one repeat: of each step all windows together."""

    steady: Window
    saturated: Window


class Pair(msgspec.Struct, frozen=True):
    """Both servers in the same repeat."""

    baseline: Run
    towerhall: Run


def measure() -> list[Figure]:
    """The cost of a move and its latency, both as multiples of the baseline's."""
    return figures(run_pairs(ROOMS, REPEATS, STEADY, SATURATED))


def run_pairs(rooms: int, repeats: int, steady: Series, saturated: Series) -> list[Pair]:
    refuse_other_systems()
    command, frame = bid_of_typical_size()
    spares = spares_for(steady.most_moves(rooms) + saturated.most_moves(rooms))

    def repeat(number: int) -> Pair:
        chance = Random(number)
        with (
            baseline(frame) as plain_server,
            towerhall() as our_server,
            driven(plain_server, rooms, command=command) as plain,
            driven(our_server, rooms, spares=spares) as ours,
        ):
            plays = {"baseline": plain.play, "towerhall": ours.play}
            paced = alternated(plays, steady, chance)
            unpaced = alternated(plays, saturated, chance)
        return Pair(**{kind: Run(paced[kind], unpaced[kind]) for kind in plays})

    return list(progress(map(repeat, range(repeats)), repeats, "moves"))


def figures(pairs: Sequence[Pair]) -> list[Figure]:
    return [*_cost(pairs), *_latency(pairs)]


def _cost(pairs: Sequence[Pair]) -> list[Figure]:
    plain = [pair.baseline.saturated for pair in pairs]
    ours = [pair.towerhall.saturated for pair in pairs]
    speeds = [window.per_cpu_second for window in plain]
    our_speeds = [window.per_cpu_second for window in ours]
    ratios = [ours / plain for ours, plain in zip(our_speeds, speeds, strict=True)]
    store = [window.store_cpu / window.moves * 1e6 for window in ours]
    void = ""
    if median(speeds) < BASELINE_BAR:
        void = f"the baseline is below {BASELINE_BAR}: this machine is too slow for a verdict"
    void = void or _held_up(plain) or _held_up(ours) or disturbed([*plain, *ours])
    per_cpu_second = "1/CPUs"
    return [
        Figure("baseline's moves", median(speeds), per_cpu_second, note=span(speeds, 0)),
        Figure("durable moves", median(our_speeds), per_cpu_second, note=span(our_speeds, 0)),
        Figure(
            "durable moves against the baseline",
            median(ratios),
            "x",
            at_least=RATIO_BAR,
            note=f"{span(ratios)}; aim {RATIO_AIM}",
            void=void,
        ),
        Figure("  store's CPU for a move", median(store), "us", note=f"besides; {span(store, 1)}"),
        *_shares("baseline", plain),
        *_shares("durable", ours),
    ]


def _held_up(windows: Sequence[Window]) -> str:
    """Whether the load may have decided how fast a server went."""
    load = median((window.client_cpu + window.store_cpu) / window.seconds for window in windows)
    return f"the load's core was {load:.0%} busy: it may be the limit" if load > BUSY else ""


def _shares(name: str, windows: Sequence[Window]) -> list[Figure]:
    """How the load is known not to be the limit: its core has time left, the server's has not."""
    server = [window.server_cpu / window.seconds for window in windows]
    client = [window.client_cpu / window.seconds for window in windows]
    store = [window.store_cpu / window.seconds for window in windows]
    note = f"load {median(client):.2f} and store {median(store):.2f} of the other core"
    return [Figure(f"  {name}: server busy", median(server), "share", note=note)]


def _latency(pairs: Sequence[Pair]) -> list[Figure]:
    plain = [pair.baseline.steady for pair in pairs]
    ours = [pair.towerhall.steady for pair in pairs]
    void = disturbed([*plain, *ours])
    found = []
    for share, bar in ((0.5, P50_RATIO_BAR), (0.99, P99_RATIO_BAR)):
        times = [window.latency_us(share) / 1000 for window in ours]
        plain_times = [window.latency_us(share) / 1000 for window in plain]
        ratios = [ours / plain for ours, plain in zip(times, plain_times, strict=True)]
        name = f"p{share * 100:.0f}"
        most = P50_BAR_MS if share == 0.5 else None
        note = f"{span(times)}; baseline {median(plain_times):.2f} ({span(plain_times)})"
        found += [
            Figure(f"move to all four, {name}", median(times), "ms", most, note=note, void=void),
            Figure(
                f"  {name} against the baseline",
                median(ratios),
                "x",
                bar,
                note=span(ratios),
                void=void,
            ),
        ]
    rates = [window.moves / window.seconds for window in ours]
    late = sum(window.late_slots for window in (*ours, *plain))
    note = f"wanted {RATE}; {late} slots without a move at hand"
    found.append(Figure("  rate", median(rates), "1/s", note=note))
    sync = _sync_ms()
    note = f"{SYNCS} times {SYNC_BYTES} bytes, nothing else: no durable move can be faster"
    found.append(Figure("  fdatasync on this disk", median(sync), "ms", note=note))
    return found


def _sync_ms() -> list[float]:
    times = []
    with TemporaryFile(buffering=0) as file:
        for _ in range(SYNCS):
            file.write(bytes(SYNC_BYTES))
            began = perf_counter()
            os.fdatasync(file.fileno())
            times.append((perf_counter() - began) * 1000)
    return times
