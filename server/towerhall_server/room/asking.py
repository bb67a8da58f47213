"""Whether the game decides a person's command, and how: at once, or in another process."""

from collections.abc import Mapping
from typing import Any

from towerhall_protocol.document import Document
from towerhall_server.game import Rejected, Seat
from towerhall_server.room.commands import ROOM_COMMANDS
from towerhall_server.room.commits import Cause
from towerhall_server.room.gate import GAME, refuse
from towerhall_server.room.search import refuse_clock_command
from towerhall_server.room.seats import Person
from towerhall_server.room.state import Decided, Room
from towerhall_server.room.table import Holder


def player(
    room: Room, person: Person, cause: Cause, body: Mapping[str, Any], tag: str
) -> Holder | Rejected:
    """The holder of the seat whose command the game decides, or the refusal of a command that
    never gets to the game."""
    refusal = refuse(room.table, person.id, GAME)
    if refusal is not None:
        return refusal
    if tag != room.tag:
        return Rejected("stale", "P-43")
    holder = room.table.seats[cause.seat]
    if holder is None or holder.stand_in:
        return Rejected("bot_plays", "P-58")
    return refuse_clock_command(room.rules, body) or holder


def is_slow(
    room: Room, seat: Seat, body: Mapping[str, Any], decided: Decided | None = None
) -> bool:
    """Whether another process decides a command: it is slow, its outcome is unknown, and the seat
    is to act. The rules refuse other seats at once."""
    if not room.playing or seat < 0 or not room.rules.slow(room.game, seat, body):
        return False
    if decided is not None and decided.holds_in(room):
        return False
    return body.get("command") not in ROOM_COMMANDS and seat in room.to_act()


def may_ask(room: Room, person: Person, cause: Cause, body: Mapping[str, Any], tag: str) -> bool:
    """Whether a command gets to the game. A search for any other one would be wasted."""
    return not isinstance(player(room, person, cause, body, tag), Rejected)


def foresee(
    room: Room, person: Person, cause: Cause, body: Mapping[str, Any], tag: str
) -> Document | Rejected | None:
    """The game's prediction for a dry run; `None` if it has none, and has to decide the command."""
    if body.get("command") in ROOM_COMMANDS:
        return None
    holder = player(room, person, cause, body, tag)
    if isinstance(holder, Rejected):
        return holder
    return room.rules.foresee(room.game, Seat(cause.seat), body)
