"""GET requests of one address have a rate at every address of the service but a few."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Route

from tests.end_to_end.raw import Answer, ask
from tests.end_to_end.servers import ServerProcess, running
from towerhall_server.access.origins import Origins
from towerhall_server.gateway.http.lobby_routes import LobbyRoutes
from towerhall_server.gateway.http.log_routes import LogRoutes

MOST = 3
HEALTH = ("/healthz", "/readyz")
ADDRESSES = (f"203.0.113.{number}" for number in itertools.count(1))


def addresses() -> list[str]:
    """Everything that the service answers to a GET, as its table of routes has it."""
    unused: Any = None
    lobby = LobbyRoutes(unused, Origins(()), unused, unused, unused)
    table = [*lobby.table(), *LogRoutes(unused, None).table(lobby.reading)]
    routes = [route for route in table if isinstance(route, Route)]
    paths = {route.path for route in routes if "GET" in (route.methods or ())}
    assert paths >= {"/v1/games", "/v1/rooms", "/v1/me/rooms", "/v1/log/checkpoint", *HEALTH}
    named = [path.replace("{code}", "ZZZZZZ").replace("{path:path}", "0/000") for path in paths]
    return sorted(named)


LIMITED = [path for path in addresses() if path not in HEALTH]


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    limits = {
        "TOWERHALL_LIMIT_GETS_PER_IP": f"{MOST}/h",
        "TOWERHALL_TRUSTED_PROXIES": "127.0.0.1",
    }
    folder: Path = tmp_path_factory.mktemp("gets") / "data"
    with running(folder, limits=limits) as process:
        yield process


def get(server: ServerProcess, path: str, address: str, method: str = "GET") -> Answer:
    return ask(server.url, method, path, None, {"x-forwarded-for": address})


@pytest.mark.parametrize("path", LIMITED)
def test_each_address_counts_and_is_refused_beyond_the_rate(
    strict: ServerProcess, path: str
) -> None:
    address = next(ADDRESSES)
    for _ in range(MOST):
        assert get(strict, path, address).status != 429
    refused = get(strict, path, address)
    assert (refused.status, refused.code) == (429, "too_many")
    retry_ms = refused.document["error"]["params"]["retry_ms"]
    assert int(refused.headers["retry-after"]) == -(-retry_ms // 1000) > 1000
    assert get(strict, path, next(ADDRESSES)).status != 429


def test_all_addresses_of_the_service_share_the_rate_of_a_client(strict: ServerProcess) -> None:
    address = next(ADDRESSES)
    for _, path in zip(range(MOST), itertools.cycle(LIMITED), strict=False):
        assert get(strict, path, address).status != 429
    for path in LIMITED:
        assert get(strict, path, address).status == 429
        assert get(strict, path, address, "HEAD").status == 429


def test_all_ipv6_addresses_of_a_customer_share_one_rate(strict: ServerProcess) -> None:
    for network in range(MOST):
        assert get(strict, "/v1/games", f"2001:db8:0:ab{network:02x}::1").status != 429
    assert get(strict, "/v1/games", "2001:db8:0:abff::2").status == 429
    assert get(strict, "/v1/games", "2001:db8:0:acff::2").status != 429


def test_health_and_the_page_are_answered_beyond_the_rate(strict: ServerProcess) -> None:
    address = next(ADDRESSES)
    while get(strict, "/v1/games", address).status != 429:
        pass
    for path in (*HEALTH, "/"):
        assert [get(strict, path, address).status for _ in range(10)] == [200] * 10
