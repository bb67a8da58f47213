"""The rights of the servers' user in the store: enough for all that servers do, and nothing more.

A real engine with the flags and the file of users of the compose file refuses what is not allowed,
and notes it. What is allowed is compared with what the code asks for.
"""

import ast
import asyncio
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import NoPermissionError

from tests.accounts.authenticator import ORIGIN, Authenticator
from tests.deploy.files import ROOT, make_secrets
from tests.end_to_end.games import play_out, seated
from tests.end_to_end.raw import ask, bearer, connected, inside, new_guest
from tests.end_to_end.servers import ServerProcess
from tests.end_to_end.topology import USER, node, overseer_of, store
from tests.eventlog.logs import ROOM as ROOM_CODE
from tests.eventlog.logs import grow
from tests.operators.processes import ACME_KEY, SEATS, as_operator
from tests.operators.receiver import receiver
from tests.store.engines import KINDS, client
from tests.store.several import Group, behind_sentinels, cluster_of
from towerhall_client.http import Service
from towerhall_server.eventlog.answers import Appended, Following
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.moving import adopt, fencing, let_go, stage, take_out

pytestmark = pytest.mark.timeout(180)
SERVER = ROOT / "server/towerhall_server"
ROOM = {"game": "five_towers", "seats": SEATS}
SECRET = secrets.token_urlsafe(32)
AROUND = {"config|get", "eval", "evalsha", "info"}
"""What is asked by the library's own functions, and how scripts are run."""
ASKING = {"packed", "_ask"}
CONTAINERS = {"CLUSTER"}
"""Commands whose first argument names what is done, and is a right of its own."""
OF_SENTINELS = {"SENTINEL"}
"""What only sentinels are asked; they have users of their own."""


# What is allowed, by what the code says


def allowed(folder: Path) -> set[str]:
    make_secrets(folder)
    *_, line = (folder / "store_users").read_text().splitlines()
    name, *rights = line.removeprefix("user ").split()
    assert name == USER
    assert rights[:1] == ["on"]
    assert re.fullmatch(r"#[0-9a-f]{64}", rights[1])
    assert rights[2:7] == ["resetkeys", "resetchannels", "~towerhall:*", "&towerhall:*", "-@all"]
    assert all(right.startswith("+") and "@" not in right for right in rights[7:])
    return {right.removeprefix("+") for right in rights[7:]}


def asked_by_scripts() -> set[str]:
    texts = [path.read_text() for path in SERVER.rglob("*.lua")]
    assert texts
    return {name.lower() for text in texts for name in re.findall(r"redis\.p?call\('(\w+)'", text)}


def asked_by_modules() -> Iterator[str]:
    for path in SERVER.rglob("*.py"):
        if path.name == "primaries.py":
            continue  # copies are made by a user with more rights
        for found in ast.walk(ast.parse(path.read_text())):
            match found:
                case ast.Call(
                    func=ast.Name(id=name) | ast.Attribute(attr=name),
                    args=[ast.Constant(value=str(command)), *rest],
                ) if name in ASKING and command not in {"AUTH", "CLIENT", "SELECT"} | OF_SENTINELS:
                    match rest:
                        case [ast.Constant(value=str(part)), *_] if command in CONTAINERS:
                            yield f"{command}|{part}".lower()
                        case _:
                            yield command.lower()


def test_what_is_allowed_is_what_the_code_asks_for(tmp_path: Path) -> None:
    asked = AROUND | asked_by_scripts() | set(asked_by_modules())
    assert allowed(tmp_path) == asked


# What suffices, by what an engine refuses


async def refusals(overseer: Redis) -> list[Any]:
    """What the engine has refused to the user of servers."""
    found = await overseer.acl_log()
    return [each for each in found if each["username"] == USER and not is_of_library(each)]


def is_of_library(refused: Any) -> bool:
    """redis-py introduces itself with its version, and goes on where it may not."""
    return str(refused["object"]).startswith("client|")


@pytest.fixture(params=KINDS)
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with store(tmp_path, request.param) as url:
        yield url


async def test_it_suffices_for_games_the_lobby_operators_and_quick_matches(
    store_url: str, tmp_path: Path
) -> None:
    async with client(overseer_of(store_url)) as overseer:
        await everything(store_url, tmp_path)
        assert await refusals(overseer) == []
        # The engine does note what it refuses.
        async with client(store_url) as poor:
            with pytest.raises(NoPermissionError):
                await poor.flushall()
        assert [each["object"] for each in await refusals(overseer)] == ["flushall"]


