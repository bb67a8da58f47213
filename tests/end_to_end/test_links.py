"""A link that carries a seat to another device is good once, whoever is how fast and where."""

import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.end_to_end.raw import Answer, ask, bearer, inside, new_guest, new_room
from tests.end_to_end.servers import LIMITS, ServerProcess, running
from tests.eventlog.conftest import engine_url, redis
from tests.operators.processes import OPERATORS, as_operator

__all__ = ["engine_url", "redis"]


@pytest.fixture
def servers(engine_url: str, redis: object, tmp_path: Path) -> Iterator[list[ServerProcess]]:
    limits = LIMITS | OPERATORS | {"TOWERHALL_TOKEN_KEYS": secrets.token_urlsafe(32)}
    with ExitStack() as stack:
        store = ("--redis-url", engine_url)
        yield [
            stack.enter_context(running(tmp_path / name, *store, limits=limits))
            for name in ("a", "b")
        ]


def new_link(server: ServerProcess, token: str, room: str = "") -> str:
    body = {"room": room} if room else {}
    answer = ask(server.url, "POST", "/v1/me/links", body, bearer(token))
    assert answer.status == 201, answer.body
    link: str = answer.document["link"]
    return link.removeprefix("/#/l/")


def use(server: ServerProcess, link: str) -> Answer:
    return ask(server.url, "POST", "/v1/links", {"code": link})


async def test_of_many_who_use_a_link_at_once_at_two_servers_one_gets_the_seat(
    servers: list[ServerProcess],
) -> None:
    a, b = servers
    token = new_guest(a.url)
    code = new_room(a.url, token, seats=2)["code"]
    async with inside(a.url, code, token) as old:
        await old.done("sit")
        for _ in range(5):
            link = new_link(a, token, code)
            with ThreadPoolExecutor(8) as crowd:
                answers = list(crowd.map(use, servers * 4, [link] * 8))
            taken = [answer.document for answer in answers if answer.status == 201]
            gone = [answer.code for answer in answers if answer.status != 201]
            assert len(taken) == 1
            assert gone == ["link_gone"] * 7
        assert taken[0]["room"] == code
        # The new device takes the seat over, at the other server, and the old one is told.
        async with inside(b.url, code, taken[0]["token"]) as new:
            end = await old.end()
            assert (end.code, end.reason) == (4409, "replaced")
            await new.done("ready")


def test_a_link_of_somebody_who_is_banned_since_leads_nowhere(
    servers: list[ServerProcess],
) -> None:
    a, _ = servers
    guest = ask(a.url, "POST", "/v1/guests", {"name": "Ada"}).document
    link = new_link(a, guest["token"])
    assert as_operator(a.url, "POST", "/bans", {"id": guest["id"]}).status == 201
    refused = use(a, link)
    assert (refused.status, refused.code) == (403, "banned")
