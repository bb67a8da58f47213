"""Profiles, histories and leaderboards over many accounts and games, and what they take of memory.

The journal is filled with synthetic slips. The consumer makes all projections of it, as in a
rebuild. `TOWERHALL_BENCH_ACCOUNTS` and `TOWERHALL_BENCH_GAMES` say how many there are.
"""

import asyncio
import os
import random
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, Final

from redis.asyncio import Redis

from tests.programs.bench.report import Figure
from tests.store.engines import client, started
from towerhall_protocol.commands import base64url
from towerhall_server.cli.progress import progress
from towerhall_server.eventlog.log import EventLog
from towerhall_server.regulars.consumer import Consumer
from towerhall_server.regulars.journal import Journal
from towerhall_server.regulars.keys import GAMES, JOURNAL, handle_key, person_keys
from towerhall_server.regulars.people import PeopleStore
from towerhall_server.regulars.profiles import PAGE, Profiles, Wish
from towerhall_server.regulars.slips import Hand, Slip, encode_slip

ACCOUNTS: Final = int(os.environ.get("TOWERHALL_BENCH_ACCOUNTS", "2000"))
GAME_COUNT: Final = int(os.environ.get("TOWERHALL_BENCH_GAMES", "20000"))
AT_ONCE: Final = 2000
"""Commands per write while the store is filled."""
READS: Final = 1000
BAR_MS: Final = 5.0
BATCH: Final = 512
NAMES: Final = ("five_towers", "nikitin_towers")


def measure() -> list[Figure]:
    """Times of single requests to the store and back, one after the other."""
    with TemporaryDirectory() as folder:
        return asyncio.run(_measure(Path(folder)))


async def _measure(folder: Path) -> list[Figure]:
    async with started("valkey", folder) as url, client(url) as redis, EventLog(url) as log:
        # Durability costs time while the store is filled, and nothing in memory.
        await redis.config_set("appendonly", "no")
        await redis.config_set("save", "")
        empty = await _used(redis)
        await _fill_people(redis)
        people_bytes = await _used(redis) - empty
        await _fill_journal(redis)
        journal_bytes = await _used(redis) - empty - people_bytes
        rate = await _apply(log)
        all_bytes = await _used(redis) - empty
        journal, people = Journal(log), PeopleStore(log)
        profiles = Profiles(journal, people)
        chance = random.Random(2)

        async def profile() -> None:
            who = await people.who(_handle(_account(chance)))
            assert who is not None
            await profiles.profile(who)

        async def history() -> None:
            who = await people.who(_handle(_account(chance)))
            assert who is not None
            await profiles.history(who, Wish(game=chance.choice(("", *NAMES))), who.handle)

        placed = (await profiles.leaderboard(NAMES[0], 1, 1))["total"]
        assert isinstance(placed, int)

        async def leaderboard() -> None:
            first = chance.randint(1, max(1, placed - PAGE))
            page = await profiles.leaderboard(NAMES[0], first, PAGE)
            assert page["people"]

        note = f"{ACCOUNTS:,} accounts, {GAME_COUNT:,} games"
        figures = [
            *await _timed("a profile", profile, note),
            *await _timed("a page of a history", history, note),
            *await _timed(f"a page of a leaderboard of {placed:,}", leaderboard, note),
        ]
        per_account = (all_bytes - journal_bytes) / ACCOUNTS
        return [
            *figures,
            Figure("memory per account", per_account, "B", note=f"all but the journal; {note}"),
            Figure("of that the account itself", people_bytes / ACCOUNTS, "B", note="who, handle"),
            Figure("memory per game", journal_bytes / GAME_COUNT, "B", note="the journal"),
            Figure("slips applied", rate, "/s", note="by one consumer, as in a rebuild"),
        ]


async def _timed(name: str, read: Callable[[], Awaitable[None]], note: str) -> list[Figure]:
    times, cpu = [], process_time()
    for _ in range(READS):
        began = perf_counter()
        await read()
        times.append(1000 * (perf_counter() - began))
    cpu_ms = 1000 * (process_time() - cpu) / READS
    late = quantiles(times, n=100)[98]
    return [
        Figure(name, median(times), "ms", BAR_MS, note=f"median of {READS}; {note}"),
        Figure(f"{name}, 99 %", late, "ms"),
        Figure(f"{name}, CPU of the server", cpu_ms, "ms"),
    ]


async def _used(redis: Any) -> int:
    return int((await redis.info("memory"))["used_memory_dataset"])


async def _fill_people(redis: Redis) -> None:
    for first in progress(range(0, ACCOUNTS, AT_ONCE), -(-ACCOUNTS // AT_ONCE), "accounts"):
        pipe = redis.pipeline(transaction=False)
        for number in range(first, min(first + AT_ONCE, ACCOUNTS)):
            handle, identity = _handle(number), base64url(b"i" + number.to_bytes(7, "big"))
            who: dict[Any, Any] = {
                "id": identity,
                "name": f"Person {number}",
                "named": number,
                "since": number,
            }
            pipe.hset(person_keys(handle).who, mapping=who)
            pipe.set(handle_key(identity), handle)
        await pipe.execute()


async def _fill_journal(redis: Redis) -> None:
    chance = random.Random(1)
    await redis.sadd(GAMES, *NAMES)
    for first in progress(range(1, GAME_COUNT + 1, AT_ONCE), -(-GAME_COUNT // AT_ONCE), "games"):
        pipe = redis.pipeline(transaction=False)
        for number in range(first, min(first + AT_ONCE, GAME_COUNT + 1)):
            pipe.xadd(JOURNAL, {"s": encode_slip(_slip(chance, number))}, id=f"{number}-0")
        await pipe.execute()


async def _apply(log: EventLog) -> float:
    """Make all projections. Returns the slips per second."""

    async def no_room(code: str) -> None:
        raise NotImplementedError

    journal = Journal(log)
    consumer = Consumer(journal, PeopleStore(log), no_room, "bench", BATCH)
    began = perf_counter()
    for _ in progress(range(-(-GAME_COUNT // BATCH)), -(-GAME_COUNT // BATCH), "slips applied"):
        await consumer.apply(await journal.place())
    assert (await journal.place()).number == GAME_COUNT, "the journal is not applied"
    return GAME_COUNT / (perf_counter() - began)


def _slip(chance: random.Random, number: int) -> Slip:
    people = {_account(chance) for _ in range(chance.randint(2, 5))}
    hands = [Hand(_handle(each), place, 60 - place) for place, each in enumerate(people, 1)]
    return Slip(
        uid=chance.randbytes(16),
        code="".join(chance.choices("BCDFGHJKLMNPQRSTVWXZ", k=6)),
        game=chance.choice(NAMES),
        version=1,
        ended_ms=1_790_000_000_000 + number,
        rated=len(hands) > 1,
        private=False,
        hands=tuple(hands),
    )


def _account(chance: random.Random) -> int:
    """Some people play much more than others."""
    return int(ACCOUNTS * chance.random() ** 2)


def _handle(number: int) -> str:
    # Spread over all slots and boards, as random handles are.
    return base64url((number * 0x9E37_79B9_7F4A_7C15 % 2**64).to_bytes(8, "big"))


if __name__ == "__main__":
    for figure in measure():
        sys.stdout.write(f"{figure.name}: {figure.value:,.2f} {figure.unit}  {figure.note}\n")
