"""Old frames, made again from the log: a page at a time, for whoever wants to see the past."""

import asyncio
from typing import Final

import msgspec

from towerhall_protocol.messages import ServerFrame, ServerHistory
from towerhall_server.eventlog.entry import START, Point
from towerhall_server.eventlog.log import Following
from towerhall_server.room.node import Node
from towerhall_server.room.replica import follow
from towerhall_server.room.state import Room
from towerhall_server.room.view import NOTHING, frame, view

MOST_FRAMES: Final = 100
MOST_BYTES: Final = 32 * 1024
_encode = msgspec.msgpack.Encoder().encode
AT_ONCE: Final = 50
"""Entries between two looks at the rest of the world."""


async def page(node: Node, code: str, name: str, first: int, last: int) -> ServerHistory | None:
    """Frames from `first` on for viewers of a class, as many as fit; `None` if the log is gone."""
    secret = await node.log.secret(code)
    if secret is None:
        return None
    frames: list[ServerFrame] = []
    size = 0
    room: Room | None = None
    place: Point = START
    old = NOTHING
    while True:
        reading = await node.log.read(code, place)
        if not isinstance(reading, Following):
            return None
        for entry in reading.entries:
            change = follow(node.games, secret, room, entry)
            room, place = change.after, entry.point
            if entry.seq == first - 1:
                old = view(room, name)
            if entry.seq >= first:
                new = view(room, name)
                made = frame(room.rules, change.commit, change.seq, change.mark, old, new)
                old = new
                frames.append(made)
                size += len(_encode(made))
                if entry.seq == last or len(frames) == MOST_FRAMES or size > MOST_BYTES:
                    return ServerHistory(tuple(frames), last)
            if entry.seq % AT_ONCE == 0:
                await asyncio.sleep(0)
        if not reading.more:
            return ServerHistory(tuple(frames), last)
