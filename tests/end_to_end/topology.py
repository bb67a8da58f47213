"""What the compose file runs in containers, as plain processes: a store, servers, Caddy in front.

The store gets the flags of the compose file, servers its variables, and Caddy the Caddyfile itself;
only addresses differ, which is what its variables are for.
"""

import os
import re
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.deploy.files import CADDYFILE, environment, make_secrets, servers, store_flags
from tests.end_to_end.raw import ask
from tests.end_to_end.servers import LIMITS, ServerProcess
from tests.sockets import free_port
from tests.store.engines import binary_of

NODES = 3
SOON_SECONDS = 15.0
USER, OVERSEER = "towerhall", "overseer"
"""What servers are to the store of the compose file, and what tests may be besides."""
HERE = "127.0.0.1"
TOKEN_KEYS = secrets.token_urlsafe(32)
SIGNING_KEYS = secrets.token_urlsafe(32)
OF_THE_PLACE = (
    "TOWERHALL_REDIS_URL",
    "TOWERHALL_REDIS_PASSWORD_FILE",
    "TOWERHALL_TOKEN_KEYS_FILE",
    "TOWERHALL_SIGNING_KEYS_FILE",
    "TOWERHALL_TRUSTED_PROXIES",
)
"""Variables of the compose file that name its network or its secrets."""


class Topology(NamedTuple):
    """Everything that runs."""

    store_url: str
    nodes: list[ServerProcess]
    url: str
    """Of Caddy, which gives each socket to the next server: whoever plays is elsewhere."""
    hashed_url: str
    """Of a Caddy that was told nothing about that, and keeps those of a room together."""


@contextmanager
def topology(folder: Path) -> Iterator[Topology]:
    with ExitStack() as stack:
        store_url = stack.enter_context(store(folder))
        nodes = [stack.enter_context(node(folder / f"node-{n}", store_url)) for n in range(NODES)]
        upstreams = " ".join(f"{HERE}:{each.port}" for each in nodes)
        spread = caddy(folder / "spread", upstreams, TOWERHALL_ROOM_POLICY="round_robin")
        url = stack.enter_context(spread)
        hashed_url = stack.enter_context(caddy(folder / "hashed", upstreams))
        yield Topology(store_url, nodes, url, hashed_url)


@contextmanager
def store(folder: Path, kind: str = "redis") -> Iterator[str]:
    """An engine with the flags and users of the compose file, for the user that servers are; see
    also `overseer_of`."""
    path, made = folder / "store.sock", folder / "secrets"
    password = make_secrets(made)
    users = made / "store_users"
    users.chmod(0o644)
    users.write_text(f"{users.read_text()}user {OVERSEER} on >{OVERSEER} ~* &* +@all\n")
    flags = [*store_flags(made), "--port", "0", "--unixsocket", str(path)]
    with _running([str(binary_of(kind)), *flags], folder / "store.log", {}, folder):
        wait_until(lambda: listens(path))
        yield f"unix://{USER}:{password}@{path}"


def overseer_of(store_url: str) -> str:
    """The same store for a test that looks at everything."""
    return re.sub(r"://.*?@", f"://{OVERSEER}:{OVERSEER}@", store_url)


@contextmanager
def node(data_folder: Path, store_url: str, **limits: str) -> Iterator[ServerProcess]:
    """One server, with the variables of the compose file."""
    (wanted, *_) = servers().values()
    variables = environment(wanted, {})
    ours = {name: value for name, value in variables.items() if name not in OF_THE_PLACE}
    ours["TOWERHALL_TOKEN_KEYS"] = TOKEN_KEYS
    ours["TOWERHALL_SIGNING_KEYS"] = SIGNING_KEYS
    flags = ("--redis-url", store_url, "--trusted-proxies", HERE)
    server = ServerProcess(data_folder, *flags, limits=LIMITS | ours | limits)
    server.start()
    try:
        yield server
    finally:
        with suppress(ProcessLookupError, AssertionError):
            server.kill()


@contextmanager
def caddy(folder: Path, upstreams: str, **variables: str) -> Iterator[str]:
    """Caddy with the real Caddyfile; its address."""
    folder.mkdir()
    port = free_port()
    environ = {
        "TOWERHALL_SITE": f":{port}",
        "TOWERHALL_UPSTREAMS": upstreams,
        "TOWERHALL_ADMIN": "off",
        "HOME": str(folder),
        **variables,
    }
    command = [caddy_binary(), "run", "--config", str(CADDYFILE), "--adapter", "caddyfile"]
    with _running(command, folder / "caddy.log", environ, folder):
        url = f"http://{HERE}:{port}"
        wait_until(lambda: answers(url))
        yield url


def caddy_binary() -> str:
    """A missing one is a failure: a skipped proxy would go unnoticed."""
    found = shutil.which("caddy")
    if found is None:
        pytest.fail(
            "caddy is missing: `make test` installs it, and so does"
            " `apt-get install --no-install-recommends caddy`"
        )
    return found


def listens(path: Path) -> bool:
    """A store makes its socket's file a moment before it takes connections."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


def answers(url: str) -> bool:
    try:
        return ask(url, "GET", "/v1/rooms").status == 200
    except OSError:
        return False


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not come up"
        time.sleep(0.02)


@contextmanager
def _running(
    command: list[str], log: Path, variables: dict[str, str], folder: Path
) -> Iterator[None]:
    with log.open("w") as told:
        process = subprocess.Popen(
            command,
            env={"PATH": os.environ["PATH"]} | variables,
            stdout=told,
            stderr=subprocess.STDOUT,
            cwd=folder,
        )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(SOON_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
