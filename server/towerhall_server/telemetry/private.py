"""Who may read the metrics: this machine, or a reader with the token.

Metrics show load and faults of a server, which should stay private. They have a port of their
own. It listens on the loopback address by default; on any other address a token is required.
"""

import ipaddress
from hmac import compare_digest
from typing import Final

LEAST_TOKEN: Final = 16
MOST_PORT: Final = 65_535


class UnsafeMetricsError(ValueError):
    """The metrics would be public, or unreachable; the message says what to change."""


def read_token(text: str) -> str:
    """Parse a token that cannot be guessed. Raises `ValueError` without its text."""
    if len(text) < LEAST_TOKEN or not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError(f"a token needs at least {LEAST_TOKEN} visible ASCII characters, no space")
    return text


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the host. The only such name is
    `localhost`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check(host: str, port: int, token: str, workers: int, served: int) -> None:
    """Check that metrics may be shown there, by that many workers beside the service's own port."""
    if not port:
        return
    if not token and not is_loopback(host):
        raise UnsafeMetricsError(
            f"anybody could read the metrics at {host}: set TOWERHALL_METRICS_TOKEN, or leave"
            " --metrics-host at 127.0.0.1"
        )
    if port + workers - 1 > MOST_PORT:
        raise UnsafeMetricsError(
            f"--metrics-port {port} leaves no ports for {workers} workers: each has the next one"
        )
    if served in range(port, port + workers):
        raise UnsafeMetricsError(f"the service itself is at port {served}: choose another one")


def may_look(token: str, authorization: str) -> bool:
    """Whether a request with that header may read the metrics."""
    if not token:
        return True
    kind, _, given = authorization.partition(" ")
    return kind.lower() == "bearer" and compare_digest(given.strip().encode(), token.encode())
