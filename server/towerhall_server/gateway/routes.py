"""The addresses of the service: HTTP for what is asked once, sockets for what goes on.

Each endpoint reads what it was sent, asks the directory, and answers; what it refuses, it refuses
with a code. No rule of a game and no state of a room lives here.
"""

import secrets
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Final

import msgspec
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from towerhall_protocol.commands import base64url
from towerhall_protocol.level import JSON, SUBPROTOCOLS
from towerhall_server.eventlog.errors import StoreError
from towerhall_server.game import Rejected, read_options
from towerhall_server.gateway.connection import Connection
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.http import RefusedError, answer, read_body, refusal
from towerhall_server.gateway.limits import ip_key
from towerhall_server.gateway.listener import Listener
from towerhall_server.gateway.names import (
    CHAT_CHARACTERS_MAX,
    NAME_GRAPHEMES_MAX,
    clean_name,
)
from towerhall_server.gateway.origins import Origins
from towerhall_server.gateway.socket import RoomSocket, socket_of
from towerhall_server.gateway.tokens import TokenProblem, new_person
from towerhall_server.lobby.games import describe_games
from towerhall_server.room.actor import RoomActor
from towerhall_server.room.codes import is_code
from towerhall_server.room.core import Plan
from towerhall_server.room.directory import PoisonedRoomError
from towerhall_server.room.gate import key_hash, may_enter, opens
from towerhall_server.room.record import RecordNotReadyError, record_of
from towerhall_server.room.record_shape import key_hash_of
from towerhall_server.room.seats import BOT_DELAY_MS, TURN_SECONDS, Person, read_settings
from towerhall_server.room.view import describe

KEY_BYTES: Final = 12
"""96 bits: nobody guesses the key of a private room."""
KEY_HEADER: Final = "towerhall-key"
LIST_SECONDS: Final = 0.5
"""A list of rooms is given out again for so long."""


class NewGuest(msgspec.Struct, forbid_unknown_fields=True):
    name: str


class NewRoom(msgspec.Struct, forbid_unknown_fields=True):
    game: str
    options: dict[str, object] = {}
    seats: int | None = None
    turn_seconds: int = 0
    bot_delay_ms: int = 600
    private: bool = False


