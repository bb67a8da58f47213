"""Server processes that share a store and know operators."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from tests.end_to_end.raw import Answer, ask, bearer
from tests.end_to_end.servers import LIMITS, ServerProcess

ACME_KEY, NEW_ACME_KEY, OTHER_KEY, TOKEN_KEYS = (
    sha256(name.encode()).hexdigest() for name in ("acme", "acme, new", "other", "tokens")
)
"""The same in every process of a test run: names of tests are made from them."""
OPERATORS: Final = {
    "TOWERHALL_OPERATOR_KEYS": f"acme:{ACME_KEY} acme:{NEW_ACME_KEY} other:{OTHER_KEY}",
    "TOWERHALL_LIMIT_OPERATOR_REQUESTS": "1000/s burst 1000",
    "TOWERHALL_TOKEN_KEYS": TOKEN_KEYS,
}
SEATS: Final = (
    {"external_id": "account 1", "name": "Ada"},
    {"external_id": "account 2", "name": "Ben"},
)


class ShortServer(ServerProcess):
    module = "tests.operators.short_node"


@contextmanager
def node(data_folder: Path, store_url: str, **variables: str) -> Iterator[ShortServer]:
    """One server of several."""
    limits = LIMITS | OPERATORS | variables
    server = ShortServer(data_folder, "--redis-url", store_url, limits=limits)
    server.start()
    try:
        yield server
    finally:
        with suppress(ProcessLookupError, AssertionError):
            server.kill()


def as_operator(
    url: str,
    method: str,
    path: str,
    body: object = None,
    *,
    key: str = ACME_KEY,
    **headers: str,
) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return ask(url, method, f"/v1/operator{path}", body, bearer(key) | named)
