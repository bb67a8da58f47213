"""What some commands are decided by besides the log: who is away, and a room made for a rematch."""

from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from towerhall_server.room.absence import Absence
from towerhall_server.room.core import Plan
from towerhall_server.room.follower import Follower
from towerhall_server.room.inbox import Command
from towerhall_server.room.node import Node
from towerhall_server.room.reading import NEWER, load
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
    if known.rematch or table.status != "over" or table.seat_of(asker) is None:
        return known
    spent = table.rematch
    if spent and not await follower.insist(lambda: _is_spent(follower.node, spent)):
        return known
    if command.asked.dry:
        return Known(spent=spent)
    wait_ms = await follower.node.wait_ms(asker)
    if wait_ms:
        return Known(spent=spent, wait_ms=wait_ms)
    plan = rematch_plan(follower.room, asker, follower.node.games)
    return Known(spent=spent, rematch=await follower.insist(lambda: make_room(plan)))


async def _is_spent(node: Node, code: str) -> bool:
    """Whether nobody can play in that room any more, and nobody has: it is gone, or was closed."""
    try:
        replica = await load(node, code)
    except NEWER:
        return False
    return replica is None or bool(replica.room.table.closed)
