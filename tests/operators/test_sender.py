"""One attempt to tell an operator: what it looks like, when it counts, and where it never goes."""

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.operators.receiver import (
    HANG,
    HANG_UP,
    OK,
    OTHER_SECRET,
    SECRET,
    Receiver,
    receiver,
    status,
)
from towerhall_server.operators.operator import Webhook
from towerhall_server.operators.sender import NotToldError, Sender, signature

BODY = b'{"kind":"turn"}'


@pytest.fixture
async def hook() -> AsyncIterator[Receiver]:
    async with receiver() as running:
        yield running


async def send(hook: Receiver, *, seconds: float = 5.0) -> None:
    await Sender(attempt_seconds=seconds).send(Webhook(hook.url, (SECRET,)), "delivery", BODY)


def test_the_signature_is_the_one_of_the_specification() -> None:
    # printf "1700000000.{}" | openssl dgst -sha256 -hmac secret
    assert signature((b"secret",), 1_700_000_000, b"{}") == (
        "t=1700000000,v1=b8569b78799ff9e3cbff0fc2d63a33a2b57f3282abd07c37ae5e8e7d79a5f163"
    )


async def test_what_comes_is_a_signed_post_with_an_id(hook: Receiver) -> None:
    sender = Sender()
    await sender.send(Webhook(hook.url, (SECRET, OTHER_SECRET)), "delivery", BODY)
    (came,) = hook.got
    assert came.head == "POST /hook?site=7 HTTP/1.1"
    assert came.headers["host"] == f"127.0.0.1:{hook.port}"
    assert came.headers["content-type"] == "application/json"
    assert (came.id, came.body) == ("delivery", BODY)
    assert came.is_signed_by(SECRET)
    assert came.is_signed_by(OTHER_SECRET)
    assert not came.is_signed_by(b"another")


@pytest.mark.parametrize(
    "said",
    [
        OK,
        status(200),
        status(299),
        b"HTTP/1.0 200\r\n\r\n",
        b"HTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf",
    ],
)
async def test_2xx_is_taken(hook: Receiver, said: bytes) -> None:
    hook.answer = lambda _: said
    await send(hook)
    assert len(hook.got) == 1


@pytest.mark.parametrize(
    "said",
    [
        status(500),
        status(404),
        status(300),
        b"HTTP/1.1 199 Odd\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 " + b"2" * 20_000,
        b"HTTP/1.1 100 Go on\r\n\r\n" * 200,
        HANG_UP,
    ],
)
async def test_everything_else_is_not(hook: Receiver, said: bytes) -> None:
    hook.answer = lambda _: said
    with pytest.raises(NotToldError) as caught:
        await send(hook)
    assert "hook" not in str(caught.value)
    assert len(hook.got) == 1


async def test_a_redirect_is_not_followed(hook: Receiver) -> None:
    async with receiver() as elsewhere:
        hook.answer = lambda _: (
            f"HTTP/1.1 307 Over there\r\nLocation: {elsewhere.url}\r\n\r\n".encode()
        )
        with pytest.raises(NotToldError, match="307"):
            await send(hook)
        assert elsewhere.got == []


async def test_whoever_does_not_answer_is_not_waited_for(hook: Receiver) -> None:
    hook.answer = lambda _: HANG
    with pytest.raises(NotToldError, match=r"no answer within 0\.2 s"):
        await send(hook, seconds=0.2)


async def test_nobody_there(hook: Receiver) -> None:
    await hook.stop()
    with pytest.raises(NotToldError):
        await send(hook)
    await hook.start()


async def test_plain_http_is_not_taken_for_https(hook: Receiver) -> None:
    secure = Webhook(hook.url.replace("http:", "https:"), (SECRET,))
    with pytest.raises(NotToldError):
        await Sender(attempt_seconds=2).send(secure, "delivery", BODY)
    assert hook.got == []


async def test_a_name_that_leads_inside_is_not_asked(
    hook: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def resolve(host: str, port: int, **kind: Any) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)
    for scheme in ("http", "https"):
        away = Webhook(f"{scheme}://lobby.example:{hook.port}/hook", (SECRET,))
        with pytest.raises(NotToldError, match="forbidden"):
            await Sender().send(away, "delivery", BODY)
    assert asked == ["lobby.example"] * 2
    assert hook.got == []
    # The same name, where the operator of the service allows it.
    away = Webhook(f"http://lobby.example:{hook.port}/hook", (SECRET,))
    await Sender(("127.0.0.0/8",)).send(away, "delivery", BODY)
    assert hook.got[0].headers["host"] == f"lobby.example:{hook.port}"
