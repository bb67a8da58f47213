"""`towerhall backup` and `restore`: a copy under load, brought back, with every room verified."""

import asyncio
import json
import re
import shutil
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.cli.runs import Told, here
from tests.end_to_end.games import play_out, seated
from tests.end_to_end.servers import running
from tests.eventlog.logs import grow
from tests.store.engines import client, started
from towerhall_client.connection import Table
from towerhall_client.http import Service
from towerhall_server.cli.main import build_parser
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.eventlog.log import EventLog
from towerhall_server.store.backup import MANIFEST, BackupError, copy_log, names_of
from towerhall_server.store.data_folder import ENGINE_FILES

ROOMS = 3


async def run(*arguments: object) -> Told:
    return await asyncio.to_thread(here, *map(str, arguments))


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_help_shows_examples_that_the_command_understands(command: str) -> None:
    told = here(command, "--help")
    examples = re.findall(rf"^  (towerhall {command} .*)$", told.out, re.MULTILINE)
    assert examples
    for example in examples:
        build_parser().parse_args(example.split()[1:])


async def _under_way(table: Table) -> None:
    await table.until(lambda: table.seq > 20)


def unsigned(record: str) -> dict[str, object]:
    document: dict[str, object] = json.loads(record)
    document.pop("signed", None)
    return document


@pytest.mark.timeout(120)
async def test_a_copy_under_load_holds_every_room_and_every_record(tmp_path: Path) -> None:
    data, copy, back = tmp_path / "data", tmp_path / "copy", tmp_path / "back"
    place = ("--data-folder", data)
    async with AsyncExitStack() as stack:
        server = stack.enter_context(running(data))
        service = Service(server.url)
        over, ended = await stack.enter_async_context(seated(service, 2))
        await ended[0].start()
        await play_out(ended)
        record = await run("rooms", "export", over.code, *place, "--out", "-")
        rooms = [await stack.enter_async_context(seated(service, 3)) for _ in range(ROOMS)]
        for _, tables in rooms:
            await tables[0].start()
        playing = [asyncio.create_task(play_out(tables)) for _, tables in rooms]
        await asyncio.gather(*(_under_way(tables[0]) for _, tables in rooms))
        before = {made.code: tables[0].seq for made, tables in rooms}
        told = await run("backup", copy, *place, "--with-keys")
        assert told.status == 0, told.err
        assert f"{ROOMS + 1} rooms" in told.out
        assert any(tables[0].seq > before[made.code] for made, tables in rooms), "nobody played"
        await asyncio.gather(*playing)
    held = json.loads((copy / "backup.json").read_text())["holdings"]["rooms"]
    for code, seq in before.items():
        assert held[code]["commits"] >= seq

    told = await run("restore", copy, "--data-folder", back)
    assert (told.status, told.err) == (0, "")
    assert f"{ROOMS + 1} rooms" in told.out
    place = ("--data-folder", back)
    with running(back):
        again = await run("rooms", "export", over.code, *place, "--out", "-")
        # The server signs the record when it keeps it, which may be after the first export.
        assert unsigned(again.out) == unsigned(record.out)
        for code in before:
            file = tmp_path / f"{code}.json"
            assert (await run("rooms", "close", code, *place)).status == 0
            assert (await run("rooms", "export", code, *place, "--out", file)).status == 0
            assert (await run("verify", file)).out.endswith("OK\n")


async def test_the_data_of_a_store_elsewhere_becomes_a_log_that_engines_read(
    tmp_path: Path,
) -> None:
    """An RDB file beside `appendonly yes` is ignored: the count tells that the store is empty."""
    copy, back = tmp_path / "copy", tmp_path / "back"
    async with started("redis", tmp_path / "there") as url:
        async with EventLog(url) as log:
            await grow(log, 30)
            await log.keep_record("ABCDEF", b"a record", 60_000)
        told = await run("backup", copy, "--redis-url", url)
        assert told.status == 0, told.err
        assert "1 rooms with 30 commits, 1 records" in told.out
        counted = await run("restore", copy, "--redis-url", url)
        assert (counted.status, counted.err) == (0, "")
        assert (await run("restore", copy, "--data-folder", back)).status == 0

    # The folder serves the other kind of engine, too.
    shutil.copytree(back / ENGINE_FILES, tmp_path / "other" / ENGINE_FILES)
    redis_marker = '{"name":"redis","number":[7,0]}'
    (tmp_path / "other" / "engine.version").write_text(redis_marker)
    async with started("redis", tmp_path / "other") as url:
        counted = await run("restore", copy, "--redis-url", url)
        assert counted.status == 0, counted.out

    trap = tmp_path / "trap"
    trap.mkdir()
    shutil.copy(copy / ENGINE_FILES / "appendonly.aof.1.base.rdb", trap / "dump.rdb")
    async with started("redis", trap) as url:
        counted = await run("restore", copy, "--redis-url", url)
    assert counted.status == 1
    assert "the store is empty" in counted.out
    assert "room ABCDEF with its 30 commits is missing" in counted.out


