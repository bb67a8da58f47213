"""The routes of the service: HTTP for single requests, sockets for streams.

Each endpoint reads a request, calls the directory, and answers. Every refusal has a code; a
`StoreError` becomes one in `responses`. No rule of a game and no state of a room lives here.
"""

import secrets
from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from time import monotonic
from typing import Annotated, Final

import msgspec
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from towerhall_protocol import commands
from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.level import JSON, SUBPROTOCOLS
from towerhall_server.access.admission import Denied
from towerhall_server.access.names import (
    CHAT_CHARACTERS_MAX,
    NAME_GRAPHEMES_MAX,
    clean_name,
)
from towerhall_server.access.origins import Origins
from towerhall_server.access.rates import ip_key
from towerhall_server.access.tokens import Token, new_person
from towerhall_server.eventlog.answers import Following
from towerhall_server.game import Rejected, read_options
from towerhall_server.gateway.entering import refused, room_for
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.responses import (
    RefusedError,
    answer,
    expect_json,
    has,
    read_body,
    refusal,
    takes_gzip,
)
from towerhall_server.gateway.ws.connection import RoomConnection
from towerhall_server.gateway.ws.listener import Listener
from towerhall_server.gateway.ws.socket import RoomSocket, socket_of
from towerhall_server.live.absence import ABSENT_SECONDS
from towerhall_server.live.actor import RoomActor
from towerhall_server.live.directory import PoisonedRoomError
from towerhall_server.live.fan_out import chain_of
from towerhall_server.live.record_store import KeptRecord, RecordNotReadyError
from towerhall_server.lobby.caller import ask
from towerhall_server.lobby.games import describe_games, describe_sandbox
from towerhall_server.lobby.my_rooms import admits
from towerhall_server.room.codes import is_code
from towerhall_server.room.gate import key_hash, may_enter, opens
from towerhall_server.room.parameters import WholeId
from towerhall_server.room.sandbox import SPEED, Entropy
from towerhall_server.room.seats import (
    BOT_DELAY_MS,
    SETTINGS,
    TURN_SECONDS,
    Person,
    read_settings,
)
from towerhall_server.room.state import Room
from towerhall_server.room.steps import Plan
from towerhall_server.room.view import describe, host_name
from towerhall_server.store.errors import StoreFullError

KEY_BYTES: Final = 12
"""96 bits: the key of a private room cannot be guessed."""
KEY_HEADER: Final = "towerhall-key"


