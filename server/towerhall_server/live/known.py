"""Facts for room commands that no log holds: absent seats, and the room of a rematch."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from towerhall_server.live.absence import Absence
from towerhall_server.live.follower import Follower
from towerhall_server.live.items import Command
from towerhall_server.live.loading import NEWER, load
from towerhall_server.live.node import Node
from towerhall_server.room.commands import NEEDS
from towerhall_server.room.rematch import rematch_plan
from towerhall_server.room.seats import Known
from towerhall_server.room.steps import Plan

MakeRoom: TypeAlias = Callable[[Plan], Awaitable[str]]
"""Creates a room and returns its code."""


async def find_out(
    follower: Follower, absence: Absence, make_room: MakeRoom, command: Command, known: Known
) -> Known:
    """The facts that this command needs in the room as it is now. Call this again when the room has
    changed, with the facts so far: no second room is created."""
    room, asker = follower.room, command.viewer.person.id
    table = room.table
    if NEEDS[command.asked.body["command"]] == "absences":
        return Known(absent=absence.seats())
    if known.rematch or table.status != "over" or table.seated.get(asker) is None:
        return known
    spent = table.rematch
    if spent and not await follower.insist(lambda: _is_spent(follower.node, spent)):
        return known
    if command.asked.dry:
        return Known(spent=spent)
    wait_ms = await follower.node.wait_ms(room.identity_of(asker))
    if wait_ms:
        return Known(spent=spent, wait_ms=wait_ms)
    plan = rematch_plan(room, asker, follower.node.games)
    return Known(spent=spent, rematch=await follower.insist(lambda: make_room(plan)))


async def _is_spent(node: Node, code: str) -> bool:
    """Whether that room is gone or was closed, so that its game cannot be played."""
    try:
        replica = await load(node, code)
    except NEWER:
        return False
    if replica is None:
        return True
    table = replica.room.table
    return bool(table.closed) and table.result is None
