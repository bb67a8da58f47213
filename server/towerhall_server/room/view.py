"""What a viewer sees of a room: one plain document, and how it changed with a commit.

Redact first, diff second: a frame's patch is made from two views of the same viewer, so nothing
hidden can ride along. What happened is told by the public fields of events only.
"""

from typing import Any, Final

import msgspec

from towerhall_protocol.commands import base64url
from towerhall_protocol.document import Document
from towerhall_protocol.merge_patch import diff
from towerhall_protocol.messages import ServerFrame
from towerhall_server.game import AnyGame, Seat, Viewer, kept
from towerhall_server.room.commits import Commit
from towerhall_server.room.events import facts
from towerhall_server.room.state import Room
from towerhall_server.room.table import Holder, Table

VIEW_VERSION: Final = 2
"""Of the shape of the room part. Whoever holds another one gets a snapshot."""
NOTHING: Final[Document] = {}
"""The view before the first commit."""
SHARED: Final = "all"
WATCHING: Final = "watch"


def view_class(rules: AnyGame, viewer: Viewer) -> str:
    """Viewers of one class see the same, always."""
    if rules.shared_view:
        return SHARED
    return WATCHING if viewer is None else str(viewer)


def viewer_of(name: str) -> Viewer:
    """Somebody of that class."""
    return Seat(int(name)) if name.isdecimal() else None


def base_of(room: Room, name: str) -> str:
    """The part of a cursor that says what it is a cursor of."""
    return f"{base64url(room.table.uid)}.{name}.{room.rules.version}.{VIEW_VERSION}"


def view(room: Room, name: str) -> dict[str, object]:
    """What viewers of that class see."""
    document: dict[str, object] = {"room": _table(room.table)}
    if room.game is not None:
        document["game"] = room.rules.view(room.game, viewer_of(name))
    seconds = room.table.settings.turn_seconds
    if seconds and room.playing:
        document["clock"] = {"due": room.began_ms + 1000 * seconds}
    return document


def frame(
    rules: AnyGame, commit: Commit, seq: int, mark: str, old: Document, new: Document
) -> ServerFrame:
    """One commit as a viewer gets it who saw the old view and sees the new one."""
    told: tuple[tuple[Any, ...], ...] = tuple(map(rules.facts, commit.game))
    if commit.room or commit.end:
        told = (*map(facts, commit.room), *told, *map(facts, commit.end))
    return ServerFrame(seq, mark, commit.cause.shown(), told, diff(old, new))


@kept
def _table(table: Table) -> dict[str, object]:
    document: dict[str, object] = {
        "code": table.code,
        "game": table.game,
        "version": table.version,
        "uid": base64url(table.uid),
        "commitment": base64url(table.commitment),
        "status": table.status,
        "size": len(table.seats),
        "seats": {
            str(seat): _holder(table, holder)
            for seat, holder in enumerate(table.seats)
            if holder is not None
        },
        **msgspec.to_builtins(table.settings),
    }
    host = table.seat_of(table.host)
    if host is not None:
        document["host"] = host
    if table.deal:
        document["deal"] = table.deal
    if table.status in ("waiting", "sealed"):
        document["options"] = msgspec.to_builtins(table.options)
    if table.result is not None:
        document["result"] = msgspec.to_builtins(table.result)
    if table.closed:
        document["closed"] = table.closed
    if table.quick:
        document["quick"] = True
    if table.reserved and table.status == "waiting":
        seats = range(len(table.seats))
        document["reserved"] = [seat for seat in seats if table.is_reserved(seat)]
    if table.previous:
        document["previous"] = table.previous
    if table.rematch:
        document["rematch"] = table.rematch
    if table.revealed:
        document["secret"] = base64url(table.revealed)
    return document


def _holder(table: Table, holder: Holder) -> dict[str, object]:
    document: dict[str, object] = {"name": holder.name}
    if holder.level:
        document["bot"] = holder.level
    if table.status == "waiting" and holder.ready:
        document["ready"] = True
    if table.status in ("waiting", "sealed") and holder.nonce_hash:
        document["nonce"] = "open" if holder.nonce else "sealed"
    if holder.stand_in:
        document["stand_in"] = holder.stand_in
    if holder.timeouts:
        document["timeouts"] = holder.timeouts
    if holder.resigned:
        document["resigned"] = True
    if holder.wants_end:
        document["wants_end"] = True
    return document


@kept
def summary(table: Table) -> bytes:
    """What the list of rooms shows; nothing if it should not show this room."""
    if table.key_hash or table.status == "over":
        return b""
    return msgspec.json.encode(describe(table))


def describe(table: Table) -> dict[str, object]:
    """A room in a few words, for lists."""
    return {
        "code": table.code,
        "game": table.game,
        "status": table.status,
        "seats": len(table.seats),
        "taken": table.taken,
        "names": [holder.name for holder in table.seats if holder is not None],
        **msgspec.to_builtins(table.settings),
    }
