"""Webhooks over TLS: told to whoever proves to be at that address, and to nobody else."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.operators.certificates import Authority
from tests.operators.processes import SEATS, as_operator, node
from tests.operators.receiver import SECRET, Receiver
from towerhall_server.operators.operator import Webhook
from towerhall_server.operators.sender import NotToldError, Sender

BODY = b'{"kind":"turn"}'


class SecureReceiver(Receiver):
    """A hook behind TLS, which notes the names that it is asked for."""

    def __init__(self, host: str, tls: ssl.SSLContext) -> None:
        super().__init__()
        self.host = host
        self.asked_for: list[str | None] = []
        self.show(tls)

    @property
    def url(self) -> str:
        return f"https://{self.host}:{self.port}/hook?site=7"

    def show(self, tls: ssl.SSLContext) -> None:
        """Have that certificate, from the next start on."""
        self._tls = tls
        tls.sni_callback = lambda _, name, __: self.asked_for.append(name)

    async def start(self) -> None:
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", self.port, ssl=self._tls
        )
        self.port = self._server.sockets[0].getsockname()[1]


@asynccontextmanager
async def secure(host: str, tls: ssl.SSLContext) -> AsyncIterator[SecureReceiver]:
    hook = SecureReceiver(host, tls)
    await hook.start()
    try:
        yield hook
    finally:
        await hook.stop()


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls") / "ours")


@pytest.fixture
def trusted(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> Authority:
    """The authority that this machine believes."""
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.path))
    return authority


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every name leads to this machine."""

    async def resolve(self: object, host: str, port: int, **kind: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(asyncio.base_events.BaseEventLoop, "getaddrinfo", resolve)


async def send(hook: Receiver) -> None:
    sender = Sender(("127.0.0.0/8",), attempt_seconds=5)
    await sender.send(Webhook(hook.url, (SECRET,)), "delivery", BODY)


@pytest.mark.usefixtures("names")
@pytest.mark.parametrize(
    ("host", "where"),
    [
        ("localhost", "DNS:localhost"),
        ("127.0.0.1", "IP:127.0.0.1"),
        ("lobby.example", "DNS:lobby.example"),
        ("hooks.lobby.example", "DNS:*.lobby.example"),
    ],
)
async def test_whoever_has_the_right_certificate_is_told(
    trusted: Authority, host: str, where: str
) -> None:
    async with secure(host, trusted.server(where)) as hook:
        await send(hook)
    (came,) = hook.got
    assert (came.id, came.body) == ("delivery", BODY)
    assert came.headers["host"] == f"{host}:{hook.port}"
    assert came.is_signed_by(SECRET)
    assert hook.asked_for == [None if host == "127.0.0.1" else host]


@pytest.mark.usefixtures("names")
@pytest.mark.parametrize(
    ("host", "where"),
    [
        ("localhost", "DNS:elsewhere.example"),
        ("localhost", "IP:127.0.0.1"),
        ("127.0.0.1", "DNS:localhost"),
        ("lobby.example", "DNS:localhost"),
        ("lobby.example", "IP:127.0.0.1"),
        ("lobby.example", "DNS:example"),
    ],
)
async def test_the_certificate_of_somebody_else_is_refused_before_anything_is_said(
    trusted: Authority, host: str, where: str
) -> None:
    async with secure(host, trusted.server(where)) as hook:
        with pytest.raises(NotToldError, match="SSLCertVerificationError"):
            await send(hook)
        assert len(hook.asked_for) == 1
        assert hook.got == []


async def test_a_certificate_by_nobody_whom_we_know_is_refused(
    trusted: Authority, tmp_path: Path
) -> None:
    stranger = Authority(tmp_path / "strangers")
    async with secure("localhost", stranger.server("DNS:localhost")) as hook:
        with pytest.raises(NotToldError, match="SSLCertVerificationError"):
            await send(hook)
        assert hook.got == []


async def test_what_could_not_be_told_is_told_once_the_certificate_is_right(
    authority: Authority, url: str, tmp_path: Path
) -> None:
    async with secure("localhost", authority.server("DNS:elsewhere.example")) as hook:
        variables = {
            "SSL_CERT_FILE": str(authority.path),
            "TOWERHALL_WEBHOOKS": f"acme:{hook.url}",
            "TOWERHALL_WEBHOOK_SECRETS": f"acme:{SECRET.decode()}",
        }
        with node(tmp_path / "a", url, **variables) as server:
            wanted = {"game": "five_towers", "seats": SEATS}
            made = await asyncio.to_thread(as_operator, server.url, "POST", "/rooms", wanted)
            code = made.document["code"]
            path = f"/rooms/{code}/close"
            closed = await asyncio.to_thread(as_operator, server.url, "POST", path, {})
            assert closed.status == 200
            async with asyncio.timeout(20):
                while len(hook.asked_for) < 2:  # noqa: ASYNC110 - nobody announces it
                    await asyncio.sleep(0.05)
            assert hook.got == []
            await hook.stop()
            hook.show(authority.server("DNS:localhost"))
            await hook.start()
            await hook.until(lambda: hook.taken)
            assert hook.url not in server.log
    (came,) = hook.got
    assert came.is_signed_by(SECRET)
    assert (came.document["kind"], came.document["room"]["code"]) == ("abandoned", code)
