"""Records as files: written at the end of a game, and read when the store has none."""

import gzip
from pathlib import Path

import pytest
from redis.asyncio import Redis

from tests.live.live_rooms import GAMES, LiveNode, hurry, live_node
from tests.live.test_records import finished
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.eventlog.log import EventLog
from towerhall_server.live.archive import Archive, Folder
from towerhall_server.live.follower import BACKSTOP_MS
from towerhall_server.live.record_store import DAY_MS
from towerhall_server.live.records import Records
from towerhall_server.record.verify import verify
from towerhall_server.room.steps import KEPT_MS


def archived(log: EventLog, folder: Path) -> Records:
    return Records(log, GAMES, 30, archive=Archive(Folder(folder)))


async def removed(node: LiveNode, redis: Redis, code: str) -> None:
    await hurry(redis, code, KEPT_MS + BACKSTOP_MS)
    await node.directory.beat_once()
    while await redis.exists(room_keys(code).log):
        await node.log.ping()


async def test_a_record_is_archived_and_stays_when_the_store_has_dropped_it(
    redis: Redis, url: str, tmp_path: Path
) -> None:
    async with live_node(url, archive=Archive(Folder(tmp_path))) as node:
        records = archived(node.log, tmp_path)
        code = (await finished(node)).code
        kept = await records.keep(code)
        assert kept is not None
        (file,) = (tmp_path / code[:2]).iterdir()
        assert file.name == f"{code}.{kept.place.stamps.wall_ms}.json.gz"
        assert verify(gzip.decompress(file.read_bytes()), GAMES) == ()
        # The store needs it no longer than a day.
        assert 0 < await redis.pttl(room_keys(code).record) <= DAY_MS
        await removed(node, redis, code)
        assert 0 < await redis.pttl(room_keys(code).record) <= DAY_MS
        await node.log.drop_record(code)
        found = await records.find(code)
        assert found is not None
        assert (found.file, found.key_hash) == (kept.file, kept.key_hash)
        assert await Records(node.log, GAMES, 30).find(code) is None


async def test_the_end_of_a_room_archives_a_record_that_was_never_made(
    redis: Redis, url: str, tmp_path: Path
) -> None:
    async with live_node(url, keep_days=0, archive=Archive(Folder(tmp_path))) as node:
        code = (await finished(node)).code
        await removed(node, redis, code)
        assert len([*(tmp_path / code[:2]).iterdir()]) == 1


async def test_a_later_room_with_the_same_code_hides_the_old_record(
    one: LiveNode, tmp_path: Path
) -> None:
    records = archived(one.log, tmp_path)
    ended = await finished(one)
    kept = await records.keep(ended.code)
    assert kept is not None
    later = (await one.found()).code
    shelf = tmp_path / later[:2]
    shelf.mkdir(exist_ok=True)
    (shelf / f"{later}.1.json.gz").write_bytes(kept.packed)
    assert await records.find(later) is None
    # Of several old ones the newest counts.
    code = "ZZZZZZ"
    (tmp_path / "ZZ").mkdir(exist_ok=True)
    (tmp_path / "ZZ" / f"{code}.9.json.gz").write_bytes(gzip.compress(b"{}"))
    (tmp_path / "ZZ" / f"{code}.10.json.gz").write_bytes(kept.packed)
    found = await records.find(code)
    assert found is not None
    assert found.file == kept.file


async def test_a_folder_that_cannot_be_written_leaves_the_record_in_the_store(
    one: LiveNode, redis: Redis, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    nowhere = tmp_path / "a file"
    nowhere.touch()
    records = archived(one.log, nowhere)
    code = (await finished(one)).code
    assert await records.keep(code) is not None
    assert "is not archived" in caplog.text
    assert await redis.pttl(room_keys(code).record) > 29 * DAY_MS
    assert await records.find(code) is not None


@pytest.mark.parametrize("damage", [b"", b"\x1f\x8b", b"no gzip"])
async def test_a_damaged_file_is_told_and_is_no_record(
    one: LiveNode, tmp_path: Path, damage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "ZZ").mkdir()
    (tmp_path / "ZZ" / "ZZZZZZ.1.json.gz").write_bytes(damage)
    assert await archived(one.log, tmp_path).find("ZZZZZZ") is None
    assert "cannot be read" in caplog.text
