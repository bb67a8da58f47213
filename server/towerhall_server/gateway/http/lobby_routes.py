"""Routes of the lobby: how people find rooms and each other.

As in `routes`, each endpoint reads a request, calls the lobby, and answers. Every refusal has a
code.
"""

import secrets
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from towerhall_protocol.document import Document
from towerhall_protocol.lobby import Filter
from towerhall_server.access.admission import REVOKED, Denied
from towerhall_server.access.audit import PEOPLE
from towerhall_server.access.names import clean_name
from towerhall_server.access.origins import Origins
from towerhall_server.access.tokens import Token
from towerhall_server.eventlog.lobby import now_ms
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.http.routes import NewRoom, Routes, address_of, invite
from towerhall_server.gateway.responses import RefusedError, answer, expect_json, read_body
from towerhall_server.gateway.ws.events_connection import EventsConnection
from towerhall_server.gateway.ws.lobby_connection import LobbyConnection
from towerhall_server.gateway.ws.socket import RoomSocket
from towerhall_server.lobby.board import Board
from towerhall_server.lobby.events import Events
from towerhall_server.lobby.my_rooms import rename_seats, rooms_of
from towerhall_server.lobby.quickplay import Quickplay
from towerhall_server.room.codes import is_code
from towerhall_server.room.seats import Person

LINK_BYTES: Final = 16
LINK_MS: Final = 10 * 60_000


class NewQuickplay(msgspec.Struct, forbid_unknown_fields=True):
    game: str
    options: dict[str, object] = {}
    seats: int | None = None
    turn_seconds: int = 0
    rated: bool = False


class NewLink(msgspec.Struct, forbid_unknown_fields=True):
    room: str = ""


class UsedLink(msgspec.Struct, forbid_unknown_fields=True):
    code: str


class NewName(msgspec.Struct, forbid_unknown_fields=True):
    name: str


class NewToken(msgspec.Struct, forbid_unknown_fields=True):
    """The empty body of a request for a token."""


class NewRevocation(msgspec.Struct, forbid_unknown_fields=True):
    others: bool = False
    """Whether to revoke only tokens older than the caller's."""


class _Kept(msgspec.Struct, frozen=True, array_like=True):
    """The stored part of a link: the claims of its maker's token. They are signed when the link is
    used, so the store holds no token."""

    person: Person
    room: str = ""
    issued: int = 0
    expires: int = 0
    operator: str = ""
    after: int = 0
    device: str = ""

    @property
    def token(self) -> Token:
        return Token(self.person, self.issued, self.expires, self.operator, self.after, self.device)


def _kept(token: Token, room: str) -> bytes:
    kept = _Kept(
        token.person,
        room,
        token.issued,
        token.expires,
        token.operator,
        token.after,
        token.device,
    )
    return msgspec.msgpack.encode(kept)


