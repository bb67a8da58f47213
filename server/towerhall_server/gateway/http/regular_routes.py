"""Routes about people who come back: profiles, histories, leaderboards, friends, reports, erasure.

As in `routes`, each endpoint reads a request, calls `regulars`, and answers. A person who may not
be seen is answered as unknown.
"""

from collections.abc import Awaitable, Callable, Sequence
from time import monotonic, time
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from towerhall_protocol.messages import ServerChat
from towerhall_server.access.audit import PEOPLE
from towerhall_server.access.tokens import Token
from towerhall_server.gateway.entering import room_for
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.http.operator_requests import ID
from towerhall_server.gateway.http.regular_requests import (
    NewChoices,
    NewErasure,
    NewReport,
    Whom,
    games_wish,
    handle_of,
    ranks_wish,
    room_wish,
    seat_wish,
)
from towerhall_server.gateway.http.routes import KEY_HEADER
from towerhall_server.gateway.responses import RefusedError, answer, read_body
from towerhall_server.live.chat import message_of
from towerhall_server.live.directory import PoisonedRoomError
from towerhall_server.lobby.my_rooms import admits
from towerhall_server.regulars.people import Who
from towerhall_server.regulars.profiles import Wish
from towerhall_server.regulars.reports import MOST_LINES, ChatLine, Report
from towerhall_server.room.seats import Person
from towerhall_server.room.state import Room

SAID_LINES: Final = 1000
"""Lines of a room's chat among which those in question are looked for."""
Asking = Callable[[Request], Awaitable[Token]]
"""Returns the token of the caller, within the caller's rate."""
Reading = Callable[[str, Callable[[Request], Awaitable[Response]]], Route]


