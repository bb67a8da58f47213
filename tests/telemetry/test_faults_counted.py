"""Answers to faults of our own are counted as well: they are the ones that matter most."""

import pytest
from redis.asyncio import Redis
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Scope

from tests.eventlog.conftest import engine_url, redis
from towerhall_server.app import service
from towerhall_server.config.settings import read_settings
from towerhall_server.gateway.http.routes import Routes

__all__ = ["engine_url", "redis"]

KEYS = {"TOWERHALL_TOKEN_KEYS": "q7Zt-1vWmX0aRk93LpYc_uE5hBn8DsGf2TjKoI4xVwM"}


def asked(path: str) -> Scope:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
    }


async def test_a_fault_is_counted_with_its_route(
    engine_url: str, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(self: Routes, request: Request) -> Response:
        raise ZeroDivisionError

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    sent: list[Message] = []
    monkeypatch.setattr(Routes, "games", broken)
    settings = read_settings(KEYS, {"redis_url": engine_url})
    async with service(settings, engine_url) as running:
        with pytest.raises(ZeroDivisionError):
            await running.app(asked("/v1/games"), receive, send)
        await running.app(asked("/healthz"), receive, send)
    assert [message["status"] for message in sent if "status" in message] == [500, 200]
    assert running.hall.meters.http == {("GET", "/v1/games", 500): 1, ("GET", "/healthz", 200): 1}
