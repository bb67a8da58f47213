"""The view of a room: one plain document per class of viewers, and its patch per commit.

Redact first, diff second: a frame's patch is made from two views of one class, so no hidden value
can get into it. Events are told by their public fields only.
"""

from typing import Any, Final

import msgspec

from towerhall_protocol.commands import base64url
from towerhall_protocol.document import Document
from towerhall_protocol.merge_patch import diff
from towerhall_protocol.messages import ServerFrame
from towerhall_server.game import AnyGame, Perspective, Seat, kept
from towerhall_server.room.commits import Cause, Commit
from towerhall_server.room.events import facts
from towerhall_server.room.state import Room
from towerhall_server.room.table import SeatHolder, Table

VIEW_VERSION: Final = 2
"""Version of the room part of a view. A client with another version gets a snapshot."""
NOTHING: Final[Document] = {}
"""The view before the first commit."""
SHARED: Final = "all"
WATCHING: Final = "watch"


def view_class(rules: AnyGame, viewer: Perspective) -> str:
    """The class of a viewer. Viewers of one class have the same view."""
    if rules.shared_view:
        return SHARED
    return WATCHING if viewer is None else str(viewer)


def viewer_of(name: str) -> Perspective:
    """A viewer of that class, as games know viewers."""
    return Seat(int(name)) if name.isdecimal() else None


def base_of(room: Room, name: str) -> str:
    """The part of a cursor that names room, class and versions."""
    return f"{base64url(room.table.uid)}.{name}.{room.rules.version}.{VIEW_VERSION}"


def view(room: Room, name: str) -> dict[str, object]:
    """The view of that class."""
    document: dict[str, object] = {"room": _table(room.table)}
    if room.game is not None:
        document["game"] = room.rules.view(room.game, viewer_of(name))
    settings = room.table.settings
    if settings.turn_seconds and room.playing:
        document["clock"] = {"due": room.began_ms + settings.turn_ms}
    return document


def frame(
    rules: AnyGame, commit: Commit, seq: int, mark: str, old: Document, new: Document
) -> ServerFrame:
    """The frame of a commit for viewers who had the old view and get the new one."""
    return framed(rules, commit, seq, mark, diff(old, new))


def framed(rules: AnyGame, commit: Commit, seq: int, mark: str, patch: Document) -> ServerFrame:
    """The frame of a commit with this patch."""
    told: tuple[tuple[Any, ...], ...] = tuple(map(rules.facts, commit.game))
    if commit.room or commit.end:
        told = (*map(facts, commit.room), *told, *map(facts, commit.end))
    return ServerFrame(seq, mark, shown_cause(commit.cause), told, patch)


def shown_cause(cause: Cause) -> tuple[int | str, ...]:
    """The public part of a cause (P-31)."""
    if cause.n:
        return (cause.seat, cause.origin, cause.n)
    return () if cause.seat < 0 else (cause.seat,)


def patch_by_game(before: Room | None, after: Room, commit: Commit) -> Document | None:
    """The patch of a shared view as the game tells it; `None` if views have to be compared.

    A game knows its own part of a view only, so nothing else may have changed.
    """
    rules = after.rules
    if rules.patch is None or before is None or before.table is not after.table:
        return None
    if commit.room or commit.end or after.table.settings.turn_seconds or before.game is None:
        return None
    inner = rules.patch(before.game, after.game, commit.game)
    return {"game": inner} if inner else {}


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
    host = table.seated.get(table.host)
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
    if table.aliased and table.kicked:
        document["kicked"] = dict(table.kicked)
    if table.invited and table.status == "waiting":
        document["invited"] = dict.fromkeys(table.invited, True)
    if table.aliased and table.muted:
        document["muted"] = dict.fromkeys(table.muted, True)
    if table.previous:
        document["previous"] = table.previous
    if table.rematch:
        document["rematch"] = table.rematch
    if table.revealed:
        document["secret"] = base64url(table.revealed)
    return document


def _holder(table: Table, holder: SeatHolder) -> dict[str, object]:
    document: dict[str, object] = {"name": holder.name}
    if table.aliased and holder.identity:
        document["id"] = holder.identity
    if holder.level:
        document["bot"] = holder.level
    if holder.bot_account:
        document["bot_account"] = True
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
    """The entry in the list of rooms; empty if the room is not listed."""
    if table.key_hash or table.status == "over":
        return b""
    return msgspec.json.encode(describe(table))


def describe(table: Table) -> dict[str, object]:
    """The public facts of a room, for lists."""
    holders = [holder for holder in table.seats if holder is not None]
    document: dict[str, object] = {
        "code": table.code,
        "game": table.game,
        "status": table.status,
        "seats": len(table.seats),
        "taken": table.taken,
        "names": [holder.name for holder in holders],
        **msgspec.to_builtins(table.settings),
    }
    marked = [at for at, holder in enumerate(holders) if holder.bot_account]
    return document | {"bot_accounts_at": marked} if marked else document


def host_name(table: Table) -> str:
    """Return the name of the host; empty if the host has no seat."""
    seat = table.seated.get(table.host)
    holder = None if seat is None else table.seats[seat]
    return holder.name if holder else ""
