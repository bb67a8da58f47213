"""Who may do what (P-56) and who has a seat (P-91), as everybody meets it over the wire.

The table is asked by dry runs, which are judged like the real thing and change nothing.
"""

import hashlib
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from tests.end_to_end.games import QUICK, play_out
from tests.end_to_end.raw import BOTH, Raw, bearer, connected, inside, new_guest, new_room
from tests.end_to_end.raw import ask as ask_http
from tests.end_to_end.servers import ServerProcess
from towerhall_client.connection import connect

STATUSES = ("waiting", "sealed", "playing", "over")
BOT_SEAT = 2
NONCE = secrets.token_bytes(32)
GAME_COMMAND = "pass"

# The roles: watcher, seated, host with a seat, host without one. Commands to the game carry a wrong
# tag: `stale` means that the gate has let them through.
TABLE = """
waiting  sit         accepted     already_seated  already_seated  accepted
waiting  stand       not_seated   accepted        accepted        not_seated
waiting  ready       not_seated   accepted        accepted        not_seated
waiting  open        not_seated   not_sealed      not_sealed      not_seated
waiting  start       not_host     not_host        seats_free      seats_free
waiting  add_bot     not_host     not_host        accepted        accepted
waiting  remove_bot  not_host     not_host        accepted        accepted
waiting  game        not_seated   not_playing     not_playing     not_seated

sealed   sit         not_waiting  already_seated  already_seated  not_waiting
sealed   stand       not_seated   not_waiting     not_waiting     not_seated
sealed   ready       not_seated   not_waiting     not_waiting     not_seated
sealed   open        not_seated   accepted        not_sealed      not_seated
sealed   start       not_host     not_host        not_waiting     not_waiting
sealed   add_bot     not_host     not_host        not_waiting     not_waiting
sealed   remove_bot  not_host     not_host        not_waiting     not_waiting
sealed   game        not_seated   not_playing     not_playing     not_seated

playing  sit         not_waiting  already_seated  already_seated  not_waiting
playing  stand       not_seated   not_waiting     not_waiting     not_seated
playing  ready       not_seated   not_waiting     not_waiting     not_seated
playing  open        not_seated   not_sealed      not_sealed      not_seated
playing  start       not_host     not_host        not_waiting     not_waiting
playing  add_bot     not_host     not_host        not_waiting     not_waiting
playing  remove_bot  not_host     not_host        not_waiting     not_waiting
playing  game        not_seated   stale           stale           not_seated

over     sit         not_waiting  already_seated  already_seated  not_waiting
over     stand       not_seated   not_waiting     not_waiting     not_seated
over     ready       not_seated   not_waiting     not_waiting     not_seated
over     open        not_seated   not_sealed      not_sealed      not_seated
over     start       not_host     not_host        not_waiting     not_waiting
over     add_bot     not_host     not_host        not_waiting     not_waiting
over     remove_bot  not_host     not_host        not_waiting     not_waiting
over     game        not_seated   not_playing     not_playing     not_seated
"""


