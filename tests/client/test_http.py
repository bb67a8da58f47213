"""Requests over HTTP, against a small server of the standard library."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from towerhall_client.errors import ServiceError
from towerhall_client.http import Guest, NewRoom, Service

Asked = tuple[str, str, dict[str, str], Any]


class FakeService(ThreadingHTTPServer):
    """Gives the answers that it was given, and notes what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[Asked] = []
        self.status = 200
        self.body = b"{}"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answers(self, status: int, document: object) -> None:
        self.status, self.body = status, json.dumps(document).encode()


class Handler(BaseHTTPRequestHandler):
    server: FakeService

    def answer(self) -> None:
        size = int(self.headers.get("content-length", 0))
        body = json.loads(self.rfile.read(size)) if size else None
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.asked.append((self.command, self.path, headers, body))
        self.send_response(self.server.status)
        self.send_header("content-length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    do_GET = answer  # noqa: N815 - the name that the standard library wants
    do_POST = answer  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def server() -> Iterator[FakeService]:
    with FakeService() as running:
        thread = Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


async def test_a_guest_gets_a_token(server: FakeService) -> None:
    server.answers(201, {"token": "t", "id": "p_1", "name": "Ada", "later": 1})
    assert await Service(server.url).guest("Ada") == Guest("t", "p_1", "Ada")
    method, path, headers, body = server.asked[0]
    assert (method, path, body) == ("POST", "/v1/guests", {"name": "Ada"})
    assert headers["content-type"] == "application/json"


async def test_a_room_is_made_by_whoever_has_a_token(server: FakeService) -> None:
    server.answers(201, {"code": "QJXKZB", "uid": "u", "commitment": "c", "key": "k"})
    service = Service(server.url + "/")
    room = await service.create_room(
        "t", "five_towers", seats=3, options={"a": 1}, turn_seconds=30, private=True
    )
    assert room == NewRoom("QJXKZB", "u", "c", "k")
    _, path, headers, body = server.asked[0]
    assert (path, headers["authorization"]) == ("/v1/rooms", "Bearer t")
    wanted = {"game": "five_towers", "seats": 3, "options": {"a": 1}, "turn_seconds": 30}
    assert body == {**wanted, "private": True}
    await service.create_room("t", "nikitin_towers")
    assert server.asked[1][3] == {"game": "nikitin_towers"}


async def test_what_is_not_said_is_not_sent_and_zero_is_said(server: FakeService) -> None:
    server.answers(201, {"code": "QJXKZB", "uid": "u", "commitment": "c"})
    await Service(server.url).create_room("t", "five_towers", turn_seconds=0, bot_delay_ms=0)
    assert server.asked[0][3] == {"game": "five_towers", "turn_seconds": 0, "bot_delay_ms": 0}


async def test_rooms_games_and_records_are_read(server: FakeService) -> None:
    service = Service(server.url)
    server.answers(200, {"rooms": [{"code": "QJXKZB"}]})
    assert await service.rooms() == [{"code": "QJXKZB"}]
    server.answers(200, {"games": [{"name": "five_towers"}], "level": {}})
    assert await service.games() == [{"name": "five_towers"}]
    server.answers(200, {"code": "QJXKZB"})
    assert await service.room("QJXKZB", "key") == {"code": "QJXKZB"}
    assert await service.record("a/b c") == {"code": "QJXKZB"}
    paths = [path for _, path, _, _ in server.asked]
    assert paths == ["/v1/rooms", "/v1/games", "/v1/rooms/QJXKZB", "/v1/rooms/a%2Fb%20c/record"]
    assert server.asked[2][2]["towerhall-key"] == "key"
    assert "towerhall-key" not in server.asked[3][2]


async def test_an_address_may_have_a_path(server: FakeService) -> None:
    server.answers(200, {"rooms": []})
    await Service(server.url + "/games/").rooms()
    assert server.asked[0][1] == "/games/v1/rooms"


async def test_a_refusal_has_code_hint_and_status(server: FakeService) -> None:
    error = {"code": "too_many", "params": {"retry_ms": 500}, "hint": "try again"}
    server.answers(429, {"error": error})
    with pytest.raises(ServiceError, match="too_many: try again") as refused:
        await Service(server.url).rooms()
    assert (refused.value.code, refused.value.status) == ("too_many", 429)
    assert refused.value.params == {"retry_ms": 500}


@pytest.mark.parametrize(
    ("status", "body"),
    [(200, b"<html>"), (200, b"[]"), (200, b'{"rooms": 1}'), (200, b"\xff"), (200, b"")],
)
async def test_what_is_no_answer_is_said_to_be_none(
    server: FakeService, status: int, body: bytes
) -> None:
    server.status, server.body = status, body
    with pytest.raises(ServiceError, match="bad_answer"):
        await Service(server.url).rooms()


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"error": 1}', b"[" * 100_000, b"\xff"])
async def test_an_error_of_somebody_in_between_keeps_its_status(
    server: FakeService, body: bytes
) -> None:
    server.status, server.body = 502, body
    with pytest.raises(ServiceError, match="bad_answer") as refused:
        await Service(server.url).rooms()
    assert refused.value.status == 502


async def test_a_service_that_is_not_there_is_unreachable(server: FakeService) -> None:
    url = server.url
    server.shutdown()
    server.server_close()
    with pytest.raises(ServiceError, match="unreachable") as refused:
        await Service(url).rooms()
    assert refused.value.status == 0


@pytest.mark.parametrize("url", ["", "127.0.0.1:80", "ftp://127.0.0.1", "http://", "file:///x"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="address"):
        Service(url)
