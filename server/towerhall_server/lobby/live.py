"""Games at play, for people who look on without a socket: what a watcher sees, and which game the
hall shows first.

A look costs a running game nothing. A room that this server has in memory is looked at there, but
not through its fan-out, which would make frames for watchers from then on. Any other room is read
from its log and not opened, so it gets no loop, no timers and no news here. Looks at one room share
an answer for some seconds.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from time import monotonic
from typing import Final

import msgspec

from towerhall_server.live.actor import RoomActor
from towerhall_server.live.directory import Directory, PoisonedRoomError
from towerhall_server.live.fan_out import Place
from towerhall_server.room.table import Table
from towerhall_server.room.view import describe, view, view_class
from towerhall_server.store.errors import StoreError

logger = logging.getLogger(__name__)

KEPT_SECONDS: Final = 3.0
"""Seconds for which an answer about a room is given again."""
FEATURED_SECONDS: Final = 10.0
MOST_KEPT: Final = 2000
"""Answers in memory; the oldest go first."""
READS_AT_ONCE: Final = 4
"""Logs that are read at the same time: moves of other rooms come first."""


class Look(msgspec.Struct, frozen=True):
    """What a watcher of a room sees at one moment, encoded (P-221)."""

    body: bytes
    tag: str
    """Changes with the view."""
    key_hash: bytes
    """Of a private room."""
    until: float


class Looks:
    """The newest looks at rooms."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._kept: dict[str, Look] = {}
        self._under_way: dict[str, asyncio.Task[Look | None]] = {}
        self._reads = asyncio.Semaphore(READS_AT_ONCE)

    async def at(self, code: str) -> Look | None:
        """Return a look at the room of that code; None if there is no such room. Raises
        `StoreError`, and `PoisonedRoomError` if this server cannot read the room."""
        kept = self._kept.get(code)
        if kept is not None and kept.until > monotonic():
            return kept
        task = self._under_way.get(code)
        if task is None:
            task = self._under_way[code] = asyncio.create_task(self._look(code))
            task.add_done_callback(lambda _: self._under_way.pop(code, None))
        return await asyncio.shield(task)

    async def _look(self, code: str) -> Look | None:
        place = await self._place(code)
        self._kept.pop(code, None)
        if place is None:
            return None
        look = look_of(place, monotonic() + KEPT_SECONDS)
        self._kept[code] = look
        while len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        return look

    async def _place(self, code: str) -> Place | None:
        actor = self._directory.at_hand(code)
        if actor is None:
            async with self._reads:
                try:
                    replica = await self._directory.read(code)
                except StoreError:
                    raise
                except Exception as error:
                    logger.warning("room %s cannot be looked at: %r", code, error)
                    raise PoisonedRoomError(code) from error
        else:
            replica = actor.follower.replica
        return None if replica is None else replica.place


def look_of(place: Place, until: float = 0.0) -> Look:
    """What a watcher sees of a room at that place."""
    room = place.room
    shown = view(room, view_class(room.rules, None))
    body = msgspec.json.encode({"seq": place.seq, "view": shown})
    return Look(body, f'"{place.seq}-{place.mark}"', room.table.key_hash, until)


class Featured:
    """The game that the hall shows first. It is chosen among the rooms in this server's memory."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._chosen: dict[str, tuple[float, Mapping[str, object] | None]] = {}

    def of(self, game: str) -> Mapping[str, object] | None:
        """Return the room as lists show it, with its watchers; None if there is none. An empty name
        stands for every game."""
        now = monotonic()
        until, found = self._chosen.get(game, (0.0, None))
        if until <= now:
            found = featured_of(self._directory, game)
            self._chosen[game] = now + FEATURED_SECONDS, found
        return found


def featured_of(actors: Iterable[RoomActor], game: str) -> Mapping[str, object] | None:
    """Choose the featured room (P-220): one in which a person plays, then most watchers, then most
    people, then most commits, then the first code."""
    best: tuple[bool, int, int, int] | None = None
    chosen: RoomActor | None = None
    for actor in actors:
        table = actor.follower.room.table
        if actor.ended or not is_public_play(table) or game not in ("", table.game):
            continue
        people = people_in(table)
        watchers, seq = actor.follower.audience.presence.watchers, actor.follower.replica.point.seq
        rank = (people > 0, watchers, people, seq)
        if (
            best is None
            or chosen is None
            or rank > best
            or (rank == best and actor.code < chosen.code)
        ):
            best, chosen = rank, actor
    if chosen is None:
        return None
    watchers = chosen.follower.audience.presence.watchers
    return {**describe(chosen.follower.room.table), "watchers": watchers}


def is_public_play(table: Table) -> bool:
    """Whether anybody may look on: a public room at play. A sandbox room is no game of people."""
    return table.status == "playing" and not table.key_hash and not table.settings.sandbox


def people_in(table: Table) -> int:
    """The number of seats in which a person plays at this moment."""
    return sum(
        holder is not None and not (holder.is_bot or holder.bot_account or holder.stand_in)
        for holder in table.seats
    )