@pytest.mark.parametrize("several", [behind_sentinels, cluster_of], ids=["sentinel", "cluster"])
async def test_it_suffices_on_stores_of_several_engines(
    several: Callable[[str, Path], AbstractContextManager[Group]], tmp_path: Path
) -> None:
    make_secrets(tmp_path / "secrets")
    *_, line = (tmp_path / "secrets/store_users").read_text().splitlines()
    password = (tmp_path / "secrets/store_password").read_text().strip()
    with several("redis", tmp_path / "several") as group:
        for engine in group.engines:
            engine.ask("ACL", "SETUSER", *line.split()[1:])
        await everything(group.url.replace("://", f"://{USER}:{password}@"), tmp_path)
        logs = [engine.ask("ACL", "LOG") for engine in group.engines]
        noted = [dict(zip(each[::2], each[1::2], strict=True)) for log in logs for each in log]
        refused = [each[b"object"] for each in noted if each[b"username"] == USER.encode()]
        assert [each for each in refused if not each.startswith(b"client|")] == []


async def everything(store_url: str, tmp_path: Path) -> None:
    """What servers, operators and people do at a service."""
    async with receiver() as hook:
        variables = {
            "TOWERHALL_OPERATOR_KEYS": f"acme:{ACME_KEY}",
            "TOWERHALL_WEBHOOKS": f"acme:{hook.url}",
            "TOWERHALL_WEBHOOK_SECRETS": f"acme:{SECRET}",
            "TOWERHALL_ORIGINS": ORIGIN,
        }
        with (
            node(tmp_path / "a", store_url, **variables) as here,
            node(tmp_path / "b", store_url, **variables) as there,
        ):
            code = await a_game(here, there)
            await a_quick_match(here, there)
            await asyncio.to_thread(a_link, here, there)
            await asyncio.to_thread(an_operator, here)
            await hook.until(lambda: hook.taken)
            await a_lobby(here)
            await an_account(here, there)
            at_the_store(store_url, code)
            for server in (here, there):
                assert "NOPERM" not in server.log
                assert "Traceback" not in server.log
                assert "the store: appendfsync is always" in server.log


async def a_game(here: ServerProcess, there: ServerProcess) -> str:
    """With a bot, chat, and somebody who watches at another server; its record."""
    async with seated(Service(here.url), 2, bots=["easy"]) as (made, tables):
        eve = new_guest(there.url)
        async with inside(there.url, made.code, eve) as watcher:
            await watcher.say("chat", "good luck")
            await watcher.wait_for("chat")
            await tables[0].start()
            await play_out(tables)
            await watcher.wait_for("frame")
    assert ask(there.url, "GET", f"/v1/rooms/{made.code}/record").status == 200
    return made.code


async def a_quick_match(here: ServerProcess, there: ServerProcess) -> None:
    wanted = {"game": "five_towers", "seats": 2}
    for server in (here, there):
        token = new_guest(server.url)
        found = ask(server.url, "POST", "/v1/quickplay", wanted, bearer(token))
        assert found.status == 200, found.body
        async with inside(server.url, found.document["code"], token) as raw:
            await raw.quiet()
        assert ask(server.url, "GET", "/v1/me/rooms", headers=bearer(token)).status == 200


def a_link(here: ServerProcess, there: ServerProcess) -> None:
    token = new_guest(here.url)
    made = ask(here.url, "POST", "/v1/me/links", {}, bearer(token)).document["link"]
    link = made.rpartition("/")[2]
    assert ask(there.url, "POST", "/v1/links", {"code": link}).status == 201


def an_operator(here: ServerProcess) -> None:
    answers = [
        as_operator(here.url, "POST", "/rooms", ROOM, idempotency_key="one"),
        as_operator(here.url, "POST", "/rooms", ROOM, idempotency_key="one"),
        as_operator(here.url, "POST", "/tokens", SEATS[0]),
        as_operator(here.url, "POST", "/bans", {"external_id": "account 2"}),
        as_operator(here.url, "GET", "/bans"),
    ]
    room, banned = answers[0].document["code"], answers[3].document["id"]
    bad = as_operator(here.url, "POST", "/rooms", ROOM | {"game": "chess"}, idempotency_key="two")
    assert bad.code == "unknown_game"
    answers += [
        as_operator(here.url, "GET", f"/rooms/{room}"),
        as_operator(here.url, "DELETE", f"/bans/{banned}"),
        as_operator(here.url, "POST", f"/rooms/{room}/close", {}),
    ]
    assert {answer.status for answer in answers} <= {200, 201}


