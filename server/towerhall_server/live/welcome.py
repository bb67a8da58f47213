"""How a viewer joins a room: judge its cursor, then send frames or a snapshot.

A cursor that this log knows gets the frames since then, or a snapshot if that is smaller. Without a
cursor, or with one of another past, the viewer gets a snapshot. The room does this in one step, so
no frame can be lost between the welcome and the next commit.
"""

from collections.abc import Iterable

from towerhall_protocol.commands import base64url
from towerhall_protocol.error_messages import error_of
from towerhall_protocol.level import LEVEL
from towerhall_protocol.messages import (
    Arrival,
    Cursor,
    ServerMessage,
    ServerPaused,
    ServerSeat,
    ServerWelcome,
)
from towerhall_server.frames import Prepared
from towerhall_server.live.chat import name_of
from towerhall_server.live.fan_out import CHAIN_LEVEL
from towerhall_server.live.follower import Follower
from towerhall_server.live.viewer import Viewer
from towerhall_server.room.view import base_of, view_class


async def welcome(
    follower: Follower,
    viewer: Viewer,
    cursor: Cursor | None,
    lines: Iterable[ServerMessage] = (),
) -> None:
    """Let a viewer in and show it the lines, or send it away if its cursor is of another room."""
    if await _enter(follower, viewer, cursor):
        for line in lines:
            viewer.send(Prepared(line))
        follower.searches.follow(follower.room, follower.audience)


async def _enter(follower: Follower, viewer: Viewer, cursor: Cursor | None) -> bool:
    """Whether the viewer has joined."""
    known = cursor is None or await follower.knows(cursor)
    if cursor is not None and not known:
        # The client has seen what this replica has not: first read, then judge.
        await follower.catch_up()
        known = await follower.knows(cursor)
    if not viewer.alive:
        return False
    room, replica, audience = follower.room, follower.replica, follower.audience
    if cursor is not None and _uid(cursor.base) != _uid(base_of(room, "")):
        viewer.send(Prepared(error_of("room_gone")))
        viewer.close("room_gone")
        return False
    if viewer.person.id in room.table.kicked:
        viewer.send(Prepared(error_of("kicked")))
        viewer.close("kicked")
        return False
    audience.add(room, viewer)
    name = view_class(room.rules, viewer.seat)
    here = replica.place.cursor(name)
    frames: list[Prepared] | None = None
    lost = 0
    if cursor is not None:
        if not known:
            lost = max(1, cursor.seq - replica.point.seq)
        elif cursor.base == here.base:
            frames = replica.missed(name, cursor.seq)
    snapshot = Prepared(_arrival(follower, viewer, here, name, lost=lost))
    messages = [snapshot]
    if cursor is not None and frames is not None:
        resumed = [Prepared(_arrival(follower, viewer, cursor, None)), *frames]
        if sum(message.size for message in resumed) <= snapshot.size:
            messages = resumed
    viewer.send(*messages)
    if viewer.seat is not None and viewer.seat in room.to_act():
        audience.fan_out.offer(room, replica.point.seq, viewer.seat)
    return True


def resync(follower: Follower, viewer: Viewer) -> None:
    """Start a viewer anew that was too slow, with the state that it has missed."""
    seat, audience = viewer.seat, follower.audience
    state = (
        Prepared(ServerSeat(-1 if seat is None else seat)),
        Prepared(ServerPaused(follower.paused)),
        Prepared(audience.presence.message()),
    )
    audience.fan_out.snapshot(follower.replica.place, viewer, more=state)


def _arrival(
    follower: Follower, viewer: Viewer, cursor: Cursor, name: str | None, *, lost: int = 0
) -> ServerWelcome:
    """The welcome, with the view of that class if one is named."""
    audience, point = follower.audience, follower.replica.point
    knows_chains = viewer.level >= CHAIN_LEVEL
    return ServerWelcome(
        Arrival(
            you=viewer.person.id,
            name=name_of(follower.room.table, viewer),
            level=LEVEL,
            now=follower.node.clock.stamps(follower.shard),
            cursor=cursor,
            view=None if name is None else audience.fan_out.view_of(follower.room, name),
            seat=viewer.seat,
            lost=lost,
            online=audience.presence.online,
            watchers=audience.presence.watchers,
            paused=follower.paused,
            chain=(point.seq, base64url(point.chain)) if knows_chains else None,
            shared=knows_chains and follower.room.rules.shared_view,
            private=bool(follower.room.table.key_hash),
        )
    )


def _uid(base: str) -> str:
    return base.partition(".")[0]
