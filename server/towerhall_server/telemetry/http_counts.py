"""Counts HTTP answers by route and status."""

from collections.abc import Sequence
from typing import Any, Final

from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from towerhall_server.telemetry.meters import Meters

ELSEWHERE: Final = "elsewhere"
"""The label of all unknown paths: otherwise random requests would make endless labels."""
SOCKET: Final = "socket"
"""Replaces the method in the label of a WebSocket request."""
METHODS: Final = frozenset((SOCKET, "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
STARTS: Final = frozenset(("http.response.start", "websocket.http.response.start"))


class CountedAnswers:
    """A layer around an application. It counts only those sockets that are refused."""

    def __init__(self, app: ASGIApp, meters: Meters, routes: Sequence[BaseRoute]) -> None:
        self._app = app
        self._meters = meters
        self._paths = paths_of(routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def counted(message: Message) -> None:
            if message["type"] in STARTS:
                self._count(scope, message["status"])
            await send(message)

        await self._app(scope, receive, counted)

    def _count(self, scope: Scope, status: int) -> None:
        route = self._paths.get(scope.get("endpoint"), ELSEWHERE)
        method = scope.get("method", SOCKET)
        known = method if method in METHODS else "other"
        self._meters.http[known, route, status] += 1


def paths_of(routes: Sequence[BaseRoute]) -> dict[Any, str]:
    """Return the path of each endpoint, as the table of routes has it."""
    known = [route for route in routes if isinstance(route, (Route, WebSocketRoute))]
    return {route.endpoint: route.path for route in known}