async def an_account(here: ServerProcess, there: ServerProcess) -> None:
    """Made at one server, used at the other one, recovered, logged out, erased."""
    keys, one, other = Authenticator(), Service(here.url), Service(there.url)
    guest = await one.guest("Ada")
    made = keys.create(await one.passkey_options(guest.token, origin=ORIGIN))
    laptop = await one.add_passkey(guest.token, made)
    phone = await other.sign_in(keys.get(await other.sign_in_options(origin=ORIGIN)))
    tablet = await one.recover(laptop.recovery_code)
    assert {laptop.id, phone.id, tablet.id} == {guest.id}
    assert len((await other.account(phone.token))["devices"]) == 3
    await other.log_out(phone.token, tablet.device)
    await one.erase(laptop.token, laptop.id)


async def a_lobby(here: ServerProcess) -> None:
    assert ask(here.url, "GET", "/v1/rooms").status == 200
    async with connected(here.url, "", path="/v1/lobby") as raw:
        await raw.say("hello", {"token": new_guest(here.url), "level": 1})
        await raw.wait_for("welcome")


def at_the_store(url: str, code: str) -> None:
    """What whoever runs the service does without any server."""
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": "nowhere",
        "TOWERHALL_REDIS_URL": url,
        "TOWERHALL_OPERATOR_KEYS": f"acme:{ACME_KEY}",
    }
    person = "AAECAwQFBgc"
    for words in (
        ["rooms", "ls"],
        ["rooms", "show", code],
        ["rooms", "export", code, "--out", "-"],
        ["rooms", "export", code, os.devnull, "--force"],
        ["rooms", "close", code],
        ["bans", "add", person],
        ["bans", "ls"],
        ["bans", "lift", person],
        ["tokens", "revoke", person],
        ["operators", "ls"],
        ["operators", "revoke", "acme"],
        ["audit"],
    ):
        command = [sys.executable, "-m", "towerhall_server", *words]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (words, done.stderr)


async def test_it_suffices_to_take_rooms_to_another_store(store_url: str, tmp_path: Path) -> None:
    """Of the same kind as the user knows; the other kind is tried where no rights are asked."""
    (tmp_path / "there").mkdir()
    with store(tmp_path / "there") as there:
        async with EventLog(store_url) as log, EventLog(there) as log_there:
            await log.keep_secret(ROOM_CODE, b"s" * 48, 60_000)
            await grow(log, 3, due_at_ms=60_000)
            await log.say(ROOM_CODE, b"hello", 60_000)
            reading = await log.read(ROOM_CODE)
            assert isinstance(reading, Following)
            parcel = await take_out(log, ROOM_CODE, reading.entries)
            assert parcel is not None
            fence = fencing(ROOM_CODE, parcel.entries[-1], "there", parcel.due_ms, 60_000)
            assert await log.append(fence) == Appended(4)
            await stage(log_there, ROOM_CODE, parcel.entries, begin=True)
            await adopt(log_there, parcel, is_over=False)
            await let_go(log, ROOM_CODE)
            assert await log.rooms() == ()
            assert await log_there.rooms() == (ROOM_CODE,)


@pytest.mark.parametrize(
    "command",
    [
        "FLUSHALL",
        "KEYS *",
        "SCAN 0",
        "CONFIG SET appendonly no",
        "SHUTDOWN",
        "SCRIPT FLUSH",
        "ACL LIST",
        "REPLICAOF localhost 1",
        "GET foreign",
        "SET foreign 1",
        "EVAL return(redis.call('GET','foreign')) 1 foreign",
        "PUBLISH foreign hello",
        "SUBSCRIBE foreign",
        "MONITOR",
    ],
)
async def test_servers_may_do_nothing_else(strict_url: str, command: str) -> None:
    async with client(strict_url) as poor:
        with pytest.raises(NoPermissionError):
            await poor.execute_command(*command.split())  # type: ignore[no-untyped-call]


async def test_without_a_name_one_may_only_see_that_the_store_lives(strict_url: str) -> None:
    async with client(re.sub(r"://.*?@", "://", strict_url)) as stranger:
        assert await stranger.ping()
        for asked in (stranger.get("towerhall:nodes"), stranger.info(), stranger.config_get("*")):
            with pytest.raises(NoPermissionError):
                await asked


@pytest.fixture(scope="module")
def strict_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with store(tmp_path_factory.mktemp("strict")) as url:
        yield url
