"""`towerhall rooms`: what operators see and do in the store of servers that go on meanwhile."""

import asyncio
import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from redis.asyncio import Redis

from tests.cli.runs import Told, here, in_a_process
from tests.end_to_end.games import play_out, seated
from tests.end_to_end.raw import inside, new_guest, new_room
from tests.end_to_end.servers import LIMITS, ServerProcess, running
from tests.eventlog.conftest import engine_url, redis
from tests.live.live_rooms import GAMES, FakeViewer, WatchedLog, begin, live_node
from tests.store.engines import running as running_engine
from towerhall_client.connection import Table
from towerhall_client.http import Service
from towerhall_protocol.commands import base64url
from towerhall_server.cli import store_rooms
from towerhall_server.cli.main import build_parser
from towerhall_server.eventlog import notifications
from towerhall_server.eventlog.answers import Appended, Conflict
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.eventlog.log import EventLog
from towerhall_server.live.node import Node, ServiceClock

__all__ = ["engine_url", "redis"]


class Hall:
    """A server, and how to name its store."""

    def __init__(self, server: ServerProcess, *place: str) -> None:
        self.server = server
        self.url = server.url
        self.place = place

    async def rooms(self, *arguments: str, cwd: Path | None = None) -> Told:
        return await asyncio.to_thread(here, "rooms", *arguments, *self.place, cwd=cwd)


@pytest.fixture(scope="module", params=["embedded", "redis"])
def hall(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Hall]:
    """On the bundled engine, which its folder leads to, and on one that has an address."""
    folder = tmp_path_factory.mktemp("hall")
    data = folder / "data"
    if request.param == "embedded":
        with running(data) as server:
            yield Hall(server, "--data-folder", str(data))
        return
    keys = {"TOWERHALL_TOKEN_KEYS": secrets.token_urlsafe(32)}
    limits = LIMITS | keys
    with (
        running_engine(request.param, folder / "store") as engine,
        running(data, "--redis-url", engine.url, limits=limits) as server,
    ):
        yield Hall(server, "--redis-url", engine.url)


async def test_all_rooms_are_listed_those_that_are_private_or_over_too(hall: Hall) -> None:
    token = new_guest(hall.url, "Zoë")
    waiting = new_room(hall.url, token, seats=3)["code"]
    private = new_room(hall.url, token, private=True)
    async with inside(hall.url, waiting, token) as raw:
        await raw.done("sit")
    async with seated(Service(hall.url), 2) as (over, tables):
        await tables[0].start()
        await play_out(tables)

    told = await hall.rooms("ls")
    assert told.status == 0
    lines = {line.split()[0]: line.split() for line in told.out.splitlines()}
    assert lines[waiting][1:] == ["waiting", "five_towers", "1/3", "public", "Zoë"]
    assert lines[private["code"]][1:] == ["waiting", "five_towers", "0/5", "private"]
    assert lines[over.code][1:5] == ["over", "five_towers", "2/2", "public"]

    told = await hall.rooms("ls", "--json")
    rooms = {each["code"]: each for each in map(json.loads, told.out.splitlines())}
    assert rooms.keys() == lines.keys()
    assert rooms[waiting]["names"] == ["Zoë"]
    assert rooms[private["code"]]["private"]

    told = await hall.rooms("ls", "--listed")
    assert waiting in told.out
    assert private["code"] not in told.out
    assert over.code not in told.out


def test_a_process_of_its_own_says_the_same(hall: Hall) -> None:
    code = new_room(hall.url, new_guest(hall.url, "Zoë"), seats=3)["code"]
    for arguments in (("show", code), ("show", "ZZZZZZ"), ("show", "ABC")):
        command = ("rooms", *arguments, *hall.place)
        assert in_a_process(*command) == here(*command)


async def test_a_room_is_shown_without_anything_that_is_hidden(hall: Hall) -> None:
    token = new_guest(hall.url, "Ada")
    made = new_room(hall.url, token, seats=3, private=True, turn_seconds=30)
    code, key = made["code"], made["key"]
    async with inside(hall.url, code, token, key=key) as raw:
        await raw.done("sit")
        await raw.done("add_bot", level="easy")
        told = await hall.rooms("show", code.lower())
        assert told.status == 0
        shown = dict(line.split(maxsplit=1) for line in told.out.splitlines())
        assert shown["code"] == code
        assert shown["status"] == "waiting"
        assert shown["private"] == "True"
        assert shown["seats"].startswith("0 Ada (host); 1 ")
        assert shown["seats"].endswith("(bot easy); 2 free")
        assert shown["commits"] == "3"
        document = json.loads((await hall.rooms("show", code, "--json")).out)
        assert document["seats"][2] == {"seat": 2}
        assert document["turn_seconds"] == 30
        assert 0 < document["made_ms"] <= document["last_ms"]
    everything = told.out + json.dumps(document) + (await hall.rooms("ls", "--json")).out
    secret = await _secret(hall, code)
    for hidden in (key, token, base64url(secret), secret.hex(), "nonce", "secret", "key_hash"):
        assert hidden not in everything


