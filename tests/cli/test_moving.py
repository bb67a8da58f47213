"""`towerhall rooms export FILE`, `import` and `move`: rooms in another store, while people play."""

import asyncio
import json
import re
import secrets
from base64 import b64decode
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest

from tests.cli.runs import Told, here
from tests.end_to_end.games import play_out, seated
from tests.end_to_end.servers import LIMITS, ServerProcess, running
from tests.proxy.carrier import CHUNK, Direction, Ends, TcpCarrier
from tests.store.engines import client
from tests.store.engines import running as running_engine
from towerhall_client.connection import Table
from towerhall_client.http import Service
from towerhall_server.cli.moving import clocks_of, decode, in_step
from towerhall_server.eventlog.keys import room_keys

KEYS = {"TOWERHALL_TOKEN_KEYS": secrets.token_urlsafe(32)}


class Side:
    """A store and a server on it."""

    def __init__(self, server: ServerProcess, store: str) -> None:
        self.server, self.store = server, store

    async def rooms(self, *arguments: object) -> Told:
        words = [*map(str, arguments), "--redis-url", self.store]
        return await asyncio.to_thread(here, "rooms", *words)


class Switch(TcpCarrier):
    """A proxy that is told which server gets new connections."""

    def __init__(self, side: Side) -> None:
        super().__init__(side.server.port)

    async def _carry(self, way: Direction, source: Ends, target: Ends) -> None:
        while data := await source[0].read(CHUNK):
            target[1].write(data)
            await target[1].drain()

    def send_to(self, side: Side) -> None:
        self._target = side.server.port


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Side, Side]]:
    """The service on the bundled engine, and the new one on another: the older of both."""
    folder = tmp_path_factory.mktemp("sides")
    with ExitStack() as stack:
        found = []
        for kind in ("valkey", "redis"):
            store = stack.enter_context(running_engine(kind, folder / kind)).url
            flags = ("--redis-url", store)
            limits = LIMITS | KEYS
            server = stack.enter_context(running(folder / f"{kind}-data", *flags, limits=limits))
            found.append(Side(server, store))
        old, new = found
        yield old, new


async def begun(tables: Sequence[Table]) -> None:
    await tables[0].start()
    await tables[0].until(lambda: tables[0].status == "playing")


@pytest.mark.timeout(120)
async def test_rooms_are_moved_while_people_play_to_another_engine(
    sides: tuple[Side, Side], tmp_path: Path
) -> None:
    old, new = sides
    async with Switch(old) as proxy:
        service = Service(proxy.url)
        async with seated(service, 3) as (made, tables), seated(service, 2) as (idle, waiting):
            await tables[0].start()
            await waiting[0].chat("see you there")
            playing = asyncio.create_task(play_out(tables))
            await tables[0].until(lambda: tables[0].seq > 30)
            assert not playing.done()
            told = await old.rooms("move", made.code, "--to", new.store)
            assert (told.status, told.err) == (0, "")
            found = re.search(
                r"room \w+: (\d+) commits are at unix://\S+; away for ([\d.]+) s", told.out
            )
            assert found
            assert float(found[2]) < 2
            proxy.send_to(new)
            views = await playing
            assert {view["room"]["status"] for view in views} == {"over"}  # type: ignore[index]
            assert await old.rooms("show", made.code) == Told(
                1,
                "",
                f"towerhall rooms: room {made.code} is not here: it was moved to {new.store}\n",
            )
            # The waiting room is left: a command for all rooms takes it, too.
            told = await old.rooms("move", "--all", "--to", new.store)
            assert (told.status, told.err) == (0, "")
            assert f"room {idle.code}" in told.out
            assert made.code not in told.out
            room = tmp_path / "room.jsonl"
            assert (await new.rooms("export", idle.code, room)).status == 0
            ((_, line),) = json.loads(room.read_text())["chat"]
            assert b"see you there" in b64decode(line)
    file = tmp_path / "game.json"
    assert (await new.rooms("export", made.code, "--out", file)).status == 0
    assert (await asyncio.to_thread(here, "verify", str(file))).out.endswith("OK\n")
    assert (await old.rooms("ls")).out == ""
    listed = (await new.rooms("ls")).out
    assert made.code in listed
    assert idle.code in listed


