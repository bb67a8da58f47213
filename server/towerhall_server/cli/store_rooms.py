"""Rooms in the store, read by an operator without a server.

This module reads logs, and appends to them as servers do: viewers see the closure of a room
immediately. No answer contains hidden information of players, keys, tokens, nonces or secrets.
"""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import msgspec

from towerhall_server.cli.on_store import NAME
from towerhall_server.eventlog.answers import Appended, Gone
from towerhall_server.eventlog.entry import Entry, mark
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.moving import destination, is_fence
from towerhall_server.game import discover
from towerhall_server.live.follower import Follower, RoomGoneError
from towerhall_server.live.loading import whole_log
from towerhall_server.live.node import Node, ServiceClock
from towerhall_server.live.replica import Replica
from towerhall_server.live.writer import Writer
from towerhall_server.room import steps
from towerhall_server.room.closing import close_step
from towerhall_server.room.table import SeatHolder, Table
from towerhall_server.room.view import describe
from towerhall_server.store.data_folder import socket_of_engine
from towerhall_server.store.errors import StoreError

UNREADABLE: Final = "unreadable"
"""The status of a room that this version cannot read; other versions may."""
MOVED: Final = "moved"
"""The status of a room that is in another store."""


class NoRoomError(Exception):
    """There is no such room in the store."""


class UnreadableRoomError(Exception):
    """This version cannot read the log of a room."""


def url_of_store(redis_url: str, data_folder: Path) -> str:
    """Return the URL of the operator's own store, or of the engine that a server runs on that
    folder. Raises `EngineError` if there is none."""
    return redis_url or f"unix://{socket_of_engine(data_folder)}"


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Node]:
    """Yield a node without viewers. Raises `StoreError` if the store does not answer."""
    async with EventLog(url, NAME) as log:
        await log.ping()
        yield Node(NAME, log, ServiceClock(), discover())


class MovedRoomError(UnreadableRoomError):
    """The room is in another store by now."""


class Found(msgspec.Struct, frozen=True):
    """A room, as read from its log."""

    replica: Replica
    first: Entry
    last: Entry

    @property
    def table(self) -> Table:
        return self.replica.room.table


async def find(node: Node, code: str) -> Found:
    """Read the room of that code from its log."""
    secret = await node.log.secret(code)
    try:
        entries = await whole_log(node.log, code)
        if secret is None or not entries:
            raise NoRoomError
        if is_fence(entries[-1]):
            raise MovedRoomError(f"it was moved to {destination(entries[-1])}")
        replica = Replica.load(node.games, secret, entries)
    except (NoRoomError, MovedRoomError, StoreError):
        raise
    except Exception as error:
        raise UnreadableRoomError(str(error)) from error
    return Found(replica, entries[0], entries[-1])


async def listed(node: Node) -> dict[str, dict[str, Any]]:
    """Return the rooms in the lobby."""
    found = await node.log.summaries()
    return {code: msgspec.json.decode(found[code]) for code in sorted(found)}


async def unlisted(node: Node, known: Mapping[str, object]) -> Sequence[str]:
    """Return the codes of all other rooms: private ones, and finished ones."""
    return sorted(set(await node.log.rooms()) - set(known))


async def outline(node: Node, code: str) -> dict[str, Any] | None:
    """Summarise a room; None if it is gone."""
    try:
        table = (await find(node, code)).table
    except NoRoomError:
        return None
    except MovedRoomError:
        return {"code": code, "status": MOVED}
    except UnreadableRoomError:
        return {"code": code, "status": UNREADABLE}
    return describe(table) | ({"private": True} if table.key_hash else {})


def details(found: Found) -> dict[str, Any]:
    """Return all that an operator may know of a room."""
    room, table = found.replica.room, found.table
    document = describe(table)
    del document["names"], document["taken"]
    document |= {
        "version": table.version,
        "private": bool(table.key_hash),
        "seats": [_seat(table, seat, holder) for seat, holder in enumerate(table.seats)],
        "to_act": list(room.to_act()),
        "options": msgspec.to_builtins(table.options),
        "made_ms": found.first.stamps.wall_ms,
        "last_ms": found.last.stamps.wall_ms,
        "commits": found.last.seq,
        "mark": mark(found.last.chain),
        "next": steps.due(room).errand,
    }
    if table.result is not None:
        document["result"] = msgspec.to_builtins(table.result)
    if table.closed:
        document["closed"] = table.closed
    return document


def _seat(table: Table, seat: int, holder: SeatHolder | None) -> dict[str, Any]:
    if holder is None:
        return {"seat": seat}
    document: dict[str, Any] = {"seat": seat, "name": holder.name}
    if holder.level:
        document["bot"] = holder.level
    if table.host and holder.identity == table.host:
        document["host"] = True
    return document


async def close(node: Node, code: str, reason: str) -> int | None:
    """End a room without a result. Returns the seq of the commit, or None if it was over already.

    A concurrent commit of another node wins, as between nodes. Then the close is retried after it.
    """
    follower = Follower(node, (await find(node, code)).replica)
    # A lone server stops listening to news. It listens again from now on, and reads what it missed.
    node.log.be_there()
    try:
        while follower.room.table.status != "over":
            answer = await Writer(follower).append(close_step(follower.room, reason, "service"))
            if isinstance(answer, Gone):
                raise NoRoomError
            if isinstance(answer, Appended):
                return answer.seq
            await follower.catch_up()
    except RoomGoneError:
        raise NoRoomError from None
    return None


def chunks(items: Sequence[str], size: int) -> Iterable[Sequence[str]]:
    return (items[start : start + size] for start in range(0, len(items), size))
