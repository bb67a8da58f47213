"""The lobby as its users see it: two servers on one store of each kind, sockets and HTTP."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.end_to_end.games import QUICK
from tests.end_to_end.raw import (
    BOTH,
    JSON,
    MSGPACK,
    Answer,
    Raw,
    ask,
    bearer,
    connected,
    inside,
    new_guest,
    new_room,
)
from tests.end_to_end.servers import LIMITS, ServerProcess, running
from tests.end_to_end.test_http import held
from tests.store import engines
from towerhall_client.connection import connect
from towerhall_client.http import Service
from towerhall_client.lobby import look_at_lobby
from towerhall_protocol.commands import base64url
from towerhall_protocol.lobby import Filter
from towerhall_protocol.merge_patch import apply
from towerhall_server.access.tokens import Tokens, new_person

KEY = secrets.token_urlsafe(32)
MORE = LIMITS | {
    "TOWERHALL_TOKEN_KEYS": KEY,
    "TOWERHALL_LIMIT_HISTORY": "1000/s burst 1000",
    "TOWERHALL_LIMIT_HELLO_SECONDS": "1",
    "TOWERHALL_SIGNING_KEYS": base64url(bytes(range(32))),
}
LOBBY = "/v1/lobby"
TRACES = ("Traceback", " ERROR ", " WARNING ")


class Pair(NamedTuple):
    """Two servers of one service."""

    one: ServerProcess
    other: ServerProcess


@pytest.fixture(scope="module", params=engines.KINDS)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("pair")
    with engines.running(request.param, folder / "store") as engine:
        flags = ("--redis-url", engine.url)
        with (
            running(folder / "one", *flags, limits=MORE) as one,
            running(folder / "other", *flags, limits=MORE) as other,
        ):
            yield Pair(one, other)
            for server in (one, other):
                assert not any(trace in server.log for trace in TRACES), server.log


@pytest.fixture(scope="module")
def token(pair: Pair) -> str:
    return new_guest(pair.one.url)


@asynccontextmanager
async def lobby(
    url: str, subprotocol: str = MSGPACK, *, receive_bytes: int | None = None
) -> AsyncIterator[Raw]:
    """A socket to the lobby that has not said anything yet."""
    async with connected(url, "", subprotocol, receive_bytes=receive_bytes, path=LOBBY) as raw:
        yield raw


class Watch:
    """The list as one connection sees it."""

    def __init__(self, raw: Raw, shown: dict[str, Any]) -> None:
        self.raw = raw
        self.list = shown

    @property
    def rooms(self) -> dict[str, Any]:
        found: dict[str, Any] = self.list["rooms"]
        return found

    async def hear(self) -> None:
        match await self.raw.hear():
            case ["patch", patch]:
                self.list = apply(self.list, patch)
            case ["reset", shown]:
                self.list = shown

    async def until(self, code: str, **wanted: object) -> None:
        """Wait until a room is shown like this; without `wanted`, until it is not shown."""
        while True:
            room = self.rooms.get(code)
            if wanted and room is not None and wanted.items() <= room.items():
                return
            if not wanted and room is None:
                return
            await self.hear()


@asynccontextmanager
async def looking(
    url: str, token: str, subprotocol: str = MSGPACK, **wanted: object
) -> AsyncIterator[Watch]:
    async with lobby(url, subprotocol) as raw:
        await raw.say("hello", {"token": token, "level": 1, "filter": wanted})
        name, arrival = await raw.hear()
        assert name == "welcome"
        yield Watch(raw, arrival["list"])


@pytest.mark.parametrize("subprotocol", BOTH)
async def test_what_happens_at_one_server_is_seen_at_the_other(
    pair: Pair, token: str, subprotocol: str
) -> None:
    async with (
        looking(pair.one.url, token, subprotocol, game="five_towers") as everything,
        looking(pair.other.url, token, subprotocol, status="waiting", free=1) as joinable,
        looking(pair.other.url, token, subprotocol, game="chess") as nothing,
    ):
        code = new_room(pair.other.url, token, seats=2)["code"]
        await everything.until(code, status="waiting", taken=0, seats=2)
        await joinable.until(code, taken=0)
        async with inside(pair.one.url, code, token) as host:
            await host.done("sit")
            await everything.until(code, taken=1, names=["Ada"])
            await host.done("add_bot")
            await joinable.until(code)
            await host.done("start")
            await everything.until(code, status="playing", taken=2)
        private = new_room(pair.one.url, token, seats=2, private=True)["code"]
        last = new_room(pair.one.url, token, seats=2)["code"]
        await everything.until(last, taken=0)
        assert private not in everything.rooms
        assert nothing.rooms == {}
        async with looking(pair.one.url, token, subprotocol, game="five_towers") as late:
            # Only the rooms: each node hears by itself how many people are online.
            assert late.rooms == everything.rooms


async def test_another_filter_shows_other_rooms(pair: Pair, token: str) -> None:
    code = new_room(pair.one.url, token, seats=2)["code"]
    async with looking(pair.one.url, token, status="playing") as watch:
        assert code not in watch.rooms
        await watch.raw.say("filter", {"status": "waiting"})
        await watch.until(code, status="waiting")
        await watch.raw.say("filter", {"stauts": "waiting"})
        assert (await watch.raw.wait_for("error"))[1] == "malformed_message"
        await watch.raw.say("filter", {})
        await watch.until(code, status="waiting")


@pytest.mark.parametrize("subprotocol", BOTH)
async def test_nothing_is_heard_before_hello_and_nonsense_has_its_code(
    pair: Pair, token: str, subprotocol: str
) -> None:
    async with lobby(pair.one.url, subprotocol) as raw:
        for message in (["filter", {}], ["ping", 1]):
            await raw.say(*message)
            assert (await raw.hear())[:2] == ["error", "hello_expected"]
        for filter_ in ({"gmae": ""}, {"free": -1}, {"status": "over"}, "x" * 400, 7):
            await raw.say("hello", {"token": token, "level": 1, "filter": filter_})
            assert (await raw.hear())[:2] == ["error", "malformed_message"]
        await raw.say("hello", {"token": token, "level": 1})
        assert (await raw.hear())[0] == "welcome"
        await raw.say("hello", {"token": token, "level": 1})
        assert (await raw.wait_for("error"))[1] == "hello_expected"
        await raw.say("command", 1, "", {"command": "sit"})
        assert (await raw.wait_for("error"))[1] == "unknown_message"
        name, seq, now = await pong(raw)
        assert (name, seq, now[1]) == ("pong", 5, 0)


async def pong(raw: Raw) -> list[Any]:
    await raw.say("ping", 5)
    return await raw.wait_for("pong")


async def test_whoever_may_not_look_is_told_why(pair: Pair, token: str) -> None:
    stranger = Tokens([secrets.token_urlsafe(32)], 90).issue(new_person("Mallory"))
    for bad in ("", "xyzzy", stranger, f"{token}A"):
        async with lobby(pair.one.url) as raw:
            await raw.say("hello", {"token": bad, "level": 1})
            end = await raw.end()
            assert (end.error, end.code) == ("unauthorized", 4401)
    async with lobby(pair.one.url) as raw:
        await raw.say("hello", {"token": token, "level": 0})
        end = await raw.end()
        assert (end.error, end.code) == ("level_too_old", 4410)
    async with lobby(pair.one.url) as raw:
        end = await raw.end()
        assert (end.error, end.code) == ("hello_late", 4408)
    async with lobby(pair.one.url) as raw:
        raw.burst(*(["dance"] for _ in range(12)))
        assert (await raw.end()).code == 4400
    async with lobby(pair.one.url) as raw:
        await raw.say("hello", {"token": "a" * 10_000, "level": 1})
        assert (await raw.end()).code == 1009


async def test_a_reader_that_falls_behind_gets_a_whole_list(pair: Pair, token: str) -> None:
    rooms = [new_room(pair.other.url, token, seats=2)["code"] for _ in range(120)]
    async with lobby(pair.one.url, receive_bytes=4096) as slow:
        await slow.say("hello", {"token": token, "level": 1})
        name, arrival = await slow.hear()
        assert name == "welcome"
        watch = Watch(slow, arrival["list"])
        await watch.until(rooms[-1], taken=0)
        # Each answer is a whole list; nobody reads them, so most are left out.
        slow.wire.transport.pause_reading()
        asked = 300
        slow.burst(*(["filter", {"free": number % 2}] for number in range(asked)))
        await asyncio.sleep(1.5)
        slow.wire.transport.resume_reading()
        heard = 0
        code = new_room(pair.other.url, token, seats=2)["code"]
        while code not in watch.rooms:
            await watch.hear()
            heard += 1
        assert heard < asked / 2
        await pong(slow)
        async with looking(pair.other.url, token, free=1) as fresh:
            await watch.until(code, taken=0)
            assert watch.rooms == fresh.rooms


async def test_a_server_that_stops_asks_those_who_look_to_go(tmp_path: Path) -> None:
    with running(tmp_path / "data", limits=MORE) as server:
        token = new_guest(server.url)
        async with looking(server.url, token, JSON) as goes, looking(server.url, token) as stays:
            stopping = asyncio.create_task(asyncio.to_thread(server.stop))
            assert (await goes.raw.wait_for("go"))[1] == 2000
            await goes.raw.wire.close()
            end = await stays.raw.end()
            assert (end.code, end.reason) == (1012, "restart")
            assert await stopping == 0
        assert "Traceback" not in server.log


# Coming together


def quickplay(server: ServerProcess, token: str, **wanted: object) -> Answer:
    body = {"game": "five_towers", **wanted}
    return ask(server.url, "POST", "/v1/quickplay", body, bearer(token))


async def test_those_who_ask_for_the_same_at_two_servers_sit_at_one_table_and_play(
    pair: Pair,
) -> None:
    guests = [new_guest(pair.one.url, f"guest {number}") for number in range(6)]
    answers = await asyncio.gather(
        *(
            asyncio.to_thread(quickplay, pair[number % 2], guest, seats=3)
            for number, guest in enumerate(guests)
        )
    )
    found = [answer.document for answer in answers]
    assert {answer.status for answer in answers} == {200}
    codes = [each["code"] for each in found]
    assert sorted(codes.count(code) for code in set(codes)) == [3, 3]
    assert {(each["code"], each["seat"]) for each in found} == {
        (code, seat) for code in codes for seat in range(3)
    }
    assert all(each["invite"] == f"/#/r/{each['code']}" for each in found)
    first = [number for number in range(6) if codes[number] == codes[0]]
    async with AsyncExitStack() as stack:
        players = [
            await stack.enter_async_context(
                inside(pair[(number + 1) % 2].url, codes[0], guests[number])
            )
            for number in first
        ]
        # As soon as everybody is ready, the room starts by itself.
        for player in players[:-1]:
            await player.done("ready")
        await players[-1].command("ready")
        for player in players:
            while "game" not in (await player.wait_for("frame"))[5]:
                pass
        again = quickplay(pair.one, guests[first[0]], seats=3).document
        assert again["code"] != codes[0]


def test_to_ask_again_changes_nothing_and_other_wishes_lead_elsewhere(pair: Pair) -> None:
    ann = new_guest(pair.one.url)
    first = quickplay(pair.one, ann, seats=4, turn_seconds=45).document
    assert quickplay(pair.other, ann, seats=4, turn_seconds=45).document == first
    assert quickplay(pair.one, ann, seats=4, turn_seconds=46).document["code"] != first["code"]
    options = {"options": {"preset": "spanish"}}
    other = quickplay(pair.one, ann, seats=4, turn_seconds=45, **options).document
    assert other["code"] != first["code"]
    single = {"options": {"bids": "table", "eight": "cap", "demolish_spire": True}}
    assert quickplay(pair.other, ann, seats=4, turn_seconds=45, **single).document == other


BAD_WISHES: list[tuple[object, str]] = [
    ({}, "bad_request"),
    ({"game": 7}, "bad_request"),
    ({"game": "chess"}, "unknown_game"),
    ({"game": "x" * 4000}, "unknown_game"),
    ({"game": "five_towers", "private": True}, "bad_request"),
    ({"game": "five_towers", "seats": 1}, "bad_options"),
    ({"game": "five_towers", "seats": "2"}, "bad_request"),
    ({"game": "five_towers", "turn_seconds": 4}, "bad_options"),
    ({"game": "five_towers", "options": {"bids": "wild"}}, "bad_options"),
    ({"game": "five_towers", "options": []}, "bad_request"),
    ([], "bad_request"),
    (b"not JSON", "bad_request"),
    (b"\xff\xfe", "bad_request"),
    (b"", "bad_request"),
    (b'{"game": "' + b"a" * 10_000 + b'"}', "message_too_large"),
]


@pytest.mark.parametrize(("body", "code"), BAD_WISHES)
def test_a_wish_that_makes_no_sense_has_its_code(
    pair: Pair, token: str, body: object, code: str
) -> None:
    assert ask(pair.one.url, "POST", "/v1/quickplay", body, bearer(token)).code == code


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/v1/quickplay"), ("GET", "/v1/me/rooms"), ("POST", "/v1/me/links")],
)
def test_nobody_asks_without_a_token(pair: Pair, token: str, method: str, path: str) -> None:
    for headers in ({}, bearer("xyzzy"), bearer(token + "A"), {"authorization": f"Basic {token}"}):
        answer = ask(pair.one.url, method, path, {"game": "five_towers"}, headers)
        assert (answer.status, answer.code) == (401, "unauthorized")


# One's own rooms


async def rooms_of(server: ServerProcess, token: str) -> dict[str, Any]:
    answer = await asyncio.to_thread(ask, server.url, "GET", "/v1/me/rooms", None, bearer(token))
    assert answer.status == 200
    return {room["code"]: room for room in answer.document["rooms"]}


async def test_ones_own_rooms_are_listed_at_every_server_with_whose_turn_it_is(pair: Pair) -> None:
    ann, bob = new_guest(pair.one.url, "Ann"), new_guest(pair.one.url, "Bob")
    assert await rooms_of(pair.one, bob) == {}
    made = new_room(pair.one.url, ann, seats=2, turn_seconds=60, private=True)
    code, key = made["code"], made["key"]
    async with (
        inside(pair.one.url, code, ann, key=key) as host,
        inside(pair.other.url, code, bob, key=key) as guest,
    ):
        assert (await rooms_of(pair.other, ann))[code]["host"] is True
        assert code not in await rooms_of(pair.other, bob)
        await host.done("sit")
        await guest.done("sit")
        await guest.done("ready")
        waiting = (await rooms_of(pair.one, bob))[code]
        assert (waiting["status"], waiting["seat"], waiting["your_turn"]) == ("waiting", 1, False)
        await host.done("start")
        views = [(await rooms_of(server, person))[code] for server in pair for person in (ann, bob)]
        assert all(view["private"] and view["status"] == "playing" for view in views)
        assert len({tuple(view["to_act"]) for view in views}) == 1
        assert sum(view["your_turn"] for view in views) == 2
        assert all(0 < view["left_ms"] <= 60_000 for view in views)
        assert [view["seat"] for view in views] == [0, 1, 0, 1]
    # A seat opens the door, also without the key; nobody else gets in.
    async with inside(pair.one.url, code, bob) as back:
        await back.quiet()
    async with connected(pair.one.url, code) as raw:
        await raw.hello(new_guest(pair.one.url))
        assert (await raw.end()).code == 4404


# Links


def test_a_link_makes_another_device_the_same_person_once(pair: Pair) -> None:
    ann = ask(pair.one.url, "POST", "/v1/guests", {"name": "Ann"}).document
    code = new_room(pair.one.url, ann["token"], seats=2)["code"]
    made = ask(pair.one.url, "POST", "/v1/me/links", {"room": code}, bearer(ann["token"]))
    assert made.status == 201
    assert set(made.document) == {"link", "expires"}
    link = made.document["link"].removeprefix("/#/l/")
    assert len(link) >= 22
    assert 0 < made.document["expires"] - time.time() * 1000 <= 601_000
    used = ask(pair.other.url, "POST", "/v1/links", {"code": link})
    assert used.status == 201
    assert used.document | {"token": ""} == {
        "token": "",
        "id": ann["id"],
        "name": "Ann",
        "room": code,
        "expires": ann["expires"],
    }
    mine = ask(pair.other.url, "GET", "/v1/me/rooms", None, bearer(used.document["token"]))
    assert [room["code"] for room in mine.document["rooms"]] == [code]
    for server in pair:
        gone = ask(server.url, "POST", "/v1/links", {"code": link})
        assert (gone.status, gone.code) == (404, "link_gone")
        assert link not in server.log
    plain = ask(pair.one.url, "POST", "/v1/me/links", {}, bearer(ann["token"])).document["link"]
    used = ask(pair.one.url, "POST", "/v1/links", {"code": plain.removeprefix("/#/l/")})
    assert set(used.document) == {"token", "id", "name", "expires"}


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("/v1/me/links", {"room": "nowhere"}, "room_gone"),
        ("/v1/me/links", {"rooms": "ABCDEF"}, "bad_request"),
        ("/v1/me/links", b"", "bad_request"),
        ("/v1/links", {}, "bad_request"),
        ("/v1/links", {"code": ""}, "link_gone"),
        ("/v1/links", {"code": "x" * 3000}, "link_gone"),
        ("/v1/links", {"code": 7}, "bad_request"),
        ("/v1/links", {"code": "\ud800"}, "bad_request"),
        ("/v1/links", b"[", "bad_request"),
    ],
)
def test_links_that_make_no_sense_have_their_code(
    pair: Pair, token: str, path: str, body: object, code: str
) -> None:
    assert ask(pair.one.url, "POST", path, body, bearer(token)).code == code


def test_questions_are_so_many_and_no_more(tmp_path: Path) -> None:
    limits = {
        "TOWERHALL_LIMIT_QUESTIONS_PER_IDENTITY": "3/h burst 3",
        "TOWERHALL_LIMIT_GUESTS_PER_IP": "3/h burst 3",
        "TOWERHALL_LIMIT_ROOMS_PER_IDENTITY": "1/h burst 1",
    }
    with running(tmp_path / "data", limits=limits) as server:
        ann, bob = new_guest(server.url), new_guest(server.url)
        assert quickplay(server, ann).status == 200
        refused = quickplay(server, ann, seats=3)
        assert (refused.status, refused.code) == (429, "too_many")
        assert int(refused.headers["retry-after"]) > 0
        # Whoever may not make a room may still sit down in one.
        assert quickplay(server, bob).status == 200
        assert ask(server.url, "GET", "/v1/me/rooms", None, bearer(ann)).status == 200
        for method, path in (("GET", "/v1/me/rooms"), ("POST", "/v1/me/links")):
            answer = ask(server.url, method, path, {}, bearer(ann))
            assert (answer.status, answer.code) == (429, "too_many")
            assert answer.document["error"]["params"]["retry_ms"] > 0
        assert ask(server.url, "POST", "/v1/links", {"code": "guess"}).code == "link_gone"
        assert ask(server.url, "POST", "/v1/links", {"code": "guess"}).code == "too_many"


async def test_a_store_that_is_silent_is_told_to_all_who_ask(tmp_path: Path) -> None:
    with running(tmp_path / "data", limits=MORE) as server:
        token = new_guest(server.url)
        async with looking(server.url, token):
            with held(server.engine_pid()):
                questions: tuple[tuple[str, str, object], ...] = (
                    ("POST", "/v1/quickplay", {"game": "five_towers"}),
                    ("GET", "/v1/me/rooms", None),
                    ("POST", "/v1/me/links", {}),
                    ("POST", "/v1/links", {"code": "guess"}),
                )
                answers = await asyncio.gather(
                    *(
                        asyncio.to_thread(ask, server.url, method, path, body, bearer(token))
                        for method, path, body in questions
                    )
                )
                for answer in answers:
                    assert (answer.status, answer.code) == (503, "store_unavailable")
        assert quickplay(server, token).status == 200
        assert "Traceback" not in server.log


# The Python client


async def test_the_library_looks_finds_plays_and_moves_to_another_device(pair: Pair) -> None:
    one, other = Service(pair.one.url), Service(pair.other.url)
    ann, bob = await one.guest("Ann"), await other.guest("Bob")
    async with look_at_lobby(
        pair.other.url, ann.token, Filter(status="waiting"), retry=QUICK
    ) as lobby:
        places = await asyncio.gather(
            one.quickplay(ann.token, "five_towers", turn_seconds=99),
            other.quickplay(bob.token, "five_towers", turn_seconds=99),
        )
        assert places[0].code == places[1].code
        code = places[0].code
        await lobby.until(lambda: lobby.rooms.get(code, {}).get("taken") == 2)
        (mine,) = await other.my_rooms(ann.token)
        assert (mine["code"], mine["seat"]) == (code, places[0].seat)
        moved = await other.use_link((await one.new_link(ann.token, code)).code)
        assert (moved.id, moved.room) == (ann.id, code)
        async with connect(pair.other.url, code, moved.token, retry=QUICK) as table:
            assert table.seat == places[0].seat
            await table.ready()
            await lobby.choose(Filter(status="playing"))
            await lobby.until(lambda: code not in lobby.rooms)
