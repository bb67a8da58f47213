"""The addresses for operators of other lobbies, under /v1/operator.

An operator is known by a key, which no guest and no page has. What they see and close are rooms
that they made; anything else is not there for them.
"""

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable, Sequence
from hashlib import blake2b
from time import time
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from towerhall_protocol.commands import base64url
from towerhall_server.eventlog.errors import StoreError
from towerhall_server.eventlog.keys import shard_of
from towerhall_server.game import UnknownRulesError
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.http import RefusedError, answer, read_body
from towerhall_server.gateway.limits import ip_key
from towerhall_server.gateway.operator_requests import (
    ID,
    Closing,
    Guest,
    NewBan,
    NewOperatorRoom,
    NewPerson,
    banned_identity,
    check_closing,
    guest_of,
    guests_of,
    plan_of,
)
from towerhall_server.gateway.tokens import TokenProblem
from towerhall_server.operators.happenings import identities, state_of
from towerhall_server.operators.keys import Operators
from towerhall_server.operators.store import Ban, OperatorStore, Person
from towerhall_server.room import core
from towerhall_server.room.codes import is_code
from towerhall_server.room.core import Step
from towerhall_server.room.directory import PoisonedRoomError
from towerhall_server.room.follower import RoomGoneError
from towerhall_server.room.gate import key_hash
from towerhall_server.room.inbox import Order
from towerhall_server.room.reading import load
from towerhall_server.room.replica import Replica
from towerhall_server.room.state import Room

KEY_BYTES: Final = 12
"""96 bits: nobody guesses the key of a private room."""
CLOSE_SECONDS: Final = 10.0
ONCE_HEADER: Final = "idempotency-key"
ONCE: Final = re.compile(r"[!-~]{1,128}")
MARK_BYTES: Final = 16
BUSY_MS: Final = 30_000
"""An answer under way that is not there by then never comes: its server has died."""
RETRY_MS: Final = 1000