class Routes:
    """All endpoints, over what they share."""

    def __init__(self, hall: Hall, origins: Origins) -> None:
        self._hall = hall
        self._origins = origins
        self._listed: tuple[float, list[object]] = (float("-inf"), [])
        self.leaving = False
        """Proxies are told to send nobody here any more; whoever comes is still served."""
        self.draining = False

    def table(self) -> Sequence[BaseRoute]:
        return (
            Route("/v1/guests", self.guests, methods=["POST"]),
            Route("/v1/games", self.games, methods=["GET"]),
            Route("/v1/rooms", self.rooms, methods=["GET"]),
            Route("/v1/rooms", self.create, methods=["POST"]),
            Route("/v1/rooms/{code}", self.room, methods=["GET"]),
            Route("/v1/rooms/{code}/record", self.record, methods=["GET"]),
            WebSocketRoute("/v1/rooms/{code}", self.play),
            WebSocketRoute("/{elsewhere:path}", self.nowhere),
            Route("/healthz", self.healthy, methods=["GET"]),
            Route("/readyz", self.ready, methods=["GET"]),
        )

    async def guests(self, request: Request) -> Response:
        """A token for somebody new."""
        await self._hall.take(guests_per_ip=address_of(request))
        wanted = await read_body(request, NewGuest)
        name = clean_name(wanted.name)
        if name is None:
            raise RefusedError("bad_name")
        person = new_person(name)
        token = self._hall.tokens.issue(person)
        return answer({"token": token, "id": person.id, "name": person.name}, 201)

    async def games(self, request: Request) -> Response:
        """What a lobby needs to draw its form."""
        games, limits = self._hall.directory.node.games, self._hall.limits
        numbers = {
            "message_bytes": limits.message_bytes,
            "spectators_per_room": limits.spectators_per_room,
            "name_characters": NAME_GRAPHEMES_MAX,
            "chat_characters": CHAT_CHARACTERS_MAX,
        }
        return answer(describe_games(games, numbers, TURN_SECONDS, BOT_DELAY_MS))

    async def rooms(self, request: Request) -> Response:
        """Rooms that anybody may look at."""
        made_at, rooms = self._listed
        if monotonic() - made_at > LIST_SECONDS:
            try:
                found = await self._hall.directory.node.log.summaries()
            except StoreError:
                raise RefusedError("store_unavailable") from None
            rooms = [msgspec.json.decode(found[code]) for code in sorted(found)]
            self._listed = (monotonic(), rooms)
        return answer({"rooms": rooms})

    async def create(self, request: Request) -> Response:
        """A new room; whoever asks for it is its host."""
        if self.draining:
            raise RefusedError("draining")
        person = self._person(request)
        wanted = await read_body(request, NewRoom)
        await self._hall.take(rooms_per_identity=person.id, rooms_per_ip=address_of(request))
        key = secrets.token_urlsafe(KEY_BYTES) if wanted.private else ""
        plan = self._plan(wanted, person, key)
        try:
            actor = await self._hall.directory.create(plan)
        except StoreError:
            raise RefusedError("store_unavailable") from None
        table = actor.follower.room.table
        self._hall.store.remember(person.id, table.code)
        made = {
            "code": table.code,
            "uid": base64url(table.uid),
            "commitment": base64url(table.commitment),
            "invite": invite(table.code, key),
        }
        return answer(made | ({"key": key} if key else {}), 201)

    async def room(self, request: Request) -> Response:
        actor = await self._open(request)
        return answer(describe(actor.follower.room.table))

    async def record(self, request: Request) -> Response:
        """The record of a finished game: from its log, or as it was kept."""
        code = request.path_params["code"]
        node = self._hall.directory.node
        if not is_code(code):
            raise RefusedError("room_gone")
        try:
            found = await record_of(node.log, code, node.games)
        except StoreError:
            raise RefusedError("store_unavailable") from None
        except RecordNotReadyError:
            await self._open(request)  # whoever may not look does not even learn that it is there
            raise RefusedError("record_not_ready") from None
        if found is None or not opens(_key(request), key_hash_of(found)):
            raise RefusedError("room_gone")
        name = f'attachment; filename="towerhall-{code}.json"'
        headers = {"content-disposition": name, "x-content-type-options": "nosniff"}
        return Response(found, 200, headers, media_type="application/json")

    async def play(self, websocket: WebSocket) -> None:
        """Play or watch. What is wrong before the first message is answered over HTTP."""
        room = websocket.path_params["code"]

        def connection(socket: RoomSocket, address: str, text: bool) -> Connection:
            return Connection(self._hall, socket, room, address, text=text)

        await self._serve(websocket, connection)

    async def nowhere(self, websocket: WebSocket) -> None:
        """A socket to any other address; the framework would refuse it without a code."""
        await websocket.send_denial_response(refusal("not_found", {}))

    async def healthy(self, request: Request) -> Response:
        """The process answers."""
        return answer({"status": "ok"})

    async def ready(self, request: Request) -> Response:
        """This server can serve: it is not about to stop, and its store answers."""
        if self.leaving or self.draining:
            raise RefusedError("draining")
        try:
            await self._hall.directory.node.log.ping()
        except StoreError:
            raise RefusedError("store_unavailable") from None
        return answer({"status": "ok", "rooms": len(self._hall.directory)})

    async def _serve(
        self, websocket: WebSocket, connection: Callable[[RoomSocket, str, bool], Listener]
    ) -> None:
        """Open a socket, and let a connection listen to it."""
        address = address_of(websocket)
        refused = self._refuse_socket(websocket, address)
        if refused is not None:
            await websocket.send_denial_response(refusal(*refused))
            return
        chosen = next(name for name in websocket.scope["subprotocols"] if name in SUBPROTOCOLS)
        try:
            await websocket.accept(chosen)
        except BaseException:
            self._hall.sockets_of_address.leave(address)
            raise
        socket = socket_of(websocket.scope)
        socket.attach(connection(socket, address, chosen == JSON))

    def _refuse_socket(
        self, websocket: WebSocket, address: str
    ) -> tuple[str, dict[str, int | str]] | None:
        headers = websocket.headers
        if not self._origins.allows(headers.get("origin"), headers.get("host")):
            return "foreign_origin", {}
        if not set(SUBPROTOCOLS) & set(websocket.scope["subprotocols"]):
            return "bad_request", {"detail": f"offer one of {', '.join(SUBPROTOCOLS)}"}
        if self.draining:
            return "draining", {}
        if not self._hall.sockets_of_address.enter(address):
            return "too_many", {"retry_ms": 10_000}
        return None

    def _plan(self, wanted: NewRoom, person: Person, key: str) -> Plan:
        rules = self._hall.directory.node.games.get(wanted.game)
        if rules is None:
            raise RefusedError("unknown_game", name=wanted.game[:40])
        options = read_options(rules, wanted.options)
        if isinstance(options, Rejected):
            raise RefusedError(options.code, **dict(options.params))
        seats = rules.seats[-1] if wanted.seats is None else wanted.seats
        if seats not in rules.seats:
            span = f"seats is {rules.seats[0]} to {rules.seats[-1]}"
            raise RefusedError("bad_options", detail=span)
        settings = read_settings(
            {"turn_seconds": wanted.turn_seconds, "bot_delay_ms": wanted.bot_delay_ms}
        )
        if isinstance(settings, Rejected):
            raise RefusedError(settings.code, **dict(settings.params))
        hashed = key_hash(key) if key else b""
        return Plan(rules, options, seats, settings, person.id, hashed)

    async def _open(self, request: Request) -> RoomActor:
        """The room that a request names, if it is any of their business."""
        code = request.path_params["code"]
        try:
            actor = await self._hall.directory.open(code) if is_code(code) else None
        except StoreError:
            raise RefusedError("store_unavailable") from None
        except PoisonedRoomError:
            raise RefusedError("server_fault") from None
        if actor is None or not may_enter(actor.follower.room.table, _key(request)):
            raise RefusedError("room_gone")
        return actor

    def _person(self, request: Request) -> Person:
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            raise RefusedError("unauthorized", detail="no token came with the request")
        person = self._hall.tokens.read(token.strip())
        if isinstance(person, TokenProblem):
            raise RefusedError("unauthorized", detail=person.detail)
        if person.id in self._hall.bans:
            raise RefusedError("banned")
        return person


def invite(code: str, key: str = "") -> str:
    """The link to a room, from the root of the page. What is behind the # is sent to nobody."""
    return f"/#/r/{code}/{key}" if key else f"/#/r/{code}"


def address_of(connection: HTTPConnection) -> str:
    return ip_key(connection.client.host if connection.client else "")


def _key(request: Request) -> str:
    return request.headers.get(KEY_HEADER, "")
