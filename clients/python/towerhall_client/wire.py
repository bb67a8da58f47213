"""One WebSocket connection, and how it ended: what lines to rooms and to the lobby share."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI
from websockets.typing import Subprotocol

from towerhall_client.retry import may_ask_again, may_return
from towerhall_client.web import refusal
from towerhall_protocol import codec
from towerhall_protocol.errors import BY_NUMBER
from towerhall_protocol.level import MSGPACK

CLOSE_SECONDS = 2.0
NO_CLOSE = 1006
"""Stands for a connection that broke without a word."""


class Break(msgspec.Struct, frozen=True):
    """How a connection ended."""

    code: str
    hint: str
    may_return: bool
    wait_seconds: float = 0.0


def socket_url(url: str, path: str) -> str:
    """The address of a socket at a service that has that address over HTTP."""
    parts = urlsplit(url)
    scheme = {"http": "ws", "https": "wss"}.get(parts.scheme, parts.scheme)
    path = f"{parts.path.rstrip('/')}{path}"
    return parts._replace(scheme=scheme, path=path, query="", fragment="").geturl()


async def one_connection(
    url: str, subprotocol: str, talk: Callable[[ClientConnection], Awaitable[Break]]
) -> Break:
    """Connect, and let `talk` have the socket; or how it did not come to that."""
    try:
        async with connect(
            url,
            subprotocols=[Subprotocol(subprotocol)],
            compression=None,
            proxy=None,
            close_timeout=CLOSE_SECONDS,
            max_size=codec.FROM_SERVER.message_bytes,
        ) as socket:
            if socket.subprotocol != subprotocol:
                return Break("bad_answer", "this is no socket of a Towerhall service", False)
            return await talk(socket)
    except InvalidStatus as error:
        response = error.response
        told = refusal(response.status_code, bytes(response.body or b""))
        wait = wait_seconds(told.params)
        return Break(told.code, told.hint, may_ask_again(response.status_code), wait)
    except InvalidURI as error:
        return Break("bad_address", str(error), False)
    except (OSError, TimeoutError, InvalidHandshake, EOFError) as error:
        return Break("unreachable", str(error) or type(error).__name__, True)


async def accompanied(
    talk: Coroutine[Any, Any, Break], *helpers: Coroutine[Any, Any, None]
) -> Break:
    """How the talk ends, while its helpers run. If one of them fails, so does the whole.

    Otherwise it would go on without the helper: with a line that is up, but never says anything.
    """
    try:
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(helper) for helper in helpers]
            end = await talk
            for helper in running:
                helper.cancel()
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return end


def end_of(
    closed: ConnectionClosed, error: tuple[str, str, Mapping[str, int | str]] | None
) -> Break:
    """The break for a close code, and the error (code, hint, params) that came just before it."""
    number = NO_CLOSE if closed.rcvd is None else closed.rcvd.code
    # After a close by this side (a `go`, or silence) it may reconnect.
    ours = closed.sent is not None and not closed.rcvd_then_sent
    back = ours or may_return(number)
    if error is not None:
        code, hint, params = error
        return Break(code, hint, back, wait_seconds(params))
    name = closed.rcvd.reason if closed.rcvd is not None else ""
    meaning = BY_NUMBER[number].meaning if number in BY_NUMBER else "the connection broke"
    return Break(name or f"closed_{number}", meaning, back)


def packed(message: object, subprotocol: str) -> str | bytes:
    return codec.encode(message) if subprotocol == MSGPACK else codec.encode_json(message)


def unpacked(data: str | bytes, subprotocol: str) -> object:
    if subprotocol == MSGPACK:
        if isinstance(data, str):
            raise codec.CodecError("wrong_frame_type", "text")
        return codec.decode(data, codec.FROM_SERVER)
    if isinstance(data, bytes):
        raise codec.CodecError("wrong_frame_type", "binary")
    return codec.decode_json(data, codec.FROM_SERVER)


def wait_seconds(params: Mapping[str, int | str]) -> float:
    retry_ms = params.get("retry_ms")
    return retry_ms / 1000 if isinstance(retry_ms, int) else 0.0