async def test_rooms_in_another_database_are_counted_there(tmp_path: Path) -> None:
    async with started("valkey", tmp_path / "there") as url:
        numbered = f"{url}?db=3"
        async with EventLog(numbered) as log:
            await grow(log, 4)
        told = await run("backup", tmp_path / "copy", "--redis-url", numbered)
        assert "1 rooms with 4 commits" in told.out, told.err
        assert (await run("restore", tmp_path / "copy", "--redis-url", numbered)).status == 0
        assert (await run("restore", tmp_path / "copy", "--redis-url", url)).status == 1
    told = await run("restore", tmp_path / "copy", "--data-folder", tmp_path / "back")
    assert (told.status, "in database 3" in told.out) == (0, True)


async def test_a_lost_commit_and_a_lost_record_are_counted(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    async with started("valkey", tmp_path / "data") as url, client(url) as redis:
        async with EventLog(url) as log:
            await grow(log, 5)
            await log.keep_record("ABCDEF", b"a record", 60_000)
        await redis.set("towerhall:operators", "1")
        assert (await run("backup", copy, "--data-folder", tmp_path / "data")).status == 0
        keys = room_keys("ABCDEF")
        await redis.xdel(keys.log, "5-0")
        await redis.delete(keys.record, "towerhall:operators")
        counted = await run("restore", copy, "--redis-url", url)
        assert counted.status == 1
        assert "has 4 commits instead of 5" in counted.out
        assert "the record of ABCDEF is missing" in counted.out
        assert "other keys are missing" in counted.out
        await redis.xdel(keys.log, "3-0")
        counted = await run("restore", copy, "--redis-url", url)
        assert "the log of room ABCDEF does not hold together" in counted.out


async def test_a_damaged_backup_an_old_folder_and_no_store_are_refused(tmp_path: Path) -> None:
    data, copy = tmp_path / "data", tmp_path / "copy"
    async with started("valkey", data) as url, EventLog(url) as log:
        await grow(log, 3)
        assert (await run("backup", copy, "--data-folder", data)).status == 0
        assert not list(copy.glob("*.key")), "keys are copied only by --with-keys"
        again = await run("backup", copy, "--data-folder", data)
        assert (again.status, "name a new folder" in again.err) == (2, True)
    onto = await run("restore", copy, "--data-folder", data)
    assert (onto.status, "holds data already" in onto.err) == (2, True)
    (damaged,) = (copy / ENGINE_FILES).glob("*.incr.aof")
    damaged.write_bytes(damaged.read_bytes()[:-3])
    told = await run("restore", copy, "--data-folder", tmp_path / "back")
    assert told.status == 2
    assert f"{damaged.name} is not as it was written" in told.err
    assert (await run("restore", tmp_path / "back", "--data-folder", data)).status == 2
    nowhere = await run("backup", tmp_path / "x", "--redis-url", "redis://me:sesame@127.0.0.1:1/0")
    assert (nowhere.status, "sesame" in nowhere.err) == (2, False)


async def test_a_copy_survives_rewrites_of_the_log_meanwhile(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with started("valkey", data) as url, client(url) as redis, EventLog(url) as log:
        places = await grow(log, 50)
        rewriting = True

        async def rewrite() -> int:
            rounds = 0
            while rewriting:
                await redis.bgrewriteaof()
                while (await redis.info("persistence"))["aof_rewrite_in_progress"]:  # noqa: ASYNC110
                    await asyncio.sleep(0.001)
                rounds += 1
            return rounds

        task = asyncio.create_task(rewrite())
        for number in range(3):
            told = await run("backup", tmp_path / str(number), "--data-folder", data)
            assert told.status == 0, told.err
            assert "1 rooms with 50 commits" in told.out
        rewriting = False
        assert await task > 0
        assert len(places) == 50


def test_a_manifest_that_names_files_elsewhere_is_not_followed(tmp_path: Path) -> None:
    assert names_of(b"file a.rdb seq 1 type b\nfile b.aof seq 1 type i\nfile c seq 1 type h\n") == (
        "a.rdb",
        "b.aof",
    )
    assert names_of(b"file ../../secret seq 1 type b\n") == ()
    (tmp_path / ENGINE_FILES).mkdir()
    (tmp_path / ENGINE_FILES / MANIFEST).write_text("file missing seq 1 type b\n")
    with pytest.raises(BackupError, match="holds no log"):
        copy_log(tmp_path, tmp_path / "copy", lambda done, total: None)