async def test_exported_rooms_are_brought_into_another_store(
    sides: tuple[Side, Side], tmp_path: Path
) -> None:
    old, new = sides
    file = tmp_path / "rooms.jsonl"
    async with seated(Service(old.server.url), 2) as (made, tables):
        await begun(tables)
        told = await old.rooms("export", made.code, file)
        assert (told.status, told.out) == (0, f"{file}: 1 room\n")
    assert file.stat().st_mode & 0o777 == 0o600
    assert json.loads(file.read_text())["room"] == made.code
    again = await old.rooms("export", "--all", file)
    assert (again.status, "--force" in again.err) == (2, True)
    told = await new.rooms("import", file)
    assert (told.status, told.out) == (0, "1 room is there\n")
    shown = (await new.rooms("show", made.code)).out
    assert "playing" in shown
    assert (await new.rooms("close", made.code)).status == 0
    record = tmp_path / "game.json"
    assert (await new.rooms("export", made.code, "--out", record)).status == 0
    assert (await asyncio.to_thread(here, "verify", str(record))).out.endswith("OK\n")
    refused = await new.rooms("import", file)
    assert refused.status == 1
    assert "this one has gone on there" in refused.out

    lied = json.loads(file.read_text())
    lied["entries"][1][4][0] += 1
    file.write_text(json.dumps(lied))
    refused = await new.rooms("import", file)
    assert "does not hold together" in refused.out
    file.write_text('{"room":')
    refused = await new.rooms("import", file)
    assert (refused.status, "line 1" in refused.err) == (2, True)


async def test_rooms_of_one_shard_that_were_read_one_after_the_other_all_fit(
    sides: tuple[Side, Side], tmp_path: Path
) -> None:
    """The second line was read a minute later, and its room has gone on until then."""
    file = tmp_path / "rooms.jsonl"
    async with seated(Service(sides[0].server.url), 2) as (made, tables):
        await begun(tables)
        assert (await sides[0].rooms("export", made.code, file)).status == 0
    first = decode(file.read_bytes())
    later = msgspec.structs.replace(first, served_ms=first.served_ms + 60_000)
    clocks = clocks_of(iter([first, later]))
    assert [each.served_ms for each in in_step(iter([first, later]), clocks)] == [
        later.served_ms,
        later.served_ms,
    ]


async def test_a_move_that_ended_halfway_goes_on_and_to_no_other_place(
    sides: tuple[Side, Side],
) -> None:
    old, new = sides
    async with seated(Service(old.server.url), 2) as (made, tables):
        await begun(tables)
    assert (await old.rooms("move", made.code, "--to", new.store)).status == 0
    # As if the command had ended after the fence.
    keys = room_keys(made.code)
    async with client(new.store) as redis:
        await redis.delete(keys.log, keys.secret)
    elsewhere = await old.rooms("move", made.code, "--to", old.store)
    assert (elsewhere.status, "was moved to" in elsewhere.out) == (1, True)
    again = await old.rooms("move", made.code, "--to", new.store)
    assert (again.status, "commits are at" in again.out) == (0, True)
    assert "playing" in (await new.rooms("show", made.code)).out
    # It may go back as well.
    back = await new.rooms("move", made.code, "--to", old.store)
    assert back.status == 0, back.out
    assert "playing" in (await old.rooms("show", made.code)).out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("export", "ABCDEF", "x", "y"), "write CODE, CODE FILE, or --all FILE"),
        (("export", "ABCDEF", "x", "--all"), "write CODE, CODE FILE, or --all FILE"),
        (("move", "--to", "redis://localhost/0"), "name a room, or --all"),
        (("move", "ABCDEF", "--to", "http://localhost"), "--to cannot be used"),
        (("import", "no-such-file"), "no-such-file cannot be read"),
    ],
)
async def test_mistakes_are_told(
    sides: tuple[Side, Side], arguments: tuple[str, ...], says: str
) -> None:
    told = await sides[0].rooms(*arguments)
    assert (told.status, told.out) == (2, "")
    assert says in told.err


async def test_a_room_that_is_not_there_stays_unknown(
    sides: tuple[Side, Side], tmp_path: Path
) -> None:
    old, new = sides
    told = await old.rooms("move", "ZZZZZZ", "--to", new.store)
    assert (told.status, told.out) == (1, "there is no room ZZZZZZ\n")
    told = await old.rooms("export", "ZZZZZZ", tmp_path / "rooms.jsonl")
    assert told.status == 1
