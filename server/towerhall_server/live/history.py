"""Old frames, made again from the log, one page at a time."""

import asyncio
import logging
from typing import Final

import msgspec

from towerhall_protocol.messages import ServerFrame, ServerHistory
from towerhall_server.eventlog.answers import Following
from towerhall_server.eventlog.entry import START, Point
from towerhall_server.eventlog.log import PAGE, Found
from towerhall_server.live.loading import belongings, passed_over, starts
from towerhall_server.live.node import Node
from towerhall_server.live.replica import follow
from towerhall_server.live.snapshots import Snapshot
from towerhall_server.room.state import Room
from towerhall_server.room.view import NOTHING, frame, view
from towerhall_server.store.errors import StoreError

logger = logging.getLogger(__name__)

MOST_FRAMES: Final = 100
"""Frames of a page."""
MOST_BYTES: Final = 32 * 1024
"""Bytes of a page, after which no frame is added."""
_encode = msgspec.msgpack.Encoder().encode
AT_ONCE: Final = 50
"""Entries that are folded per turn of the event loop."""


async def page(node: Node, code: str, name: str, first: int, last: int) -> ServerHistory | None:
    """Frames from `first` on for viewers of a class, as many as fit; `None` if the log is gone."""
    secret, kept = await belongings(node.log, code)
    if secret is None:
        return None
    wanted = range(first, last + 1)
    until = min(last, first + MOST_FRAMES - 1)
    async for start, entries in starts(node, code, secret, kept, first - 1, until):
        try:
            found = await _page(node, code, secret, name, wanted, start, entries)
        except StoreError:
            raise
        except Exception:
            logger.exception("room %s cannot be told from %d", code, start.point.seq)
            found = None
        if found is not None:
            node.upkeep.ask(code, start.digest)
            return found
        passed_over(node, code, start.point.seq)
    return await _page(node, code, secret, name, wanted)


async def _page(
    node: Node,
    code: str,
    secret: bytes,
    name: str,
    wanted: range,
    start: Snapshot | None = None,
    found: Found = (),
) -> ServerHistory | None:
    """A page, told from a snapshot on or from the beginning; `None` if that is not in the log."""
    frames: list[ServerFrame] = []
    size = 0
    room: Room | None = None
    place: Point = START
    old = NOTHING
    if start is not None:
        room, place = start.room, start.point
        old = view(room, name) if place.seq == wanted[0] - 1 else NOTHING
    while True:
        # No more than can be needed: a page may begin just after its snapshot.
        most = min(wanted[-1], wanted[0] + MOST_FRAMES - 1) - place.seq
        page = min(max(most, 1), PAGE)
        reading, found = await node.log.read(code, place, page=page, found=found), ()
        if not isinstance(reading, Following):
            return None
        for entry in reading.entries:
            change = follow(node.games, secret, room, entry)
            room, place = change.after, entry.point
            if entry.seq == wanted[0] - 1:
                old = view(room, name)
            if entry.seq in wanted:
                new = view(room, name)
                made = frame(room.rules, change.commit, change.seq, change.mark, old, new)
                old = new
                frames.append(made)
                size += len(_encode(made))
                if entry.seq == wanted[-1] or len(frames) == MOST_FRAMES or size > MOST_BYTES:
                    return ServerHistory(tuple(frames), wanted[-1])
            if entry.seq % AT_ONCE == 0:
                await asyncio.sleep(0)
        if not reading.more:
            return ServerHistory(tuple(frames), wanted[-1])