class NewGuest(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    bot_account: bool = False


class NewSandbox(msgspec.Struct, forbid_unknown_fields=True):
    """Makes a new room a sandbox room (P-190)."""

    speed: Annotated[int, msgspec.Meta(ge=SPEED[0], le=SPEED[-1])] = 1
    entropy: Entropy | None = None


class NewRoom(msgspec.Struct, forbid_unknown_fields=True):
    game: str
    options: dict[str, object] = {}
    seats: int | None = None
    turn_seconds: int = 0
    bot_delay_ms: int = 600
    beat_ms: int = 0
    private: bool = False
    rated: bool = False
    bot_accounts: bool | None = None
    """None: bot accounts may sit in a private room, whose key is an invitation."""
    sandbox: NewSandbox | None = None


class NewInvitation(msgspec.Struct, forbid_unknown_fields=True):
    id: WholeId
    """The id of a token, which its owner has told."""


class Routes:
    """All endpoints of rooms, and the parts that all routes share."""

    def __init__(self, hall: Hall, origins: Origins) -> None:
        self._hall = hall
        self.origins = origins
        self.leaving = False
        """Tell proxies to send no more clients here. New clients are still served."""
        self.draining = False

    def table(self) -> Sequence[BaseRoute]:
        return (
            Route("/v1/guests", self.guests, methods=["POST"]),
            self.reading("/v1/games", self.games),
            Route("/v1/rooms", self.create, methods=["POST"]),
            self.reading("/v1/rooms/{code}", self.room),
            self.reading("/v1/rooms/{code}/record", self.record),
            Route("/v1/rooms/{code}/invitations", self.invite, methods=["POST"]),
            WebSocketRoute("/v1/rooms/{code}", self.play),
            WebSocketRoute("/{elsewhere:path}", self.nowhere),
            Route("/healthz", self.healthy, methods=["GET"]),
            Route("/readyz", self.ready, methods=["GET"]),
        )

    def reading(self, path: str, serve: Callable[[Request], Awaitable[Response]]) -> Route:
        """A GET route under the rate of the client's address."""

        async def endpoint(request: Request) -> Response:
            wait_ms = self._hall.gets.take(address_of(request), monotonic())
            if wait_ms:
                raise RefusedError("too_many", retry_ms=wait_ms)
            return await serve(request)

        return Route(path, endpoint, methods=["GET"])

    async def guests(self, request: Request) -> Response:
        """Issue a token for a new person."""
        expect_json(request)  # checked first: a foreign page must not use up a visitor's rate
        await self._hall.take(guests_per_ip=address_of(request))
        wanted = await read_body(request, NewGuest)
        name = clean_name(wanted.name)
        if name is None:
            raise RefusedError("bad_name")
        if wanted.bot_account:
            await self._hall.take(bots_per_ip=address_of(request))
        person = new_person(name, bot_account=wanted.bot_account)
        return answer(self.given(self._hall.tokens.new(person)), 201)

    async def games(self, request: Request) -> Response:
        """List all games with the options that a lobby needs for its form."""
        games, limits = self._hall.directory.node.games, self._hall.limits
        numbers = {
            "message_bytes": limits.message_bytes,
            "spectators_per_room": limits.spectators_per_room,
            "name_characters": NAME_GRAPHEMES_MAX,
            "chat_characters": CHAT_CHARACTERS_MAX,
            "absent_seconds": round(ABSENT_SECONDS),
        }
        described = describe_games(games, numbers, TURN_SECONDS, BOT_DELAY_MS)
        return answer(described | (describe_sandbox() if self._hall.sandbox else {}))

    async def create(self, request: Request) -> Response:
        """Create a room. The caller becomes its host."""
        if self.draining:
            raise RefusedError("draining")
        person = self._person(request)
        wanted = await read_body(request, NewRoom)
        await self._hall.take(rooms_per_identity=person.id, rooms_per_ip=address_of(request))
        key = secrets.token_urlsafe(KEY_BYTES) if wanted.private else ""
        plan = self._in_sandbox(self._plan(wanted, person, key), wanted.sandbox)
        actor = await self._hall.directory.create(plan)
        table = actor.follower.room.table
        self._hall.store.remember(person.id, table.code)
        made: dict[str, object] = {
            "code": table.code,
            "uid": base64url(table.uid),
            "commitment": base64url(table.commitment),
            "invite": invite(table.code, key),
        }
        if key:
            made["key"] = key
        point = actor.follower.replica.point
        signed = chain_of(table, point.seq, point.chain, self._hall.directory.node.sign)
        if signed.signature:
            made["signed"] = msgspec.structs.asdict(signed)
        return answer(made, 201)

    async def room(self, request: Request) -> Response:
        table = (await self._open(request, monotonic())).follower.room.table
        host = host_name(table)
        return answer(describe(table) | ({"host": host} if host else {}))

    async def invite(self, request: Request) -> Response:
        """Let the host invite a person by the id of their token, which rooms do not know."""
        person = self._person(request)
        await self._hall.take(invitations_per_identity=person.id)
        wanted = await read_body(request, NewInvitation)
        asked = monotonic()

        def may(room: Room) -> bool:
            return admits(room.table, room.alias_of(person.id), _key(request))

        actor = await self._found(request, may, asked)
        command = commands.invite(actor.follower.room.alias_of(wanted.id))
        refused = await ask(actor, person, command)
        if refused is not None:
            raise RefusedError(refused.code, **dict(refused.params))
        return answer({"id": wanted.id}, 201)

    async def record(self, request: Request) -> Response:
        """Return the stored record of a finished game."""
        code, asked = request.path_params["code"], monotonic()
        log = self._hall.directory.node.log
        try:
            found = await self._hall.records.find(code) if is_code(code) else None
            if found is None:
                found = await self._new_record(request, asked)
            if found is None or not opens(_key(request), found.key_hash):
                await refused(log, asked)
                raise RefusedError("room_gone")
        except RecordNotReadyError:
            raise RefusedError("record_not_ready") from None
        return _sent(request, code, found)

    async def _new_record(self, request: Request, asked: float) -> KeptRecord | None:
        """Make the record of a game that has just ended, or whose server died at its end."""
        # A client without access to the room must not learn that it exists.
        follower = (await self._open(request, asked)).follower
        if follower.room.table.status != "over":
            # A running game has no record, unless this server missed its end.
            read = await self._hall.directory.node.log.read(
                follower.code, follower.replica.point, page=1
            )
            if read == Following((), more=False):
                raise RecordNotReadyError
        return await self._hall.records.keep(follower.code)

    async def play(self, websocket: WebSocket) -> None:
        """Play or watch. Errors before the first message are answered over HTTP."""
        room = websocket.path_params["code"]

        def connection(socket: RoomSocket, address: str, text: bool) -> RoomConnection:
            return RoomConnection(self._hall, socket, room, address, text=text)

        await self._serve(websocket, connection)

    async def nowhere(self, websocket: WebSocket) -> None:
        """Answer a socket to any other address: the framework would refuse it without a code."""
        await websocket.send_denial_response(refusal("not_found", {}))

    async def healthy(self, request: Request) -> Response:
        """Answer that the process is alive."""
        return answer({"status": "ok"})

    async def ready(self, request: Request) -> Response:
        """Answer whether this server is ready: it is not draining, and its store takes writes. With
        `watch`, a full store counts as ready, so that a proxy still admits spectators."""
        if self.leaving or self.draining:
            raise RefusedError("draining")
        try:
            await self._hall.directory.node.log.probe()
        except StoreFullError:
            if "watch" not in request.query_params:
                raise RefusedError("store_full") from None
        return answer({"status": "ok", "rooms": len(self._hall.directory)})

    async def _serve(
        self, websocket: WebSocket, connection: Callable[[RoomSocket, str, bool], Listener]
    ) -> None:
        """Accept a socket and attach a connection to it."""
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
        if not self.origins.allows(headers.get("origin"), headers.get("host")):
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
        chosen = {name: getattr(wanted, name) for name in SETTINGS}
        if wanted.bot_accounts is None:
            chosen["bot_accounts"] = wanted.private and not wanted.rated
        settings = read_settings(chosen)
        if isinstance(settings, Rejected):
            raise RefusedError(settings.code, **dict(settings.params))
        hashed = key_hash(key) if key else b""
        return Plan(rules, options, seats, settings, person.id, hashed)

    def _in_sandbox(self, plan: Plan, wanted: NewSandbox | None) -> Plan:
        """Make the plan one of a sandbox room, if that is wanted."""
        if wanted is None:
            return plan
        if not self._hall.sandbox:
            raise RefusedError("no_sandbox")
        settings = msgspec.structs.replace(plan.settings, sandbox=wanted.speed)
        entropy = from_base64url(wanted.entropy) if wanted.entropy else b""
        return msgspec.structs.replace(plan, settings=settings, entropy=entropy)

    async def _open(self, request: Request, asked: float) -> RoomActor:
        """Return the room that a request names, if the caller has access to it."""
        key = _key(request)
        return await self._found(request, lambda room: may_enter(room.table, key), asked)

    async def _found(
        self, request: Request, may: Callable[[Room], bool], asked: float
    ) -> RoomActor:
        try:
            code, directory = request.path_params["code"], self._hall.directory
            actor = await room_for(directory, code, may, asked)
        except PoisonedRoomError:
            raise RefusedError("server_fault") from None
        if actor is None:
            raise RefusedError("room_gone")
        return actor

    def given(self, token: Token) -> dict[str, object]:
        """Return the body that gives a person their token."""
        text, person = self._hall.tokens.sign(token), token.person
        ends = 1000 * token.expires
        given = {"token": text, "id": person.id, "name": person.name, "expires": ends}
        if token.device:
            given["device"] = token.device
        return given | ({"bot_account": True} if person.bot_account else {})

    def _person(self, request: Request) -> Person:
        return self.token_of(request).person

    def token_of(self, request: Request) -> Token:
        """Return the token of a request."""
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            raise RefusedError("unauthorized", detail="the request has no token")
        found = self._hall.access.read(token.strip())
        if isinstance(found, Denied):
            raise RefusedError(found.code, **found.params)
        self._hall.accounts.store.note_seen(found)
        return found


def invite(code: str, key: str = "") -> str:
    """Return the link to a room, from the root of the page. Browsers do not send the part after
    #."""
    return f"/#/r/{code}/{key}" if key else f"/#/r/{code}"


def address_of(connection: HTTPConnection) -> str:
    return ip_key(connection.client.host if connection.client else "")


def _key(request: Request) -> str:
    return request.headers.get(KEY_HEADER, "")


def _sent(request: Request, code: str, kept: KeptRecord) -> Response:
    """Return a record as a file, gzipped if the client accepts that, or 304 if the client has
    it."""
    tag, packs = sha256(kept.packed).hexdigest()[:20], takes_gzip(request)
    tag = f'"{tag}-gz"' if packs else f'"{tag}"'
    headers = {
        "cache-control": "private, no-cache",
        "content-disposition": f'attachment; filename="towerhall-{code}.json"',
        "etag": tag,
        "vary": f"accept-encoding, {KEY_HEADER}",
        "x-content-type-options": "nosniff",
    }
    if has(request, tag):
        return Response(status_code=304, headers=headers)
    if packs:
        headers["content-encoding"] = "gzip"
    content = kept.packed if packs else kept.file
    return Response(content, 200, headers, media_type="application/json")