class RegularRoutes:
    """All endpoints about people."""

    def __init__(self, hall: Hall, asking: Asking) -> None:
        self._hall, self._asking = hall, asking
        self._regulars = hall.regulars

    def table(self, reading: Reading) -> Sequence[BaseRoute]:
        """The routes. `reading` makes a GET route under the rate of the client's address."""

        def post(path: str, serve: Callable[[Request], Awaitable[Response]]) -> Route:
            return Route(path, serve, methods=["POST"])

        return (
            reading("/v1/me/profile", self.own_profile),
            post("/v1/me/profile", self.choose),
            reading("/v1/me/games", self.own_games),
            reading("/v1/me/people", self.people),
            post("/v1/me/friends", self.befriend),
            post("/v1/me/blocks", self.block),
            reading("/v1/me/blocks", self.blocked),
            post("/v1/me/reports", self.report),
            reading("/v1/me/export", self.export),
            post("/v1/me/erase", self.erase),
            reading("/v1/people", self.profile_by_seat),
            reading("/v1/people/{handle}", self.profile),
            reading("/v1/people/{handle}/games", self.games),
            reading("/v1/leaderboards/{game}", self.leaderboard),
        )

    # The caller

    async def own_profile(self, request: Request) -> Response:
        """Return the caller's own profile, also a hidden one."""
        person = (await self._asking(request)).person
        who = await self._own(person)
        return answer(await self._own_document(person, who))

    async def choose(self, request: Request) -> Response:
        """Keep what the caller chooses to show and to do."""
        person = (await self._asking(request)).person
        wanted = await read_body(request, NewChoices)
        handle = await self._known(person)
        await self._regulars.people.choose(handle, hidden=wanted.hidden, chat=wanted.chat)
        return answer(await self._own_document(person, await self._own(person)))

    async def own_games(self, request: Request) -> Response:
        person = (await self._asking(request)).person
        wish, who = games_wish(request), await self._own(person)
        if who is None:
            return answer({"games": []})
        return answer(await self._regulars.profiles.history(who, wish, who.handle))

    async def people(self, request: Request) -> Response:
        """List friends, questions of friendship, blocked people and recent opponents."""
        own = await self._own((await self._asking(request)).person)
        lists = await self._regulars.bonds.lists("" if own is None else own.handle)
        return answer(lists)

    async def befriend(self, request: Request) -> Response:
        """Choose a person as a friend, or take that back."""
        bonds = self._regulars.bonds
        return await self._bind(request, bonds.befriend, bonds.unfriend)

    async def block(self, request: Request) -> Response:
        """Block a person, or lift that."""
        bonds = self._regulars.bonds
        return await self._bind(request, bonds.block, bonds.unblock)

    async def blocked(self, request: Request) -> Response:
        """List the blocked people as a room names them, so that a client can leave out what they
        say there."""
        person = (await self._asking(request)).person
        room = await self._room(request, room_wish(request), person)
        blocked = await self._regulars.bonds.blocked_ids(person.id)
        aliases = map(room.alias_of, blocked) if room.table.aliased else ()
        return answer({"ids": sorted(aliases)})

    async def report(self, request: Request) -> Response:
        """Put a person into the queue of the operator, with the lines in question."""
        person = (await self._asking(request)).person
        wanted = await read_body(request, NewReport)
        await self._hall.take(reports_per_identity=person.id)
        if bool(wanted.handle) == bool(wanted.room):
            raise RefusedError("bad_request", detail="give handle, or room")
        if wanted.handle:
            return await self._report_by_handle(wanted, person)
        room = await self._room(request, wanted.room, person)
        alias = self._alias(room, wanted.seat, wanted.id)
        if alias == room.alias_of(person.id):
            raise RefusedError("bad_request", detail="you cannot report yourself")
        lines_said = await self._hall.directory.node.log.said(wanted.room, SAID_LINES)
        said = [
            message
            for message in map(message_of, lines_said)
            if isinstance(message, ServerChat) and message.who == alias
        ]
        lines = [ChatLine(each.id, each.wall_ms, each.text) for each in said]
        if wanted.lines:
            lines = [line for line in lines if line.id in wanted.lines]
        held = room.table.seated.get(alias)
        holder = None if held is None else room.table.seats[held]
        if holder is None and not said:
            raise RefusedError("not_found")
        name = holder.name if holder else said[-1].name
        identity = room.identity_of(alias)
        report = Report(
            wanted.room,
            person.id,
            identity,
            name,
            wanted.reason,
            wanted.text,
            tuple(lines[-MOST_LINES:]),
        )
        return await self._keep(room.table.operator, report)

    async def _report_by_handle(self, wanted: NewReport, person: Person) -> Response:
        if wanted.seat is not None or wanted.id or wanted.lines:
            raise RefusedError("bad_request", detail="seat, id and lines are of a room")
        who = await self._regulars.people.who(handle_of(wanted.handle))
        if who is None:
            raise RefusedError("not_found")
        if who.id == person.id:
            raise RefusedError("bad_request", detail="you cannot report yourself")
        report = Report("", person.id, who.id, who.name, wanted.reason, wanted.text)
        return await self._keep("", report)

    async def _keep(self, operator: str, report: Report) -> Response:
        """Put a report into the queue of an operator."""
        await self._regulars.reports.add(operator, report)
        self._hall.audit.note(
            PEOPLE,
            "person_reported",
            person=report.person,
            room=report.room,
            reason=report.reason,
        )
        return answer({"lines": len(report.lines)}, 201)

    async def export(self, request: Request) -> Response:
        """Return all that is kept of the caller."""
        token = await self._asking(request)
        person = token.person
        who = await self._own(person)
        kept = {} if who is None else await self._regulars.erasure.export(who)
        account = await self._hall.accounts.shown(token)
        if account["passkeys"]:
            kept["account"] = account
        if devices := await self._regulars.erasure.devices(person.id):
            kept["subscriptions"] = devices
        return answer({**await self._own_document(person, who), **kept})

    async def erase(self, request: Request) -> Response:
        """Erase the caller, and end all tokens of theirs."""
        token = await self._asking(request)
        wanted = await read_body(request, NewErasure)
        if wanted.id != token.person.id:
            raise RefusedError("bad_request", detail="id is the caller's own id")
        await self._regulars.erasure.erase(token.person.id)
        self._hall.audit.note(PEOPLE, "person_erased")
        # Last of all: after a failure before, the caller can ask again.
        denied = await self._hall.access.revoke(token, others=False)
        if denied is not None:
            raise RefusedError(denied.code, **denied.params)
        return answer({"id": token.person.id})

    # Other people

    async def profile(self, request: Request) -> Response:
        who, _ = await self._visible(request)
        return answer(await self._regulars.profiles.profile(who))

    async def profile_by_seat(self, request: Request) -> Response:
        """Return the profile of a person by a seat in a room where the caller may be."""
        person = (await self._asking(request)).person
        code, seat = seat_wish(request)
        room = await self._room(request, code, person)
        people = self._regulars.people
        handle = await people.handle_of(room.identity_of(self._alias(room, seat, "")))
        reader = await people.handle_of(person.id)
        who = await self._regulars.profiles.visible(handle, reader) if handle else None
        if who is None:
            raise RefusedError("not_found")
        return answer(await self._regulars.profiles.profile(who))

    async def games(self, request: Request) -> Response:
        wish: Wish = games_wish(request)
        who, reader = await self._visible(request)
        return answer(await self._regulars.profiles.history(who, wish, reader))

    async def leaderboard(self, request: Request) -> Response:
        game = request.path_params["game"]
        if game not in self._hall.directory.node.games:
            raise RefusedError("unknown_game", name=game[:40])
        return answer(await self._regulars.profiles.leaderboard(game, *ranks_wish(request)))

    # Shared parts

    async def _own(self, person: Person) -> Who | None:
        """Return the caller as the store knows them; None if nothing is kept of them."""
        handle = await self._regulars.people.handle_of(person.id)
        return await self._regulars.people.who(handle) if handle else None

    async def _known(self, person: Person) -> str:
        """Return the caller's handle, made if there is none."""
        people = self._regulars.people
        handle = await people.known(person.id, person.name, round(1000 * time()))
        if not handle:
            raise RefusedError("forbidden")
        return handle

    async def _own_document(self, person: Person, who: Who | None) -> dict[str, object]:
        chosen = {
            "id": person.id,
            "hidden": who is not None and who.hidden,
            "chat": await self._regulars.may_chat(person.id),
        }
        if who is None:
            return {"name": person.name, "statistics": [], "ratings": [], **chosen}
        return {**await self._regulars.profiles.profile(who), **chosen}

    async def _visible(self, request: Request) -> tuple[Who, str]:
        """Return the person of a request whom the caller may see, and the caller's handle."""
        person = (await self._asking(request)).person
        reader = await self._regulars.people.handle_of(person.id)
        handle = handle_of(request.path_params["handle"])
        who = await self._regulars.profiles.visible(handle, reader)
        if who is None:
            raise RefusedError("not_found")
        return who, reader

    async def _bind(
        self,
        request: Request,
        add: Callable[[str, str], Awaitable[str]],
        remove: Callable[[str, str], Awaitable[None]],
    ) -> Response:
        person = (await self._asking(request)).person
        wanted = await read_body(request, Whom)
        own, other = await self._known(person), await self._other(request, wanted, person)
        if own == other:
            raise RefusedError("bad_request", detail="this is the caller")
        if wanted.remove:
            await remove(own, other)
        else:
            match await add(own, other):
                case "nobody":
                    raise RefusedError("not_found")
                case "full":
                    raise RefusedError("bad_request", detail="the list is full")
        return answer(await self._regulars.bonds.lists(own))

    async def _other(self, request: Request, wanted: Whom, person: Person) -> str:
        """Return the handle of the person whom a request names."""
        if bool(wanted.handle) == bool(wanted.room):
            raise RefusedError("bad_request", detail="give handle, or room and seat")
        if wanted.handle:
            return handle_of(wanted.handle)
        room = await self._room(request, wanted.room, person)
        alias = self._alias(room, wanted.seat, "")
        held = room.table.seated.get(alias)
        holder = None if held is None else room.table.seats[held]
        # An older time: a name that the person took elsewhere since is newer than the seat's.
        handle = await self._regulars.people.known(
            room.identity_of(alias), holder.name if holder else "", 0
        )
        if not handle:
            raise RefusedError("not_found")
        return handle

    async def _room(self, request: Request, code: str, person: Person) -> Room:
        """Return a room where the caller may be."""
        key = request.headers.get(KEY_HEADER, "")

        def may(room: Room) -> bool:
            return admits(room.table, room.alias_of(person.id), key)

        try:
            actor = await room_for(self._hall.directory, code, may, monotonic())
        except PoisonedRoomError:
            raise RefusedError("server_fault") from None
        if actor is None:
            raise RefusedError("room_gone")
        return actor.follower.room

    def _alias(self, room: Room, seat: int | None, alias: str) -> str:
        """Return the alias of the person whom a request names."""
        if (seat is None) == (not alias):
            raise RefusedError("bad_request", detail="give seat or id")
        if seat is None:
            if not ID.fullmatch(alias) or not room.table.aliased:
                raise RefusedError("not_found")
            return alias
        seats = room.table.seats
        holder = seats[seat] if 0 <= seat < len(seats) else None
        if holder is None or holder.is_bot:
            raise RefusedError("not_found")
        return holder.identity
