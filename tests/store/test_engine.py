"""The embedded engine: how it is set up, and what it keeps."""

import asyncio
import tempfile
from pathlib import Path

import pytest
import uvloop

from tests.store.engines import KINDS, binary_of, client
from tests.store.processes import (
    PATIENCE_SECONDS,
    commands_file,
    content,
    edit,
    entries,
    get,
    kill,
    mode,
    pretender,
    put,
    refusal,
)
from towerhall_server.store.engine import (
    EngineError,
    bundled_binary,
    embedded_engine,
    start_engine,
)

pytestmark = pytest.mark.usefixtures("temporary")


async def test_it_listens_on_a_private_socket_only_and_syncs_every_write(
    tmp_path: Path, temporary: Path
) -> None:
    folder = tmp_path / "new" / "data"
    async with embedded_engine(folder) as engine, client(engine.url) as connected:
        settings = await connected.config_get("*")
        [run_folder] = entries(temporary)
        assert (mode(run_folder), mode(folder)) == (0o700, 0o700)
        assert engine.url == f"unix://{run_folder}/engine.sock"
    expected = {
        "port": "0",
        "dir": str(folder),
        "appendonly": "yes",
        "appendfsync": "always",
        "aof-load-truncated": "yes",
        "maxmemory-policy": "noeviction",
        "save": "",
    }
    assert {name: settings[name] for name in expected} == expected


async def test_it_is_the_bundled_engine_whatever_path_offers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("valkey-server", "redis-server"):
        pretender(tmp_path, "exit 1").rename(tmp_path / name)
    monkeypatch.setenv("PATH", str(tmp_path))
    async with embedded_engine(tmp_path / "data") as engine, client(engine.url) as connected:
        assert (await connected.info("server"))["executable"] == str(bundled_binary())


@pytest.mark.parametrize(
    "name", ["with spaces", "quo'te \" and \\ bäck", "n" * 200 + "/" + "m" * 200]
)
async def test_any_data_folder_will_do(tmp_path: Path, name: str) -> None:
    for _ in range(2):
        async with embedded_engine(tmp_path / name) as engine:
            await put(engine, "a", "kept")
    assert b"kept" in content(commands_file(tmp_path / name))


async def test_a_relative_data_folder_is_one_of_the_folder_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with embedded_engine(Path("here/data")) as engine:
        await put(engine, "a", "kept")
        monkeypatch.chdir("/")
        kill(engine)
        await engine.wait()
        await engine.restart()
        assert await get(engine, "a") == b"kept"
    assert b"kept" in content(commands_file(tmp_path / "here/data"))


async def test_a_temporary_folder_with_a_path_too_long_for_sockets_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("t" * 100)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    with pytest.raises(EngineError, match="set TMPDIR to a shorter one"):
        await start_engine(tmp_path / "data")
    assert list(long.iterdir()) == []


async def test_engines_on_different_folders_do_not_meet(tmp_path: Path) -> None:
    names = [f"data {number}" for number in range(4)]
    engines = await asyncio.gather(*(start_engine(tmp_path / name) for name in names))
    for name, engine in zip(names, engines, strict=True):
        await put(engine, "name", name)
    for name, engine in zip(names, engines, strict=True):
        assert await get(engine, "name") == name.encode()
    await asyncio.gather(*(engine.stop() for engine in engines))


def test_it_runs_on_uvloop_too(tmp_path: Path) -> None:
    async def live() -> None:
        async with embedded_engine(tmp_path) as engine:
            await put(engine, "a", "kept")
            kill(engine)
            await engine.wait()
            await engine.restart()
            assert await get(engine, "a") == b"kept"
            assert "is in use by" in await refusal(tmp_path)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(live())


@pytest.mark.parametrize("kind", KINDS)
async def test_data_survives_a_stop_and_a_kill(tmp_path: Path, kind: str) -> None:
    binary = binary_of(kind)
    async with embedded_engine(tmp_path, binary=binary) as engine:
        await put(engine, "a", "before the stop")
    async with embedded_engine(tmp_path, binary=binary) as engine:
        assert await get(engine, "a") == b"before the stop"
        await put(engine, "b", "before the kill")
        kill(engine)
        await engine.wait()
    async with embedded_engine(tmp_path, binary=binary) as engine:
        assert await get(engine, "b") == b"before the kill"


async def test_a_killed_engine_is_noticed_and_comes_back_under_the_same_url(tmp_path: Path) -> None:
    async with embedded_engine(tmp_path) as engine, client(engine.url) as connected:
        await connected.set("a", "kept")
        url = engine.url
        noticing = asyncio.create_task(engine.wait())
        await asyncio.sleep(0.1)
        assert not noticing.done()
        kill(engine)
        assert "Ready to accept connections" in await asyncio.wait_for(noticing, PATIENCE_SECONDS)
        assert engine.pid is None
        assert "is in use by" in await refusal(tmp_path)
        await engine.restart()
        assert engine.url == url
        assert await connected.get("a") == b"kept"


async def test_half_a_command_at_the_end_is_dropped_and_the_rest_kept(tmp_path: Path) -> None:
    async with embedded_engine(tmp_path) as engine:
        await put(engine, "a", "whole")
        await put(engine, "b", "half")
    edit(commands_file(tmp_path), lambda content: content[:-3])
    async with embedded_engine(tmp_path) as engine:
        assert [await get(engine, "a"), await get(engine, "b")] == [b"whole", None]


async def test_it_is_ready_only_when_all_data_is_loaded(tmp_path: Path) -> None:
    count = 400_000
    async with embedded_engine(tmp_path):
        pass
    one = b"*3\r\n$3\r\nSET\r\n$6\r\n%06d\r\n$100\r\n" + b"x" * 100 + b"\r\n"
    edit(commands_file(tmp_path), lambda _: b"".join(one % number for number in range(count)))
    for seconds in (0.1, 0.2, 0.4):  # on a busy machine it takes longer until anything answers
        message = await refusal(tmp_path, seconds=seconds)
        if "last answer: none" not in message:
            break
    assert f"not ready after {seconds:g} s (last answer: -LOADING" in message
    async with embedded_engine(tmp_path) as engine, client(engine.url) as connected:
        assert await connected.dbsize() == count