class OperatorRoutes:
    """All endpoints for operators, over what they share."""

    def __init__(
        self,
        hall: Hall,
        operators: Operators,
        store: OperatorStore,
        secret: bytes,
        join_seconds: int,
        add: Callable[[str, str], Awaitable[None]],
        is_draining: Callable[[], bool],
    ) -> None:
        self._hall = hall
        self._operators = operators
        self._store = store
        self._secret = secret
        self._join_seconds = join_seconds
        self._add = add
        self._is_draining = is_draining

    def table(self) -> Sequence[BaseRoute]:
        at = "/v1/operator"
        return (
            Route(f"{at}/rooms", self._for_operators(self.create), methods=["POST"]),
            Route(f"{at}/rooms/{{code}}", self._for_operators(self.room), methods=["GET"]),
            Route(f"{at}/rooms/{{code}}/close", self._for_operators(self.close), methods=["POST"]),
            Route(f"{at}/tokens", self._for_operators(self.token), methods=["POST"]),
            Route(f"{at}/bans", self._for_operators(self.bans), methods=["GET"]),
            Route(f"{at}/bans", self._for_operators(self.ban), methods=["POST"]),
            Route(f"{at}/bans/{{id}}", self._for_operators(self.unban), methods=["DELETE"]),
        )

    async def create(self, request: Request, operator: str) -> Response:
        """A room with reserved seats, and a token for everybody who may sit there."""
        if self._is_draining():
            raise RefusedError("draining")
        wanted = await read_body(request, NewOperatorRoom)
        once = request.headers.get(ONCE_HEADER)
        if once is None:
            return answer(await self._create(operator, wanted), 201)
        if not ONCE.fullmatch(once):
            detail = "an idempotency key has 1 to 128 visible ASCII characters"
            raise RefusedError("bad_request", detail=detail)
        mark = blake2b(msgspec.json.encode(wanted), digest_size=MARK_BYTES).digest()
        before = await self._store.begin(operator, once, mark, BUSY_MS)
        if before is not None:
            return _again(before, mark)
        try:
            made = msgspec.json.encode(await self._create(operator, wanted))
        except RefusedError:
            await self._store.give_up(operator, once)
            raise
        await self._store.finish(operator, once, mark + made)
        return answer(msgspec.Raw(made), 201)

    async def room(self, request: Request, operator: str) -> Response:
        """A room as it is now: from its log, so that whoever was told of something sees it."""
        return await self._state(operator, await self._load(request, operator))

    async def close(self, request: Request, operator: str) -> Response:
        """End a room. To end one that is over changes nothing."""
        reason = check_closing(await read_body(request, Closing))
        code = (await self._load(request, operator)).room.table.code

        def closing(room: Room) -> Step | None:
            return None if room.table.status == "over" else core.close_step(room, reason)

        try:
            actor = await self._hall.directory.open(code)
        except PoisonedRoomError:
            raise RefusedError("server_fault") from None
        if actor is None:
            raise RefusedError("room_gone")
        order = Order(closing, asyncio.get_running_loop().create_future())
        actor.put(order)
        try:
            await asyncio.wait_for(order.done, CLOSE_SECONDS)
        except TimeoutError:
            raise RefusedError("store_unavailable") from None
        except RoomGoneError:
            raise RefusedError("room_gone") from None
        return await self._state(operator, await self._load(request, operator))

    async def token(self, request: Request, operator: str) -> Response:
        """A token for somebody, at any time: the one that came with a room may have expired."""
        wanted = await read_body(request, NewPerson)
        guest = guest_of(self._secret, operator, wanted.external_id, wanted.name)
        await self._remember(operator, [guest])
        return answer(self._joining(guest), 201)

    async def bans(self, request: Request, operator: str) -> Response:
        """Those whom this operator has banned."""
        found = [ban for ban in await self._store.bans() if ban.operator == operator]
        found.sort(key=lambda ban: (ban.time, ban.id))
        return answer({"bans": list(map(_shown, found))})

    async def ban(self, request: Request, operator: str) -> Response:
        wanted = await read_body(request, NewBan)
        identity = banned_identity(self._secret, operator, wanted)
        now_ms = round(time() * 1000)
        ban = Ban(identity, operator, now_ms, wanted.reason, wanted.external_id)
        await self._store.ban(ban)
        await self._hall.bans.read(self._store)
        return answer(_shown(ban), 201)

    async def unban(self, request: Request, operator: str) -> Response:
        identity = request.path_params["id"]
        if not ID.fullmatch(identity) or not await self._store.unban(operator, identity):
            raise RefusedError("not_found")
        await self._hall.bans.read(self._store)
        return answer({"id": identity})

    # Who asks

    def _for_operators(
        self, serve: Callable[[Request, str], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """The endpoint for operators and nobody else, and for a store that may not answer."""

        async def endpoint(request: Request) -> Response:
            operator = await self._operator(request)
            try:
                return await serve(request, operator)
            except StoreError:
                raise RefusedError("store_unavailable") from None

        return endpoint

    async def _operator(self, request: Request) -> str:
        kind, _, key = request.headers.get("authorization", "").partition(" ")
        key = key.strip() if kind.lower() == "bearer" else ""
        operator = self._operators.find(key)
        if operator is not None:
            await self._hall.take(operator_requests=f"operator {operator}")
            return operator
        address = ip_key(request.client.host if request.client else "")
        await self._hall.take(operator_requests=f"address {address}")
        if isinstance(self._hall.tokens.read(key), TokenProblem):
            raise RefusedError("unauthorized", detail="this address wants the key of an operator")
        raise RefusedError("forbidden")

    # People and rooms

    def _joining(self, guest: Guest) -> dict[str, object]:
        """What somebody needs to come in."""
        seconds = self._join_seconds
        return {
            "external_id": guest.external_id,
            "id": guest.person.id,
            "name": guest.person.name,
            "token": self._hall.tokens.issue(guest.person, seconds),
            "expires": round(1000 * (time() + seconds)),
        }

    async def _remember(self, operator: str, guests: Sequence[Guest]) -> None:
        people = {guest.person.id: Person(guest.external_id, guest.person.name)
                  for guest in guests}  # fmt: skip
        await self._store.remember(operator, people)

    async def _create(self, operator: str, wanted: NewOperatorRoom) -> dict[str, object]:
        key = secrets.token_urlsafe(KEY_BYTES) if wanted.private else ""
        guests = guests_of(self._secret, operator, wanted.seats)
        games, guard = self._hall.directory.node.games, key_hash(key) if key else b""
        plan = plan_of(games, operator, wanted, guests, guard)
        await self._remember(operator, [guest for guest in guests if guest is not None])
        table = (await self._hall.directory.create(plan)).follower.room.table
        # Nobody knows of the room before it is certain that its operator will be told of it.
        await self._add(operator, table.code)
        made: dict[str, object] = {
            "code": table.code,
            "uid": base64url(table.uid),
            "commitment": base64url(table.commitment),
            "invite": f"/#/r/{table.code}" + (f"/{key}" if key else ""),
            "seats": [
                self._joining(guest) if guest else {"bot": bot} if bot else {}
                for guest, bot in zip(guests, plan.bots or ("",) * plan.seats, strict=True)
            ],
        }
        return made | ({"key": key} if key else {})

    async def _load(self, request: Request, operator: str) -> Replica:
        """The room that a request names, if it is this operator's."""
        code, node = request.path_params["code"], self._hall.directory.node
        try:
            replica = await load(node, code) if is_code(code) else None
        except (UnknownRulesError, msgspec.MsgspecError, ValueError):
            # A newer server wrote it, and such servers can read it.
            raise RefusedError("server_fault") from None
        if replica is None or replica.room.table.operator != operator:
            raise RefusedError("room_gone")
        return replica

    async def _state(self, operator: str, replica: Replica) -> Response:
        room = replica.room
        people = await self._store.people(operator, identities(room.table))
        now = self._hall.directory.node.clock.stamps(shard_of(room.table.code))
        return answer(state_of(room, replica.point.seq, now, people))


def _again(before: bytes, mark: bytes) -> Response:
    """What the same request was answered before, if it was the same."""
    if before[:MARK_BYTES] != mark:
        raise RefusedError("key_reused")
    if len(before) == MARK_BYTES:
        raise RefusedError("in_progress", retry_ms=RETRY_MS)
    return answer(msgspec.Raw(before[MARK_BYTES:]), 201)


def _shown(ban: Ban) -> dict[str, Any]:
    shown: dict[str, Any] = {"id": ban.id, "time": ban.time, "reason": ban.reason}
    return shown | ({"external_id": ban.external_id} if ban.external_id else {})
