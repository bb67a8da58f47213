"""`towerhall backup` and `restore` of stores of several engines, on real ones."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cli.runs import Told, here
from tests.eventlog.logs import grow
from tests.sockets import HOST, free_port
from tests.store.several import (
    NAME,
    USUAL,
    Engine,
    Group,
    cluster_of,
    flags_of,
    sentinel,
    together,
    until,
)
from towerhall_server.eventlog.log import EventLog
from towerhall_server.store.slots import SLOTS

ROOMS = tuple(f"ROOM{letter}" for letter in "ABCDEFGH")


async def run(*arguments: object) -> Told:
    return await asyncio.to_thread(here, *map(str, arguments))


async def fill(url: str) -> None:
    async with EventLog(url) as log:
        for number, room in enumerate(ROOMS, 1):
            await grow(log, number, room=room)
        await log.keep_record(ROOMS[0], b"a record", 600_000)


def synced(group: Group) -> int:
    """How often each engine was asked for all its data."""
    told = [each.ask("INFO", "stats").decode() for each in group.primaries]
    return sum(int(text.partition("sync_full:")[2].split()[0]) for text in told)


@pytest.fixture(scope="module")
def behind_sentinel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Group]:
    """A primary, a replica, and a sentinel, which need not know of the replica."""
    folder = tmp_path_factory.mktemp("sentinel")
    first = Engine("redis", folder / "0", *flags_of(USUAL))
    second = Engine("redis", folder / "1", *flags_of(USUAL), "--replicaof", f"{HOST} {first.port}")
    with together([first, second]):
        watcher = sentinel("redis", folder / "2", first.port)
        with together([watcher]):
            url = f"redis+sentinel://{HOST}:{watcher.port}/{NAME}"
            group = Group(url, [first, second], [watcher])
            asyncio.run(fill(url))
            group._make_whole()
            yield group


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Group]:
    with cluster_of("redis", tmp_path_factory.mktemp("cluster"), replicas=0) as group:
        asyncio.run(fill(group.url))
        yield group


async def test_a_store_behind_sentinels_is_copied_from_a_replica(
    behind_sentinel: Group, tmp_path: Path
) -> None:
    copy, back = tmp_path / "copy", tmp_path / "back"
    before = synced(behind_sentinel)
    told = await run("backup", copy, "--redis-url", behind_sentinel.url)
    assert told.status == 0, told.err
    assert "8 rooms with 36 commits, 1 records" in told.out
    assert synced(behind_sentinel) == before, "sentinels may take a copy for a replica"
    counted = await run("restore", copy, "--redis-url", behind_sentinel.url)
    assert (counted.status, counted.err) == (0, "")
    told = await run("restore", copy, "--data-folder", back)
    assert (told.status, told.err) == (0, "")
    assert "8 rooms with 36 commits" in told.out


async def test_each_primary_of_a_cluster_is_copied_and_comes_back(
    cluster: Group, tmp_path: Path
) -> None:
    copy, back = tmp_path / "copy", tmp_path / "back"
    told = await run("backup", copy, "--redis-url", cluster.url)
    assert told.status == 0, told.err
    assert "8 rooms with 36 commits, 1 records" in told.out
    assert "of 3 primaries" in told.out
    about = json.loads((copy / "backup.json").read_text())
    slots = [slot for part in about["parts"] for slot in part["slots"]]
    assert sum(last - first + 1 for first, last in slots) == SLOTS
    assert {name.partition("/")[0] for name in about["files"]} == {"1", "2", "3"}
    assert (await run("restore", copy, "--redis-url", cluster.url)).status == 0

    told = await run("restore", copy, "--data-folder", back)
    assert (told.status, told.err) == (0, "")
    with ExitStack() as stack:
        engines = [_on(back / part["folder"]) for part in about["parts"]]
        stack.enter_context(together(engines))
        url = await asyncio.to_thread(joined, engines, [part["slots"] for part in about["parts"]])
        counted = await run("restore", copy, "--redis-url", url)
        assert (counted.status, counted.err) == (0, ""), counted.out
        engines[0].ask("FLUSHALL")
        counted = await run("restore", copy, "--redis-url", url)
        assert counted.status == 1
        assert "is missing" in counted.out

    damaged = copy / "2" / "appendonlydir" / "appendonly.aof.1.base.rdb"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    told = await run("restore", copy, "--data-folder", tmp_path / "other")
    assert told.status == 2
    assert "2/appendonly.aof.1.base.rdb is not as it was written" in told.err


async def test_a_cluster_whose_slots_are_being_moved_is_not_copied(
    cluster: Group, tmp_path: Path
) -> None:
    source, target, _ = cluster.primaries
    slot = 0
    source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", target.ask("CLUSTER", "MYID").decode())
    try:
        told = await run("backup", tmp_path / "copy", "--redis-url", cluster.url)
    finally:
        source.ask("CLUSTER", "SETSLOT", slot, "STABLE")
    assert (told.status, "being moved" in told.err) == (2, True)
    assert not (tmp_path / "copy" / "backup.json").exists()


def _on(folder: Path) -> Engine:
    """An engine of a new cluster on a restored folder."""
    port = free_port(2)
    flags = ("--bind", HOST, "--appendonly", "yes", "--save", "", "--cluster-enabled", "yes")
    return Engine("redis", folder, *flags, "--cluster-port", str(port + 1), port=port)


def joined(engines: list[Engine], slots: list[list[list[int]]]) -> str:
    """Give the engines the rest of their slots, and let them meet. They took those of their keys by
    themselves."""
    for engine, ranges in zip(engines, slots, strict=True):
        told = engine.ask("CLUSTER", "SLOTS")
        own = {slot for first, last, *_ in told for slot in range(first, last + 1)}
        assert own, "the engine has no keys"
        wanted = {slot for first, last in ranges for slot in range(first, last + 1)}
        assert own < wanted
        engine.ask("CLUSTER", "ADDSLOTS", *sorted(wanted - own))
    for engine in engines[1:]:
        engine.ask("CLUSTER", "MEET", HOST, engines[0].port, engines[0].port + 1)

    def is_whole() -> bool:
        told = [engine.ask("CLUSTER", "INFO") for engine in engines]
        return all(b"cluster_state:ok" in each and b"known_nodes:3" in each for each in told)

    until(is_whole)
    return "redis+cluster://" + ",".join(f"{HOST}:{engine.port}" for engine in engines)
