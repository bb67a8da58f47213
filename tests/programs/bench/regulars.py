"""Profiles, histories and leaderboards over many accounts and games, and what they take of memory.

The store is filled with synthetic games (`regulars_store`). Requests then go through the routes of
a whole service in this process, one after the other. `TOWERHALL_BENCH_ACCOUNTS` and
`TOWERHALL_BENCH_GAMES` say how many there are; 10^6 and 10^7 need 8 GB and ten minutes.
"""

import asyncio
import gc
import os
import random
import sys
from collections.abc import Awaitable, Callable
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, Final

from tests.programs.bench.regulars_store import NAMES, Filling, Stream, handle_of
from tests.programs.bench.report import Figure
from tests.regulars.served import Answer, Served, served
from tests.store.engines import client, started
from towerhall_server.eventlog.log import EventLog
from towerhall_server.regulars.consumer import Consumer
from towerhall_server.regulars.journal import Journal
from towerhall_server.regulars.keys import JOURNAL, KNOWN, PLACE
from towerhall_server.regulars.people import PeopleStore
from towerhall_server.regulars.profiles import PAGE
from towerhall_server.regulars.slips import encode_slip

ACCOUNTS: Final = int(os.environ.get("TOWERHALL_BENCH_ACCOUNTS", "2000"))
GAME_COUNT: Final = int(os.environ.get("TOWERHALL_BENCH_GAMES", "20000"))
READS: Final = 2000
BAR_MS: Final = 5.0
APPLIED: Final = 4000
"""The newest games, which the consumer applies itself."""
BATCH: Final = 512
KNOWN_UIDS: Final = 100_000


def measure() -> list[Figure]:
    """Times of single requests, one after the other."""
    with TemporaryDirectory() as folder:
        return asyncio.run(_measure(Path(folder)))


async def _measure(folder: Path) -> list[Figure]:
    async with started("valkey", folder) as url, client(url) as redis:
        # Durability costs time while the store is filled, and nothing in memory.
        await redis.config_set("appendonly", "no")
        await redis.config_set("save", "")
        note = f"{ACCOUNTS:,} accounts, {GAME_COUNT:,} games"
        memory = await _fill(url, redis, note)
        gc.collect()
        async with served(url) as service:
            times = await _read(service, note)
        async with EventLog(url) as log:
            rate = await _apply(log, redis)
    applied = f"by one consumer; {note}"
    return [*times, *memory, Figure("slips applied", rate, "/s", note=applied)]


async def _fill(url: str, redis: Any, note: str) -> list[Figure]:
    """Fill the store. Returns what the parts of it take."""
    filling, used = Filling(ACCOUNTS, GAME_COUNT), [await _used(redis)]
    for fill in (filling.accounts, filling.journal, filling.projections):
        with Stream(url) as send:
            fill(send)
        used.append(await _used(redis))
    assert await redis.xlen(JOURNAL) == GAME_COUNT
    accounts, journal, projections = (after - before for before, after in pairwise(used))
    with Stream(url) as send:
        chance = random.Random(3)
        for number in range(KNOWN_UIDS):
            send("ZADD", KNOWN, number, chance.randbytes(16))
    known = await _used(redis) - used[-1]
    everything = (used[-1] - used[0]) / 1e9
    each = f"all but the journal; {note}"
    return [
        Figure("memory per account", (accounts + projections) / ACCOUNTS, "B", note=each),
        Figure("of that the account itself", accounts / ACCOUNTS, "B", note="who, handle"),
        Figure("memory per game", journal / GAME_COUNT, "B", note="the journal"),
        Figure("and per game of the last 40 days", known / KNOWN_UIDS, "B", note="its uid"),
        Figure("memory of all", everything, "GB", note=note),
    ]


async def _read(service: Served, note: str) -> list[Figure]:
    """Ask for pages of people, chosen as those who play: some are asked for more often."""
    guest, chance = await service.guest("Reader"), random.Random(2)

    def someone() -> str:
        return handle_of(int(ACCOUNTS * chance.random() ** 2))

    async def profile() -> Answer:
        return await guest.get(f"/v1/people/{someone()}")

    async def history() -> Answer:
        wish = {"game": game} if (game := chance.choice(("", *NAMES))) else {}
        return await guest.get(f"/v1/people/{someone()}/games", **wish)

    board = f"/v1/leaderboards/{NAMES[0]}"
    placed: int = (await service.ask("GET", board)).document["total"]

    async def leaderboard() -> Answer:
        first = chance.randint(1, max(1, placed - PAGE))
        return await service.ask("GET", board, query={"first": first, "most": PAGE})

    return [
        *await _timed("a profile", profile, note),
        *await _timed(f"a page of a history, {PAGE} games", history, note),
        *await _timed(f"a page of a leaderboard of {placed:,}", leaderboard, note),
    ]


async def _timed(name: str, read: Callable[[], Awaitable[Answer]], note: str) -> list[Figure]:
    times, cpu = [], process_time()
    for _ in range(READS):
        began = perf_counter()
        answer = await read()
        times.append(1000 * (perf_counter() - began))
        # An account may have no game.
        assert answer.status == 200
    cpu_ms = 1000 * (process_time() - cpu) / READS
    late = quantiles(times, n=100)[98]
    return [
        Figure(name, median(times), "ms", BAR_MS, note=f"median of {READS:,}; {note}"),
        Figure(f"{name}, 99 %", late, "ms"),
        Figure(f"{name}, CPU of the server", cpu_ms, "ms"),
    ]


async def _used(redis: Any) -> int:
    return int((await redis.info("memory"))["used_memory_dataset"])


async def _apply(log: EventLog, redis: Any) -> float:
    """Announce games that the same people played after all others. Returns the slips per second."""

    async def no_room(code: str) -> None:
        raise NotImplementedError

    journal = Journal(log)
    consumer = Consumer(journal, PeopleStore(log), no_room, "bench", BATCH)
    last = await journal.length()
    for number, slip in enumerate((await journal.after(0, APPLIED)).values(), last + 1):
        await redis.xadd(JOURNAL, {"s": encode_slip(slip)}, id=f"{number}-0")
    began = perf_counter()
    await consumer.finish()
    seconds = perf_counter() - began
    done = int(await redis.hget(PLACE, "place")) - last
    assert done == min(APPLIED, last), "the journal is not applied"
    return done / seconds


if __name__ == "__main__":
    for figure in measure():
        sys.stdout.write(f"{figure.name}: {figure.value:,.2f} {figure.unit}  {figure.note}\n")
