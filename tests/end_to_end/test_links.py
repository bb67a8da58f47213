"""A link that carries a seat to another device is good once, and never for longer than the token of
the one who made it."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.end_to_end.raw import Answer, ask, bearer, inside, new_guest, new_room
from tests.end_to_end.servers import LIMITS, ServerProcess, running
from tests.eventlog.conftest import engine_url, redis
from tests.operators.processes import OPERATORS, TOKEN_KEYS, as_operator
from towerhall_server.access.tokens import Token, TokenProblem, Tokens, new_person

__all__ = ["engine_url", "redis"]


@pytest.fixture
def servers(engine_url: str, redis: object, tmp_path: Path) -> Iterator[list[ServerProcess]]:
    limits = LIMITS | OPERATORS
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
    wanted = {"external_id": "account 1", "name": "Ada"}
    person = as_operator(a.url, "POST", "/tokens", wanted).document
    link = new_link(a, person["token"])
    assert as_operator(a.url, "POST", "/bans", {"external_id": "account 1"}).status == 201
    refused = use(a, link)
    assert (refused.status, refused.code) == (403, "banned")


JOIN_MINUTES = 5


@pytest.fixture
def short(engine_url: str, redis: object, tmp_path: Path) -> Iterator[ServerProcess]:
    """A server whose operators get tokens of a few minutes."""
    limits = LIMITS | OPERATORS | {"TOWERHALL_JOIN_MINUTES": str(JOIN_MINUTES)}
    with running(tmp_path / "short", "--redis-url", engine_url, limits=limits) as server:
        yield server


def test_a_token_from_a_link_ends_when_the_first_one_ends(short: ServerProcess) -> None:
    wanted = {"external_id": "account 1", "name": "Ada"}
    first = as_operator(short.url, "POST", "/tokens", wanted).document
    token, expires = first["token"], first["expires"]
    for _ in range(3):
        time.sleep(1.1)
        carried = use(short, new_link(short, token)).document
        token = carried["token"]
        assert carried["id"] == first["id"]
        assert carried["expires"] == expires
    found = Tokens((TOKEN_KEYS,), 90).read(token)
    assert isinstance(found, Token)
    assert 1000 * found.expires == expires
    late = Tokens((TOKEN_KEYS,), 90, lambda: expires / 1000 + 1).read(token)
    assert isinstance(late, TokenProblem)
    assert late.code == "expired"


def test_a_guest_and_their_links_are_told_the_same_end(servers: list[ServerProcess]) -> None:
    a, b = servers
    guest = ask(a.url, "POST", "/v1/guests", {"name": "Ada"}).document
    days = (guest["expires"] / 1000 - time.time()) / 86_400
    assert 89.9 < days <= 90
    time.sleep(1.1)
    assert use(b, new_link(a, guest["token"])).document["expires"] == guest["expires"]


def test_a_link_that_outlives_its_token_leads_nowhere(servers: list[ServerProcess]) -> None:
    a, _ = servers
    person = new_person("Ada")
    issuer = Tokens((TOKEN_KEYS,), 90)
    soon = issuer.sign(issuer.new(person, 3))
    link = new_link(a, soon)
    time.sleep(4.1)
    refused = use(a, link)
    assert (refused.status, refused.code) == (404, "link_gone")
