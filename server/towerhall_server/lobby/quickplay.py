"""Seats people with the same wish together. The log of the room is the lock.

The store lists the open rooms of a wish. A player is seated in the oldest of them with a free seat;
the room's own log decides whether the seat is really free. If there is none, one node at a time may
create a room for a wish, and all others wait for it. A node that slept and lost this claim goes
back to the list. No player waits alone in a room that gets no others.

Asking is idempotent: a player with a seat in an open room is sent back to it.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from hashlib import blake2b
from time import monotonic
from typing import Final, TypeAlias

import msgspec

from towerhall_protocol import commands
from towerhall_protocol.messages import ServerRejected
from towerhall_server.eventlog.lobby import LobbyStore, now_ms
from towerhall_server.game import AnyGame
from towerhall_server.live.actor import RoomActor
from towerhall_server.live.directory import Directory, PoisonedRoomError
from towerhall_server.lobby import arrivals
from towerhall_server.lobby.arrivals import ExpectedPeople
from towerhall_server.lobby.caller import ask
from towerhall_server.room.events import Settings
from towerhall_server.room.seats import Person
from towerhall_server.room.state import Room
from towerhall_server.room.steps import Plan
from towerhall_server.store.errors import StoreError

MOST_OPEN: Final = 16
"""Rooms that are tried before another one is created."""
CLAIM_MS: Final = 3_000
CLAIM_LOOK_SECONDS: Final = 0.05
PATIENCE_SECONDS: Final = 8.0
FULL_MS: Final = 120_000
"""Seconds that a full room stays in the list, in case a player stands up again."""


Allow: TypeAlias = Callable[[], Awaitable[None]]


class Seated(msgspec.Struct, frozen=True):
    """The seat that a player was given."""

    code: str
    seat: int


def wish_of(plan: Plan) -> str:
    """The key of a wish: equal for all players with the same wish."""
    return _wish(plan.rules, plan.options, plan.seats, plan.settings)


def _wish(rules: AnyGame, options: msgspec.Struct, seats: int, settings: Settings) -> str:
    sorted_options = sorted(msgspec.to_builtins(options).items())
    wanted: list[object] = [rules.name, rules.version, sorted_options, seats, settings.turn_seconds]
    wanted += ["rated"] if settings.rated else []
    return blake2b(msgspec.json.encode(wanted), digest_size=12).hexdigest()


def offer_again(room: Room, store: LobbyStore) -> None:
    """List a restored room as open again: the store lost that entry. The entry may be lost."""
    table = room.table
    if table.quick and not table.operator and table.status == "waiting":
        wish = _wish(room.rules, table.options, len(table.seats), table.settings)
        store.offer(wish, table.code)


Shunned: TypeAlias = Callable[[str], Awaitable[frozenset[str]]]
"""Returns the ids of the people with whom a person is not seated."""


async def _allowed() -> None:
    """Allow another room without a check."""


async def _no_one(identity: str) -> frozenset[str]:
    """Let a person sit beside all others."""
    return frozenset()


class Quickplay:
    """Seats players, on one node of several."""

    def __init__(self, directory: Directory, store: LobbyStore, shunned: Shunned = _no_one) -> None:
        self._directory = directory
        self._store = store
        self._shunned = shunned
        self.expected = ExpectedPeople(directory, store)
        """Frees a seat again if its player does not come."""

    async def seat(self, plan: Plan, person: Person, allow: Allow = _allowed) -> Seated:
        """Return a seat beside players with the wish of the plan. `allow` is called before a room
        is created, and may raise. Raises `StoreError` if the store does not answer."""
        wish, patience = wish_of(plan), monotonic() + PATIENCE_SECONDS
        shunned = await self._shunned(person.id)
        while True:
            found = await self._find(wish, person, shunned)
            if found is None:
                claim = secrets.token_hex(8)
                if await self._store.claim(wish, claim, CLAIM_MS):
                    found = await self._make(wish, claim, plan, person, shunned, allow)
                elif monotonic() > patience:
                    raise StoreError("no node created a room in time")
                else:
                    await asyncio.sleep(CLAIM_LOOK_SECONDS)
            if found is not None:
                return found

    async def _find(self, wish: str, person: Person, shunned: AbstractSet[str]) -> Seated | None:
        """Return a seat in one of the open rooms, beside none of those who are shunned."""
        rooms = await self._open_rooms(wish)
        return self._return(rooms, person) or await self._join(rooms, person, shunned)

    async def _open_rooms(self, wish: str) -> dict[RoomActor, int]:
        """Yield the rooms of the list that still exist, and since when they are open."""
        rooms: dict[RoomActor, int] = {}
        for code, since_ms in (await self._store.open_rooms(wish, MOST_OPEN)).items():
            try:
                actor = await self._directory.open(code)
            except PoisonedRoomError:
                continue  # other nodes may be able to read it
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

    async def _join(
        self, rooms: Mapping[RoomActor, int], person: Person, shunned: AbstractSet[str]
    ) -> Seated | None:
        for actor, since_ms in rooms.items():
            table = actor.follower.room.table
            if table.status != "waiting" or not table.free_seats():
                continue
            if _seats_any(actor, shunned):  # P-207
                continue
            is_old = now_ms() - since_ms > arrivals.COMING_MS
            if is_old and not await arrivals.is_present(actor):
                continue  # all its players have left; they may come back
            refusal = await self._sit(actor, person)
            # Another player may have been faster, or this person may be kicked or banned there.
            if refusal is None or refusal.code == "already_seated":
                return _seated(actor, person)
        return None

    async def _sit(self, actor: RoomActor, person: Person) -> ServerRejected | None:
        """Give a player a seat, and expect them there."""
        await self.expected.expect(actor.code, person)
        self._store.remember(person.id, actor.code)
        return await ask(actor, person, commands.sit())

    async def _make(
        self,
        wish: str,
        claim: str,
        plan: Plan,
        person: Person,
        shunned: AbstractSet[str],
        allow: Allow,
    ) -> Seated | None:
        """Create an open room and take a seat in it; None if that took too long."""
        try:
            # An earlier claimant may have opened a room since this node looked.
            found = await self._find(wish, person, shunned)
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
        with suppress(StoreError):  # it ends by itself otherwise
            await self._store.settle(wish, claim)


def _may_begin(actor: RoomActor, since_ms: int) -> bool:
    """Whether a new player may still take part."""
    table = actor.follower.room.table
    if table.status not in ("waiting", "sealed"):
        return False
    return bool(table.free_seats()) or now_ms() - since_ms <= FULL_MS


def _seats_any(actor: RoomActor, people: AbstractSet[str]) -> bool:
    """Whether one of these people has a seat."""
    room = actor.follower.room
    return bool(people) and any(room.identity_of(alias) in people for alias in room.table.seated)


def _seated(actor: RoomActor, person: Person) -> Seated | None:
    room = actor.follower.room
    seat, table = room.seat_of(person.id), room.table
    return None if seat is None or table.status == "over" else Seated(table.code, seat)
