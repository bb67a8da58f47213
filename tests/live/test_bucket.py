"""A bucket as the archive: on a real server that speaks the S3 protocol and checks signatures."""

import asyncio
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep

import msgspec
import pytest
from redis.asyncio import Redis

from tests.live.live_rooms import GAMES, LiveNode
from tests.live.test_records import finished
from tests.sockets import HOST, free_port
from towerhall_server.eventlog.keys import UNARCHIVED, room_keys
from towerhall_server.eventlog.unarchived import unarchived
from towerhall_server.live import records as records_module
from towerhall_server.live.archive import Archive
from towerhall_server.live.bucket import (
    BucketAccess,
    BucketError,
    BucketName,
    ObjectBucket,
    signed_headers,
)
from towerhall_server.live.record_store import DAY_MS
from towerhall_server.live.records import Records
from towerhall_server.record.verify import verify

PATIENCE_SECONDS = 30.0
KEY, SECRET = "towers", "sesame-sesame-sesame"
NAME = BucketName("default", "old games/")
PROGRAM = "import sys; from pys3local.cli import main; sys.argv[0] = 'pys3local'; main()"


class S3Server:
    """The server, which may be ended and started again."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._port = folder, free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def access(self) -> BucketAccess:
        return BucketAccess(f"http://{HOST}:{self._port}", KEY, SECRET)

    def start(self) -> None:
        words = ["serve", "--path", self._folder / "data", "--listen", f"{HOST}:{self._port}"]
        words += ["--access-key-id", KEY, "--secret-access-key", SECRET]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, *map(str, words)],
                stdout=log,
                stderr=log,
                env=os.environ | {"HOME": str(self._folder)},
            )
        patience = monotonic() + PATIENCE_SECONDS
        while True:
            try:
                self.bucket().names("")
                return
            except BucketError:
                assert self._process.poll() is None, (self._folder / "log").read_text()
                assert monotonic() < patience
                sleep(0.05)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def bucket(self, name: BucketName = NAME, **changes: str) -> ObjectBucket:
        access = msgspec.structs.replace(self.access, **changes)
        return ObjectBucket(name, access, retries=())


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    server = S3Server(tmp_path_factory.mktemp("s3"))
    server.start()
    yield server
    server.stop()


def test_the_signature_is_that_of_the_published_example() -> None:
    access = BucketAccess(
        "https://s3.example",
        "AKIAIOSFODNN7EXAMPLE",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    )
    host, query = "examplebucket.s3.amazonaws.com", "max-keys=2&prefix=J"
    now = datetime(2013, 5, 24, tzinfo=UTC)
    headers = signed_headers(access, "GET", host, "/", query, b"", now)
    assert headers["authorization"] == (
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
        " SignedHeaders=host;x-amz-content-sha256;x-amz-date,"
        " Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
    )


def test_objects_are_put_listed_and_got(s3: S3Server) -> None:
    bucket = s3.bucket()
    for name, data in {"AB/ABCDEF.2 é&.gz": b"\x00\xff", "AB/ABCDEG.1.gz": b"other"}.items():
        bucket.put(name, b"before")
        bucket.put(name, data)
    assert bucket.names("AB/ABCDEF.") == ("AB/ABCDEF.2 é&.gz",)
    assert bucket.get("AB/ABCDEF.2 é&.gz") == b"\x00\xff"
    assert bucket.names("ZZ/") == ()
    with pytest.raises(BucketError, match="404"):
        bucket.get("ZZ/ZZZZZZ.1.gz")


async def test_a_record_is_archived_in_the_bucket_and_found_there(
    one: LiveNode, redis: Redis, s3: S3Server
) -> None:
    records = Records(one.log, GAMES, 30, archive=Archive(s3.bucket()))
    code = (await finished(one)).code
    kept = await records.keep(code)
    assert kept is not None
    assert 0 < await redis.pttl(room_keys(code).record) <= DAY_MS
    assert s3.bucket().names(f"{code[:2]}/{code}.") == (
        f"{code[:2]}/{code}.{kept.place.stamps.wall_ms}.json.gz",
    )
    await redis.delete(room_keys(code).record, room_keys(code).log)
    found = await records.find(code)
    assert found is not None
    assert verify(found.file, GAMES) == ()


@pytest.mark.parametrize(
    ("name", "changes", "told"),
    [
        (BucketName("nowhere"), {}, "NoSuchBucket"),
        (NAME, {"secret": "another-secret"}, "403"),
        (NAME, {"key": "another-key"}, "403"),
        (NAME, {"endpoint": f"http://{HOST}:1"}, "does not answer"),
    ],
)
async def test_a_bucket_that_cannot_be_used_leaves_the_record_in_the_store(
    name: BucketName,
    changes: dict[str, str],
    told: str,
    one: LiveNode,
    redis: Redis,
    s3: S3Server,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    archive = Archive(s3.bucket(name, **changes))
    problem = await archive.problem()
    assert problem is not None
    assert told in problem
    records = Records(one.log, GAMES, 30, archive=archive)
    code = (await finished(one)).code
    assert await records.keep(code) is not None
    assert f"the record of {code} is not archived" in caplog.text
    assert told in caplog.text
    assert await redis.pttl(room_keys(code).record) > 399 * DAY_MS
    assert await records.find(code) is not None
    access = msgspec.structs.replace(s3.access, **changes)
    for secret in (SECRET, "another-secret", "Signature=", "Credential="):
        assert secret not in caplog.text + problem + repr(access)
    await records.archive_again()
    assert await unarchived(one.log, 9) == (code,)
    assert await redis.ttl(UNARCHIVED) == -1


async def test_what_a_server_that_was_down_missed_is_archived_later(
    one: LiveNode,
    other: LiveNode,
    redis: Redis,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = S3Server(tmp_path)
    ended = [(await finished(one)).code for _ in range(2)]
    records = Records(one.log, GAMES, 30, archive=Archive(server.bucket()))
    for code in ended:
        await records.keep(code)
    await redis.delete(room_keys(ended[1]).record)
    monkeypatch.setattr(records_module, "LATE_SECONDS", 0.05)
    elsewhere = Records(other.log, GAMES, 30, archive=Archive(server.bucket()))
    trying = asyncio.create_task(elsewhere.archive_late())
    try:
        await asyncio.to_thread(server.start)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await redis.exists(UNARCHIVED):  # noqa: ASYNC110 - the store sets no event
                await asyncio.sleep(0.05)
        (name,) = server.bucket().names("")
        assert name.startswith(f"{ended[0][:2]}/{ended[0]}.")
        assert 0 < await redis.pttl(room_keys(ended[0]).record) <= DAY_MS
    finally:
        trying.cancel()
        await asyncio.gather(trying, return_exceptions=True)
        server.stop()


async def test_a_failure_that_may_pass_is_retried_and_others_are_not() -> None:
    asked: list[str] = []
    replies = [b"503 Slow Down", b"500 Error", b"200 OK", b"403 Forbidden"]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        asked.append(head.split(b" ", 1)[0].decode())
        writer.write(b"HTTP/1.1 %b\r\nContent-Length: 0\r\n\r\n" % replies[len(asked) - 1])
        writer.close()

    async with await asyncio.start_server(serve, HOST, 0) as server:
        port = server.sockets[0].getsockname()[1]
        bucket = ObjectBucket(
            NAME, BucketAccess(f"http://{HOST}:{port}", KEY, SECRET), retries=(0, 0)
        )
        assert await asyncio.to_thread(bucket.get, "a") == b""
        assert len(asked) == 3
        with pytest.raises(BucketError, match="403"):
            await asyncio.to_thread(bucket.get, "a")
        assert len(asked) == 4
