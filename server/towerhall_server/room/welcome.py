"""How somebody enters a room: judge where they stand, then send what they need to be level with it.

With a cursor that this log knows, that is the frames since then, or a snapshot if that is smaller;
without one, or with one of another past, a snapshot. All of it happens in one step of the room, so
nothing can fall between what was sent and the first frame after it.
"""

from towerhall_protocol.errors import hint
from towerhall_protocol.level import LEVEL
from towerhall_protocol.messages import (
    Arrival,
    Cursor,
    ServerError,
    ServerPaused,
    ServerPresence,
    ServerSeat,
    ServerWelcome,
)
from towerhall_server.room.follower import Follower
from towerhall_server.room.prepared import Prepared
from towerhall_server.room.view import base_of, view_class
from towerhall_server.room.viewer import Viewer


async def welcome(follower: Follower, viewer: Viewer, cursor: Cursor | None) -> None:
    """Let a viewer in, or send it away if its cursor is of another room."""
    if cursor is not None and not follower.replica.knows(cursor):
        # The client has seen what this replica has not: first read, then judge.
        await follower.catch_up()
    if not viewer.alive:
        return
    room, replica, audience = follower.room, follower.replica, follower.audience
    if cursor is not None and _uid(cursor.base) != _uid(base_of(room, "")):
        viewer.send(Prepared(ServerError("room_gone", {}, hint("room_gone", {}))))
        viewer.close("room_gone")
        return
    audience.add(room, viewer)
    name = view_class(room.rules, viewer.seat)
    here = replica.cursor(name)
    frames: list[Prepared] | None = None
    lost = 0
    if cursor is not None:
        if not replica.knows(cursor):
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
        audience.offer(room, replica.point.seq, viewer.seat)


def resync(follower: Follower, viewer: Viewer) -> None:
    """Start a viewer anew that was too slow: whatever it was not sent meanwhile is told again."""
    seat, audience = viewer.seat, follower.audience
    state = (
        Prepared(ServerSeat(-1 if seat is None else seat)),
        Prepared(ServerPaused(follower.paused)),
        Prepared(ServerPresence(audience.online, audience.watchers)),
    )
    audience.snapshot(follower.replica, viewer, more=state)


def _arrival(
    follower: Follower, viewer: Viewer, cursor: Cursor, name: str | None, *, lost: int = 0
) -> ServerWelcome:
    """The greeting; with the view of that class, if any."""
    audience = follower.audience
    return ServerWelcome(
        Arrival(
            you=viewer.person.id,
            name=viewer.person.name,
            level=LEVEL,
            now=follower.node.clock.stamps(follower.shard),
            cursor=cursor,
            view=None if name is None else audience.view_of(follower.room, name),
            seat=viewer.seat,
            lost=lost,
            online=audience.online,
            watchers=audience.watchers,
            paused=follower.paused,
        )
    )


def _uid(base: str) -> str:
    return base.partition(".")[0]
