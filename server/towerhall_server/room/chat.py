"""Lines of chat: beside the log, in a capped stream of their own.

They are in no seq, chain, view or record; a line may be lost or come twice, and ids tell.
"""

from typing import Final

import msgspec

from towerhall_protocol.messages import ServerChat
from towerhall_server.eventlog.answers import Line
from towerhall_server.eventlog.log import EventLog
from towerhall_server.room.viewer import Viewer

TTL_MS: Final = 60 * 24 * 3_600_000
BACKLOG: Final = 20
"""So many lines are shown to whoever comes in."""


class _Said(msgspec.Struct, frozen=True, array_like=True):
    name: str
    seat: int
    text: str


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Said).decode


async def say(log: EventLog, room: str, viewer: Viewer, text: str) -> None:
    """Everybody hears of it by the store's news, on every node alike."""
    seat = -1 if viewer.seat is None else viewer.seat
    await log.say(room, _encode(_Said(viewer.person.name, seat, text)), TTL_MS)


def message_of(line: Line) -> ServerChat:
    said = _decode(line.text)
    return ServerChat(line.id, said.name, said.seat, said.text, line.wall_ms)
