"""The rooms and records that a store holds, to compare a restored store with its backup.

Read-only. A log counts with its newest commit and with all of its links checked.
"""

import asyncio
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from time import time

import msgspec
from redis.asyncio import Redis

from towerhall_server.cli.on_store import NAME
from towerhall_server.eventlog.log import EventLog
from towerhall_server.live.loading import readable_log
from towerhall_server.store.address import read_address
from towerhall_server.store.check import connect
from towerhall_server.store.primaries import primaries

LOG, RECORD = b"log", b"record"
AT_ONCE = 64
SCANNED = 1000


class Holding(msgspec.Struct, frozen=True):
    """A log or a record of a room."""

    expires_ms: int
    """The time at which the store drops it, in ms since 1970."""
    commits: int = 0
    chain: str = ""
    """The chain of the newest commit, as base64; empty for a record."""


class Holdings(msgspec.Struct, frozen=True):
    """All logs and records of a store, by room, and how many keys never expire."""

    rooms: Mapping[str, Holding]
    records: Mapping[str, Holding]
    lasting: int
    broken: tuple[str, ...] = ()
    """Rooms whose logs do not hold together."""

    @property
    def commits(self) -> int:
        return sum(room.commits for room in self.rooms.values())


class Part(msgspec.Struct, frozen=True):
    """The data of one engine in a backup."""

    folder: str = "."
    slots: tuple[tuple[int, int], ...] = ()
    """First and last slot of each range that its engine had in a cluster."""


class About(msgspec.Struct, frozen=True):
    """The contents of a backup, as its `backup.json` says."""

    made_ms: int
    source: str
    """`log`, or `rdb`, which is one or several files of a store elsewhere."""
    engine: str
    """The engine that has read the copy."""
    files: dict[str, str]
    """SHA-256 of each file of the logs; those of several engines with their folders."""
    holdings: Holdings
    database: int = 0
    """The number of the database that was counted; the copy holds all of them."""
    parts: tuple[Part, ...] = (Part(),)
    """One for each primary of a cluster; otherwise one."""


def database_of(url: str) -> int:
    """Return the number of the database that a url names."""
    address = read_address(url)
    if address.kind == "single":
        return int(connect(url).connection_pool.connection_kwargs.get("db") or 0)
    return int(address.database or 0)


async def holdings(url: str) -> Holdings:
    """Read all keys of a store."""
    async with EventLog(url, NAME) as log:
        found = [await _held_by(engine.url, log) for engine in await primaries(url)]
    return together(found)


def together(parts: Sequence[Holdings]) -> Holdings:
    """Return what several engines hold as that of one store."""
    rooms: dict[str, Holding] = {}
    records: dict[str, Holding] = {}
    for part in parts:
        rooms |= part.rooms
        records |= part.records
    lasting = sum(part.lasting for part in parts)
    return Holdings(rooms, records, lasting, tuple(code for part in parts for code in part.broken))


async def _held_by(url: str, log: EventLog) -> Holdings:
    redis = connect(url)
    try:
        return await _holdings(redis, log)
    finally:
        await redis.aclose()


async def _holdings(redis: Redis, log: EventLog) -> Holdings:
    rooms: dict[str, Holding] = {}
    records: dict[str, Holding] = {}
    broken: list[str] = []
    lasting = 0
    keys: list[bytes] = [key async for key in redis.scan_iter(count=SCANNED)]
    for part in _parts(sorted(set(keys))):
        pipe = redis.pipeline(transaction=False)
        for key in part:
            pipe.pttl(key)
        lives = dict(zip(part, await pipe.execute(), strict=True))
        lasting += sum(ms == -1 for ms in lives.values())
        now_ms = round(1000 * time())
        codes = {key: _code(key, LOG) for key in part}
        logs = {key: code for key, code in codes.items() if code}
        read = await asyncio.gather(*(readable_log(log, code) for code in logs.values()))
        for (key, code), found in zip(logs.items(), read, strict=True):
            if found.broken_at is not None:
                broken.append(code)
            if found.entries:
                last = found.entries[-1]
                chain = b64encode(last.chain).decode()
                rooms[code] = Holding(now_ms + lives[key], last.seq, chain)
        for key in part:
            if code := _code(key, RECORD):
                records[code] = Holding(now_ms + lives[key])
    return Holdings(rooms, records, lasting, tuple(broken))


def missing(wanted: Holdings, found: Holdings, now_ms: int) -> Iterator[str]:
    """Yield a sentence for each thing that is not there and has not expired. More is no fault."""
    for code, room in wanted.rooms.items():
        there = found.rooms.get(code)
        if there is None:
            if room.expires_ms > now_ms:
                yield f"room {code} with its {room.commits} commits is missing"
        elif there.commits < room.commits:
            yield f"room {code} has {there.commits} commits instead of {room.commits}"
        elif there.commits == room.commits and there.chain != room.chain:
            yield f"room {code} has another history"
    for code, record in wanted.records.items():
        if code not in found.records and record.expires_ms > now_ms:
            yield f"the record of {code} is missing"
    if found.lasting < wanted.lasting:
        yield f"{wanted.lasting - found.lasting} of {wanted.lasting} other keys are missing"
    for code in found.broken:
        if code not in wanted.broken:
            yield f"the log of room {code} does not hold together"


def _code(key: bytes, kind: bytes) -> str:
    """Return the room's code if this is such a key of a room, else nothing."""
    head, _, code = key.rpartition(b":")
    return code.decode() if head.startswith(b"towerhall:{") and head.endswith(b":" + kind) else ""


def _parts(keys: list[bytes]) -> Iterator[list[bytes]]:
    return (keys[at : at + AT_ONCE] for at in range(0, len(keys), AT_ONCE))
