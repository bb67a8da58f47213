"""How long `towerhall verify` takes for games of bots, whose moves it decides and chooses again."""

from itertools import product
from random import Random
from statistics import median
from time import perf_counter
from typing import NamedTuple

from tests.programs.bench.report import Figure
from tests.record.record_games import HOST, Tape
from towerhall_server.cli.progress import progress
from towerhall_server.game import discover
from towerhall_server.live.record_store import make_record
from towerhall_server.record.verify import check
from towerhall_server.room.events import Settings
from towerhall_server.room.steps import Plan

GAMES = 20
MOST_SECONDS = 5.0


class Table(NamedTuple):
    """What is played, by bots in all seats."""

    game: str
    seats: int
    level: str

    def __str__(self) -> str:
        return f"{self.game}, {self.seats} {self.level} bots"


TABLES = (
    Table("nikitin_towers", 3, "hard"),
    Table("nikitin_towers", 3, "medium"),
    Table("five_towers", 5, "hard"),
)


def measure() -> list[Figure]:
    """Seconds for a record, by table."""
    took: dict[Table, list[float]] = {table: [] for table in TABLES}
    pairs = list(product(TABLES, range(GAMES)))
    for table, seed in progress(pairs, len(pairs), "verifying"):
        took[table].append(_seconds(table, seed))
    return [
        Figure(
            f"verify a record of {table}, most", max(each), "s", at_most=MOST_SECONDS,
            note=f"median {median(each):.2f}, {len(each)} games",
        )
        for table, each in took.items()
    ]  # fmt: skip


def _seconds(table: Table, seed: int) -> float:
    games = discover()
    tape = _played(table, seed)
    record = make_record(games, tape.secret, tape.entries)
    began = perf_counter()
    report = check(record, games)
    assert report.findings == ()
    return perf_counter() - began


def _played(table: Table, seed: int) -> Tape:
    """A person sits down, starts, and has a bot play on."""
    rules = discover()[table.game]
    settings = Settings(bot_delay_ms=0)
    plan = Plan(rules, rules.presets["standard"], table.seats, settings, HOST.id)
    tape = Tape(plan, Random(seed))
    tape.say(HOST, "sit")
    for _ in range(table.seats - 1):
        tape.say(HOST, "add_bot", level=table.level)
    tape.say(HOST, "start")
    tape.say(HOST, "leave", level=table.level)
    tape.play_on()
    return tape
