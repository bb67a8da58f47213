"""Small builders for log tests: a room, its next append, and what the store then holds."""

from itertools import count
from os import urandom
from typing import Any

import msgspec
from redis.asyncio import Redis

from towerhall_server.eventlog.entry import COMMIT_ID_BYTES, START, Point, Stamps, link
from towerhall_server.eventlog.log import Append, Appended, EventLog, Following

ROOM = "ABCDEF"
DAY_MS = 86_400_000
_blobs = count(1)


def attempt(before: Point = START, **changes: Any) -> Append:
    """An append after that place; a creation at the start."""
    blob = changes.pop("blob", b"commit %d" % next(_blobs))
    commit_id = changes.pop("commit_id", urandom(COMMIT_ID_BYTES))
    fields: dict[str, Any] = {
        "mode": "append" if before.seq else "create",
        "room": ROOM,
        "before": before,
        "commit_id": commit_id,
        "chain": link(before, commit_id, blob),
        "blob": blob,
        "ttl_ms": DAY_MS,
    }
    return Append(**fields | changes)


def place_after(done: Append, answer: object) -> Point:
    assert isinstance(answer, Appended), answer
    return Point(answer.seq, done.chain, answer.stamps)


async def grow(log: EventLog, commits: int, before: Point = START, **changes: Any) -> list[Point]:
    """That many commits one after the other; returns the place after each."""
    places = [before]
    for _ in range(commits):
        wanted = attempt(places[-1], **changes)
        places.append(place_after(wanted, await log.append(wanted)))
    return places[1:]


async def whole(log: EventLog, room: str = ROOM) -> list[bytes]:
    """The blobs of a log from its beginning."""
    reading = await log.read(room)
    assert isinstance(reading, Following), reading
    return [entry.blob for entry in reading.entries]


def healing(original: Append, stamps: Stamps) -> Append:
    return msgspec.structs.replace(original, mode="heal", stamps=stamps)


async def copy_of(redis: Redis) -> dict[bytes | str, bytes | None]:
    """The whole store, as a backup or a lagging replica would have it."""
    return {key: await redis.dump(key) for key in await redis.keys("*")}


async def go_back(redis: Redis, copy: dict[bytes | str, bytes | None]) -> None:
    """What a failover to that copy leaves."""
    await redis.flushall()
    for key, value in copy.items():
        assert value is not None
        await redis.restore(key, 0, value)
