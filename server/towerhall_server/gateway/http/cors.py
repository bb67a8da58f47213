"""CORS: lets foreign pages read HTTP answers if the operator lists their origins.

A browser sends a preflight (OPTIONS) before some requests; it is answered here. Pages that are not
listed are served like programs, and their browser withholds the answer. Routes of operators allow
no page: a key in a page is public.

Starlette's middleware does not fit: it refuses a preflight with 400 and plain text instead of
`foreign_origin` (P-111), permits routes of operators, and compares origins as text.
"""

from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from towerhall_server.access.origins import EVERY_PAGE, Origins
from towerhall_server.gateway.responses import refusal

FOR_OPERATORS: Final = "/v1/operator"
METHODS: Final = "GET, POST"
ASKED: Final = "authorization, content-type, towerhall-key"
SHOWN: Final = "retry-after"
KEPT_SECONDS: Final = 600


class Cors:
    """Wraps all routes. Sockets pass through: the routes check their origin."""

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
        # No host: the server's own page needs no permission.
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
        """Answer a preflight."""
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
    """Keep caches from giving one page's answer to another."""

    async def varying(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).add_vary_header("origin")
        await send(message)

    return varying
