"""Rooms between stores: export to a file, import from one, and a move while people play."""

import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

import msgspec

from towerhall_server.cli.errors import UsageError
from towerhall_server.eventlog.answers import Appended, Gone
from towerhall_server.eventlog.entry import Entry
from towerhall_server.eventlog.keys import shard_of
from towerhall_server.eventlog.lobby import LobbyStore
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.moving import (
    FORM,
    NotAdoptedError,
    Parcel,
    adopt,
    destination,
    fencing,
    is_fence,
    let_go,
    stage,
    take_out,
)
from towerhall_server.live.loading import whole_log
from towerhall_server.live.replica import Replica
from towerhall_server.lobby.my_rooms import note_again
from towerhall_server.room.state import Room

if TYPE_CHECKING:
    from towerhall_server.live.node import Node

TRIES: Final = 100
"""Attempts to fence a room in which commits come meanwhile."""
decode: Final = msgspec.json.Decoder(Parcel).decode


class MoveError(Exception):
    """A room stays where it is, or is fenced and waits for another try; the message says which."""


async def parcel_of(log: EventLog, code: str) -> tuple[Parcel, Entry | None] | None:
    """Read a room, and its fence if it was moved away; None if there is no such room."""
    entries = await whole_log(log, code)
    fence = entries[-1] if entries and is_fence(entries[-1]) else None
    own = entries[:-1] if fence else entries
    parcel = await take_out(log, code, own) if own else None
    return None if parcel is None else (parcel, fence)


async def export(log: EventLog, codes: list[str]) -> AsyncIterator[tuple[str, bytes]]:
    """Yield each room as one line of JSON; an empty line for a room that is gone."""
    for code in codes:
        found = await parcel_of(log, code)
        yield code, b"" if found is None else msgspec.json.encode(found[0]) + b"\n"


def parcels_in(path: Path) -> Iterator[Parcel]:
    """Read a file of exported rooms."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    parcel = decode(line)
                except msgspec.MsgspecError as error:
                    raise UsageError(f"{path}, line {number}: {error}") from None
                if parcel.form != FORM:
                    raise UsageError(f"{path}, line {number}: a newer version wrote this file")
                yield parcel
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None


def in_step(parcels: Iterator[Parcel], clocks: Mapping[int, int]) -> Iterator[Parcel]:
    """Give the rooms of each shard one service clock, the latest of them: they were read one after
    the other, while the clock went on."""
    for parcel in parcels:
        yield msgspec.structs.replace(parcel, served_ms=clocks[shard_of(parcel.room)])


def clocks_of(parcels: Iterator[Parcel]) -> Mapping[int, int]:
    """Return the latest service time of each shard."""
    found: dict[int, int] = {}
    for parcel in parcels:
        shard = shard_of(parcel.room)
        found[shard] = max(found.get(shard, 0), parcel.served_ms)
    return found


async def put(node: "Node", parcel: Parcel) -> None:
    """Bring a room into the store of a node. Raises `NotAdoptedError` or `MoveError`."""
    room = _room(node, parcel)
    await stage(node.log, parcel.room, parcel.entries, begin=True)
    await adopt(node.log, parcel, is_over=room.table.status == "over")
    await _checked(node, parcel, room)


async def move(node: "Node", there: "Node", code: str, to: str) -> tuple[int, float]:
    """Move a room to another store. Returns its commits, and the seconds in which no server could
    serve it. A move that failed goes on where it was when it is repeated."""
    found = await parcel_of(node.log, code)
    if found is None:
        raise MoveError(f"there is no room {code}")
    parcel, fence = found
    if fence is not None and destination(fence) != to:
        raise MoveError(f"room {code} was moved to {destination(fence)} before")
    is_over = _room(there, parcel).table.status == "over"
    await stage(there.log, code, parcel.entries, begin=True)
    began = monotonic()
    if fence is None:
        try:
            await adopt(there.log, parcel, is_over=is_over, dry=True)
        except NotAdoptedError as error:
            raise MoveError(f"room {code} stays: {error}") from None
        began = await _fenced(node.log, there.log, parcel, to)
        found = await parcel_of(node.log, code)
        if found is None or found[1] is None:
            raise MoveError(f"room {code} was removed on its way")
        parcel = found[0]
    room = _room(there, parcel)
    try:
        await adopt(there.log, parcel, is_over=room.table.status == "over")
    except NotAdoptedError as error:
        raise MoveError(f"room {code} is fenced and must be moved again: {error}") from None
    gone = monotonic() - began
    await _checked(there, parcel, room)
    await let_go(node.log, code)
    return len(parcel.entries), gone


async def _fenced(log: EventLog, there: EventLog, parcel: Parcel, to: str) -> float:
    """Fence a room, and stage the commits that came meanwhile. Returns when that was."""
    # A lone server stops listening to news. It listens again from now on.
    log.be_there()
    entries = parcel.entries
    for _ in range(TRIES):
        began = monotonic()
        answer = await log.append(
            fencing(parcel.room, entries[-1], to, parcel.due_ms, parcel.ttl_ms)
        )
        if isinstance(answer, Appended):
            return began
        if isinstance(answer, Gone):
            raise MoveError(f"room {parcel.room} was removed on its way")
        read = await whole_log(log, parcel.room)
        if read[: len(entries)] != entries or is_fence(read[-1]):
            raise MoveError(f"room {parcel.room} is moved or mended by another command; try again")
        await stage(there, parcel.room, read[len(entries) :], begin=False)
        entries = read
    raise MoveError(f"room {parcel.room} is too busy; try again")


def _room(node: "Node", parcel: Parcel) -> Room:
    """Read a parcel as servers read a log."""
    if not parcel.holds_together:
        raise MoveError(f"the log of room {parcel.room} does not hold together")
    try:
        room = Replica.load(node.games, parcel.secret, parcel.entries).room
    except Exception as error:
        raise MoveError(f"room {parcel.room} cannot be read by this version: {error}") from error
    if room.table.code != parcel.room:
        raise MoveError(f"the log of room {parcel.room} is that of another room")
    return room


async def _checked(node: "Node", parcel: Parcel, room: Room) -> None:
    """Compare the room in its new store with what was sent, and note its people there."""
    entries = await whole_log(node.log, parcel.room)
    if entries[: len(parcel.entries)] != parcel.entries:
        raise MoveError(f"room {parcel.room} is not in its new store as it was sent; try again")
    if await node.log.secret(parcel.room) != parcel.secret:
        raise MoveError(f"the secret of room {parcel.room} is missing in its new store; try again")
    note_again(room, LobbyStore(node.log))


@asynccontextmanager
async def other_store(url: str) -> AsyncIterator["Node"]:
    """Open the store to which rooms are moved."""
    from towerhall_server.cli.store_rooms import opened
    from towerhall_server.config.settings import READERS, SettingsError

    try:
        checked = READERS["redis_url"](url)
    except (ValueError, SettingsError) as error:
        raise UsageError(f"--to cannot be used: {error}") from None
    async with opened(str(checked)) as node:
        yield node


def new_file(path: Path, *, force: bool) -> int:
    """Open a file for secrets of rooms: only its owner may read it."""
    flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if force else os.O_EXCL)
    try:
        return os.open(path, flags, 0o600)
    except FileExistsError:
        raise UsageError(f"{path} exists: choose another file, or --force") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
