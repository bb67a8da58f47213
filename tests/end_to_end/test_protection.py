"""What surrounds every answer of a real server: hosts, and the headers that protect."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from tests.end_to_end.raw import BOTH, ask, denied, inside, new_guest, new_room
from tests.end_to_end.servers import LIMITS, ServerProcess, running

HOST = "play.example.org"
NAMED = {"host": f"{HOST}:8443"}
STRANGERS = ("evil.example", "127.0.0.1", "localhost:8000", f"{HOST}.evil.example")
BY_TLS = {"x-forwarded-proto": "https"}
HSTS = "strict-transport-security"
ANSWERED = (
    ("GET", "/", 200),
    ("GET", "/v1/games", 200),
    ("GET", "/v1/rooms", 200),
    ("GET", "/v1/rooms/ZZZZZZ", 404),
    ("GET", "/v1/rooms/ZZZZZZ/record", 404),
    ("GET", "/nowhere", 404),
    ("DELETE", "/v1/rooms", 405),
    ("POST", "/v1/guests", 400),
    ("GET", "/healthz", 200),
    ("GET", "/readyz", 200),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("protection")


@contextmanager
def serving(folder: Path, name: str, *flags: str, **variables: str) -> Iterator[ServerProcess]:
    with running(folder / name, *flags, limits=LIMITS | variables) as server:
        yield server


@pytest.fixture(scope="module")
def named(folder: Path) -> Iterator[ServerProcess]:
    """A server that is reached by one name, and by TLS through a proxy on this machine."""
    flags = ("--hosts", HOST, "--trusted-proxies", "127.0.0.1")
    with serving(folder, "named", *flags) as server:
        yield server


# Hosts


@pytest.mark.parametrize(("method", "path", "status"), ANSWERED)
def test_a_request_for_another_host_is_refused_but_health_is_told(
    named: ServerProcess, method: str, path: str, status: int
) -> None:
    assert ask(named.url, method, path, headers=NAMED).status == status
    for stranger in STRANGERS:
        answer = ask(named.url, method, path, headers={"host": stranger})
        if path in ("/healthz", "/readyz"):
            assert answer.status == 200
        else:
            assert (answer.status, answer.code) == (421, "foreign_host")


async def test_so_is_a_socket(named: ServerProcess) -> None:
    for path in ("/v1/rooms/ZZZZZZ", "/v1/lobby", "/elsewhere"):
        for stranger in STRANGERS:
            with pytest.raises(InvalidStatus) as refused:
                async with connect(
                    f"ws://{stranger}{path}",
                    host="127.0.0.1",
                    port=named.port,
                    subprotocols=[Subprotocol(name) for name in BOTH],
                    proxy=None,
                ):
                    pass
            assert refused.value.response.status_code == 421
            assert b"foreign_host" in refused.value.response.body


async def test_a_socket_for_its_own_host_is_opened(named: ServerProcess) -> None:
    async with connect(
        f"ws://{HOST}:8443/v1/lobby",
        host="127.0.0.1",
        port=named.port,
        subprotocols=[Subprotocol(name) for name in BOTH],
        proxy=None,
    ) as opened:
        assert opened.subprotocol == BOTH[0]


async def test_without_a_list_every_host_is_served(shared: ServerProcess) -> None:
    for stranger in STRANGERS:
        assert ask(shared.url, "GET", "/v1/games", headers={"host": stranger}).status == 200
    token = new_guest(shared.url)
    async with inside(shared.url, new_room(shared.url, token)["code"], token) as raw:
        await raw.quiet()


# Headers


@pytest.mark.parametrize(("method", "path", "status"), [*ANSWERED, ("OPTIONS", "/v1/rooms", 405)])
def test_every_answer_is_kept_from_pages_of_other_places(
    shared: ServerProcess, method: str, path: str, status: int
) -> None:
    answer = ask(shared.url, method, path)
    assert answer.status == status
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    for feature in ("camera", "microphone", "geolocation", "payment", "usb"):
        assert f"{feature}=()" in answer.headers["permissions-policy"].split(", ")


async def test_so_is_the_refusal_of_a_socket(shared: ServerProcess) -> None:
    answer = await denied(shared.url, "ZZZZZZ", page="https://evil.example")
    assert answer.code == "foreign_origin"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"


def test_what_the_page_asks_of_browsers_is_not_taken_from_it(shared: ServerProcess) -> None:
    policy = ask(shared.url, "GET", "/").headers["permissions-policy"]
    for used in ("clipboard-write", "web-share", "fullscreen", "autoplay"):
        assert used not in policy


def test_the_page_may_be_shown_elsewhere_only_where_somebody_may_embed_it(folder: Path) -> None:
    with serving(folder, "embedded", TOWERHALL_EMBEDDERS="https://site.example") as server:
        page = ask(server.url, "GET", "/").headers
        assert page["cross-origin-resource-policy"] == "cross-origin"
        assert page["content-security-policy"].endswith(
            "frame-ancestors 'self' https://site.example"
        )
        # What the service answers is for the page itself all the same.
        answer = ask(server.url, "GET", "/v1/games").headers
        assert answer["cross-origin-resource-policy"] == "same-origin"


# TLS


@pytest.mark.parametrize(("method", "path", "status"), ANSWERED)
def test_who_came_by_tls_is_told_to_come_by_nothing_else(
    named: ServerProcess, method: str, path: str, status: int
) -> None:
    by_tls = ask(named.url, method, path, headers=NAMED | BY_TLS)
    assert (by_tls.status, by_tls.headers[HSTS]) == (status, "max-age=31536000")
    assert HSTS not in ask(named.url, method, path, headers=NAMED).headers


def test_nobody_but_a_trusted_proxy_says_that_it_was_tls(shared: ServerProcess) -> None:
    assert HSTS not in ask(shared.url, "GET", "/", headers=BY_TLS).headers


@pytest.mark.parametrize(("days", "told"), [("0", None), ("1", "max-age=86400")])
def test_an_operator_says_for_how_long(folder: Path, days: str, told: str | None) -> None:
    flags = ("--trusted-proxies", "127.0.0.1")
    with serving(folder, f"days-{days}", *flags, TOWERHALL_HSTS_DAYS=days) as server:
        assert ask(server.url, "GET", "/", headers=BY_TLS).headers.get(HSTS) == told