def base64url(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


FIELDS: dict[str, dict[str, Any]] = {
    "open": {"nonce": base64url(NONCE)},
    "remove_bot": {"seat": BOT_SEAT},
}


def hash_of_nonce(uid: str) -> str:
    """As P-81 has it."""
    room = urlsafe_b64decode(uid + "==")
    return base64url(hashlib.sha256(b"towerhall/1/nonce\0" + room + NONCE).digest())


def expected(status: str) -> Iterator[tuple[str, list[str]]]:
    for line in TABLE.splitlines():
        if line.startswith(status):
            _, command, *outcomes = line.split()
            yield command, outcomes


class Persons:
    """Whoever is needed, each with a token."""

    def __init__(self, url: str) -> None:
        self.host, self.ben, self.cyd, self.zoe = (
            new_guest(url, name) for name in ("Host", "Ben", "Cyd", "Zoe")
        )


@pytest.fixture(scope="module")
def persons(shared: ServerProcess) -> Persons:
    return Persons(shared.url)


@asynccontextmanager
async def room_at(
    url: str, persons: Persons, status: str, *, host_sits: bool
) -> AsyncIterator[tuple[Raw, Raw, Raw]]:
    """A room with that status, as a watcher, Ben at his seat, and the host see it. Ben brings a
    nonce, so that there is something to open; Cyd sits where the host does not."""
    seats = 4 if status == "waiting" else 3
    made = new_room(url, persons.host, seats=seats, bot_delay_ms=0)
    async with AsyncExitStack() as stack:

        async def come(token: str) -> Raw:
            return await stack.enter_async_context(inside(url, made["code"], token))

        host, ben, watcher = [await come(each) for each in (persons.host, persons.ben, persons.zoe)]
        first = host if host_sits else await come(persons.cyd)
        await first.done("sit", seat=0)
        await first.done("ready")
        await ben.done("sit", seat=1, nonce=hash_of_nonce(made["uid"]))
        await ben.done("ready")
        await host.done("add_bot", seat=BOT_SEAT)
        if status != "waiting":
            await host.done("start")
        if status in ("playing", "over"):
            await ben.done("open", nonce=base64url(NONCE))
        if status == "over":
            await play_to_the_end(url, made["code"], persons, host_sits=host_sits)
            host, ben = await come(persons.host), await come(persons.ben)
        yield watcher, ben, host


async def play_to_the_end(url: str, code: str, persons: Persons, *, host_sits: bool) -> None:
    seated = (persons.host if host_sits else persons.cyd, persons.ben)
    async with AsyncExitStack() as stack:
        tables = [
            await stack.enter_async_context(connect(url, code, token, retry=QUICK))
            for token in seated
        ]
        await play_out(tables)


async def outcome(raw: Raw, command: str) -> str:
    name = GAME_COMMAND if command == "game" else command
    n = await raw.command(name, dry=True, tag="not this one", **FIELDS.get(command, {}))
    answer = await raw.answer(n)
    return str(answer[2] if answer[0] == "rejected" else answer[0])


@pytest.mark.parametrize("status", STATUSES)
async def test_every_role_may_do_what_the_table_says_and_nothing_else(
    shared: ServerProcess, persons: Persons, status: str
) -> None:
    found = {}
    async with (
        room_at(shared.url, persons, status, host_sits=True) as (watcher, ben, host),
        room_at(shared.url, persons, status, host_sits=False) as (_, _, standing),
    ):
        for command, _ in expected(status):
            roles = (watcher, ben, host, standing)
            found[command] = [await outcome(raw, command) for raw in roles]
    assert found == dict(expected(status))
    assert len(found) == 8


async def test_a_dry_run_is_told_to_nobody_and_changes_nothing(
    shared: ServerProcess, persons: Persons
) -> None:
    async with room_at(shared.url, persons, "waiting", host_sits=True) as (watcher, ben, host):
        await watcher.quiet()
        assert await outcome(watcher, "sit") == "accepted"
        assert await outcome(ben, "stand") == "accepted"
        assert await outcome(host, "add_bot") == "accepted"
        frame = await host.done("add_bot")
        heard = await watcher.up_to("frame")
        assert heard[-1] == frame
        assert {message[0] for message in heard} <= {"frame", "presence"}


async def test_nothing_in_a_message_claims_a_seat(shared: ServerProcess, persons: Persons) -> None:
    claims = {"seat": 1, "identity": "Ben", "you": "Ben", "host": True, "role": "host", "as": 1}
    async with room_at(shared.url, persons, "waiting", host_sits=True) as (watcher, ben, _):
        for command in ("stand", "ready"):
            assert await watcher.refused(command, **claims) == "not_seated"
        for command in ("start", "add_bot", "remove_bot"):
            assert await watcher.refused(command, **claims) == "not_host"
            assert await ben.refused(command, **claims) == "not_host"


async def test_rights_follow_the_seat_and_the_host(shared: ServerProcess, persons: Persons) -> None:
    async with room_at(shared.url, persons, "waiting", host_sits=True) as (_, ben, host):
        frame = await host.done("stand")
        assert ["host_passed", 1] in frame[4]
        assert await host.refused("add_bot") == "not_host"
        assert await host.refused("ready") == "not_seated"
        await ben.done("add_bot")


# A seat has one connection


@pytest.mark.parametrize("subprotocol", BOTH)
async def test_the_newest_connection_of_a_person_keeps_the_seat_and_the_older_one_goes(
    shared: ServerProcess, persons: Persons, subprotocol: str
) -> None:
    room = new_room(shared.url, persons.host, seats=2)["code"]
    async with inside(shared.url, room, persons.host, subprotocol) as older:
        await older.done("sit")
        assert await older.wait_for("seat") == ["seat", 0]
        async with connected(shared.url, room, subprotocol) as newer:
            await newer.hello(persons.host)
            arrival = (await newer.hear())[1]
            assert arrival["seat"] == 0
            assert arrival["online"] == [0]
            end = await older.end()
            assert (end.code, end.reason) == (4409, "replaced")
            assert not any(message[0] == "seat" for message in end.messages)
            await newer.done("ready")
            # Somebody else at the same room is no reason to go.
            async with inside(shared.url, room, persons.ben, subprotocol) as other:
                await other.done("sit")
            await newer.done("ready", ready=False)


@pytest.mark.parametrize("speaker", [0, 1, 2])
async def test_of_several_windows_that_watch_the_one_that_sits_keeps_the_seat(
    shared: ServerProcess, persons: Persons, speaker: int
) -> None:
    room = new_room(shared.url, persons.host, seats=2)["code"]
    async with (
        inside(shared.url, room, persons.host) as first,
        inside(shared.url, room, persons.host) as second,
        inside(shared.url, room, persons.host) as third,
        inside(shared.url, room, persons.ben) as other,
    ):
        windows = [first, second, third]
        chosen = windows.pop(speaker)
        await chosen.done("sit")
        assert await chosen.wait_for("seat") == ["seat", 0]
        for window in windows:
            end = await window.end()
            assert (end.code, end.reason) == (4409, "replaced")
        await chosen.done("ready")
        assert (await other.wait_for("presence", [0], 1))[0] == "presence"
        described = ask_http(shared.url, "GET", f"/v1/rooms/{room}", None, bearer(persons.ben))
        assert described.document["taken"] == 1


async def test_a_person_who_watches_may_do_so_from_several_windows(
    shared: ServerProcess, persons: Persons
) -> None:
    room = new_room(shared.url, persons.host, seats=2)["code"]
    async with (
        inside(shared.url, room, persons.zoe) as first,
        inside(shared.url, room, persons.zoe) as second,
    ):
        await first.quiet()
        assert await second.refused("ready") == "not_seated"
        await first.quiet()


# Tokens


def test_a_person_ends_their_own_tokens_and_nobody_elses(shared: ServerProcess) -> None:
    ann, ben = (
        ask_http(shared.url, "POST", "/v1/guests", {"name": name}).document
        for name in ("Ann", "Ben")
    )
    for body in ({"id": ben["id"]}, {"token": ben["token"]}):
        for path in ("/v1/me/revoke", "/v1/me/tokens"):
            asked = ask_http(shared.url, "POST", path, body, bearer(ann["token"]))
            assert (asked.status, asked.code) == (400, "bad_request")
    newer = ask_http(shared.url, "POST", "/v1/me/tokens", {}, bearer(ann["token"]))
    assert newer.document["id"] == ann["id"]
    assert ask_http(shared.url, "POST", "/v1/me/revoke", {}).code == "unauthorized"
    assert ask_http(shared.url, "POST", "/v1/me/revoke", {}, bearer(ann["token"])).status == 200
    for token in (ann["token"], newer.document["token"]):
        refused = ask_http(shared.url, "GET", "/v1/me/rooms", None, bearer(token))
        assert (refused.status, refused.code) == (401, "unauthorized")
    assert ask_http(shared.url, "GET", "/v1/me/rooms", None, bearer(ben["token"])).status == 200