async def _secret(hall: Hall, code: str) -> bytes:
    name, where = hall.place
    url = where if name == "--redis-url" else store_rooms.url_of_store("", Path(where))
    async with EventLog(url) as log:
        found = await log.secret(code)
    assert found is not None
    return found


async def test_a_record_is_written_when_the_game_is_over_and_not_before(
    hall: Hall, tmp_path: Path
) -> None:
    async with seated(Service(hall.url), 2) as (made, tables):
        await tables[0].start()
        early = await hall.rooms("export", made.code, cwd=tmp_path)
        assert early.status == 1
        assert "goes on" in early.err
        await play_out(tables)
    told = await hall.rooms("export", made.code, cwd=tmp_path)
    assert told.status == 0
    name = f"towerhall-{made.code}.json"
    assert name in told.out, "or a file was there before"
    verified = await asyncio.to_thread(here, "verify", name, cwd=tmp_path)
    assert verified.out.endswith("OK\n")
    again = await hall.rooms("export", made.code, cwd=tmp_path)
    assert (again.status, again.out) == (2, "")
    assert "--force" in again.err
    assert (await hall.rooms("export", made.code, "--force", cwd=tmp_path)).status == 0
    piped = await hall.rooms("export", made.code, "--out", "-")
    assert json.loads(piped.out) == json.loads((tmp_path / name).read_text())
    nowhere = await hall.rooms("export", made.code, "--out", str(tmp_path / "no" / "file"))
    assert nowhere.status == 2
    assert "cannot be written" in nowhere.err


async def test_a_room_that_is_closed_is_shown_as_closed_at_once(hall: Hall, tmp_path: Path) -> None:
    async with seated(Service(hall.url), 2) as (made, tables):
        await tables[0].start()
        told = await hall.rooms("close", made.code, "--reason", "maintenance")
        assert told.status == 0
        async with asyncio.timeout(2):
            for table in tables:
                await over(table)
        for table in tables:
            room: Any = table.view["room"]
            assert room["closed"] == "maintenance"
            assert "result" not in room
        assert f"commit {tables[0].seq}" in told.out
        again = await hall.rooms("close", made.code)
        assert (again.status, again.out) == (0, f"room {made.code} was over already\n")
    assert (
        json.loads((await hall.rooms("show", made.code, "--json")).out)["closed"] == "maintenance"
    )
    file = str(tmp_path / "closed.json")
    assert (await hall.rooms("export", made.code, "--out", file)).status == 0
    assert (await asyncio.to_thread(here, "verify", file)).out.endswith("OK\n")


async def over(table: Table) -> None:
    await table.until(lambda: table.status == "over")


async def test_closing_wins_against_players_who_go_on(hall: Hall) -> None:
    async with seated(Service(hall.url), 3, bots=["easy"]) as (made, tables):
        await tables[0].start()
        playing = asyncio.create_task(play_out(tables))
        told = await hall.rooms("close", made.code)
        assert told.status == 0
        views = await playing
    for view in views:
        room: Any = view["room"]
        assert room["status"] == "over"
        assert room.get("closed") == "closed_by_operator" or "was over already" in told.out


@pytest.mark.parametrize("action", ["show", "export", "close"])
async def test_a_room_that_is_not_there_is_told(hall: Hall, action: str) -> None:
    told = await hall.rooms(action, "ZZZZZZ")
    assert (told.status, told.out) == (1, "")
    assert "there is no room ZZZZZZ" in told.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("show", "ABC"), "'ABC' is not the code of a room"),
        (("close", "ZZZZZZ", "--reason", "Because!"), "small letters"),
        (("close", "ZZZZZZ", "--reason", ""), "small letters"),
    ],
)
async def test_a_mistake_is_told(hall: Hall, arguments: tuple[str, ...], says: str) -> None:
    told = await hall.rooms(*arguments)
    assert (told.status, told.out) == (2, "")
    assert says in told.err


