"""The measurement of several server processes: where it puts players, and how it judges."""

import json
import sys
from http.client import HTTPConnection

import pytest

from tests.programs.bench.driving import driven, spares_for
from tests.programs.bench.load import Step, Window
from tests.programs.bench.nodes import Trio, figures
from tests.programs.bench.report import verdict
from tests.programs.bench.servers import Server, towerhall_nodes
from tests.programs.bench.test_bench import is_sane

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="loads are pinned to cores and read /proc, which only Linux has"
)

ROOMS = 4
STEP = Step("saturated", moves=300, warm_up=100)


def rooms_open(server: Server) -> list[int]:
    """How many rooms each process has in memory."""
    counts = []
    for address in server.addresses:
        http = HTTPConnection(address)
        http.request("GET", "/readyz")
        counts.append(json.loads(http.getresponse().read())["rooms"])
        http.close()
    return counts


def test_players_sit_on_one_process_or_across_both_as_wanted() -> None:
    tables = ROOMS + spares_for(STEP.moves)
    with towerhall_nodes(2) as server:
        assert len(set(server.pids)) == 2
        with driven(server, ROOMS, spares=spares_for(STEP.moves)) as load:
            split = rooms_open(server)
            assert split == [-(-tables // 2), tables // 2]
            assert is_sane(load.play(STEP), STEP)
        with driven(server, ROOMS, spares=spares_for(STEP.moves), mixed=True) as load:
            both = rooms_open(server)
            assert [now - then for now, then in zip(both, split, strict=True)] == [tables] * 2
            assert is_sane(load.play(STEP), STEP)


def window(cpu_us: float) -> Window:
    """Moves that cost so much each."""
    return Window("any", 1000, 1.0, cpu_us / 1000, 0.1, 0.5, 0.0, (300,) * 1000, 0)


def judged(alone: float, split: float, across: float) -> list[tuple[float, str]]:
    found = figures([Trio(window(alone), window(split), window(across))])
    return [(round(figure.value, 3), verdict(figure)) for figure in found[:2]]


def test_ratios_are_judged_against_their_bars() -> None:
    assert judged(300, 320, 416) == [(0.938, "ok"), (1.3, "ok")]
    assert judged(300, 400, 900) == [(0.75, "MISSED"), (2.25, "MISSED")]


def test_there_is_no_verdict_on_a_busy_machine() -> None:
    busy = Window("any", 1000, 1.0, 0.3, 0.1, 0.5, 0.5, (300,) * 1000, 0)
    assert [verdict(figure) for figure in figures([Trio(busy, busy, busy)])[:2]] == ["VOID"] * 2
