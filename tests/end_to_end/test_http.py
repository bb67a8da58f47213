"""What is asked over HTTP: every address with what it takes, and everything that it does not."""

import asyncio
import os
import re
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.end_to_end.games import play_out, seated
from tests.end_to_end.raw import (
    Answer,
    ask,
    bearer,
    connected,
    denied,
    inside,
    new_guest,
    new_room,
)
from tests.end_to_end.servers import ServerProcess, running
from towerhall_client.http import Service
from towerhall_protocol.level import LEVEL, OLDEST_LEVEL

NOWHERE = "ZZZZZZ"
ROUTES = {
    "/v1/guests": {"POST"},
    "/v1/games": {"GET"},
    "/v1/rooms": {"GET", "POST"},
    "/v1/quickplay": {"POST"},
    "/v1/me/rooms": {"GET"},
    "/v1/me/links": {"POST"},
    "/v1/me/tokens": {"POST"},
    "/v1/me/revoke": {"POST"},
    "/v1/links": {"POST"},
    f"/v1/rooms/{NOWHERE}": {"GET"},
    f"/v1/rooms/{NOWHERE}/record": {"GET"},
    "/healthz": {"GET"},
    "/readyz": {"GET"},
}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "DANCE")
PROTECTING = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


@pytest.fixture(autouse=True)
def calm_log(shared: ServerProcess) -> Iterator[None]:
    """Nothing that is asked is worth a line in the log."""
    before = len(shared.log)
    yield
    assert shared.log[before:] == ""


