"""Routes about games at play, for people who look on.

As in `routes`, each endpoint reads a request, calls the lobby, and answers. Nothing here opens a
room or changes one.
"""

from collections.abc import Awaitable, Callable, Sequence
from time import monotonic

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from towerhall_server.gateway.entering import refused
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.http.lobby_routes import filter_of, shown_page
from towerhall_server.gateway.http.routes import KEY_HEADER
from towerhall_server.gateway.responses import HEADERS, JSON_TYPE, RefusedError, answer, has
from towerhall_server.live.directory import PoisonedRoomError
from towerhall_server.lobby.board import Board
from towerhall_server.lobby.live import Featured, Look, Looks
from towerhall_server.room.codes import is_code
from towerhall_server.room.gate import opens

Reading = Callable[[str, Callable[[Request], Awaitable[Response]]], Route]


class LiveRoutes:
    """The list of games at play, and what a watcher sees of one."""

    def __init__(self, hall: Hall, board: Board) -> None:
        self._hall, self._board = hall, board
        self._looks, self._featured = Looks(hall.directory), Featured(hall.directory)

    def table(self, reading: Reading) -> Sequence[BaseRoute]:
        """The routes. `reading` makes a GET route under the rate of the client's address."""
        return (
            reading("/v1/live", self.live),
            reading("/v1/rooms/{code}/view", self.view),
        )

    async def live(self, request: Request) -> Response:
        """List one page of the public games at play, and name the featured one."""
        wanted = filter_of(request, status="playing", free=0)
        page = shown_page(await self._board.page(wanted))
        featured = self._featured.of(wanted.game)
        if featured is None and page["rooms"] and not wanted.after:
            # Other servers have all of them in memory.
            featured = page["rooms"][0]
        return answer(page | ({} if featured is None else {"featured": featured}))

    async def view(self, request: Request) -> Response:
        """Return what a watcher of a room sees, as it was some seconds ago at most."""
        code, asked = request.path_params["code"], monotonic()
        try:
            look = await self._looks.at(code) if is_code(code) else None
        except PoisonedRoomError:
            raise RefusedError("server_fault") from None
        if look is None or not opens(request.headers.get(KEY_HEADER, ""), look.key_hash):
            await refused(self._hall.directory.node.log, asked)
            raise RefusedError("room_gone")
        return _sent(request, look)


def _sent(request: Request, look: Look) -> Response:
    headers = {
        **HEADERS,
        "cache-control": "private, no-cache",
        "etag": look.tag,
        "vary": KEY_HEADER,
    }
    if has(request, look.tag):
        return Response(status_code=304, headers=headers)
    return Response(look.body, 200, headers, media_type=JSON_TYPE)
