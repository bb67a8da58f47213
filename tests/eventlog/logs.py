"""Small builders for log tests: a room, its next append, and what the store then holds."""

from itertools import count
from os import urandom
from time import time
from typing import Any

import msgspec
from redis.asyncio import Redis

from towerhall_server.eventlog.answers import Append, Appended, Following, Mistimed
from towerhall_server.eventlog.entry import (
    COMMIT_ID_BYTES,
    START,
    Entry,
    Point,
    Stamps,
    entry_after,
)
from towerhall_server.eventlog.log import EventLog

ROOM = "ABCDEF"
DAY_MS = 86_400_000
ATTEMPTS = 3
_blobs = count(1)


def attempt(before: Point = START, **changes: Any) -> Append:
    """An append after that place; a creation at the start."""
    blob = changes.pop("blob", b"commit %d" % next(_blobs))
    commit_id = changes.pop("commit_id", urandom(COMMIT_ID_BYTES))
    stamps = changes.pop("stamps", stamps_now(before))
    fields: dict[str, Any] = {
        "mode": "append" if before.seq else "create",
        "room": ROOM,
        "before": before,
        "entry": entry_after(before, stamps, commit_id, blob),
        "ttl_ms": DAY_MS,
    }
    return Append(**fields | changes)


def stamps_now(before: Point) -> Stamps:
    """What a node proposes after that place if the service clock stands."""
    return Stamps(max(before.stamps.wall_ms, round(1000 * time())), before.stamps.served_ms)


async def written(
    log: EventLog, room: str, before: Point, commit_id: bytes, blob: bytes, **more: Any
) -> Entry:
    """The next commit of a log, with the time of now. If the store has another one, with that."""
    stamps = stamps_now(before)
    for _ in range(ATTEMPTS):
        entry = entry_after(before, stamps, commit_id, blob)
        mode: Any = "append" if before.seq else "create"
        wanted = Append(mode=mode, room=room, before=before, entry=entry, **more)
        answer = await log.append(wanted)
        if isinstance(answer, Appended):
            return entry
        if not isinstance(answer, Mistimed):
            raise TypeError(f"the append was answered by {answer}")
        stamps = answer.now
    raise TimeoutError("the store found all stamps mistimed")


def place_after(done: Append, answer: object) -> Point:
    assert isinstance(answer, Appended), answer
    assert answer.seq == done.entry.seq
    return done.entry.point


async def grow(log: EventLog, commits: int, before: Point = START, **changes: Any) -> list[Point]:
    """That many commits one after the other; returns the place after each."""
    places = [before]
    for _ in range(commits):
        places.append(await appended(log, attempt(places[-1], **changes)))
    return places[1:]


async def appended(log: EventLog, wanted: Append) -> Point:
    """The place after an append, which gets other stamps if too much time has passed since its own:
    this machine may be slow."""
    answer = await log.append(wanted)
    for _ in range(ATTEMPTS):
        if isinstance(answer, Mistimed):
            wanted = restamped(wanted, answer.now)
            answer = await log.append(wanted)
    return place_after(wanted, answer)


def restamped(wanted: Append, stamps: Stamps) -> Append:
    entry = entry_after(wanted.before, stamps, wanted.entry.commit_id, wanted.entry.blob)
    return msgspec.structs.replace(wanted, entry=entry)


async def whole(log: EventLog, room: str = ROOM) -> list[bytes]:
    """The blobs of a log from its beginning."""
    reading = await log.read(room)
    assert isinstance(reading, Following), reading
    return [entry.blob for entry in reading.entries]


def healing(original: Append) -> Append:
    return msgspec.structs.replace(original, mode="heal")


async def copy_of(redis: Redis) -> dict[bytes | str, bytes | None]:
    """The whole store, as a backup or a lagging replica would have it."""
    return {key: await redis.dump(key) for key in await redis.keys("*")}


async def go_back(redis: Redis, copy: dict[bytes | str, bytes | None]) -> None:
    """What a failover to that copy leaves."""
    await redis.flushall()
    for key, value in copy.items():
        assert value is not None
        await redis.restore(key, 0, value)
