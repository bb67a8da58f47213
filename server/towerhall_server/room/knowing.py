"""What some commands are decided by besides the log: who is away, and a room made for a rematch."""

from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from towerhall_server.room.absence import Absence
from towerhall_server.room.core import Plan
from towerhall_server.room.follower import Follower
from towerhall_server.room.inbox import Command
from towerhall_server.room.rematch import rematch_plan
from towerhall_server.room.seats import Known

UNLOGGED: Final = frozenset({"call_bot", "rematch"})
"""Commands that are decided by more than the log."""
MakeRoom: TypeAlias = Callable[[Plan], Awaitable[str]]
"""Makes a room and says its code."""


async def find_out(
    follower: Follower, absence: Absence, make_room: MakeRoom, command: Command, known: Known
) -> Known:
    """All of it that this command needs in the room as it is now. To be asked again when the room
    has changed; a room that was made for it before is not made twice."""
    table, asker = follower.room.table, command.viewer.person.id
    if command.asked.body["command"] == "call_bot":
        return Known(absent=absence.seats())
    may_be_made = table.status == "over" and not table.rematch and not command.asked.dry
    if known.rematch or not may_be_made or table.seat_of(asker) is None:
        return known
    wait_ms = await follower.node.wait_ms(asker)
    if wait_ms:
        return Known(wait_ms=wait_ms)
    plan = rematch_plan(follower.room, asker, follower.node.games)
    return Known(rematch=await follower.insist(lambda: make_room(plan)))
