"""The addresses of the lobby, beside those of rooms: how people find rooms, and each other.

As in `routes`, each endpoint reads what it was sent, asks, and answers; what it refuses, it refuses
with a code.
"""

import secrets
from collections.abc import Sequence
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from towerhall_server.eventlog.errors import StoreError
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.http import RefusedError, answer, read_body
from towerhall_server.gateway.lobby_connection import LobbyConnection
from towerhall_server.gateway.origins import Origins
from towerhall_server.gateway.routes import NewRoom, Routes, address_of, invite
from towerhall_server.gateway.socket import RoomSocket
from towerhall_server.lobby.board import Board
from towerhall_server.lobby.mine import rooms_of
from towerhall_server.lobby.quickplay import Quickplay
from towerhall_server.lobby.store import now_ms
from towerhall_server.room.codes import is_code
from towerhall_server.room.seats import Person

LINK_BYTES: Final = 16
LINK_MS: Final = 10 * 60_000


class NewQuickplay(msgspec.Struct, forbid_unknown_fields=True):
    game: str
    options: dict[str, object] = {}
    seats: int | None = None
    turn_seconds: int = 0


class NewLink(msgspec.Struct, forbid_unknown_fields=True):
    room: str = ""


class UsedLink(msgspec.Struct, forbid_unknown_fields=True):
    code: str


class _Kept(msgspec.Struct, frozen=True, array_like=True):
    """What the store keeps of a link."""

    person: Person
    room: str = ""


class LobbyRoutes(Routes):
    """All endpoints of the service."""

    def __init__(self, hall: Hall, origins: Origins, board: Board, quickplay: Quickplay) -> None:
        super().__init__(hall, origins)
        self._board = board
        self._quickplay = quickplay

    def table(self) -> Sequence[BaseRoute]:
        return (
            WebSocketRoute("/v1/lobby", self.look),
            Route("/v1/quickplay", self.quickplay, methods=["POST"]),
            Route("/v1/me/rooms", self.mine, methods=["GET"]),
            Route("/v1/me/links", self.new_link, methods=["POST"]),
            Route("/v1/links", self.use_link, methods=["POST"]),
            # The last of them answers all sockets to other addresses.
            *super().table(),
        )

    async def look(self, websocket: WebSocket) -> None:
        """The live list of rooms."""

        def connection(socket: RoomSocket, address: str, text: bool) -> LobbyConnection:
            return LobbyConnection(self._hall, self._board, socket, address, text=text)

        await self._serve(websocket, connection)

    async def quickplay(self, request: Request) -> Response:
        """A seat beside others who want the same."""
        if self.draining:
            raise RefusedError("draining")
        person = await self._asking(request)
        wanted = await read_body(request, NewQuickplay)
        rules = self._hall.directory.node.games.get(wanted.game)
        seats = rules.seats[0] if wanted.seats is None and rules else wanted.seats
        room = NewRoom(wanted.game, wanted.options, seats, wanted.turn_seconds)
        plan = msgspec.structs.replace(self._plan(room, person, key=""), quick=True)

        async def allow() -> None:
            await self._hall.take(rooms_per_identity=person.id, rooms_per_ip=address_of(request))

        try:
            found = await self._quickplay.seat(plan, person, allow)
        except StoreError:
            raise RefusedError("store_unavailable") from None
        return answer({"code": found.code, "seat": found.seat, "invite": invite(found.code)})

    async def mine(self, request: Request) -> Response:
        """The rooms in which whoever asks has a place."""
        person = await self._asking(request)
        try:
            rooms = await rooms_of(self._hall.directory, self._hall.store, person.id)
        except StoreError:
            raise RefusedError("store_unavailable") from None
        return answer({"rooms": rooms})

    async def new_link(self, request: Request) -> Response:
        """A link by which another device becomes who asks, once and soon."""
        person = await self._asking(request)
        wanted = await read_body(request, NewLink)
        if wanted.room and not is_code(wanted.room):
            raise RefusedError("room_gone")
        code = secrets.token_urlsafe(LINK_BYTES)
        kept = msgspec.msgpack.encode(_Kept(person, wanted.room))
        try:
            await self._hall.store.keep_link(code, kept, LINK_MS)
        except StoreError:
            raise RefusedError("store_unavailable") from None
        return answer({"link": f"/#/l/{code}", "expires": now_ms() + LINK_MS}, 201)

    async def use_link(self, request: Request) -> Response:
        """The token that a link stands for. The link is worth nothing afterwards."""
        await self._hall.take(guests_per_ip=address_of(request))
        wanted = await read_body(request, UsedLink)
        try:
            found = await self._hall.store.take_link(wanted.code)
        except StoreError:
            raise RefusedError("store_unavailable") from None
        if found is None:
            raise RefusedError("link_gone")
        kept = msgspec.msgpack.decode(found, type=_Kept)
        person = kept.person
        if person.id in self._hall.bans:
            raise RefusedError("banned")
        token = self._hall.tokens.issue(person)
        given = {"token": token, "id": person.id, "name": person.name}
        return answer(given | ({"room": kept.room} if kept.room else {}), 201)

    async def _asking(self, request: Request) -> Person:
        """Who asks, if they do not ask too often."""
        person = self._person(request)
        await self._hall.take(questions_per_identity=person.id)
        return person
