"""Records over HTTP: there without being asked for, sent as they are kept, and packed."""

import asyncio
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.end_to_end.games import play_out, seated
from tests.end_to_end.raw import Answer, ask, inside, new_guest, new_room
from tests.end_to_end.servers import LIMITS, ServerProcess, running
from tests.store.engines import running as running_engine
from towerhall_client.http import Service
from towerhall_server.eventlog.log import EventLog
from towerhall_server.live.kept import encode
from towerhall_server.live.record_store import KeptRecord, find_record

PATIENCE_SECONDS = 15.0


class Place(NamedTuple):
    """A server, and the store behind it."""

    server: ServerProcess
    store: str

    @property
    def url(self) -> str:
        return self.server.url


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder: Path = tmp_path_factory.mktemp("records")
    key = {"TOWERHALL_TOKEN_KEYS": "k4jN-2mZq_8vXw0tYb7RsUeHc1LdPfGa"}
    with (
        running_engine("valkey", folder / "store") as engine,
        running(folder / "data", "--redis-url", engine.url, limits=LIMITS | key) as server,
    ):
        yield Place(server, engine.url)


async def finished(url: str) -> str:
    async with seated(Service(url), 2) as (made, tables):
        await tables[0].start()
        await play_out(tables)
    return made.code


async def kept(place: Place, code: str) -> KeptRecord:
    """The record, once the server has kept it."""
    async with EventLog(place.store) as log, asyncio.timeout(PATIENCE_SECONDS):
        while (found := await find_record(log, code)) is None:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return found


async def keep(place: Place, code: str, other: KeptRecord) -> None:
    """Put something else in its place."""
    async with EventLog(place.store) as log:
        await log.keep_record(code, encode(other), 60_000)


async def test_a_record_is_kept_soon_after_the_end_without_any_request(place: Place) -> None:
    code = await finished(place.url)
    found = await kept(place, code)
    answer = await asyncio.to_thread(ask, place.url, "GET", f"/v1/rooms/{code}/record")
    assert answer.body == found.file
    assert answer.document["code"] == code


async def test_what_is_kept_is_sent_and_nothing_is_made_for_a_request(place: Place) -> None:
    code = await finished(place.url)
    found = await kept(place, code)
    packed = gzip.compress(b'{"kept": "as it is"}')
    await keep(place, code, KeptRecord(found.place, b"", packed))
    for _ in range(3):
        answer = await asyncio.to_thread(ask, place.url, "GET", f"/v1/rooms/{code}/record")
        assert answer.document == {"kept": "as it is"}


async def test_a_record_is_packed_for_those_who_take_it_so_and_named_by_a_tag(place: Place) -> None:
    path = f"/v1/rooms/{await finished(place.url)}/record"

    def get(**headers: str) -> Answer:
        return ask(
            place.url, "GET", path, None, {n.replace("_", "-"): v for n, v in headers.items()}
        )

    plain, packed = get(), get(accept_encoding="br, gzip")
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    assert len(packed.body) < len(plain.body) / 2
    for answer, encoding in ((plain, ""), (packed, "gzip")):
        assert answer.headers["cache-control"] == "private, no-cache"
        assert "accept-encoding" in answer.headers["vary"]
        again = get(accept_encoding=encoding, if_none_match=answer.headers["etag"])
        assert (again.status, again.body) == (304, b"")
        assert again.headers["etag"] == answer.headers["etag"]
    assert plain.headers["etag"] != packed.headers["etag"]
    other = get(if_none_match='"other"')
    assert (other.status, other.body) == (200, plain.body)


async def test_a_kept_record_of_a_private_room_is_guarded_by_its_key(place: Place) -> None:
    token = new_guest(place.url)
    made = new_room(place.url, token, private=True, seats=2, bot_delay_ms=0)
    async with inside(place.url, made["code"], token, key=made["key"]) as ada:
        await ada.done("sit")
        await ada.done("add_bot", level="easy")
        await ada.done("ready")
        await ada.done("start")
        await ada.done("resign")
        await kept(place, made["code"])
    path = f"/v1/rooms/{made['code']}/record"

    def get(key: str | None) -> Answer:
        return ask(place.url, "GET", path, None, {} if key is None else {"towerhall-key": key})

    for key in (None, "", "wrong"):
        refused = await asyncio.to_thread(get, key)
        assert (refused.status, refused.code) == (404, "room_gone")
    answer = await asyncio.to_thread(get, made["key"])
    assert answer.status == 200
    assert json.loads(answer.body)["code"] == made["code"]