@pytest.mark.parametrize("action", [(), ("ls",), ("show",), ("export",), ("close",)])
def test_help_shows_examples_that_the_command_understands(action: tuple[str, ...]) -> None:
    told = here("rooms", *action, "--help")
    assert told.status == 0
    examples = [
        line.split("&&")[0].split()[1:]
        for line in told.out.splitlines()
        if line.startswith("  towerhall rooms ")
    ]
    assert examples
    for example in examples:
        assert tuple(example[1 : 1 + len(action)]) == action
        build_parser().parse_args(example)


# Where the store is


def test_a_folder_without_a_server_is_told_and_nothing_is_made(tmp_path: Path) -> None:
    told = here("rooms", "ls", "--data-folder", str(tmp_path / "data"))
    assert told.status == 2
    assert "no server runs on the data folder" in told.err
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_has_ended_is_told(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server:
        assert (
            here("rooms", "ls", environ={"TOWERHALL_DATA_FOLDER": str(tmp_path / "data")}).status
            == 0
        )
        server.stop()
        told = here("rooms", "ls", "--data-folder", str(tmp_path / "data"))
        assert told.status == 2
        assert "has ended" in told.err
        server.start()
        server.kill()
    told = here("rooms", "ls", "--data-folder", str(tmp_path / "data"))
    assert told.status == 2
    assert "towerhall rooms: " in told.err


def test_a_folder_of_another_machine_is_told(tmp_path: Path) -> None:
    holder = {"host": "elsewhere", "pid": 1, "socket": str(tmp_path / "engine.sock")}
    (tmp_path / "engine.lock").write_text(json.dumps(holder))
    told = here("rooms", "ls", "--data-folder", str(tmp_path))
    assert told.status == 2
    assert "process 1 on elsewhere" in told.err


def test_a_store_that_does_not_answer_is_named_without_its_password() -> None:
    told = here("rooms", "ls", "--redis-url", "redis://me:sesame@127.0.0.1:1/0")
    assert told.status == 2
    assert "redis://127.0.0.1:1/0 does not answer" in told.err
    assert "sesame" not in told.err
    assert here("rooms", "ls", "--redis-url", "here").status == 2


# In one process, where a race can be made


async def test_whoever_is_faster_than_closing_is_shown_before_it(
    engine_url: str, redis: Redis
) -> None:
    async with live_node(engine_url) as node, WatchedLog(engine_url, "operator") as log:
        ann = await FakeViewer("ann").enter(await node.found())
        ben = await node.enter(ann.code, "ben")
        await begin(ann, ben)
        actor = ann if ann.replay.offers else ben
        log.next_append(actor.move)
        operator = Node("operator", log, ServiceClock(), GAMES)
        seq = await store_rooms.close(operator, ann.code, "closed_by_operator")
        assert [type(answer) for answer in log.answers] == [Conflict, Appended]
        assert seq is not None
        for viewer in (ann, ben):
            await viewer.reach(seq)
            assert viewer.status == "over"
            assert viewer.seqs[-2:] == [seq - 1, seq]
        assert await store_rooms.close(operator, ann.code, "again") is None


async def test_a_server_that_is_alone_and_listens_to_nobody_shows_it_at_once(
    engine_url: str, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "ALONE_BEATS", 1)
    async with live_node(engine_url) as node, EventLog(engine_url, "operator") as log:
        ann = await FakeViewer("ann").enter(await node.found())
        await ann.do("sit")
        node.beat()
        channel = room_keys(ann.code).shard.wake
        async with asyncio.timeout(10):
            while (await redis.pubsub_numsub(channel))[0][1]:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        operator = Node("operator", log, ServiceClock(), GAMES)
        seq = await store_rooms.close(operator, ann.code, "closed_by_operator")
        assert seq is not None
        async with asyncio.timeout(1):
            await ann.reach(seq)
        assert ann.status == "over"


async def test_a_room_that_this_version_cannot_read_hides_no_other(
    engine_url: str, redis: Redis
) -> None:
    async with live_node(engine_url) as node, EventLog(engine_url, "operator") as log:
        good, bad = (await node.found()).code, (await node.found()).code
        stream, store = room_keys(bad).log, cast(Any, redis)
        ((_, fields),) = await store.xrange(stream)
        await store.delete(stream)
        await store.xadd(stream, fields | {b"b": b"\x93\xff"}, "1-0")
        operator = Node("operator", log, ServiceClock(), GAMES)
        assert set(await store_rooms.unlisted(operator, {})) == {good, bad}
        assert (await store_rooms.outline(operator, good) or {})["status"] == "waiting"
        assert await store_rooms.outline(operator, bad) == {"code": bad, "status": "unreadable"}
        with pytest.raises(store_rooms.UnreadableRoomError):
            await store_rooms.close(operator, bad, "closed_by_operator")
