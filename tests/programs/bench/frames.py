"""How many bytes travel: the frame of a bid, and the snapshot that a returning client gets.

The games are seeded and played by planners, so the figures only change when the wire does.
"""

import asyncio
from statistics import mean
from typing import cast

import msgspec

from tests.programs.bench.report import Figure
from tests.programs.bench.seeded_logs import SERVED_MS, WALL_MS, SeededLog, Written, by_planner
from towerhall_protocol.level import LEVEL
from towerhall_protocol.messages import ClientCommand, ServerFrame, ServerWelcome
from towerhall_server.cli.progress import progress
from towerhall_server.eventlog.entry import Stamps
from towerhall_server.eventlog.keys import shard_of
from towerhall_server.eventlog.log import EventLog
from towerhall_server.frames import Prepared
from towerhall_server.game import Seat, discover
from towerhall_server.live.follower import Follower
from towerhall_server.live.node import Node, ServiceClock
from towerhall_server.live.replica import Replica
from towerhall_server.live.welcome import welcome
from towerhall_server.room.events import Settings
from towerhall_server.room.seats import Person
from towerhall_server.room.view import SHARED, frame, view

GAMES = 20
SEED = 11
CLOCK = Settings(turn_seconds=30)
BARS = {"without a clock": 80, "with a clock": 100}
SNAPSHOT_BAR = 900
_encode = msgspec.msgpack.Encoder().encode


def measure() -> list[Figure]:
    """The largest bid frames, and the mean snapshot at half of a game."""
    figures = []
    for name, settings in (("without a clock", Settings()), ("with a clock", CLOCK)):
        logs = [
            _game(number, settings) for number in progress(range(GAMES), GAMES, f"games {name}")
        ]
        bids = [_size(written) for log in logs for written in log.commits if _is_bid(written)]
        note = f"largest of {len(bids)}, mean {mean(bids):.0f}"
        figures.append(Figure(f"bid frame {name}", max(bids), "bytes", BARS[name], note=note))
        if settings is not CLOCK:
            figures += _snapshots(logs)
    return figures


def bid_of_typical_size() -> tuple[bytes, bytes]:
    """A command to bid and its frame, as they travel in the middle of a game."""
    log = _game(0, Settings())
    bids = sorted((written for written in log.commits if _is_bid(written)), key=_size)
    typical = bids[len(bids) // 2]
    cause, before = typical.step.commit.cause, typical.before
    assert before is not None
    command = ClientCommand(cause.n, before.tag, typical.step.commit.command)
    return _encode(command), _encode(_frame(typical))


def _game(number: int, settings: Settings) -> SeededLog:
    log = SeededLog(SEED, number, settings)
    log.sit_and_start()
    log.play_on(by_planner)
    return log


def _is_bid(written: Written) -> bool:
    """A bid and nothing else: no forced calls, and no end of an auction with it."""
    commit = written.step.commit
    return commit.command.get("command") == "bid" and len(commit.game) == 1


def _frame(written: Written) -> ServerFrame:
    after, commit = written.after, written.step.commit
    old = {} if written.before is None else view(written.before, SHARED)
    return frame(after.rules, commit, written.entry.seq, written.mark, old, view(after, SHARED))


def _size(written: Written) -> int:
    return Prepared(_frame(written)).size


def _snapshots(logs: list[SeededLog]) -> list[Figure]:
    sizes = [asyncio.run(_snapshot_size(log)) for log in logs]
    note = f"{GAMES} games, {min(sizes)} to {max(sizes)}; without offers"
    return [Figure("snapshot at half of a game", mean(sizes), "bytes", SNAPSHOT_BAR, note=note)]


async def _snapshot_size(log: SeededLog) -> int:
    """What a player who lost everything is welcomed with, at half of the game's moves."""
    entries = log.entries
    first = next(n for n, written in enumerate(log.commits) if written.after.playing)
    replica = Replica.load(discover(), log.secret, entries[: (first + len(entries)) // 2])
    clock = ServiceClock()
    clock.hear(shard_of(log.code), Stamps(WALL_MS, SERVED_MS))
    node = Node("bench", cast(EventLog, None), clock, discover())
    follower = Follower(node, replica)
    for person in log.people[1:]:
        await welcome(follower, _Listener(person), None)
    returning = _Listener(log.people[0])
    await welcome(follower, returning, None)
    follower.audience.close("restart")
    (size,) = (got.size for got in returning.got if isinstance(got.message, ServerWelcome))
    return size


class _Listener:
    """A viewer that keeps what it is sent."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.origin = ""
        self.seat: Seat | None = None
        self.claim = 0
        self.alive = True
        self.lags = False
        self.level = LEVEL
        self.got: list[Prepared] = []

    def answered(self, n: int) -> None:
        raise RuntimeError("nothing was asked")

    def send(self, *messages: Prepared) -> None:
        self.got += messages

    def close(self, reason: str) -> None:
        self.alive = False
