"""What all HTTP answers share: JSON, errors with a code and a hint, headers that protect."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from towerhall_protocol.errors import hint

MOST_BODY_BYTES: Final = 4096
Body = TypeVar("Body")

STATUS: Final[Mapping[str, int]] = {
    "unauthorized": 401,
    "forbidden": 403,
    "foreign_origin": 403,
    "banned": 403,
    "not_found": 404,
    "room_gone": 404,
    "unknown_game": 404,
    "link_gone": 404,
    "method_not_allowed": 405,
    "record_not_ready": 409,
    "key_reused": 409,
    "in_progress": 409,
    "message_too_large": 413,
    "too_many": 429,
    "server_fault": 500,
    "store_unavailable": 503,
    "draining": 503,
}
"""Of each code; 400 for all others."""
HEADERS: Final[Mapping[str, str]] = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


class RefusedError(Exception):
    """A request that is answered with a code instead of what it asked for."""

    def __init__(self, code: str, **params: int | str) -> None:
        super().__init__(code)
        self.code = code
        self.params = params


def answer(document: object, status: int = 200) -> Response:
    return Response(
        msgspec.json.encode(document), status, dict(HEADERS), media_type="application/json"
    )


def refusal(code: str, params: Mapping[str, int | str]) -> Response:
    """The same shape for everything that goes wrong."""
    text = hint(code, params)
    response = answer(
        {"error": {"code": code, "params": params, "hint": text}}, STATUS.get(code, 400)
    )
    wait_ms = params.get("retry_ms")
    if isinstance(wait_ms, int):
        response.headers["retry-after"] = str(-(-wait_ms // 1000))
    if code == "unauthorized":
        response.headers["www-authenticate"] = "Bearer"
    return response


async def read_body(request: Request, kind: type[Body]) -> Body:
    """The body of a request as what it should be."""
    data = bytearray()
    try:
        async for part in request.stream():
            data += part
            if len(data) > MOST_BODY_BYTES:
                raise RefusedError("message_too_large", most=MOST_BODY_BYTES)
    except ClientDisconnect:
        # Nobody reads the answer; it is no fault either, and would be logged as one.
        raise RefusedError("bad_request", detail="the body is not whole") from None
    try:
        return msgspec.json.decode(bytes(data), type=kind)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise RefusedError("bad_request", detail=str(error)[:120]) from None


async def on_refused(request: Request, error: Exception) -> Response:
    if not isinstance(error, RefusedError):
        raise error
    return refusal(error.code, error.params)


async def on_http_error(request: Request, error: Exception) -> Response:
    """What the router itself refuses."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status == HTTPStatus.NOT_FOUND:
        return refusal("not_found", {})
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        return refusal("method_not_allowed", {"method": request.method})
    return refusal("bad_request", {"detail": HTTPStatus(status).phrase})


async def on_fault(request: Request, error: Exception) -> Response:
    return refusal("server_fault", {})


def error_handlers() -> dict[Any, Any]:
    return {RefusedError: on_refused, HTTPException: on_http_error, Exception: on_fault}
