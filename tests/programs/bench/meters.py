"""What counting adds to one move: every line that was put into its way, and nothing else.

A move is counted in three places: when the command comes (its time), when the store has answered
(its time, one commit more) and when the frame is out (the time of the whole). The lines are those
of `room/inbox.py`, `room/follower.py` and `room/actor.py`, run without the rest; what an empty
call costs is taken off. Beside it: a reading by Prometheus, which does delay moves.
"""

from collections.abc import Callable
from time import monotonic, perf_counter
from typing import Any

import msgspec
from prometheus_client import generate_latest

from tests.programs.bench.report import Figure, span
from towerhall_server.live.items import Command
from towerhall_server.telemetry.families import registry
from towerhall_server.telemetry.meters import Levels, Meters

MOVES = 20_000
REPEATS = 15
READINGS = 20
MOST_US = 2.0


class _Untimed(msgspec.Struct, frozen=True):
    """A command as it would be without its time."""

    viewer: Any
    asked: Any


class _Node(msgspec.Struct, frozen=True):
    meters: Meters


class _Follower:
    """What stands between an actor and its node, as there."""

    def __init__(self, node: _Node) -> None:
        self._node = node

    @property
    def node(self) -> _Node:
        return self._node


def _counted(follower: _Follower, count: int) -> None:
    for _ in range(count):
        item = Command(None, None)  # type: ignore[arg-type]
        began, meters = monotonic(), follower.node.meters
        meters.append_seconds.observe(monotonic() - began)
        meters.appends += 1
        meters = follower.node.meters
        meters.broadcast_seconds.observe(monotonic() - item.at)


def _uncounted(follower: _Follower, count: int) -> None:
    for _ in range(count):
        _Untimed(None, None)


def _us_each(run: Callable[[_Follower, int], None], follower: _Follower) -> float:
    began = perf_counter()
    run(follower, MOVES)
    return (perf_counter() - began) / MOVES * 1e6


def measure() -> list[Figure]:
    meters = Meters()
    follower = _Follower(_Node(meters))
    costs = [_us_each(_counted, follower) - _us_each(_uncounted, follower) for _ in range(REPEATS)]
    now = Levels(rooms=0, paused=0, seated=0, watching=0, sockets=0, ready=True)
    shown = registry(meters, lambda: now, {"version": "0"})
    readings = []
    for _ in range(READINGS):
        began = perf_counter()
        generate_latest(shown)
        readings.append((perf_counter() - began) * 1000)
    return [
        Figure("counting, of one move", min(costs), "us", at_most=MOST_US, note=span(costs)),
        Figure("one reading of all metrics", min(readings), "ms", note=span(readings)),
    ]
