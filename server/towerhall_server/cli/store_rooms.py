"""Rooms as an operator finds them in the store, without asking any server.

Everything here is read from logs, or appended to them as servers do it: a room that is closed here
is shown as closed at once wherever somebody looks at it. What only players may know is in none of
the answers, and neither are keys, tokens, nonces and secrets.
"""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import msgspec

from towerhall_server.eventlog.data_folder import socket_of_engine
from towerhall_server.eventlog.entry import Entry, mark
from towerhall_server.eventlog.errors import StoreError
from towerhall_server.eventlog.log import Appended, EventLog, Gone
from towerhall_server.game import discover
from towerhall_server.room import core
from towerhall_server.room.clock import ServiceClock
from towerhall_server.room.follower import Follower, RoomGoneError
from towerhall_server.room.node import Node
from towerhall_server.room.reading import whole_log
from towerhall_server.room.replica import Replica
from towerhall_server.room.table import Holder, Table
from towerhall_server.room.view import describe

NAME: Final = "operator"
UNREADABLE: Final = "unreadable"
"""The status of a room that this version cannot read: others may be able to."""


class NoRoomError(Exception):
    """There is no such room in the store."""


class UnreadableRoomError(Exception):
    """The log of a room cannot be followed by this version."""


def url_of_store(redis_url: str, data_folder: Path) -> str:
    """Of the operator's own store, or of the engine of a server that runs on that folder.
    `EngineError` if there is none."""
    return redis_url or f"unix://{socket_of_engine(data_folder)}"


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Node]:
    """A node without viewers. `StoreError` if the store does not answer."""
    async with EventLog(url, NAME) as log:
        await log.ping()
        yield Node(NAME, log, ServiceClock(), discover())


class Found(msgspec.Struct, frozen=True):
    """A room as its log has it."""

    replica: Replica
    first: Entry
    last: Entry

    @property
    def table(self) -> Table:
        return self.replica.room.table


async def find(node: Node, code: str) -> Found:
    """The room of that code, from its log."""
    secret = await node.log.secret(code)
    try:
        entries = await whole_log(node.log, code)
        if secret is None or not entries:
            raise NoRoomError
        replica = Replica(node.games, secret)
        replica.load(entries)
    except (NoRoomError, StoreError):
        raise
    except Exception as error:
        raise UnreadableRoomError(str(error)) from error
    return Found(replica, entries[0], entries[-1])


async def listed(node: Node) -> dict[str, dict[str, Any]]:
    """What the lobby shows."""
    found = await node.log.summaries()
    return {code: msgspec.json.decode(found[code]) for code in sorted(found)}


async def unlisted(node: Node, known: Mapping[str, object]) -> Sequence[str]:
    """The codes of all other rooms: private ones, and those whose games are over."""
    return sorted(set(await node.log.rooms()) - set(known))


async def outline(node: Node, code: str) -> dict[str, Any] | None:
    """A room in a few words; None if it has gone meanwhile."""
    try:
        table = (await find(node, code)).table
    except NoRoomError:
        return None
    except UnreadableRoomError:
        return {"code": code, "status": UNREADABLE}
    return describe(table) | ({"private": True} if table.key_hash else {})


def details(found: Found) -> dict[str, Any]:
    """All that an operator may want to know of a room."""
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
        "next": core.due(room).errand,
    }
    if table.result is not None:
        document["result"] = msgspec.to_builtins(table.result)
    if table.closed:
        document["closed"] = table.closed
    return document


def _seat(table: Table, seat: int, holder: Holder | None) -> dict[str, Any]:
    if holder is None:
        return {"seat": seat}
    document: dict[str, Any] = {"seat": seat, "name": holder.name}
    if holder.level:
        document["bot"] = holder.level
    if table.host and holder.identity == table.host:
        document["host"] = True
    return document


async def close(node: Node, code: str, reason: str) -> int | None:
    """End a room without a result; the seq of the commit, or None if it was over already.

    Whoever is faster with something else wins, as between nodes: then it is tried again after that.
    """
    follower = Follower(node, (await find(node, code)).replica)
    # A server that is alone does not listen to news. It does from now on, and reads what it missed.
    node.log.be_there()
    try:
        while follower.room.table.status != "over":
            answer = await follower.append(core.close_step(follower.room, reason))
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
