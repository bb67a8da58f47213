"""What all rooms of a server have in common."""

from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property

import msgspec

from towerhall_server.eventlog.entry import CommitIds
from towerhall_server.eventlog.log import EventLog
from towerhall_server.game import AnyGame
from towerhall_server.room.clock import ServiceClock
from towerhall_server.room.stage import Stage
from towerhall_server.room.state import Room
from towerhall_server.telemetry.meters import Meters


def nobody_listens(before: Room | None, after: Room) -> None:
    """Most rooms are nobody's but their players' business."""


async def no_wait(person: str) -> int:
    """Whoever wants another room may have it at once."""
    return 0


class Node(msgspec.Struct, frozen=True, dict=True):
    """What all rooms of a server have in common."""

    name: str
    log: EventLog
    clock: ServiceClock
    games: Mapping[str, AnyGame]
    keep_days: int = 30
    commit_ids: CommitIds = msgspec.field(default_factory=CommitIds)
    meters: Meters = msgspec.field(default_factory=Meters)
    heard: Callable[[Room | None, Room], None] = nobody_listens
    """Told of every commit that this node has appended: the room before it and after it. It is in
    the log, so this must not fail."""
    wait_ms: Callable[[str], Awaitable[int]] = no_wait
    """How long a person has to wait until they may have another room; 0 if not, which counts."""

    @cached_property
    def deciding(self) -> Stage:
        """Where the commands of a tick are decided together, before they leave for the store."""
        return Stage(self.log.leave)
