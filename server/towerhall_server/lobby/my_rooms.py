"""The rooms in which a person has a place, and those in which it is their turn.

The store only lists candidates; each room itself knows whether the place still exists.
"""

import asyncio
import logging
from collections.abc import Mapping
from typing import Final

import msgspec

from towerhall_protocol import commands
from towerhall_server.eventlog.lobby import DAY_MS, LobbyStore, now_ms
from towerhall_server.live.actor import RoomActor
from towerhall_server.live.directory import Directory, PoisonedRoomError
from towerhall_server.lobby.caller import ask
from towerhall_server.lobby.places import finished_at, invited_to
from towerhall_server.room.gate import may_enter
from towerhall_server.room.seats import Person
from towerhall_server.room.state import Room
from towerhall_server.room.table import Table
from towerhall_server.room.view import describe
from towerhall_server.store.errors import StoreError

logger = logging.getLogger(__name__)

MOST_ROOMS: Final = 50
AT_ONCE: Final = 8
"""Rooms of one person that are loaded at the same time."""
_decode: Final = msgspec.json.Decoder(dict[str, object]).decode
NEW_MS: Final = 60_000
"""Milliseconds for which a new place may be unknown to this node's copy of the room."""


async def rooms_of(
    directory: Directory, store: LobbyStore, identity: str
) -> list[dict[str, object]]:
    """Return the rooms where the person has a seat or is the host: those with their turn first,
    then the latest, then finished games whose room is gone."""
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
            continue  # other nodes may be able to read it
        if isinstance(actor, BaseException):
            raise actor
        shown = None if actor is None else _shown(actor, actor.follower.room.alias_of(identity))
        if shown is not None:
            found.append(shown)
        elif actor is None or now_ms() - noted_ms > NEW_MS:
            over.append(code)
    await store.forget(identity, *over)
    listed = {room["code"] for room in found}
    past = [_decode(note) for note in await store.past(identity)]
    found.sort(key=lambda room: not room["your_turn"])
    return [*found, *(game for game in past if game["code"] not in listed)][:MOST_ROOMS]


def note_over(before: Room | None, after: Room, store: LobbyStore, keep_days: int) -> None:
    """If a game has just ended, note it for its people, for as long as its record is kept. The
    notes may be lost."""
    table = after.table
    if table.status != "over" or before is None or before.table.status == "over":
        return
    kept_ms = max(keep_days, 1) * DAY_MS
    for seat, holder in enumerate(table.seats):
        if holder is None or holder.is_bot or not table.deal:
            continue
        document = {**describe(table), "seat": seat, "to_act": (), "your_turn": False, "gone": True}
        if table.key_hash:
            document["private"] = True
        if table.result is not None:
            document["place"] = finished_at(table, seat)
        identity = after.identity_of(holder.identity)
        store.note_over(identity, msgspec.json.encode(document), kept_ms)


async def rename_seats(directory: Directory, store: LobbyStore, person: Person) -> None:
    """Give all seats of a person their present name.

    A room that cannot be reached keeps the old name. Its seat takes the new one by `rename` later.
    """
    turns = asyncio.Semaphore(AT_ONCE)

    async def rename(code: str) -> None:
        async with turns:
            try:
                actor = await directory.open(code)
                if actor is not None and actor.follower.room.seat_of(person.id) is not None:
                    await ask(actor, person, commands.rename())
            except (PoisonedRoomError, StoreError) as error:
                logger.warning("room %s keeps the old name of a person: %s", code, error)

    await asyncio.gather(*map(rename, await store.remembered(person.id, MOST_ROOMS)))


def note_again(room: Room, store: LobbyStore) -> None:
    """Note the people of a restored room again: the store lost those notes. The notes may be
    lost."""
    table = room.table
    held = {holder.identity for holder in table.seats if holder is not None}
    for alias in (held | {table.host}) - {""}:
        store.remember(room.identity_of(alias), table.code)
    for alias in invited_to(table):
        store.invite(room.identity_of(alias), table.code)


def admits(table: Table, alias: str, key: str) -> bool:
    """Whether a person may look at a room: by its key, by a seat in it, as its host, or invited. A
    link may have brought seat or host to a device that does not know the key."""
    is_known = alias in table.seated or alias == table.host or table.is_invited(alias)
    return is_known or may_enter(table, key)


def _shown(actor: RoomActor, alias: str) -> dict[str, object] | None:
    """Return the room for a person who sits there or is its host; None for others."""
    room = actor.follower.room
    table = room.table
    seat, to_act = table.seated.get(alias), room.to_act()
    if seat is None and alias != table.host:
        return None
    document: dict[str, object] = {
        **describe(table),
        "to_act": to_act,
        "your_turn": seat is not None and seat in to_act,
    }
    more: Mapping[str, tuple[bool, object]] = {
        "seat": (seat is not None, seat),
        "host": (alias == table.host, True),
        "private": (bool(table.key_hash), True),
        "place": (table.result is not None and seat is not None, finished_at(table, seat)),
    }
    document |= {name: value for name, (is_so, value) in more.items() if is_so}
    turn_ms = table.settings.turn_ms
    if table.settings.turn_seconds and room.playing:
        left = room.began_ms + turn_ms - actor.follower.now_ms()
        # This node's estimate of the service time may lag behind the room's last commit.
        document["left_ms"] = min(max(left, 0), turn_ms)
    return document