@pytest.fixture(scope="module")
def token(shared: ServerProcess) -> str:
    return new_guest(shared.url)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that allows little, and that tells all it can."""
    limits = {
        "TOWERHALL_LIMIT_GUESTS_PER_IP": "6/h burst 6",
        "TOWERHALL_LIMIT_ROOMS_PER_IDENTITY": "2/h burst 2",
        "TOWERHALL_LIMIT_SOCKETS_PER_IP": "6",
        "TOWERHALL_LIMIT_SOCKETS_PER_IDENTITY": "2",
        "TOWERHALL_LIMIT_SPECTATORS_PER_ROOM": "1",
    }
    folder = tmp_path_factory.mktemp("small") / "data"
    with running(folder, "--log-level", "debug", limits=limits) as process:
        yield process


@pytest.fixture(scope="module")
def guests(small: ServerProcess) -> list[str]:
    """All persons that the small server has."""
    return [new_guest(small.url, name) for name in ("Ann", "Ben", "Cyd", "Dan", "Eve")]


# What is right


def test_a_guest_gets_a_token_an_id_and_the_name_as_others_see_it(shared: ServerProcess) -> None:
    first, second = (ask(shared.url, "POST", "/v1/guests", {"name": " Ada "}) for _ in range(2))
    assert first.status == second.status == 201
    assert set(first.document) == {"token", "id", "name", "expires"}
    assert first.document["name"] == "Ada"
    assert len(first.document["id"]) == 11
    assert first.document["id"] != second.document["id"]


def test_games_are_listed_with_all_that_a_lobby_needs(shared: ServerProcess, token: str) -> None:
    answer = ask(shared.url, "GET", "/v1/games")
    assert answer.status == 200
    assert answer.document["level"] == {"oldest": OLDEST_LEVEL, "newest": LEVEL}
    (game,) = [each for each in answer.document["games"] if each["name"] == "five_towers"]
    assert game["seats"] == [2, 5]
    assert game["levels"] == ["easy", "medium", "hard"]
    assert set(game) >= {"version", "options", "presets", "reasons"}
    for name, option in game["options"].items():
        assert option["default"] in option["values"]
        assert option["text"] == f"five_towers.{name}"
        assert len(option["texts"]) == len(option["values"])
    texts = [text for option in game["options"].values() for text in option["texts"]]
    assert "five_towers.bids.strict" in texts
    assert "five_towers.auto_pass.true" in texts
    assert len(set(texts)) == len(texts)
    assert game["preset_texts"].keys() == game["presets"].keys()
    assert game["level_texts"].keys() == set(game["levels"])
    # Whatever is said to be possible is.
    for name, spans in answer.document["clocks"].items():
        for span in spans:
            for number in span:
                assert new_room(shared.url, token, **{name: number})["code"]
        outside = {name: spans[-1][1] + 1}
        refused = ask(
            shared.url, "POST", "/v1/rooms", {"game": "five_towers", **outside}, bearer(token)
        )
        assert refused.code == "bad_options"
    assert answer.document["limits"]["chat_characters"] == 300


def test_a_room_is_made_and_can_be_looked_up(shared: ServerProcess, token: str) -> None:
    made = new_room(shared.url, token, seats=3, turn_seconds=30, bot_delay_ms=0)
    assert set(made) == {"code", "uid", "commitment", "invite", "signed"}
    assert made["invite"] == f"/#/r/{made['code']}"
    assert [len(made[key]) for key in ("code", "uid", "commitment")] == [6, 22, 43]
    answer = ask(shared.url, "GET", f"/v1/rooms/{made['code']}")
    assert answer.status == 200
    described = answer.document
    assert described["code"] == made["code"]
    assert (described["game"], described["status"]) == ("five_towers", "waiting")
    assert (described["seats"], described["taken"], described["names"]) == (3, 0, [])
    assert (described["turn_seconds"], described["bot_delay_ms"]) == (30, 0)


@pytest.mark.parametrize(
    "wanted",
    [
        {"seats": 2},
        {"seats": 5, "turn_seconds": 5},
        {"turn_seconds": 600, "bot_delay_ms": 10_000},
        {"turn_seconds": 0, "options": {}},
        {"options": {"preset": "standard"}, "private": False},
    ],
)
def test_everything_up_to_its_limits_is_taken(
    shared: ServerProcess, token: str, wanted: dict[str, object]
) -> None:
    assert "key" not in new_room(shared.url, token, **wanted)


async def test_public_rooms_are_listed_private_ones_are_not(
    shared: ServerProcess, token: str
) -> None:
    public = new_room(shared.url, token, seats=2)
    private = new_room(shared.url, token, seats=2, private=True)
    async with inside(shared.url, public["code"], token) as raw:
        await raw.done("sit")
    rooms: dict[str, Any] = {}
    deadline = time.monotonic() + 5
    while rooms.get(public["code"], {}).get("taken") != 1:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)
        answer = ask(shared.url, "GET", "/v1/rooms")
        assert answer.status == 200
        rooms = {room["code"]: room for room in answer.document["rooms"]}
    assert rooms[public["code"]]["names"] == ["Ada"]
    assert private["code"] not in rooms
    assert private["key"] not in str(rooms)


async def test_the_list_of_rooms_is_read_page_by_page(shared: ServerProcess, token: str) -> None:
    made = {new_room(shared.url, token, seats=2)["code"] for _ in range(3)}
    deadline = time.monotonic() + 5
    found: list[str] = []
    while not made <= set(found):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)
        after, found = "", []
        while True:
            path = f"/v1/rooms?game=five_towers&free=1&limit=2&after={after}"
            page = ask(shared.url, "GET", path).document
            assert len(page["rooms"]) <= 2
            found += [room["code"] for room in page["rooms"]]
            assert ("next" in page) is ("more" in page)
            if not (after := page.get("next", "")):
                break
    assert len(found) == len(set(found))
    assert ask(shared.url, "GET", "/v1/rooms?game=chess").document == {"rooms": []}
    for wrong in ("limit=501", "limit=many", "status=over", f"after={'A' * 41}"):
        refused = ask(shared.url, "GET", f"/v1/rooms?{wrong}")
        assert (refused.status, refused.code) == (400, "bad_request"), wrong


def test_a_private_room_shows_itself_to_its_key_alone(shared: ServerProcess, token: str) -> None:
    made = new_room(shared.url, token, private=True)
    assert len(made["key"]) >= 12
    assert made["invite"] == f"/#/r/{made['code']}/{made['key']}"
    path = f"/v1/rooms/{made['code']}"
    assert ask(shared.url, "GET", path, None, {"towerhall-key": made["key"]}).status == 200
    absent = ask(shared.url, "GET", f"/v1/rooms/{NOWHERE}")
    assert (absent.status, absent.code) == (404, "room_gone")
    for tail in ("", "/record"):
        for headers in ({}, {"towerhall-key": ""}, {"towerhall-key": made["key"][:-1] + "~"}):
            hidden = ask(shared.url, "GET", path + tail, None, headers | bearer(token))
            assert without_date(hidden) == without_date(absent)
    assert ask(shared.url, "GET", f"{path}?key={made['key']}").code == "room_gone"


def without_date(answer: Answer) -> tuple[int, dict[str, str], bytes]:
    headers = {name: value for name, value in answer.headers.items() if name != "date"}
    return answer.status, headers, answer.body


async def test_the_record_is_there_when_the_game_is_over_and_not_before(
    shared: ServerProcess,
) -> None:
    async with seated(Service(shared.url), 2) as (made, tables):
        path = f"/v1/rooms/{made.code}/record"
        for step in (lambda: asyncio.sleep(0), tables[0].start):
            await step()
            early = await asyncio.to_thread(ask, shared.url, "GET", path)
            assert (early.status, early.code) == (409, "record_not_ready")
        room: Any = (await play_out(tables))[0]["room"]
        answer = await asyncio.to_thread(ask, shared.url, "GET", path)
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["x-content-type-options"] == "nosniff"
    record = answer.document
    assert record["code"] == made.code
    assert record["result"] == room["result"]
    assert len(record["commits"]) == len(record["frames"]) == tables[0].seq
    assert ask(shared.url, "GET", f"/v1/rooms/{made.code}").document["status"] == "over"
    await asyncio.sleep(0.6)
    listed = ask(shared.url, "GET", "/v1/rooms").document["rooms"]
    assert made.code not in [room["code"] for room in listed]


def test_a_server_that_runs_and_can_serve_says_so(shared: ServerProcess) -> None:
    assert ask(shared.url, "GET", "/healthz").document == {"status": "ok"}
    ready = ask(shared.url, "GET", "/readyz")
    assert (ready.status, ready.document["status"]) == (200, "ok")
    assert ready.document["rooms"] >= 0


# What is wrong


@pytest.mark.parametrize("path", ROUTES)
def test_another_method_is_refused_with_a_code(shared: ServerProcess, path: str) -> None:
    for method in METHODS:
        if method in ROUTES[path]:
            continue
        answer = ask(shared.url, method, path)
        assert (answer.status, answer.code) == (405, "method_not_allowed")
        assert answer.document["error"]["params"] == {"method": method}


@pytest.mark.parametrize(
    "path",
    [
        *("/v1", "/v2/rooms", "/v1/rooms/A/B", "/.env", "/v1/guests/x", "/%00", "/..%2f..%2fetc"),
        *("//", "/v1/rooms/", "/v1/guests/", "/healthz/", f"/v1/rooms/{NOWHERE}/"),
    ],
)
def test_an_unknown_address_is_refused_with_a_code(shared: ServerProcess, path: str) -> None:
    for method in ("GET", "POST"):
        answer = ask(shared.url, method, path)
        assert (answer.status, answer.code) == (404, "not_found")


@pytest.mark.parametrize("rest", ["/", "/record", "/a/b"])
async def test_a_socket_to_an_unknown_address_is_refused_with_a_code(
    shared: ServerProcess, rest: str
) -> None:
    answer = await denied(shared.url, NOWHERE + rest)
    assert (answer.status, answer.code) == (404, "not_found")


@pytest.mark.parametrize("code", [NOWHERE, "zzzzzz", "A", "A" * 300, "IOIOIO", "%C3%84%00", "' OR"])
def test_a_room_that_is_not_there_is_gone(shared: ServerProcess, code: str) -> None:
    for tail in ("", "/record"):
        answer = ask(shared.url, "GET", f"/v1/rooms/{code.replace(' ', '%20')}{tail}")
        assert (answer.status, answer.code) == (404, "room_gone")


BODIES: dict[str, bytes | None] = {
    "nothing": None,
    "an empty body": b"",
    "no JSON": b"name=Ada",
    "half of it": b'{"name":"Ada"',
    "more than one": b"{}{}",
    "an array": b"[]",
    "null": b"null",
    "a number": b"7",
    "no fields": b"{}",
    "a field that is not listed": b'{"name":"Ada","game":"five_towers","admin":true}',
    "null for all": b'{"name":null,"game":null}',
    "numbers for all": b'{"name":7,"game":7}',
    "half a surrogate pair": b'{"name":"\\ud800","game":"\\ud800"}',
    "no UTF-8": b'{"name":"\xff","game":"\xff"}',
    "a key twice": b'{"name":"Ada","game":"five_towers","name":"Ben","game":"five_towers"}',
    "a key twice, spelt in two ways": b'{"name":"Ada","game":"five_towers","n\\u0061me":"Ada"}',
    "a key twice, deep inside": b'{"game":"five_towers","options":{"eight":"base","eight":"base"}}',
    "deep": b"[" * 4000,
    "deep inside": b'{"options":' + b'{"a":' * 600 + b"1" + b"}" * 601,
}


@pytest.mark.parametrize("path", ["/v1/guests", "/v1/rooms"])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_body_of_the_wrong_form_is_a_bad_request(
    shared: ServerProcess, token: str, path: str, body: bytes | None
) -> None:
    answer = ask(shared.url, "POST", path, body, bearer(token))
    assert (answer.status, answer.code) == (400, "bad_request")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/rooms", b'{"game":"five_towers","seats":2,"seats":2}'),
        ("/v1/rooms", b'{"game":"five_towers","options":{"eight":"base","eight":"base"}}'),
        ("/v1/guests", b'{"name":"Ada","name":"Ada"}'),
        ("/v1/links", b'{"code":"x","code":"x"}'),
        ("/v1/me/links", b'{"room":"","r\\u006fom":""}'),
        ("/v1/me/revoke", b'{"others":true,"others":true}'),
        ("/v1/quickplay", b'{"game":"five_towers","game":"five_towers"}'),
    ],
)
def test_a_key_that_occurs_twice_is_told_even_if_both_say_the_same(
    shared: ServerProcess, token: str, path: str, body: bytes
) -> None:
    answer = ask(shared.url, "POST", path, body, bearer(token))
    assert (answer.status, answer.code) == (400, "bad_request")
    assert answer.document["error"]["params"] == {"detail": "a key occurs twice"}


OTHER_TYPES = (
    "",
    "text/plain",
    "text/plain; charset=application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "application/json-patch+json",
    "text/json",
    "json",
)


@pytest.mark.parametrize("path", [path for path, methods in ROUTES.items() if "POST" in methods])
@pytest.mark.parametrize("declared", OTHER_TYPES)
def test_a_body_that_is_not_declared_as_json_is_refused(
    shared: ServerProcess, path: str, declared: str
) -> None:
    body = {"name": "Ada"} if path == "/v1/guests" else {"game": "five_towers"}
    headers = bearer(new_guest(shared.url)) | {"content-type": declared}
    answer = ask(shared.url, "POST", path, body, headers)
    assert (answer.status, answer.code) == (415, "wrong_content_type")
    assert answer.document["error"]["params"] == {"wanted": "application/json"}


@pytest.mark.parametrize(
    "declared",
    [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json ",
    ],
)
def test_json_may_be_declared_with_parameters(shared: ServerProcess, declared: str) -> None:
    headers = {"content-type": declared}
    assert ask(shared.url, "POST", "/v1/guests", {"name": "Ada"}, headers).status == 201


def test_a_page_of_another_place_cannot_spend_the_rate_of_a_visitor(tmp_path: Path) -> None:
    limits = {"TOWERHALL_LIMIT_GUESTS_PER_IP": "1/h burst 1"}
    with running(tmp_path / "data", limits=limits) as server:
        plain = {"content-type": "text/plain", "origin": "https://stranger.example"}
        for path in ("/v1/guests", "/v1/links", "/v1/guests"):
            assert ask(server.url, "POST", path, {"name": "Eve"}, plain).status == 415
        assert ask(server.url, "POST", "/v1/guests", {"name": "Ada"}).status == 201


@pytest.mark.parametrize("path", ["/v1/guests", "/v1/rooms"])
def test_a_body_beyond_4_kib_is_too_large(shared: ServerProcess, token: str, path: str) -> None:
    for size in (4097, 200_000):
        answer = ask(shared.url, "POST", path, b" " * size, bearer(token))
        assert (answer.status, answer.code) == (413, "message_too_large")
        assert answer.document["error"]["params"] == {"most": 4096}
    full = b'{"name":"Ada"}'.ljust(4096)
    assert ask(shared.url, "POST", "/v1/guests", full).status == 201


def test_whoever_hangs_up_in_the_middle_of_a_body_is_no_fault(
    shared: ServerProcess, token: str
) -> None:
    place = urlsplit(shared.url)
    for path in ("/v1/guests", "/v1/rooms"):
        with socket.create_connection((place.hostname, place.port)) as wire:
            head = f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n"
            head += "Content-Type: application/json\r\n"
            wire.sendall(f'{head}Authorization: Bearer {token}\r\n\r\n{{"name":'.encode())
            time.sleep(0.05)
        time.sleep(0.05)
    assert ask(shared.url, "GET", "/healthz").status == 200


@pytest.mark.parametrize(
    ("wanted", "status", "code"),
    [
        ({"game": "chess"}, 404, "unknown_game"),
        ({"game": ""}, 404, "unknown_game"),
        ({"game": "x" * 1000}, 404, "unknown_game"),
        ({"seats": 1}, 400, "bad_options"),
        ({"seats": 6}, 400, "bad_options"),
        ({"seats": -1}, 400, "bad_options"),
        ({"seats": 2**53}, 400, "bad_options"),
        ({"seats": 2**70}, 400, "bad_options"),
        ({"seats": "3"}, 400, "bad_request"),
        ({"seats": True}, 400, "bad_request"),
        ({"seats": 2.5}, 400, "bad_request"),
        ({"turn_seconds": 4}, 400, "bad_options"),
        ({"turn_seconds": 601}, 400, "bad_options"),
        ({"turn_seconds": -5}, 400, "bad_options"),
        ({"turn_seconds": [None]}, 400, "bad_request"),
        ({"bot_delay_ms": -1}, 400, "bad_options"),
        ({"bot_delay_ms": 10_001}, 400, "bad_options"),
        ({"private": "yes"}, 400, "bad_request"),
        ({"private": 1}, 400, "bad_request"),
        ({"options": []}, 400, "bad_request"),
        ({"options": {"colour": "red"}}, 400, "bad_options"),
        ({"options": {"preset": "wrong"}}, 400, "bad_options"),
        ({"options": {"preset": ["standard"]}}, 400, "bad_options"),
        ({"options": {"preset": {}}}, 400, "bad_options"),
        ({"options": {"bids": "wrong"}}, 400, "bad_options"),
        ({"options": {"bids": ["strict"]}}, 400, "bad_options"),
        ({"options": {"": 1}}, 400, "bad_options"),
    ],
)
def test_a_room_that_cannot_be_made_is_refused_with_its_reason(
    shared: ServerProcess, token: str, wanted: dict[str, object], status: int, code: str
) -> None:
    body = {"game": "five_towers", **wanted}
    answer = ask(shared.url, "POST", "/v1/rooms", body, bearer(token))
    assert (answer.status, answer.code) == (status, code)
    assert "?" not in answer.document["error"]["hint"]


def test_without_a_good_token_no_room_is_made(shared: ServerProcess, token: str) -> None:
    cases: tuple[dict[str, str], ...] = (
        {},
        {"authorization": ""},
        {"authorization": token},
        {"authorization": f"Basic {token}"},
        bearer(""),
        bearer("nonsense"),
        bearer(f"{token}A"),
        bearer(token[:-1]),
        bearer("a" * 10_000),
        {"cookie": f"token={token}"},
    )
    for headers in cases:
        # Whoever may not ask learns nothing of what is wrong with the question.
        for body in ({"game": "five_towers"}, {"game": "chess"}, b"nonsense"):
            answer = ask(shared.url, "POST", "/v1/rooms", body, headers)
            assert (answer.status, answer.code) == (401, "unauthorized")
            assert answer.headers["www-authenticate"] == "Bearer"
    in_address = ask(shared.url, "POST", f"/v1/rooms?token={token}", {"game": "five_towers"})
    assert in_address.code == "unauthorized"


def test_every_answer_carries_the_headers_that_protect(shared: ServerProcess, token: str) -> None:
    for answer in (
        ask(shared.url, "GET", "/v1/games"),
        ask(shared.url, "GET", "/v1/rooms"),
        ask(shared.url, "GET", "/healthz"),
        ask(shared.url, "GET", "/readyz"),
        ask(shared.url, "POST", "/v1/guests", {"name": "Ada"}),
        ask(shared.url, "POST", "/v1/guests", {}),
        ask(shared.url, "POST", "/v1/rooms", {"game": "five_towers"}, bearer(token)),
        ask(shared.url, "POST", "/v1/rooms", {}),
        ask(shared.url, "GET", f"/v1/rooms/{NOWHERE}"),
        ask(shared.url, "DELETE", "/v1/rooms"),
        ask(shared.url, "GET", "/nowhere"),
    ):
        assert answer.headers["content-type"] == "application/json"
        assert PROTECTING.items() <= answer.headers.items()
        # Pages of other places may not read this, and nobody is told what serves it.
        assert not any(name.startswith("access-control-") for name in answer.headers)
        assert "server" not in answer.headers
        assert "set-cookie" not in answer.headers


def test_the_page_may_run_nothing_but_its_own_script(shared: ServerProcess) -> None:
    document = ask(shared.url, "GET", "/").body.decode()
    scripts = re.findall(r'src="\./([^"]+\.js)"', document)
    assert scripts != []
    for path in ("/", *(f"/{script}" for script in scripts)):
        answer = ask(shared.url, "GET", path)
        assert answer.status == 200
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'self'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"


# Limits, secrets and a store that does not answer


async def test_every_limit_is_told_with_the_time_to_come_back(
    small: ServerProcess, guests: list[str]
) -> None:
    ann, ben, cyd, *_ = guests
    code = new_room(small.url, ann, seats=2)["code"]
    new_room(small.url, ann)
    refused = ask(small.url, "POST", "/v1/rooms", {"game": "five_towers"}, bearer(ann))
    assert (refused.status, refused.code) == (429, "too_many")
    seconds = int(refused.headers["retry-after"])
    assert 0 < seconds <= 1800
    assert (seconds - 1) * 1000 < refused.document["error"]["params"]["retry_ms"] <= seconds * 1000
    async with inside(small.url, code, ann) as host:
        # One watcher is the most; whoever sits does not watch.
        async with connected(small.url, code) as raw:
            await raw.hello(ben)
            end = await raw.end()
            assert (end.error, end.code) == ("busy", 1013)
            assert end.messages[-1][2]["retry_ms"] > 0
        await host.done("sit")
        async with inside(small.url, code, ben), connected(small.url, NOWHERE) as fourth:
            async with (
                connected(small.url, NOWHERE),
                connected(small.url, NOWHERE),
                connected(small.url, NOWHERE),
            ):
                answer = await denied(small.url, code)
                assert (answer.status, answer.code) == (429, "too_many")
                assert int(answer.headers["retry-after"]) > 0
            await fourth.hello(cyd)
            assert (await fourth.end()).code == 4404
    # Whoever has left makes room again.
    async with inside(small.url, code, cyd) as raw:
        await raw.quiet()


async def test_a_person_has_so_many_connections_and_no_more(
    small: ServerProcess, guests: list[str]
) -> None:
    dan = guests[3]
    codes = [new_room(small.url, dan)["code"] for _ in range(2)]
    async with (
        inside(small.url, codes[0], dan),
        inside(small.url, codes[1], dan),
        connected(small.url, NOWHERE) as third,
    ):
        await third.hello(dan)
        end = await third.end()
        assert (end.error, end.code) == ("busy", 1013)
    async with inside(small.url, codes[0], dan) as raw:
        await raw.quiet()


def test_guests_of_one_address_are_so_many_and_no_more(
    small: ServerProcess, guests: list[str]
) -> None:
    # The sixth has a bad name, and counts all the same: refusals cost as much as names.
    assert ask(small.url, "POST", "/v1/guests", {"name": ""}).code == "bad_name"
    # Nobody believes what a header says about the address.
    for headers in ({}, {"x-forwarded-for": "203.0.113.7"}, {"forwarded": "for=203.0.113.7"}):
        answer = ask(small.url, "POST", "/v1/guests", {"name": "Fay"}, headers)
        assert (answer.status, answer.code) == (429, "too_many")
        assert 0 < int(answer.headers["retry-after"]) <= 600


async def test_no_secret_is_in_the_log(small: ServerProcess, guests: list[str]) -> None:
    eve = guests[4]
    made = new_room(small.url, eve, private=True)
    code, key = made["code"], made["key"]
    ask(small.url, "GET", f"/v1/rooms/{code}", None, {"towerhall-key": key} | bearer(eve))
    async with inside(small.url, code, eve, key=key) as raw:
        await raw.say("chat", "between you and me")
        await raw.wait_for("chat")
        await raw.say("hello", {"token": eve})
        await raw.quiet()
    assert len(small.log) > 100
    for secret in (*guests, *(token.split(".")[2] for token in guests), key, "you and me"):
        assert secret not in small.log
    assert "Traceback" not in small.log


@contextmanager
def held(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


async def test_a_store_that_does_not_answer_is_told_and_nothing_hangs(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server:
        token = new_guest(server.url)
        code = new_room(server.url, token, seats=2)["code"]
        async with inside(server.url, code, token) as raw:
            with held(server.engine_pid()):
                questions = (
                    ("GET", "/readyz", None),
                    ("GET", "/v1/rooms", None),
                    ("POST", "/v1/rooms", {"game": "five_towers"}),
                )
                answers = await asyncio.gather(
                    *(
                        asyncio.to_thread(ask, server.url, method, path, body, bearer(token))
                        for method, path, body in questions
                    )
                )
                for answer in answers:
                    assert (answer.status, answer.code) == (503, "store_unavailable")
                assert ask(server.url, "GET", "/healthz").status == 200
                n = await raw.command("sit")
            # What was asked meanwhile is done as soon as it can be, without being asked again.
            assert (await raw.answer(n))[:2] == ["frame", 2]
            assert ask(server.url, "GET", "/readyz").status == 200
        assert "Traceback" not in server.log
