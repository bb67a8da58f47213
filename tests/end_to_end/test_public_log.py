"""The public log as a server keeps it: rooms are in it soon, and records prove that they are."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from tests.cli.runs import here
from tests.end_to_end.raw import Answer, ask, new_guest, new_room
from tests.end_to_end.servers import LIMITS, ServerProcess, running
from tests.end_to_end.test_records import finished
from tests.store.engines import running as running_engine
from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.merkle import leaf_hash
from towerhall_protocol.notes import read_checkpoint, read_note, read_verifier_key, signer_of
from towerhall_protocol.public_log import (
    Logged,
    leaves_of,
    proof_problem,
    unbundled,
)
from towerhall_protocol.statements import key_id

PATIENCE_SECONDS = 25.0
KEYS = {"TOWERHALL_TOKEN_KEYS": "k4jN-2mZq_8vXw0tYb7RsUeHc1LdPfGa"}
SEED = base64url(bytes(range(32)))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with a store of its own, and so with a key of its own."""
    with running(tmp_path_factory.mktemp("log") / "data") as started:
        yield started


def numbers(url: str) -> dict[str, Any]:
    found: dict[str, Any] = ask(url, "GET", "/v1/log").document
    return found


async def until(url: str, **wanted: int) -> dict[str, Any]:
    """The log, once it has come so far."""
    began = monotonic()
    while True:
        found = await asyncio.to_thread(numbers, url)
        if all(found[name] >= count for name, count in wanted.items()):
            return found
        assert monotonic() - began < PATIENCE_SECONDS, found
        await asyncio.sleep(0.1)


def leaves(url: str, size: int) -> tuple[bytes, ...]:
    answer = ask(url, "GET", f"/v1/log/tile/entries/000.p/{size}")
    assert answer.status == 200
    found = unbundled(answer.body)
    assert found is not None
    return found


async def test_a_game_is_in_the_log_and_its_record_proves_it(
    server: ServerProcess, tmp_path: Path
) -> None:
    before = await until(server.url, size=0)
    code = await finished(server.url)
    await until(server.url, opened=before["opened"] + 1, ended=before["ended"] + 1)
    path, began = f"/v1/rooms/{code}/record", monotonic()
    while "log" not in (answer := await asyncio.to_thread(ask, server.url, "GET", path)).document:
        assert monotonic() - began < PATIENCE_SECONDS
        await asyncio.sleep(0.1)
    file = tmp_path / "record.json"
    file.write_bytes(answer.body)
    _, ended, logged = leaves_of(answer.body)
    assert isinstance(logged, Logged)
    assert proof_problem(ended, logged) is None
    assert (await asyncio.to_thread(here, "verify", str(file))).status == 0
    told = await asyncio.to_thread(here, "log", "verify", server.url, "--record", str(file))
    assert told.status == 0, told
    changed = answer.document | {"seal": base64url(bytes(len(from_base64url(ended.seal))))}
    file.write_text(json.dumps(changed))
    told = await asyncio.to_thread(here, "log", "verify", server.url, "--record", str(file))
    assert (told.status, "other_record" in told.out) == (1, True)


async def test_a_room_is_counted_as_open_from_its_first_second(server: ServerProcess) -> None:
    before = await until(server.url, size=0)
    made = await asyncio.to_thread(
        lambda: new_room(server.url, new_guest(server.url), seats=2, private=True)
    )
    fields = {"commitment": made["commitment"], "kind": "opened", "uid": made["uid"]}
    wanted = json.dumps(fields, separators=(",", ":")).encode()
    after = await until(server.url, opened=before["opened"] + 1)
    while wanted not in await asyncio.to_thread(leaves, server.url, after["size"]):
        # Rooms of other tests may come first.
        after = await until(server.url, size=after["size"] + 1)
    assert after["open"] > before["open"]


