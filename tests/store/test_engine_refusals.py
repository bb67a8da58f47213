"""The embedded engine: what it refuses to start on, and in which words."""

import os
from pathlib import Path

import pytest

from tests.store.processes import (
    commands_file,
    content,
    edit,
    get,
    is_running,
    pretender,
    put,
    refusal,
    server,
    write,
)
from towerhall_server.store.engine import embedded_engine

pytestmark = pytest.mark.usefixtures("temporary")

NOBODY = 2**22 + 1
"""A process id above the highest that Linux gives."""


async def test_a_folder_in_use_is_refused_with_the_name_of_its_holder(tmp_path: Path) -> None:
    async with server(tmp_path) as (process, engine_pid):
        message = await refusal(tmp_path)
        assert f"{tmp_path} is in use by process {process.pid} on {os.uname().nodename}" in message
        assert "another data folder" in message
        assert "--redis-url" in message
        assert is_running(engine_pid)
        process.kill()
        await process.wait()
    async with embedded_engine(tmp_path):
        assert f"in use by process {os.getpid()} " in await refusal(tmp_path)


async def test_a_holder_on_another_machine_is_never_taken_for_dead(tmp_path: Path) -> None:
    async with embedded_engine(tmp_path) as engine:
        here, me = os.uname().nodename.encode(), b"%d" % os.getpid()
        elsewhere = content(tmp_path / "engine.lock").replace(here, b"elsewhere")
        write(tmp_path / "engine.lock", elsewhere.replace(me, b"%d" % NOBODY))
        assert f"in use by process {NOBODY} on elsewhere" in await refusal(tmp_path)
        await put(engine, "a", "still there")


@pytest.mark.parametrize(
    ("claim", "says", "helps"),
    [
        (b'{"name":"valkey","number":[99,0,1]}', "written by valkey 99.0.1", "update towerhall"),
        (b'{"name":"redis","number":[7,0]}', "written by redis 7.0", "--redis-url"),
        (b'{"name":"val', "an unknown engine", "from a copy"),
        (b"", "an unknown engine", "from a copy"),
        (None, "an unknown engine", "from a copy"),
    ],
)
async def test_data_of_a_newer_or_foreign_engine_is_refused_and_kept(
    tmp_path: Path, claim: bytes | None, says: str, helps: str
) -> None:
    marker = tmp_path / "engine.version"
    async with embedded_engine(tmp_path) as engine:
        await put(engine, "a", "kept")
    written = content(marker)
    write(marker, claim)
    message = await refusal(tmp_path)
    assert says in message
    assert helps in message
    assert "another data folder" in message
    write(marker, written)
    async with embedded_engine(tmp_path) as engine:
        assert await get(engine, "a") == b"kept"


async def test_data_of_an_older_engine_is_taken_over_for_good(tmp_path: Path) -> None:
    marker = tmp_path / "engine.version"
    async with embedded_engine(tmp_path):
        written = marker.read_bytes()
    edit(marker, lambda _: b'{"name":"valkey","number":[9,0]}')
    async with embedded_engine(tmp_path):
        assert marker.read_bytes() == written


async def test_broken_data_is_refused_with_the_words_of_the_engine(tmp_path: Path) -> None:
    async with embedded_engine(tmp_path) as engine:
        await put(engine, "a", "kept")
    edit(commands_file(tmp_path), lambda content: b"garbage\r\n" + content)
    message = await refusal(tmp_path)
    assert "ended at its start, with status 1" in message
    assert "Bad file format reading the append only file" in message
    assert f"restore {tmp_path} from a copy" in message


async def test_an_engine_that_ends_or_hangs_at_its_start_is_quoted(tmp_path: Path) -> None:
    ending = await refusal(tmp_path, pretender(tmp_path, "echo no, not today >&2; exit 3"))
    assert "with status 3" in ending
    assert ending.endswith("no, not today")
    hanging = await refusal(tmp_path, pretender(tmp_path, "echo hm; exec sleep 60"), seconds=0.5)
    assert "not ready after 0.5 s (last answer: none)" in hanging
    assert hanging.endswith("hm")


async def test_what_is_no_engine_and_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    file = pretender(tmp_path, "")
    edit(file, lambda _: b"#!/bin/sh\necho Lemonade server v=1\n")
    assert "does not run (No such file" in await refusal(tmp_path, tmp_path / "missing")
    assert "does not tell its version" in await refusal(tmp_path, Path("/bin/true"))
    assert f"{file} cannot be used (File exists)" in await refusal(file)
    assert "does not run (Permission denied)" in await refusal(tmp_path, tmp_path)


async def test_the_log_of_the_run_before_is_kept(tmp_path: Path) -> None:
    async with embedded_engine(tmp_path) as engine:
        first = f"{engine.pid}:"
    async with embedded_engine(tmp_path):
        assert first in (tmp_path / "engine.log.old").read_text()
        assert first not in (tmp_path / "engine.log").read_text()
