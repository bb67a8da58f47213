"""The rooms in which somebody has a place, and in which of them it is their turn.

The store only says where to look; each room says itself whether that is still so.
"""

import asyncio
from collections.abc import Mapping
from typing import Final

from towerhall_server.lobby.store import LobbyStore, now_ms
from towerhall_server.room.actor import RoomActor
from towerhall_server.room.directory import Directory, PoisonedRoomError
from towerhall_server.room.gate import may_enter
from towerhall_server.room.table import Table
from towerhall_server.room.view import describe

MOST_ROOMS: Final = 50
AT_ONCE: Final = 8
"""So many rooms of one person are loaded at the same time."""
NEW_MS: Final = 60_000
"""A place that was taken so lately may not be known to this node's copy of the room yet."""


async def rooms_of(
    directory: Directory, store: LobbyStore, identity: str
) -> list[dict[str, object]]:
    """Where somebody has a seat or is the host: where it is their turn first, then the latest."""
    places = await store.remembered(identity, MOST_ROOMS)
    turns = asyncio.Semaphore(AT_ONCE)

    async def look(code: str) -> RoomActor | None:
        async with turns:
            return await directory.open(code)

    actors = await asyncio.gather(*map(look, places), return_exceptions=True)
    found: list[dict[str, object]] = []
    over: list[str] = []
    for (code, noted_ms), actor in zip(places.items(), actors, strict=True):
        if isinstance(actor, PoisonedRoomError):
            continue  # others may be able to serve it
        if isinstance(actor, BaseException):
            raise actor
        if actor is not None and has_place(actor.follower.room.table, identity):
            found.append(_shown(actor, identity))
        elif actor is None or now_ms() - noted_ms > NEW_MS:
            over.append(code)
    await store.forget(identity, *over)
    return sorted(found, key=lambda room: not room["your_turn"])


def has_place(table: Table, identity: str) -> bool:
    """Whether somebody sits in a room or is its host."""
    return identity == table.host or table.seat_of(identity) is not None


def admits(table: Table, identity: str, key: str) -> bool:
    """Whether somebody may look at a room: by its key, or by a seat in it, which a link may have
    brought to a device that does not know the key."""
    return table.seat_of(identity) is not None or may_enter(table, key)


def _shown(actor: RoomActor, identity: str) -> dict[str, object]:
    room = actor.follower.room
    table = room.table
    seat, to_act = table.seat_of(identity), room.to_act()
    document: dict[str, object] = {
        **describe(table),
        "to_act": to_act,
        "your_turn": seat is not None and seat in to_act,
    }
    more: Mapping[str, tuple[bool, object]] = {
        "seat": (seat is not None, seat),
        "host": (identity == table.host, True),
        "private": (bool(table.key_hash), True),
    }
    document |= {name: value for name, (is_so, value) in more.items() if is_so}
    seconds = table.settings.turn_seconds
    if seconds and room.playing:
        left = room.began_ms + 1000 * seconds - actor.follower.now_ms()
        # This node's idea of the service time may be a moment behind the room's last commit.
        document["left_ms"] = min(max(left, 0), 1000 * seconds)
    return document
