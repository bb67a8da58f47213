"""The addresses of the lobby, beside those of rooms."""

from collections.abc import Sequence

from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket

from towerhall_server.gateway.connection import Hall
from towerhall_server.gateway.lobby_connection import LobbyConnection
from towerhall_server.gateway.origins import Origins
from towerhall_server.gateway.routes import Routes
from towerhall_server.gateway.socket import RoomSocket
from towerhall_server.lobby.board import Board


class LobbyRoutes(Routes):
    """All endpoints of the service."""

    def __init__(self, hall: Hall, origins: Origins, board: Board) -> None:
        super().__init__(hall, origins)
        self._board = board

    def table(self) -> Sequence[BaseRoute]:
        return (
            WebSocketRoute("/v1/lobby", self.look),
            # The last of them answers all sockets to other addresses.
            *super().table(),
        )

    async def look(self, websocket: WebSocket) -> None:
        """The live list of rooms."""

        def connection(socket: RoomSocket, address: str, text: bool) -> LobbyConnection:
            return LobbyConnection(self._hall, self._board, socket, address, text=text)

        await self._serve(websocket, connection)
