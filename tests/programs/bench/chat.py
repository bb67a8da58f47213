"""What crowds that chat cost the moves of other rooms, on a core that they have to share.

A load of Five Towers is played at a steady rate, in windows by turns. In one kind of window nothing
else happens. In the other kind, 190 watchers in each of eight more rooms say a line a second, which
is the rate of a person with a seat. The server has one core; the load, the crowd and the store have
the other one.

The crowd goes on as fast when the server refuses its lines. So the same measurement shows a server
with lower rates and one without.
"""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random
from statistics import median
from time import sleep

import msgspec

from tests.programs.bench.alternating import Series, alternated
from tests.programs.bench.chat_crowd import Crowd, Told
from tests.programs.bench.driving import STOP_SECONDS, disturbed, driven, spares_for
from tests.programs.bench.load import Step, Window
from tests.programs.bench.report import Figure, span
from tests.programs.bench.servers import ROOT, environment, towerhall
from tests.programs.bench.usage import allow_many_sockets, cores, pin, refuse_other_systems
from towerhall_server.cli.progress import progress

ROOMS, CHATTING_ROOMS, WATCHERS = 100, 8, 190
LINES_PER_SECOND = 1.0
REPEATS = 3
STEADY = Series(Step("steady", moves=900, warm_up=150, rate=300), windows=3)
P99_RATIO_BAR = 2.0
SETTLE_SECONDS = 1.0
"""What was said before a quiet window is told by then."""


class Pair(msgspec.Struct, frozen=True):
    """The same load in one repeat, with and without chat."""

    quiet: Window
    chatting: Window
    told: Told


def measure() -> list[Figure]:
    """The latency of a move beside crowds that chat, as a multiple of its latency without any."""
    return figures(run_pairs(ROOMS, REPEATS, STEADY))


def run_pairs(
    rooms: int,
    repeats: int,
    steady: Series,
    chatting_rooms: int = CHATTING_ROOMS,
    watchers: int = WATCHERS,
) -> list[Pair]:
    refuse_other_systems()
    # One load plays the windows of both kinds.
    spares = spares_for(2 * steady.most_moves(rooms))

    def repeat(number: int) -> Pair:
        with towerhall() as server:
            wanted = Crowd(server.addresses[0], chatting_rooms, watchers, LINES_PER_SECOND)
            with driven(server, rooms, spares=spares) as load, crowd(wanted) as watching:

                def quiet(step: Step) -> Window:
                    sleep(SETTLE_SECONDS)
                    return load.play(step)

                def chatting(step: Step) -> Window:
                    watching.order(chat=True)
                    try:
                        return load.play(step)
                    finally:
                        watching.order(chat=False)

                plays = {"quiet": quiet, "chatting": chatting}
                found = alternated(plays, steady, Random(number))
                return Pair(found["quiet"], found["chatting"], watching.order(chat=False))

    return list(progress(map(repeat, range(repeats)), repeats, "chat"))


def figures(pairs: Sequence[Pair]) -> list[Figure]:
    found = []
    # The crowd counts among the others, so only quiet windows tell whether the machine is busy.
    void = disturbed([pair.quiet for pair in pairs])
    for share, bar in ((0.5, None), (0.99, P99_RATIO_BAR)):
        quiet = [pair.quiet.latency_us(share) / 1000 for pair in pairs]
        beside = [pair.chatting.latency_us(share) / 1000 for pair in pairs]
        ratios = [more / less for more, less in zip(beside, quiet, strict=True)]
        name = f"p{share * 100:.0f}"
        found += [
            Figure(f"move to all four, {name}, quiet", median(quiet), "ms", note=span(quiet)),
            Figure("  beside rooms that chat", median(beside), "ms", note=span(beside)),
            Figure(
                f"  {name} against quiet", median(ratios), "x", bar, note=span(ratios), void=void
            ),
        ]
    for name, windows in (
        ("quiet", [pair.quiet for pair in pairs]),
        ("beside chat", [pair.chatting for pair in pairs]),
    ):
        cpu = [window.server_cpu / window.seconds for window in windows]
        found.append(
            Figure(f"  server's share of its core, {name}", median(cpu), "", note=span(cpu))
        )
    return [
        *found,
        *(
            Figure(f"  lines {name}", median(getattr(pair.told, name) for pair in pairs), "")
            for name in ("said", "heard", "refused")
        ),
    ]


class Watching:
    """A crowd of which all watch."""

    def __init__(self, process: "subprocess.Popen[bytes]", wanted: Crowd) -> None:
        self._process = process
        self._ask(wanted)

    def order(self, *, chat: bool) -> Told:
        """Let them chat or let them be quiet; what was told so far."""
        return self._ask(chat)

    def _ask(self, order: Crowd | bool) -> Told:
        orders, answers = self._process.stdin, self._process.stdout
        assert orders is not None
        assert answers is not None
        orders.write(msgspec.json.encode(order) + b"\n")
        orders.flush()
        line = answers.readline()
        if not line:
            raise RuntimeError("the crowd has gone: see above")
        return msgspec.json.decode(line, type=Told)


@contextmanager
def crowd(wanted: Crowd) -> Iterator[Watching]:
    """Watchers in a process of their own, for the time of a `with` block."""
    allow_many_sockets()
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.programs.bench.chat_crowd"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
        cwd=ROOT,
    )
    try:
        pin(process.pid, cores()[1])
        yield Watching(process, wanted)
    finally:
        try:
            process.communicate(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
