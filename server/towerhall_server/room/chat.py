"""Lines of chat: beside the log, in a capped stream of their own. Emotes are not even kept there.

They are in no seq, chain, view or record; a line may be lost or come twice, and ids tell.
"""

from typing import Final

import msgspec

from towerhall_protocol.messages import ServerChat, ServerEmote
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
    is_emote: bool = False


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Said).decode


async def say(log: EventLog, room: str, viewer: Viewer, text: str) -> None:
    """Everybody hears of it by the store's news, on every node alike."""
    await log.say(room, _encode(_said(viewer, text)), TTL_MS)


def make_emote(log: EventLog, room: str, viewer: Viewer, name: str) -> None:
    """Everybody who is there at this moment hears of it, unless it is lost."""
    log.hint(room, _encode(_said(viewer, name, is_emote=True)))


def message_of(line: Line) -> ServerChat | ServerEmote:
    said = _decode(line.text)
    if said.is_emote:
        return ServerEmote(said.name, said.seat, said.text)
    return ServerChat(line.id, said.name, said.seat, said.text, line.wall_ms)


def _said(viewer: Viewer, text: str, *, is_emote: bool = False) -> _Said:
    seat = -1 if viewer.seat is None else viewer.seat
    return _Said(viewer.person.name, seat, text, is_emote)
