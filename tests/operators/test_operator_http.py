"""The addresses for operators: what each takes, whom it lets in, and everything that it refuses."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.games import QUICK
from tests.end_to_end.raw import Answer, ask, bearer, inside, new_guest, new_room
from tests.end_to_end.servers import LIMITS, ServerProcess, running
from tests.operators.processes import (
    ACME_KEY,
    NEW_ACME_KEY,
    OPERATORS,
    OTHER_KEY,
    SEATS,
    as_operator,
)
from towerhall_client.connection import connect
from towerhall_client.errors import RefusedError

NOWHERE = "ZZZZZZ"
ADDRESSES = [
    ("POST", "/rooms", {"game": "five_towers", "seats": SEATS}),
    ("GET", f"/rooms/{NOWHERE}", None),
    ("POST", f"/rooms/{NOWHERE}/close", {}),
    ("POST", "/tokens", SEATS[0]),
    ("GET", "/bans", None),
    ("POST", "/bans", {"external_id": "x"}),
    ("DELETE", "/bans/AAAAAAAAAAA", None),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("operators") / "data"
    with running(folder, "--log-level", "debug", limits=LIMITS | OPERATORS) as process:
        yield process
        for key in (ACME_KEY, NEW_ACME_KEY, OTHER_KEY):
            assert key not in process.log


def made(server: ServerProcess, **more: Any) -> dict[str, Any]:
    answer = as_operator(
        server.url, "POST", "/rooms", {"game": "five_towers", "seats": SEATS, **more}
    )
    assert answer.status == 201, answer.body
    document: dict[str, Any] = answer.document
    return document


# Who may ask


@pytest.mark.parametrize(("method", "path", "body"), ADDRESSES)
@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", f"Basic {ACME_KEY}", f"Bearer {ACME_KEY[:-1]}", f"Bearer {ACME_KEY}x",
     "Bearer \xe9", ACME_KEY],
)  # fmt: skip
def test_nobody_asks_without_a_key(
    server: ServerProcess, method: str, path: str, body: object, authorization: str | None
) -> None:
    headers = {} if authorization is None else {"authorization": authorization}
    answer = ask(server.url, method, f"/v1/operator{path}", body, headers)
    assert (answer.status, answer.code) == (401, "unauthorized")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "operator" in answer.document["error"]["hint"]


@pytest.mark.parametrize(("method", "path", "body"), ADDRESSES)
def test_a_guest_is_no_operator(
    server: ServerProcess, method: str, path: str, body: object
) -> None:
    token = new_guest(server.url)
    answer = ask(server.url, method, f"/v1/operator{path}", body, bearer(token))
    assert (answer.status, answer.code) == (403, "forbidden")


def test_a_key_of_an_operator_is_no_token_of_a_guest(server: ServerProcess) -> None:
    answer = ask(server.url, "POST", "/v1/rooms", {"game": "five_towers"}, bearer(ACME_KEY))
    assert answer.code == "unauthorized"


def test_every_key_of_an_operator_is_taken(server: ServerProcess) -> None:
    code = made(server)["code"]
    for key in (ACME_KEY, NEW_ACME_KEY):
        assert as_operator(server.url, "GET", f"/rooms/{code}", key=key).status == 200


def test_rooms_of_others_are_not_there(server: ServerProcess) -> None:
    code = made(server)["code"]
    guests = new_room(server.url, new_guest(server.url))["code"]
    for key, room in ((OTHER_KEY, code), (ACME_KEY, guests), (ACME_KEY, NOWHERE), (ACME_KEY, "x")):
        for method, path in (("GET", f"/rooms/{room}"), ("POST", f"/rooms/{room}/close")):
            body: dict[str, str] | None = {} if method == "POST" else None
            answer = as_operator(server.url, method, path, body, key=key)
            assert (answer.status, answer.code) == (404, "room_gone")
    assert as_operator(server.url, "GET", f"/rooms/{code}").document["status"] == "waiting"


@pytest.mark.parametrize("authorization", [bearer(OTHER_KEY), bearer("wrong")])
def test_whoever_asks_too_often_waits(tmp_path: Path, authorization: dict[str, str]) -> None:
    few = {"TOWERHALL_LIMIT_OPERATOR_REQUESTS": "3/h burst 3"}
    with running(tmp_path / "data", limits=LIMITS | OPERATORS | few) as server:
        answers = [
            ask(server.url, "GET", "/v1/operator/bans", headers=authorization) for _ in range(4)
        ]
        assert answers[2].status in (200, 401)
        assert (answers[3].status, answers[3].code) == (429, "too_many")
        assert int(answers[3].headers["retry-after"]) > 60
        assert as_operator(server.url, "GET", "/bans").status == 200, "others are not affected"


def test_without_operators_every_key_is_wrong(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server:
        assert as_operator(server.url, "GET", "/bans").code == "unauthorized"
        assert as_operator(server.url, "GET", "/bans", key="").code == "unauthorized"


POSTS = ("/rooms", "/rooms/{code}/close", "/tokens", "/bans")


@pytest.mark.parametrize("path", POSTS)
def test_a_body_that_is_not_declared_as_json_is_refused(server: ServerProcess, path: str) -> None:
    at = path.format(code=made(server)["code"])
    for declared in ("", "text/plain", "application/x-www-form-urlencoded"):
        answer = as_operator(server.url, "POST", at, {}, content_type=declared)
        assert (answer.status, answer.code) == (415, "wrong_content_type")


@pytest.mark.parametrize("path", POSTS)
def test_a_key_that_occurs_twice_is_told(server: ServerProcess, path: str) -> None:
    code = made(server)["code"]
    fields = {
        "/rooms": b'"game":"five_towers","seats":[null,null]',
        "/rooms/{code}/close": b'"reason":"done"',
        "/tokens": b'"external_id":"account 1","name":"Ada"',
        "/bans": b'"external_id":"account 7"',
    }[path]
    answer = as_operator(server.url, "POST", path.format(code=code), b"{%b,%b}" % (fields, fields))
    assert (answer.status, answer.code) == (400, "bad_request")
    assert answer.document["error"]["params"] == {"detail": "a key occurs twice"}
    assert as_operator(server.url, "GET", f"/rooms/{code}").document["status"] == "waiting"


# Rooms


def test_a_room_is_made_with_a_token_for_each_person(server: ServerProcess) -> None:
    seats = [SEATS[0], {"bot": "easy"}, None]
    room = made(server, seats=seats, turn_seconds=86_400, private=True)
    assert set(room) == {"code", "uid", "commitment", "key", "invite", "seats"}
    person, bot, free = room["seats"]
    assert set(person) == {"external_id", "id", "name", "token", "expires"}
    assert (person["external_id"], person["name"]) == ("account 1", "Ada")
    assert (bot, free) == ({"bot": "easy"}, {})
    state = as_operator(server.url, "GET", f"/rooms/{room['code']}").document
    assert state["turn_seconds"] == 86_400
    assert state["seats"] == [
        {"taken": False, "id": person["id"], "external_id": "account 1", "name": "Ada"},
        {"taken": True, "name": "bot easy", "bot": "easy", "ready": True},
        {"taken": False},
    ]
    assert (state["status"], state["turn"], state["seq"]) == ("waiting", [], 1)
    listed = ask(server.url, "GET", "/v1/rooms").document["rooms"]
    assert room["code"] not in [each["code"] for each in listed]


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ({"game": "chess"}, "unknown_game"),
        ({"options": {"nonsense": 1}}, "bad_options"),
        ({"seats": [SEATS[0]]}, "bad_options"),
        ({"seats": [SEATS[0]] + [None] * 5}, "bad_options"),
        ({"seats": [{"bot": "easy"}, {"bot": "hard"}]}, "bad_options"),
        ({"turn_seconds": 4}, "bad_options"),
        ({"turn_seconds": 601}, "bad_options"),
        ({"bot_delay_ms": 10_001}, "bad_options"),
        ({"seats": 2}, "bad_request"),
        ({"seats": [SEATS[0], SEATS[0]]}, "bad_request"),
        ({"seats": [{"external_id": "", "name": "Ada"}, None]}, "bad_request"),
        ({"seats": [{"external_id": "x" * 129, "name": "Ada"}, None]}, "bad_request"),
        ({"seats": [{"external_id": 7, "name": "Ada"}, None]}, "bad_request"),
        ({"seats": [{"external_id": "x", "name": "Ada", "bot": "easy"}, None]}, "bad_request"),
        ({"seats": [{"name": "Ada"}, None]}, "bad_request"),
        ({"seats": [{}, None]}, "bad_request"),
        ({"seats": [{"bot": "perfect"}, None]}, "bad_request"),
        ({"seats": [{"external_id": "x", "name": ""}, None]}, "bad_name"),
        ({"seats": [{"external_id": "x", "name": "A" * 3000}, None]}, "bad_name"),
        ({"host": 0}, "bad_request"),
        ({"private": "yes"}, "bad_request"),
    ],
)
def test_what_is_no_room_is_refused(
    server: ServerProcess, wanted: dict[str, object], code: str
) -> None:
    body = {"game": "five_towers", "seats": SEATS, **wanted}
    answer = as_operator(server.url, "POST", "/rooms", body)
    assert answer.code == code
    assert answer.status == (404 if code == "unknown_game" else 400)


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b'{"game"' + b" " * 5000])
@pytest.mark.parametrize("path", ["/rooms", "/tokens", "/bans"])
def test_what_is_no_json_is_refused(server: ServerProcess, path: str, body: bytes) -> None:
    answer = as_operator(server.url, "POST", path, body)
    assert answer.code == ("message_too_large" if len(body) > 4096 else "bad_request")


async def test_reserved_seats_are_for_those_for_whom_they_are(server: ServerProcess) -> None:
    room = await asyncio.to_thread(made, server)
    stranger = await asyncio.to_thread(new_guest, server.url)
    async with connect(server.url, room["code"], stranger, retry=QUICK) as table:
        for seat in (None, 0, 1):
            with pytest.raises(RefusedError, match="seat_reserved"):
                await table.sit(seat)
        with pytest.raises(RefusedError, match="not_host"):
            await table.add_bot("easy")
    second = room["seats"][1]["token"]
    async with connect(server.url, room["code"], second, retry=QUICK) as table:
        await table.sit()
        await table.until(lambda: table.seat is not None)
        assert table.seat == 1


async def test_nobody_is_the_host_of_an_operators_room(server: ServerProcess) -> None:
    room = await asyncio.to_thread(made, server)
    async with connect(server.url, room["code"], room["seats"][0]["token"], retry=QUICK) as table:
        await table.sit()
        for command in (table.start(), table.add_bot("easy"), table.remove_bot(1)):
            with pytest.raises(RefusedError, match="not_host"):
                await command
        view: Any = table.view
        assert "host" not in view["room"]


# Once


def test_the_same_key_gives_the_same_answer(server: ServerProcess) -> None:
    body = {"game": "five_towers", "seats": SEATS}

    def post(key: str = ACME_KEY, once: str = "order 1".replace(" ", "-")) -> Answer:
        return as_operator(server.url, "POST", "/rooms", body, key=key, idempotency_key=once)

    first, second = post(), post()
    assert (first.status, second.status) == (201, 201)
    assert first.body == second.body
    assert post(NEW_ACME_KEY).body == first.body, "it is the operator's, not the key's"
    assert post(OTHER_KEY).document["code"] != first.document["code"]
    assert post(once="order-2").document["code"] != first.document["code"]
    other = {**body, "private": True}
    reused = as_operator(server.url, "POST", "/rooms", other, idempotency_key="order-1")
    assert (reused.status, reused.code) == (409, "key_reused")


def test_a_refused_request_may_be_repaired_under_the_same_key(server: ServerProcess) -> None:
    bad = {"game": "chess", "seats": SEATS}
    for _ in range(2):
        answer = as_operator(server.url, "POST", "/rooms", bad, idempotency_key="order-3")
        assert answer.code == "unknown_game"
    good = {"game": "five_towers", "seats": SEATS}
    repaired = as_operator(server.url, "POST", "/rooms", good, idempotency_key="order-3")
    assert repaired.status == 201


async def test_requests_at_the_same_time_make_one_room(server: ServerProcess) -> None:
    body = {"game": "five_towers", "seats": SEATS}

    def post() -> Answer:
        return as_operator(server.url, "POST", "/rooms", body, idempotency_key="order-4")

    answers = await asyncio.gather(*(asyncio.to_thread(post) for _ in range(12)))
    codes = {answer.document["code"] for answer in answers if answer.status == 201}
    assert len(codes) == 1
    for answer in answers:
        if answer.status != 201:
            assert (answer.status, answer.code) == (409, "in_progress")
            assert answer.headers["retry-after"] == "1"
    assert post().document["code"] in codes


@pytest.mark.parametrize("once", ["", "x" * 129, "a b"])
def test_a_bad_idempotency_key_is_refused(server: ServerProcess, once: str) -> None:
    body = {"game": "five_towers", "seats": SEATS}
    answer = as_operator(server.url, "POST", "/rooms", body, idempotency_key=once)
    assert answer.code == "bad_request"


# Tokens


async def test_a_token_can_be_had_at_any_time_and_is_the_same_person(
    server: ServerProcess,
) -> None:
    room = await asyncio.to_thread(made, server)
    answer = await asyncio.to_thread(as_operator, server.url, "POST", "/tokens", SEATS[0])
    assert answer.status == 201
    assert answer.document["id"] == room["seats"][0]["id"]
    async with connect(server.url, room["code"], answer.document["token"], retry=QUICK) as table:
        await table.sit()
        await table.until(lambda: table.seat is not None)
        assert table.seat == 0


def test_external_ids_of_two_operators_are_two_people(server: ServerProcess) -> None:
    ids = {
        as_operator(server.url, "POST", "/tokens", SEATS[0], key=key).document["id"]
        for key in (ACME_KEY, OTHER_KEY)
    }
    assert len(ids) == 2


async def test_tokens_expire(tmp_path: Path) -> None:
    short = {"TOWERHALL_JOIN_MINUTES": "1"}
    with running(tmp_path / "data", limits=LIMITS | OPERATORS | short) as server:
        answer = await asyncio.to_thread(as_operator, server.url, "POST", "/tokens", SEATS[0])
        guest = await asyncio.to_thread(ask, server.url, "POST", "/v1/guests", {"name": "Eve"})
    left = answer.document["expires"] / 1000 - time.time()
    assert 0 < left <= 61
    assert guest.document["expires"] > answer.document["expires"]


# Closing


@pytest.mark.parametrize("body", [{}, {"reason": "cheating"}])
async def test_a_room_is_closed_once(server: ServerProcess, body: dict[str, str]) -> None:
    room = await asyncio.to_thread(made, server)
    path = f"/rooms/{room['code']}/close"
    async with inside(server.url, room["code"], room["seats"][0]["token"]) as raw:
        first = await asyncio.to_thread(as_operator, server.url, "POST", path, body)
        frame = await raw.wait_for("frame")
    assert first.status == 200
    assert first.document["closed"] == body.get("reason", "closed_by_operator")
    assert frame[4][0] == ["room_closed", first.document["closed"]]
    again = await asyncio.to_thread(as_operator, server.url, "POST", path, {"reason": "twice"})
    assert again.document["closed"] == first.document["closed"]
    assert again.document["seq"] == first.document["seq"]


@pytest.mark.parametrize("reason", ["", "Abc", "a b", "x" * 41, "abandoned", "agreed", 7])
def test_a_bad_reason_closes_nothing(server: ServerProcess, reason: object) -> None:
    room = made(server)
    answer = as_operator(server.url, "POST", f"/rooms/{room['code']}/close", {"reason": reason})
    assert answer.code == "bad_request"
    state = as_operator(server.url, "GET", f"/rooms/{room['code']}").document
    assert state["status"] == "waiting"


# Bans


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"id": "AAAAAAAAAAA", "external_id": "x"},
        {"id": "short"},
        {"id": "AAAAAAAAAA!"},
        {"external_id": "x" * 129},
        {"external_id": "x", "reason": "y" * 201},
        {"external_id": 5},
        {"everybody": True},
    ],
)
def test_a_bad_ban_is_refused(server: ServerProcess, body: dict[str, object]) -> None:
    assert as_operator(server.url, "POST", "/bans", body).code == "bad_request"
    assert as_operator(server.url, "GET", "/bans").document == {"bans": []}


@pytest.mark.parametrize("identity", ["AAAAAAAAAAA", "x", "AAAAAAAAAA%20"])
def test_a_ban_that_is_not_there_cannot_be_lifted(server: ServerProcess, identity: str) -> None:
    answer = as_operator(server.url, "DELETE", f"/bans/{identity}")
    assert (answer.status, answer.code) == (404, "not_found")
