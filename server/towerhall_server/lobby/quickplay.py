"""Bringing people together who want the same: they are seated, and the log of the room is the lock.

Open rooms of a wish stand in a list in the store. Whoever comes is seated in the oldest of them
that has a free seat; whether it really has is decided by the room's own log. Who finds none makes a
room, and only one node at a time may do so for a wish: all others wait for that room. A claim that
was lost, because its node slept, leads back to the list: nobody waits alone in a room that nobody
is sent to.

To ask again is harmless: whoever has a seat in an open room is sent back to it.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from hashlib import blake2b
from time import monotonic
from typing import Final, TypeAlias

import msgspec

from towerhall_protocol import commands
from towerhall_protocol.messages import ServerRejected
from towerhall_server.eventlog.errors import StoreError
from towerhall_server.lobby import coming
from towerhall_server.lobby.caller import ask
from towerhall_server.lobby.coming import Coming
from towerhall_server.lobby.store import LobbyStore, now_ms
from towerhall_server.room.actor import RoomActor
from towerhall_server.room.core import Plan
from towerhall_server.room.directory import Directory, PoisonedRoomError
from towerhall_server.room.seats import Person

MOST_OPEN: Final = 16
"""So many rooms are looked at before another one is made."""
CLAIM_MS: Final = 3_000
CLAIM_LOOK_SECONDS: Final = 0.05
PATIENCE_SECONDS: Final = 8.0
FULL_MS: Final = 120_000
"""So long a full room stays in the list, in case that somebody stands up again."""


Allow: TypeAlias = Callable[[], Awaitable[None]]


class Seated(msgspec.Struct, frozen=True):
    """Where somebody has been seated."""

    code: str
    seat: int


def wish_of(plan: Plan) -> str:
    """The same for all who want the same."""
    options = msgspec.to_builtins(plan.options)
    wanted = (
        plan.rules.name,
        plan.rules.version,
        sorted(options.items()),
        plan.seats,
        plan.settings.turn_seconds,
    )
    return blake2b(msgspec.json.encode(wanted), digest_size=12).hexdigest()


async def _allowed() -> None:
    """Nobody objects to another room."""


class Quickplay:
    """Seats people, on one node of several."""

    def __init__(self, directory: Directory, store: LobbyStore) -> None:
        self._directory = directory
        self._store = store
        self.coming = Coming(directory, store)
        """Sees to it that a seat is free again whose person does not come."""

    async def seat(self, plan: Plan, person: Person, allow: Allow = _allowed) -> Seated:
        """A seat beside others who want what the plan says. `allow` is asked before a room is
        made, and may raise. `StoreError` if the store does not answer."""
        wish, patience = wish_of(plan), monotonic() + PATIENCE_SECONDS
        while True:
            found = await self._find(wish, person)
            if found is None:
                claim = secrets.token_hex(8)
                if await self._store.claim(wish, claim, CLAIM_MS):
                    found = await self._make(wish, claim, plan, person, allow)
                elif monotonic() > patience:
                    raise StoreError("nobody makes a room")
                else:
                    await asyncio.sleep(CLAIM_LOOK_SECONDS)
            if found is not None:
                return found

    async def _find(self, wish: str, person: Person) -> Seated | None:
        """A seat in one of the open rooms."""
        rooms = await self._open_rooms(wish)
        return self._return(rooms, person) or await self._join(rooms, person)

    async def _open_rooms(self, wish: str) -> dict[RoomActor, int]:
        """The rooms of the list that are still there, and since when they are open."""
        rooms: dict[RoomActor, int] = {}
        for code, since_ms in (await self._store.open_rooms(wish, MOST_OPEN)).items():
            try:
                actor = await self._directory.open(code)
            except PoisonedRoomError:
                continue  # others may be able to serve it
            if actor is None or not _may_begin(actor, since_ms):
                await self._store.drop(wish, code)
            else:
                rooms[actor] = since_ms
        return rooms

    def _return(self, rooms: Mapping[RoomActor, int], person: Person) -> Seated | None:
        for actor in rooms:
            seated = _seated(actor, person)
            if seated is not None:
                return seated
        return None

    async def _join(self, rooms: Mapping[RoomActor, int], person: Person) -> Seated | None:
        for actor, since_ms in rooms.items():
            table = actor.follower.room.table
            if table.status != "waiting" or not table.free_seats():
                continue
            is_old = now_ms() - since_ms > coming.COMING_MS
            if is_old and not await coming.is_present(actor):
                continue  # all who sit there have left; they may come back
            refusal = await self._sit(actor, person)
            # Somebody else may have been faster, or this person may not be wanted there.
            if refusal is None or refusal.code == "already_seated":
                return _seated(actor, person)
        return None

    async def _sit(self, actor: RoomActor, person: Person) -> ServerRejected | None:
        """Give somebody a seat, and expect them there."""
        await self.coming.expect(actor.code, person)
        self._store.remember(person.id, actor.code)
        return await ask(actor, person, commands.sit())

    async def _make(
        self,
        wish: str,
        claim: str,
        plan: Plan,
        person: Person,
        allow: Allow,
    ) -> Seated | None:
        """A room of one's own that others will be sent to; nothing if that took too long."""
        try:
            # Whoever had the claim before may have opened a room since this node looked.
            found = await self._find(wish, person)
            if found is not None:
                await self._let_go(wish, claim)
                return found
            await allow()
            actor = await self._directory.create(plan)
            await self._sit(actor, person)
        except BaseException:
            await asyncio.shield(self._let_go(wish, claim))
            raise
        if await self._store.settle(wish, claim, actor.code):
            return _seated(actor, person)
        await ask(actor, person, commands.stand())
        return None

    async def _let_go(self, wish: str, claim: str) -> None:
        with suppress(StoreError):  # then it ends by itself
            await self._store.settle(wish, claim)


def _may_begin(actor: RoomActor, since_ms: int) -> bool:
    """Whether somebody who comes may still take part."""
    table = actor.follower.room.table
    if table.status not in ("waiting", "sealed"):
        return False
    return bool(table.free_seats()) or now_ms() - since_ms <= FULL_MS


def _seated(actor: RoomActor, person: Person) -> Seated | None:
    table = actor.follower.room.table
    seat = table.seat_of(person.id)
    return None if seat is None or table.status == "over" else Seated(table.code, seat)
