"""Chat: lines in a capped stream beside the log. Emotes are not stored at all.

Chat has no seq, and is in no chain, view or record. A line may be lost or come twice; ids tell.
"""

from typing import Final

import msgspec

from towerhall_protocol.messages import ServerChat, ServerEmote
from towerhall_server.eventlog.answers import Line
from towerhall_server.eventlog.log import EventLog
from towerhall_server.live.viewer import Viewer
from towerhall_server.room.table import Table

TTL_MS: Final = 60 * 24 * 3_600_000
MOST_LINES: Final = 100_000
BACKLOG: Final = 20
"""Lines of chat that a new viewer gets."""


class _Said(msgspec.Struct, frozen=True, array_like=True):
    name: str
    seat: int
    text: str
    is_emote: bool = False
    who: str = ""
    """The alias of the speaker; empty in a room without aliases."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Said).decode


async def say(log: EventLog, table: Table, viewer: Viewer, text: str) -> None:
    """Store a line. The store notifies every node, this one included."""
    await log.say(table.code, _encode(_said(table, viewer, text)), TTL_MS)


def make_emote(log: EventLog, table: Table, viewer: Viewer, name: str) -> None:
    """Publish an emote to all nodes. It may be lost."""
    log.hint(table.code, _encode(_said(table, viewer, name, is_emote=True)))


async def unsay(log: EventLog, room: str, alias: str) -> None:
    """Remove the lines of a person from the chat of a room."""
    said = ((line.id, _decode(line.text)) for line in await log.said(room, MOST_LINES))
    await log.unsay(room, [name for name, line in said if line.who == alias])


def message_of(line: Line) -> ServerChat | ServerEmote:
    said = _decode(line.text)
    if said.is_emote:
        return ServerEmote(said.name, said.seat, said.text, said.who)
    return ServerChat(line.id, said.name, said.seat, said.text, line.wall_ms, said.who)


def name_of(table: Table, viewer: Viewer) -> str:
    """A viewer's name as others see it: a seat may have a newer one than its token."""
    holder = None if viewer.seat is None else table.seats[viewer.seat]
    return viewer.person.name if holder is None else holder.name


def _said(table: Table, viewer: Viewer, text: str, *, is_emote: bool = False) -> _Said:
    seat = -1 if viewer.seat is None else viewer.seat
    who = viewer.person.id if table.aliased else ""
    return _Said(name_of(table, viewer), seat, text, is_emote, who)