async def test_a_room_of_a_server_that_was_killed_is_entered_by_the_next(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server:
        made = await asyncio.to_thread(lambda: new_room(server.url, new_guest(server.url), seats=2))
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(server.start)
        await until(server.url, opened=1)
        (leaf,) = await asyncio.to_thread(leaves, server.url, 1)
        assert json.loads(leaf)["uid"] == made["uid"]


async def test_the_published_keys_sign_the_log(server: ServerProcess) -> None:
    await until(server.url, size=0)
    known = (await asyncio.to_thread(ask, server.url, "GET", "/.well-known/towerhall")).document
    (key,) = known["keys"]
    public = from_base64url(key["public"])
    assert key["key"] == key_id(public)
    assert "until_ms" not in key
    answer = await asyncio.to_thread(ask, server.url, "GET", "/v1/log/checkpoint")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    note = read_note(answer.body.decode())
    verifier = read_verifier_key(known["log"]["key"])
    assert (verifier.name, verifier.public) == (known["origin"], public)
    assert signer_of(note, (verifier,)) == verifier
    assert read_checkpoint(note.text).origin == known["origin"]


async def test_tiles_never_change_and_say_so(server: ServerProcess) -> None:
    await asyncio.to_thread(lambda: new_room(server.url, new_guest(server.url), seats=2))
    size = (await until(server.url, opened=1))["size"]

    def get(path: str) -> Answer:
        return ask(server.url, "GET", f"/v1/log/{path}")

    tile = await asyncio.to_thread(get, f"tile/0/000.p/{size}")
    assert tile.headers["content-type"] == "application/octet-stream"
    assert "immutable" in tile.headers["cache-control"]
    found = await asyncio.to_thread(leaves, server.url, size)
    assert tile.body == b"".join(map(leaf_hash, found))
    fewer = await asyncio.to_thread(get, "tile/0/000.p/1")
    assert fewer.body == leaf_hash(found[0])
    checkpoint = await asyncio.to_thread(get, "checkpoint")
    assert checkpoint.headers["cache-control"] == "no-cache"
    for path in ("tile/0/000", "tile/0/001", "tile/1/000.p/1", "tile/entries/000", "tile/x", "no"):
        missing = await asyncio.to_thread(get, path)
        assert (missing.status, missing.code) == (404, "not_found"), path


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 400, "bad_request"),
        ({"size": 0, "cosignature": "nonsense"}, 400, "bad_request"),
        ({"size": 0, "cosignature": "\u2014 witness.example AAAAAAAA"}, 403, "forbidden"),
        ({"size": "0", "cosignature": ""}, 400, "bad_request"),
    ],
)
async def test_what_no_witness_says_is_refused(
    server: ServerProcess, body: dict[str, object], status: int, code: str
) -> None:
    answer = await asyncio.to_thread(ask, server.url, "POST", "/v1/log/cosignatures", body)
    assert (answer.status, answer.code) == (status, code)


def test_without_a_key_nothing_is_signed_and_the_operator_is_told(tmp_path: Path) -> None:
    with (
        running_engine("valkey", tmp_path / "store") as engine,
        running(tmp_path / "data", "--redis-url", engine.url, limits=LIMITS | KEYS) as server,
    ):
        assert "TOWERHALL_SIGNING_KEYS is missing: nothing is signed" in server.log
        known = ask(server.url, "GET", "/.well-known/towerhall")
        assert known.document["keys"] == []
        assert set(known.document) == {"levels", "keys"}
        for path in ("/v1/log", "/v1/log/checkpoint", "/v1/log/tile/0/000"):
            assert ask(server.url, "GET", path).code == "not_found"
        made = new_room(server.url, new_guest(server.url), seats=2)
        assert ask(server.url, "GET", f"/v1/rooms/{made['code']}").status == 200
        told = here("log", "verify", server.url)
        assert (told.status, "has no public log" in told.err) == (2, True)


def test_several_servers_have_one_log_and_a_log_keeps_its_name(tmp_path: Path) -> None:
    signing = {"TOWERHALL_SIGNING_KEYS": SEED, "TOWERHALL_LOG_ORIGIN": "towers.example/log"}
    limits = LIMITS | KEYS | signing
    with running_engine("valkey", tmp_path / "store") as engine:
        flags = ("--redis-url", engine.url)
        with (
            running(tmp_path / "a", *flags, limits=limits) as one,
            running(tmp_path / "b", *flags, limits=limits) as other,
        ):
            for server in (one, other):
                new_room(server.url, new_guest(server.url), seats=2)
            for server in (one, other):
                found = asyncio.run(until(server.url, opened=2))
                assert (found["size"], found["origin"]) == (2, "towers.example/log")
            assert here("log", "verify", other.url).status == 0
        renamed = limits | {"TOWERHALL_LOG_ORIGIN": "other.example/log"}
        wrong = ServerProcess(tmp_path / "c", *flags, limits=renamed)
        with pytest.raises(AssertionError, match="is named towers"):
            wrong.start()
