"""Our server against Colyseus and boardgame.io: the same game, the same load, by turns.

All play the bid game on state of 91 leaf fields, of which a bid changes six. Each of the others
runs twice: in memory, and with an awaited XADD before each patch, to an engine of the same kind as
ours that syncs each append. Ours is always durable.

Each repeat starts all servers afresh and leaves them alive together, each with all its tables and a
load of its own; servers share a core, and loads and stores the other one. After a warm-up, in which
engines of JavaScript compile, short windows alternate in an order that chance decides (see
`alternating`). The load opens sockets and times moves in the same way for all, and only its bytes
differ: it speaks the protocol of each. Ratios are made within a repeat.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from statistics import median
from typing import Final

import msgspec

from tests.programs.bench.alternating import Series, alternated
from tests.programs.bench.driving import disturbed, driven
from tests.programs.bench.load import Kind, Step, Window
from tests.programs.bench.peers.installing import NODE, installed
from tests.programs.bench.players import BID
from tests.programs.bench.report import Figure, span
from tests.programs.bench.servers import Server, running, towerhall
from tests.programs.bench.usage import cores, pin, refuse_other_systems
from tests.store import engines
from towerhall_server.cli.progress import progress

ROOMS: Final = 200
REPEATS: Final = 5
RATE: Final = 1000
WARM_UP: Final = Step("warm-up", moves=8_000, warm_up=1)
STEADY: Final = Series(Step("steady", moves=1_200, warm_up=200, rate=RATE), windows=4)
SATURATED: Final = Series(Step("saturated", moves=3_000, warm_up=500), windows=6)

OURS: Final = "Towerhall"
DURABLE: Final = "Colyseus, durable"
IN_MEMORY: Final = "Colyseus, in memory"
COST_BAR: Final = 1.0
"""Of server and store together, against the durable one."""
SERVER_BAR: Final = 1.1
"""Of the server alone, against the one in memory."""
P50_BAR, P99_BAR = 0.5, 0.1
"""Against the durable one."""
P50_MEMORY_BAR: Final = 1.3


class Plan(msgspec.Struct, frozen=True):
    rooms: int = ROOMS
    repeats: int = REPEATS
    warm_up: Step = WARM_UP
    steady: Series = STEADY
    saturated: Series = SATURATED


class Peer(msgspec.Struct, frozen=True):
    """One of the servers that are measured."""

    name: str
    kind: Kind
    script: str = ""
    durable: bool = True


PEERS: Final = (
    Peer(OURS, "towerhall"),
    Peer(DURABLE, "colyseus", "colyseus.mjs"),
    Peer(IN_MEMORY, "colyseus", "colyseus.mjs", durable=False),
    Peer("boardgame.io, durable", "boardgame_io", "boardgame_io.mjs"),
    Peer("boardgame.io, in memory", "boardgame_io", "boardgame_io.mjs", durable=False),
)


class Run(msgspec.Struct, frozen=True):
    """One server in one repeat: of each step all windows together."""

    steady: Window
    saturated: Window


Turn = Mapping[str, Run]
"""All servers in one repeat, by name."""


def measure(rounds: int = REPEATS) -> list[Figure]:
    """What a move costs each server, how long it takes, and ours as multiples of the others'."""
    return figures(run_turns(Plan(repeats=rounds)))


def run_turns(plan: Plan) -> list[Turn]:
    refuse_other_systems()
    folder = installed()
    return list(progress(_turns(plan, folder), plan.repeats, "peers"))


def _turns(plan: Plan, folder: Path) -> Iterator[Turn]:
    for number in range(plan.repeats):
        chance = Random(number)
        with ExitStack() as stack:
            plays: dict[str, Callable[[Step], Window]] = {}
            for peer in PEERS:
                server = stack.enter_context(served(peer, folder))
                load = driven(server, plan.rooms, kind=peer.kind, played=BID, spread=0)
                plays[peer.name] = stack.enter_context(load).play
            for play in plays.values():
                play(plan.warm_up)
            steady = alternated(plays, plan.steady, chance)
            saturated = alternated(plays, plan.saturated, chance)
        yield {name: Run(steady[name], saturated[name]) for name in plays}


