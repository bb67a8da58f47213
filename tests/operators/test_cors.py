"""Pages of other places: which may read answers, which may send what, which may embed the page."""

from collections.abc import Iterator

import pytest

from tests.end_to_end.raw import ask
from tests.end_to_end.servers import LIMITS, ServerProcess, running
from tests.operators.processes import ACME_KEY, OPERATORS
from towerhall_server.config.operator_options import frame_ancestors

FRIEND = "https://lobby.example"
FRIENDS = (FRIEND, "http://localhost:3000")
STRANGERS = (
    "https://evil.example",
    "http://lobby.example",
    "https://lobby.example:444",
    "https://lobby.example.evil.example",
    "https://sub.lobby.example",
    "null",
    "",
)
PAGES = ("https://site.example", "https://other.example:8443")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    variables = {"TOWERHALL_ORIGINS": " ".join(FRIENDS), "TOWERHALL_EMBEDDERS": ",".join(PAGES)}
    folder = tmp_path_factory.mktemp("cors") / "data"
    with running(folder, limits=LIMITS | OPERATORS | variables) as process:
        yield process


@pytest.fixture(scope="module")
def open_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("open") / "data"
    with running(folder, limits=LIMITS | OPERATORS | {"TOWERHALL_ORIGINS": "*"}) as process:
        yield process


def preflight(url: str, path: str, origin: str, method: str) -> tuple[int, dict[str, str]]:
    headers = {
        "origin": origin,
        "access-control-request-method": method,
        "access-control-request-headers": "authorization, content-type",
    }
    answer = ask(url, "OPTIONS", path, headers=headers)
    return answer.status, answer.headers


@pytest.mark.parametrize("origin", FRIENDS)
@pytest.mark.parametrize(
    ("path", "method"),
    [("/v1/guests", "POST"), ("/v1/rooms", "POST"), ("/v1/rooms/ABCDEF/record", "GET")],
)
def test_a_friend_may_send_what_it_asks_for(
    server: ServerProcess, origin: str, path: str, method: str
) -> None:
    status, headers = preflight(server.url, path, origin, method)
    assert status == 204
    assert headers["access-control-allow-origin"] == origin
    assert method in headers["access-control-allow-methods"].split(", ")
    allowed = headers["access-control-allow-headers"].split(", ")
    assert {"authorization", "content-type", "towerhall-key"} <= set(allowed)
    assert int(headers["access-control-max-age"]) > 0
    assert "access-control-allow-credentials" not in headers
    assert headers["vary"].lower() == "origin"


@pytest.mark.parametrize("origin", STRANGERS)
def test_a_stranger_may_not(server: ServerProcess, origin: str) -> None:
    status, headers = preflight(server.url, "/v1/guests", origin, "POST")
    assert status == 403
    assert not [name for name in headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", ["/v1/operator/rooms", "/v1/operator/bans", "/v1/operator"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_no_page_may_ask_as_an_operator(
    server: ServerProcess, open_server: ServerProcess, path: str, method: str
) -> None:
    for url in (server.url, open_server.url):
        status, headers = preflight(url, path, FRIEND, method)
        assert status == 403
        assert "access-control-allow-origin" not in headers
    asked = {"origin": FRIEND, "authorization": f"Bearer {ACME_KEY}"}
    answer = ask(open_server.url, "GET", "/v1/operator/bans", headers=asked)
    assert answer.status == 200
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("origin", FRIENDS)
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/games", 200),
        ("GET", "/v1/rooms", 200),
        ("GET", "/v1/rooms/ZZZZZZ", 404),
        ("POST", "/v1/guests", 400),
        ("POST", "/v1/rooms", 401),
        ("GET", "/nowhere", 404),
        ("PUT", "/v1/rooms", 405),
    ],
)
def test_a_friend_reads_every_answer_refusals_too(
    server: ServerProcess, origin: str, method: str, path: str, status: int
) -> None:
    answer = ask(server.url, method, path, headers={"origin": origin})
    assert answer.status == status
    assert answer.headers["access-control-allow-origin"] == origin
    assert answer.headers["access-control-expose-headers"] == "retry-after"
    assert answer.headers["vary"].lower() == "origin"


@pytest.mark.parametrize("origin", [None, *STRANGERS])
def test_others_are_served_without_permission(server: ServerProcess, origin: str | None) -> None:
    headers = {} if origin is None else {"origin": origin}
    answer = ask(server.url, "GET", "/v1/games", headers=headers)
    assert answer.status == 200
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert answer.headers["vary"].lower() == "origin"


def test_where_every_page_may_connect_none_is_named(open_server: ServerProcess) -> None:
    answer = ask(open_server.url, "GET", "/v1/games", headers={"origin": STRANGERS[0]})
    assert answer.headers["access-control-allow-origin"] == "*"
    assert preflight(open_server.url, "/v1/guests", STRANGERS[0], "POST")[0] == 204


def test_options_that_ask_for_no_permission_are_as_before(server: ServerProcess) -> None:
    answer = ask(server.url, "OPTIONS", "/v1/guests", headers={"origin": FRIEND})
    assert (answer.status, answer.code) == (405, "method_not_allowed")


def test_listed_pages_may_embed_the_page(server: ServerProcess, open_server: ServerProcess) -> None:
    policy = ask(server.url, "GET", "/").headers["content-security-policy"]
    assert policy.endswith(f"; frame-ancestors 'self' {PAGES[0]} {PAGES[1]}")
    policy = ask(open_server.url, "GET", "/").headers["content-security-policy"]
    assert policy.endswith("; frame-ancestors 'self'")


def test_every_page_may_embed_where_all_are_listed() -> None:
    assert frame_ancestors(("*", FRIEND)) == "*"
    assert frame_ancestors(()) == "'self'"
