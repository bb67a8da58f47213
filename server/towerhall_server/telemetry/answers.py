"""Counts what is answered over HTTP, by the route that was found and the status that was sent."""

from collections.abc import Sequence
from typing import Any, Final

from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from towerhall_server.telemetry.meters import Meters

ELSEWHERE: Final = "elsewhere"
"""All addresses that are none: whoever asks for nonsense must not make counts without end."""
SOCKET: Final = "socket"
"""Stands for the method of a request to become one."""
METHODS: Final = frozenset((SOCKET, "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
STARTS: Final = frozenset(("http.response.start", "websocket.http.response.start"))


class CountedAnswers:
    """A layer around an application. Of sockets only those are counted that are turned away."""

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
    """The path of each endpoint, as it is written in the table of routes."""
    known = [route for route in routes if isinstance(route, (Route, WebSocketRoute))]
    return {route.endpoint: route.path for route in known}
