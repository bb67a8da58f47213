"""Shared by all HTTP answers: JSON, errors with a code and a hint, security headers."""

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from towerhall_protocol.errors import clause_of, hint
from towerhall_protocol.plain_faults import said
from towerhall_protocol.wire import MAX_DETAIL, without_nulls
from towerhall_server.store.errors import StoreError

MOST_BODY_BYTES: Final = 4096
JSON_TYPE: Final = "application/json"
DOC: Final = "/docs/spec#"
"""Where each clause of the specification is served."""
Body = TypeVar("Body")

STATUS: Final[Mapping[str, int]] = {
    "unauthorized": 401,
    "forbidden": 403,
    "foreign_origin": 403,
    "banned": 403,
    "not_host": 403,
    "no_bot_accounts": 403,
    "bad_passkey": 403,
    "bad_recovery_code": 403,
    "sign_in_first": 403,
    "not_found": 404,
    "room_gone": 404,
    "unknown_game": 404,
    "link_gone": 404,
    "challenge_gone": 404,
    "no_push": 404,
    "method_not_allowed": 405,
    "request_late": 408,
    "record_not_ready": 409,
    "key_reused": 409,
    "in_progress": 409,
    "last_passkey": 409,
    "message_too_large": 413,
    "path_too_long": 414,
    "wrong_content_type": 415,
    "foreign_host": 421,
    "too_many": 429,
    "headers_too_large": 431,
    "server_fault": 500,
    "store_unavailable": 503,
    "store_full": 503,
    "draining": 503,
    "server_full": 503,
}
"""HTTP status by code; 400 for all others."""
HEADERS: Final[Mapping[str, str]] = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


class RefusedError(Exception):
    """A request is refused with a code."""

    def __init__(self, code: str, **params: int | str) -> None:
        super().__init__(code)
        self.code = code
        self.params = params


def answer(document: object, status: int = 200) -> Response:
    return Response(msgspec.json.encode(document), status, dict(HEADERS), media_type=JSON_TYPE)


def refusal(code: str, params: Mapping[str, int | str]) -> Response:
    """Return an error answer; all errors have this shape."""
    text, rule = hint(code, params), clause_of(code)
    told = {"code": code, "params": params, "hint": text, "rule": rule, "doc": DOC + rule}
    response = answer({"error": told}, STATUS.get(code, 400))
    wait_ms = params.get("retry_ms")
    if isinstance(wait_ms, int):
        response.headers["retry-after"] = str(-(-wait_ms // 1000))
    if code == "unauthorized":
        response.headers["www-authenticate"] = "Bearer"
    return response


def expect_json(request: Request) -> None:
    """Refuse a body that is not declared as JSON.

    A browser lets a foreign page post text and forms without a preflight. JSON needs a preflight,
    which `cors` answers.
    """
    declared = request.headers.get("content-type", "").partition(";")[0]
    if declared.strip().lower() != JSON_TYPE:
        raise RefusedError("wrong_content_type", wanted=JSON_TYPE)


async def read_body(request: Request, kind: type[Body]) -> Body:
    """Read and validate the body of a request."""
    expect_json(request)
    data = bytearray()
    try:
        async for part in request.stream():
            data += part
            if len(data) > MOST_BODY_BYTES:
                raise RefusedError("message_too_large", most=MOST_BODY_BYTES)
    except ClientDisconnect:
        # The client is gone. A plain refusal keeps this out of the error log.
        raise RefusedError("bad_request", detail="the body is incomplete") from None
    try:
        document = msgspec.json.decode(bytes(data))
        _READ_KEYS(data.decode())
        return msgspec.convert(without_nulls(document), kind)
    except RepeatedKeyError as error:
        raise RefusedError("bad_request", detail=str(error)) from None
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise RefusedError("bad_request", detail=said(error)[:MAX_DETAIL]) from None


class RepeatedKeyError(ValueError):
    """A key occurs twice in an object."""


def _unique_keys(pairs: list[tuple[str, object]]) -> None:
    """Refuse equal keys: parsers differ in which one they keep (P-10)."""
    if len({key for key, _ in pairs}) != len(pairs):
        raise RepeatedKeyError("a key occurs twice")


_READ_KEYS: Final = json.JSONDecoder(
    object_pairs_hook=_unique_keys, parse_int=str, parse_float=str
).decode
"""Finds duplicate keys only: msgspec validates the rest, but silently keeps the last duplicate."""


def takes_gzip(request: Request) -> bool:
    """Whether `Accept-Encoding` accepts gzip, as in `br, gzip;q=0.5`."""
    for item in request.headers.get("accept-encoding", "").lower().split(","):
        name, _, weight = item.partition(";")
        if name.strip() in ("gzip", "*"):
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def has(request: Request, tag: str) -> bool:
    """Whether the client has the version with this tag. Proxies that compress mark tags as weak."""
    tags = request.headers.get("if-none-match", "").split(",")
    return tag in [each.strip().removeprefix("W/") for each in tags]


async def on_refused(request: Request, error: Exception) -> Response:
    if not isinstance(error, RefusedError):
        raise error
    return refusal(error.code, error.params)


async def on_store_error(request: Request, error: Exception) -> Response:
    """Answer for all routes: the store failed, and the outcome is unknown."""
    return refusal("store_unavailable", {})


async def on_http_error(request: Request, error: Exception) -> Response:
    """Answer errors of the router itself, as JSON."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status == HTTPStatus.NOT_FOUND:
        return refusal("not_found", {})
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        return refusal("method_not_allowed", {"method": request.method})
    return refusal("bad_request", {"detail": HTTPStatus(status).phrase})


async def on_fault(request: Request, error: Exception) -> Response:
    return refusal("server_fault", {})


def _no_page(request: Request) -> Response | None:
    return None


def error_handlers(nowhere: Callable[[Request], Response | None] = _no_page) -> dict[Any, Any]:
    """The handlers of an application. `nowhere` returns the page of an unknown address; None if
    the answer is JSON."""

    async def on_unrouted(request: Request, error: Exception) -> Response:
        is_unknown = isinstance(error, HTTPException) and error.status_code == HTTPStatus.NOT_FOUND
        page = nowhere(request) if is_unknown else None
        return page or await on_http_error(request, error)

    return {
        RefusedError: on_refused,
        StoreError: on_store_error,
        HTTPException: on_unrouted,
        Exception: on_fault,
    }
