"""Routes for operators of other lobbies, under /v1/operator.

An operator authenticates by a key, which no guest and no page has. Operators see and close only
their own rooms; other rooms look missing to them.
"""

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable, Sequence
from hashlib import blake2b
from time import monotonic, time
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from towerhall_protocol.commands import base64url
from towerhall_server.access.audit import Act, source_of
from towerhall_server.access.rates import ip_key
from towerhall_server.access.tokens import TokenProblem
from towerhall_server.eventlog.keys import shard_of
from towerhall_server.eventlog.operators import Ban, LobbyPerson, OperatorStore
from towerhall_server.game import UnknownRulesError
from towerhall_server.gateway.entering import refused
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.http.operator_people import OperatorPeople
from towerhall_server.gateway.http.operator_requests import (
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
from towerhall_server.gateway.responses import RefusedError, answer, read_body
from towerhall_server.live.directory import PoisonedRoomError
from towerhall_server.live.follower import RoomGoneError
from towerhall_server.live.items import Order
from towerhall_server.live.replica import Replica
from towerhall_server.operators.notices import identities, state_of
from towerhall_server.operators.operator import Operators, key_digest
from towerhall_server.room.closing import close_step
from towerhall_server.room.codes import is_code
from towerhall_server.room.gate import key_hash
from towerhall_server.room.state import Room
from towerhall_server.room.steps import Step

KEY_BYTES: Final = 12
"""96 bits: the key of a private room cannot be guessed."""
CLOSE_SECONDS: Final = 10.0
ONCE_HEADER: Final = "idempotency-key"
ONCE: Final = re.compile(r"[!-~]{1,128}")
MARK_BYTES: Final = 16
BUSY_MS: Final = 30_000
"""Milliseconds for an answer under way. After that its server counts as dead."""
RETRY_MS: Final = 1000


class OperatorRoutes:
    """All endpoints for operators."""

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
        self._people = OperatorPeople(hall, secret)

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
            *self._people.table(self._for_operators),
        )

    async def create(self, request: Request, operator: str) -> Response:
        """Create a room with reserved seats, and a token for each person who may sit there."""
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
        """Return a room from its log, so that the answer includes every change already
        announced."""
        return await self._state(operator, await self._load(request, operator))

    async def close(self, request: Request, operator: str) -> Response:
        """End a room. Idempotent: an ended room stays as it is."""
        reason = check_closing(await read_body(request, Closing))
        code = (await self._load(request, operator)).room.table.code

        def closing(room: Room) -> Step | None:
            return None if room.table.status == "over" else close_step(room, reason, "operator")

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
        self._note(operator, "room_closed", room=code, reason=reason)
        return await self._state(operator, await self._load(request, operator))

    async def token(self, request: Request, operator: str) -> Response:
        """Issue a token for a person at any time: the token from the room's creation may have
        expired."""
        wanted = await read_body(request, NewPerson)
        guest = guest_of(self._secret, operator, wanted.external_id, wanted.name)
        await self._remember(operator, [guest])
        joining = await self._joining(operator, guest)
        self._note(operator, "token_issued", person=guest.person.id)
        return answer(joining, 201)

    async def bans(self, request: Request, operator: str) -> Response:
        """List the people whom this operator has banned."""
        found = [ban for ban in await self._store.bans() if ban.operator == operator]
        found.sort(key=lambda ban: (ban.time, ban.id))
        return answer({"bans": list(map(_shown, found))})

    async def ban(self, request: Request, operator: str) -> Response:
        wanted = await read_body(request, NewBan)
        identity = banned_identity(self._secret, operator, wanted)
        # Only this operator derives identities from its external ids; other ids are foreign.
        own = wanted.external_id or await self._store.people(operator, [identity])
        now_ms = round(time() * 1000)
        ban = Ban(identity, operator, now_ms, wanted.reason, wanted.external_id, rooms_only=not own)
        await self._store.ban(ban)
        await self._hall.access.refresh()
        scope = _scope(ban)
        self._note(operator, "banned", person=identity, scope=scope, reason=ban.reason)
        return answer(_shown(ban), 201)

    async def unban(self, request: Request, operator: str) -> Response:
        identity = request.path_params["id"]
        if not ID.fullmatch(identity) or not await self._store.unban(operator, identity):
            raise RefusedError("not_found")
        await self._hall.access.refresh()
        self._note(operator, "ban_lifted", person=identity)
        return answer({"id": identity})

    # Authentication

    def _for_operators(
        self, serve: Callable[[Request, str], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Wrap an endpoint: only operators may call it."""

        async def endpoint(request: Request) -> Response:
            operator, key = await self._operator(request)
            answered = await serve(request, operator)
            # Check revocation last: this node may not have heard of it, and no issued token may be
            # newer than the revocation of the key.
            if not await self._hall.access.key_holds(key):
                raise _key_revoked()
            return answered

        return endpoint

    async def _operator(self, request: Request) -> tuple[str, str]:
        """Return the operator who asks, and the digest of its key."""
        kind, _, key = request.headers.get("authorization", "").partition(" ")
        key = key.strip() if kind.lower() == "bearer" else ""
        operator = self._operators.find(key)
        digest = key_digest(key)
        if operator is not None and not self._hall.access.revocations.ends_key(digest):
            await self._hall.take(operator_requests=f"operator {operator}")
            return operator, digest
        address = ip_key(request.client.host if request.client else "")
        await self._hall.take(operator_requests=f"address {address}")
        if operator is not None:
            raise _key_revoked()
        if isinstance(self._hall.tokens.read(key), TokenProblem):
            raise RefusedError("unauthorized", detail="this address needs the key of an operator")
        raise RefusedError("forbidden")

    def _note(self, operator: str, act: Act, **about: object) -> None:
        self._hall.audit.note(source_of(operator), act, **about)

    # People and rooms

    async def _joining(self, operator: str, guest: Guest) -> dict[str, object]:
        """Return what a person needs to enter: identity, token and expiry."""
        token = await self._hall.access.new(guest.person, self._join_seconds, operator=operator)
        return {
            "external_id": guest.external_id,
            "id": guest.person.id,
            "name": guest.person.name,
            "token": self._hall.tokens.sign(token),
            "expires": 1000 * token.expires,
        }

    async def _remember(self, operator: str, guests: Sequence[Guest]) -> None:
        people = {guest.person.id: LobbyPerson(guest.external_id, guest.person.name)
                  for guest in guests}  # fmt: skip
        await self._store.remember(operator, people)

    async def _create(self, operator: str, wanted: NewOperatorRoom) -> dict[str, object]:
        key = secrets.token_urlsafe(KEY_BYTES) if wanted.private else ""
        guests = guests_of(self._secret, operator, wanted.seats)
        games, guard = self._hall.directory.node.games, key_hash(key) if key else b""
        plan = plan_of(games, operator, wanted, guests, guard)
        await self._remember(operator, [guest for guest in guests if guest is not None])
        table = (await self._hall.directory.create(plan)).follower.room.table
        # The room is published only after its webhook is certain.
        await self._add(operator, table.code)
        people = [guest.person.id for guest in guests if guest is not None]
        self._note(operator, "room_opened", room=table.code, people=people)
        made: dict[str, object] = {
            "code": table.code,
            "uid": base64url(table.uid),
            "commitment": base64url(table.commitment),
            "invite": f"/#/r/{table.code}" + (f"/{key}" if key else ""),
            "seats": [
                await self._joining(operator, guest) if guest else {"bot": bot} if bot else {}
                for guest, bot in zip(guests, plan.bots or ("",) * plan.seats, strict=True)
            ],
        }
        return made | ({"key": key} if key else {})

    async def _load(self, request: Request, operator: str) -> Replica:
        """Return the room that a request names, if this operator owns it."""
        code, asked = request.path_params["code"], monotonic()
        try:
            replica = await self._hall.directory.read(code) if is_code(code) else None
        except (UnknownRulesError, msgspec.MsgspecError, ValueError):
            # A newer server wrote it; only newer servers can read it.
            raise RefusedError("server_fault") from None
        if replica is None or replica.room.table.operator != operator:
            await refused(self._hall.directory.node.log, asked)
            raise RefusedError("room_gone")
        return replica

    async def _state(self, operator: str, replica: Replica) -> Response:
        room = replica.room
        people = await self._store.people(operator, identities(room))
        now = self._hall.directory.node.clock.stamps(shard_of(room.table.code))
        return answer(state_of(room, replica.point.seq, now, people))


def _again(before: bytes, mark: bytes) -> Response:
    """Return the kept answer to the same request, if there is one."""
    if before[:MARK_BYTES] != mark:
        raise RefusedError("key_reused")
    if len(before) == MARK_BYTES:
        raise RefusedError("in_progress", retry_ms=RETRY_MS)
    return answer(msgspec.Raw(before[MARK_BYTES:]), 201)


def _key_revoked() -> RefusedError:
    return RefusedError("unauthorized", detail="this key was revoked")


def _scope(ban: Ban) -> str:
    return "rooms" if ban.rooms_only else "service"


def _shown(ban: Ban) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "id": ban.id,
        "time": ban.time,
        "reason": ban.reason,
        "scope": _scope(ban),
    }
    return shown | ({"external_id": ban.external_id} if ban.external_id else {})
