"""Rooms that are closed without a result: by the room itself, an operator or the service.

The command of the commit says who closed the room, its event says why. A verifier decides the event
again from the command, so a close cannot pass for an end that the players agreed on, or for an
abandoned room.
"""

import re
from typing import Any, Final, Literal

from towerhall_server.room.commits import THE_ROOM, Commit
from towerhall_server.room.during import AGREED, RESIGNED
from towerhall_server.room.events import RoomClosed, SecretRevealed
from towerhall_server.room.state import Room, happen
from towerhall_server.room.steps import Step

ABANDONED: Final = "abandoned"
"""The reason of a room in which nothing happened until its deadline."""
OWN_REASONS: Final = frozenset({ABANDONED, AGREED, RESIGNED})
"""Reasons that only a room itself gives."""
_REASON: Final = re.compile(r"[a-z0-9_]{1,40}")

Closer = Literal["operator", "service"]


def is_reason(text: str) -> bool:
    """Whether an operator or the service may give this reason."""
    return _REASON.fullmatch(text) is not None and text not in OWN_REASONS


def abandon_step(room: Room) -> Step:
    """The room closes itself at its deadline."""
    return _step(room, ABANDONED, {})


def close_step(room: Room, reason: str, by: Closer) -> Step:
    """An operator or the service closes the room."""
    return _step(room, reason, {"command": "close", "by": by, "reason": reason})


def _step(room: Room, reason: str, command: dict[str, Any]) -> Step:
    """The secret is revealed at every end."""
    events = (RoomClosed(reason), SecretRevealed(room.secret))
    return Step(Commit(THE_ROOM, events, command=command), happen(room, events, ()))
