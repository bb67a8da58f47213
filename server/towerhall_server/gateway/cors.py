"""Lets pages of other places read answers over HTTP: those whose origins the operator lists.

A browser asks beforehand with OPTIONS whether a page may send what it is about to send; that is
answered here. Pages that are not listed are served like programs, and their browser keeps the
answer from them. Addresses for operators are for no page: a key that a page has, everybody has.
"""

from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from towerhall_server.gateway.http import refusal
from towerhall_server.gateway.origins import EVERY_PAGE, Origins

FOR_OPERATORS: Final = "/v1/operator"
METHODS: Final = "GET, POST"
ASKED: Final = "authorization, content-type, towerhall-key"
SHOWN: Final = "retry-after"
KEPT_SECONDS: Final = 600


class Cors:
    """Around all addresses. Sockets pass through: they are judged where they are opened."""

    def __init__(self, app: ASGIApp, origins: tuple[str, ...]) -> None:
        self._app = app
        self._origins = Origins(origins)
        self._every = EVERY_PAGE in origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        for_operators = scope["path"].startswith(FOR_OPERATORS)
        # Without a host nothing is taken for the server's own page, which needs no permission.
        allowed = origin is not None and not for_operators and self._origins.allows(origin, None)
        if scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
            response = self._before(origin) if allowed else refusal("foreign_origin", {})
            return await response(scope, receive, send)
        if not allowed:
            return await self._app(scope, receive, _varying(send))

        async def with_permission(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer = MutableHeaders(scope=message)
                answer["access-control-allow-origin"] = self._named(origin)
                answer["access-control-expose-headers"] = SHOWN
                answer.add_vary_header("origin")
            await send(message)

        return await self._app(scope, receive, with_permission)

    def _before(self, origin: str | None) -> Response:
        """What a browser needs to know before it asks."""
        return Response(
            status_code=204,
            headers={
                "access-control-allow-origin": self._named(origin),
                "access-control-allow-methods": METHODS,
                "access-control-allow-headers": ASKED,
                "access-control-max-age": str(KEPT_SECONDS),
                "vary": "origin",
            },
        )

    def _named(self, origin: str | None) -> str:
        return EVERY_PAGE if self._every or origin is None else origin


def _varying(send: Send) -> Send:
    """A cache between here and there must not give one page's answer to another."""

    async def varying(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).add_vary_header("origin")
        await send(message)

    return varying