class LobbyRoutes(Routes):
    """All endpoints of the service."""

    def __init__(
        self, hall: Hall, origins: Origins, board: Board, events: Events, quickplay: Quickplay
    ) -> None:
        super().__init__(hall, origins)
        self._board = board
        self._events = events
        self._quickplay = quickplay

    def table(self) -> Sequence[BaseRoute]:
        return (
            WebSocketRoute("/v1/lobby", self.look),
            WebSocketRoute("/v1/me/events", self.follow),
            Route("/v1/quickplay", self.quickplay, methods=["POST"]),
            self.reading("/v1/rooms", self.rooms),
            self.reading("/v1/me/rooms", self.mine),
            Route("/v1/me/name", self.rename, methods=["POST"]),
            Route("/v1/me/links", self.new_link, methods=["POST"]),
            Route("/v1/me/tokens", self.newer_token, methods=["POST"]),
            Route("/v1/me/revoke", self.revoke, methods=["POST"]),
            Route("/v1/links", self.use_link, methods=["POST"]),
            # The last route answers sockets at all other addresses, so it must stay last.
            *super().table(),
        )

    async def look(self, websocket: WebSocket) -> None:
        """Serve the live list of rooms."""

        def connection(socket: RoomSocket, address: str, text: bool) -> LobbyConnection:
            return LobbyConnection(self._hall, self._board, socket, address, text=text)

        await self._serve(websocket, connection)

    async def follow(self, websocket: WebSocket) -> None:
        """Serve what concerns one person, in all rooms."""

        def connection(socket: RoomSocket, address: str, text: bool) -> EventsConnection:
            return EventsConnection(self._hall, self._events, socket, address, text=text)

        await self._serve(websocket, connection)

    async def rooms(self, request: Request) -> Response:
        """List one page of the public rooms."""
        return answer(shown_page(await self._board.page(filter_of(request))))

    async def quickplay(self, request: Request) -> Response:
        """Give the caller a seat beside players with the same wish."""
        if self.draining:
            raise RefusedError("draining")
        person = (await self.asking(request)).person
        if person.bot_account:
            raise RefusedError("no_bot_accounts")
        wanted = await read_body(request, NewQuickplay)
        rules = self._hall.directory.node.games.get(wanted.game)
        seats = rules.seats[0] if wanted.seats is None and rules else wanted.seats
        room = NewRoom(wanted.game, wanted.options, seats, wanted.turn_seconds, rated=wanted.rated)
        plan = msgspec.structs.replace(self._plan(room, person, key=""), quick=True)

        async def allow() -> None:
            await self._hall.take(rooms_per_identity=person.id, rooms_per_ip=address_of(request))

        found = await self._quickplay.seat(plan, person, allow)
        return answer({"code": found.code, "seat": found.seat, "invite": invite(found.code)})

    async def mine(self, request: Request) -> Response:
        """List the rooms in which the caller has a place."""
        person = (await self.asking(request)).person
        rooms = await rooms_of(self._hall.directory, self._hall.store, person.id)
        return answer({"rooms": rooms})

    async def rename(self, request: Request) -> Response:
        """Issue a token of the same person with another name, and rename their seats."""
        token = await self.asking(request)
        # A name costs as much as a new person did, who was the only way to another name before.
        await self._hall.take(guests_per_ip=address_of(request))
        name = clean_name((await read_body(request, NewName)).name)
        if name is None:
            raise RefusedError("bad_name")
        if token.operator:
            # The lobby of the operator knows its people by the names that it gave them.
            raise RefusedError("forbidden")
        person = msgspec.structs.replace(token.person, name=name)
        await rename_seats(self._hall.directory, self._hall.store, person)
        people = self._hall.regulars.people
        if handle := await people.handle_of(person.id):
            await people.rename(handle, name)
        await self._hall.accounts.rename(person)
        return answer(self.given(msgspec.structs.replace(token, person=person)))

    async def new_link(self, request: Request) -> Response:
        """Make a single-use link that gives the caller's identity to another device."""
        token = await self.asking(request)
        wanted = await read_body(request, NewLink)
        if wanted.room and not is_code(wanted.room):
            raise RefusedError("room_gone")
        code = secrets.token_urlsafe(LINK_BYTES)
        await self._hall.store.links.keep(code, _kept(token, wanted.room), LINK_MS)
        self._hall.audit.note(PEOPLE, "link_made", person=token.person.id, room=wanted.room)
        return answer({"link": f"/#/l/{code}", "expires": now_ms() + LINK_MS}, 201)

    async def use_link(self, request: Request) -> Response:
        """Give out the token of the link's maker, with its expiry. A link works once."""
        expect_json(request)  # checked first, as for a new guest
        await self._hall.take(guests_per_ip=address_of(request))
        wanted = await read_body(request, UsedLink)
        found = await self._hall.store.links.take(wanted.code)
        if found is None:
            raise RefusedError("link_gone")
        kept = msgspec.msgpack.decode(found, type=_Kept)
        if self._hall.tokens.is_over(kept.token):
            raise RefusedError("link_gone")
        denied = self._hall.access.judge(kept.token)
        if denied is REVOKED:
            raise RefusedError("link_gone")
        if denied is not None:
            raise RefusedError(denied.code, **denied.params)
        self._hall.audit.note(PEOPLE, "link_used", person=kept.person.id, room=kept.room)
        given = self.given(kept.token)
        return answer(given | ({"room": kept.room} if kept.room else {}), 201)

    async def newer_token(self, request: Request) -> Response:
        """Issue a token of the same person and expiry that is newer than all others."""
        token = await self.asking(request)
        await read_body(request, NewToken)
        newer = await self._hall.access.newer(token)
        if isinstance(newer, Denied):
            raise RefusedError(newer.code, **newer.params)
        await self._hall.accounts.renew(newer)
        return answer(self.given(newer), 201)

    async def revoke(self, request: Request) -> Response:
        """Revoke the caller's tokens: all of them, or only the older ones."""
        token = await self.asking(request)
        wanted = await read_body(request, NewRevocation)
        if wanted.others and not token.after:
            detail = "no token is older than this one; take a newer one by POST /v1/me/tokens first"
            raise RefusedError("bad_request", detail=detail)
        await self._hall.take(revocations_per_ip=address_of(request))
        denied = await self._hall.access.revoke(token, others=wanted.others)
        if denied is not None:
            raise RefusedError(denied.code, **denied.params)
        identity = token.person.id
        self._hall.audit.note(PEOPLE, "tokens_revoked", person=identity, others=wanted.others)
        return answer({"id": identity})

    async def asking(self, request: Request) -> Token:
        """Return the caller's token, or refuse a caller above the rate."""
        token = self.token_of(request)
        await self._hall.take(questions_per_identity=token.person.id)
        return token


def filter_of(request: Request, **fixed: object) -> Filter:
    """Return the filter in the query of a request. `fixed` is what the caller cannot choose."""
    asked = request.query_params
    known = {name: asked[name] for name in Filter.__struct_fields__ if name in asked}
    try:
        return msgspec.convert(known | fixed, Filter, strict=False)
    except (msgspec.ValidationError, UnicodeError) as error:
        raise RefusedError("bad_request", detail=str(error)[:200]) from None


def shown_page(page: Document) -> dict[str, Any]:
    """Return a page of the list as answers over HTTP show it."""
    rooms = page["rooms"]
    shown = {"rooms": list(rooms.values()) if isinstance(rooms, dict) else []}
    return shown | {name: page[name] for name in ("more", "next") if name in page}