@contextmanager
def served(peer: Peer, folder: Path) -> Iterator[Server]:
    """That server, with its store if it has one; its packages are in the folder."""
    if not peer.script:
        with towerhall("tests.programs.bench.bid_server") as server:
            yield server
        return
    command = [str(NODE), str(folder / peer.script)]
    with ExitStack() as stack:
        pid, url = None, ""
        if peer.durable:
            home = stack.enter_context(tempfile.TemporaryDirectory())
            engine = stack.enter_context(engines.running("valkey", Path(home)))
            pid, url = engine.pid, engine.url
            if pid is None:
                raise RuntimeError("the store did not start")
            pin(pid, cores()[1])
            command.append(url)
        server = stack.enter_context(running(command, {"NODE_ENV": "production"}))
        yield Server(server.addresses, server.pids, pid, url)


def figures(turns: Sequence[Turn]) -> list[Figure]:
    return [*(figure for peer in PEERS for figure in _measures(peer, turns)), *_ratios(turns)]


def _measures(peer: Peer, turns: Sequence[Turn]) -> Iterator[Figure]:
    """What was read at one server."""
    steady = [turn[peer.name].steady for turn in turns]
    saturated = [turn[peer.name].saturated for turn in turns]
    for name, unit, windows, read in (
        ("server's CPU for a move", "us", saturated, server_us),
        ("store's CPU for a move", "us", saturated, store_us),
        ("server, paced", "us", steady, server_us),
        ("store, paced", "us", steady, store_us),
        ("p50", "ms", steady, p50_ms),
        ("p99", "ms", steady, p99_ms),
    ):
        values = [read(window) for window in windows]
        notes = [span(values), f"{windows[0].moves:,} moves each"]
        if read is server_us:
            rates = [window.moves / window.seconds for window in windows]
            busy = median(window.server_cpu / window.seconds for window in windows)
            notes.append(f"{median(rates):,.0f} moves a second, its core {busy:.0%} busy")
        note = "; ".join(notes)
        yield Figure(f"{peer.name}: {name}", median(values), unit, note=note)


def _ratios(turns: Sequence[Turn]) -> Iterator[Figure]:
    """Ours as multiples of another's, judged against the bars."""
    for what, other, step, read, bar in RATIOS:
        pairs = [(_step(turn[OURS], step), _step(turn[other], step)) for turn in turns]
        ratios = [read(ours) / read(theirs) for ours, theirs in pairs]
        yield Figure(
            f"{what} / {other}",
            median(ratios),
            "x",
            bar,
            note=span(ratios),
            void=disturbed([window for pair in pairs for window in pair]),
        )


def _step(run: Run, name: str) -> Window:
    return run.steady if name == STEADY.step.name else run.saturated


def server_us(window: Window) -> float:
    return window.server_cpu / window.moves * 1e6


def store_us(window: Window) -> float:
    return window.store_cpu / window.moves * 1e6


def both_us(window: Window) -> float:
    return server_us(window) + store_us(window)


def p50_ms(window: Window) -> float:
    return window.latency_us(0.5) / 1000


def p99_ms(window: Window) -> float:
    return window.latency_us(0.99) / 1000


RATIOS: Final = (
    ("server and store", DURABLE, "saturated", both_us, COST_BAR),
    ("server and store, paced", DURABLE, "steady", both_us, COST_BAR),
    ("server", IN_MEMORY, "saturated", server_us, SERVER_BAR),
    ("server, paced", IN_MEMORY, "steady", server_us, SERVER_BAR),
    ("p50", DURABLE, "steady", p50_ms, P50_BAR),
    ("p50", IN_MEMORY, "steady", p50_ms, P50_MEMORY_BAR),
    ("p99", DURABLE, "steady", p99_ms, P99_BAR),
    ("server and store", "boardgame.io, durable", "saturated", both_us, None),
    ("server", "boardgame.io, in memory", "saturated", server_us, None),
    ("p50", "boardgame.io, durable", "steady", p50_ms, None),
)
"""Name, the other one, step, what is compared, and the bar."""
