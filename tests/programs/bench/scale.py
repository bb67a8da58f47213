"""What a move costs when many rooms are open.

One server holds 1,000 rooms with 4,000 sockets all the time. Beside it a fresh one with 50 rooms is
started for each repeat, and both play the same number of moves, in an order that chance decides.
"""

from random import Random
from statistics import median

from tests.programs.bench.alternating import Series, alternated
from tests.programs.bench.driving import Driver, disturbed, driven, spares_for
from tests.programs.bench.frames import bid_of_typical_size
from tests.programs.bench.load import Step, Window
from tests.programs.bench.report import Figure, span
from tests.programs.bench.servers import baseline, towerhall
from tests.programs.bench.usage import refuse_other_systems
from towerhall_server.cli.progress import progress

MANY, FEW = 1_000, 50
REPEATS = 5
STEADY = Step("steady", moves=2_000, warm_up=500, rate=1000)
SATURATED = Step("saturated", moves=6_000, warm_up=1_000)
STEPS = (STEADY, SATURATED)
SPREAD = 45
"""So that no game of the many ends within five repeats."""
RATIO_BAR = 1.25


def measure() -> list[Figure]:
    """The cost of a move with many rooms open as a multiple of that with few."""
    refuse_other_systems()
    with towerhall() as server, driven(server, MANY, spread=SPREAD) as many:
        pairs = list(progress((_pair(many, n) for n in range(REPEATS)), REPEATS, "many rooms"))
    found = []
    for step in (SATURATED, STEADY):
        costs = [[_cost(window) for window in pair[step.name]] for pair in pairs]
        ratios = [cost_of_many / cost_of_few for cost_of_many, cost_of_few in costs]
        many_us, few_us = (median(column) for column in zip(*costs, strict=True))
        note = f"{span(ratios)}; {many_us:.0f} us with {MANY} rooms, {few_us:.0f} us with {FEW}"
        name = f"cost of a move, {MANY} rooms against {FEW}"
        if step is STEADY:
            name = f"  the same at {STEADY.rate} moves/s"
        # The few are measured while the many are there too, but not the other way round.
        void = disturbed([pair[step.name][0] for pair in pairs])
        found.append(Figure(name, median(ratios), "x", RATIO_BAR, note=note, void=void))
    return [*found, _plain()]


def _plain() -> Figure:
    """The same for the baseline, which does nothing but fan out. It is the machine's part: what
    4,000 sockets need in kernel and event loop is more than its caches hold."""
    command, frame = bid_of_typical_size()
    with (
        baseline(frame) as many_server,
        baseline(frame) as few_server,
        driven(many_server, MANY, command=command) as many,
        driven(few_server, FEW, command=command) as few,
    ):
        plays = {"many": many.play, "few": few.play}
        windows = alternated(plays, Series(SATURATED, REPEATS), Random(REPEATS))
    many_us, few_us = _cost(windows["many"]), _cost(windows["few"])
    note = f"besides; {many_us:.0f} us with {MANY} rooms, {few_us:.0f} us with {FEW}"
    return Figure("  the same for plain fan-out", many_us / few_us, "x", note=note)


def _pair(many: Driver, number: int) -> dict[str, tuple[Window, Window]]:
    """The same steps with many rooms and with few."""
    windows: dict[bool, dict[str, Window]] = {}
    order = [True, False]
    Random(number).shuffle(order)
    for is_many in order:
        windows[is_many] = _steps(many) if is_many else _few()
    return {step.name: (windows[True][step.name], windows[False][step.name]) for step in STEPS}


def _few() -> dict[str, Window]:
    spares = spares_for(sum(step.moves for step in STEPS))
    with towerhall() as server, driven(server, FEW, spares=spares) as few:
        return _steps(few)


def _steps(load: Driver) -> dict[str, Window]:
    return {step.name: load.play(step) for step in STEPS}


def _cost(window: Window) -> float:
    return window.server_cpu / window.moves * 1e6
