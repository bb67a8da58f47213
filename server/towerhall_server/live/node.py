"""What the rooms of a server share: log, clock, games, metrics and callbacks."""

from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property

import msgspec

from towerhall_protocol.statements import Sign, unsigned
from towerhall_server.eventlog.append import Request
from towerhall_server.eventlog.log import EventLog
from towerhall_server.game import AnyGame
from towerhall_server.live.archive import Archive
from towerhall_server.live.chat_window import ChatFanOut
from towerhall_server.live.clock import ServiceClock
from towerhall_server.live.commit_ids import CommitIds
from towerhall_server.live.search_process import start_search_process
from towerhall_server.live.searches import Searches
from towerhall_server.live.stage import Stage
from towerhall_server.live.upkeep import Upkeep
from towerhall_server.room.state import Room
from towerhall_server.telemetry.meters import Meters


def no_listener(before: Room | None, after: Room) -> None:
    """No callback."""


def nothing_to_do(room: Room) -> None:
    """No callback."""


def one_search_process() -> Searches:
    """A single process, started for the first search."""
    return Searches(start_search_process, 1)


async def no_wait(person: str) -> int:
    """No limit."""
    return 0


class Node(msgspec.Struct, frozen=True, dict=True):
    """What the rooms of a server share."""

    name: str
    log: EventLog
    clock: ServiceClock
    games: Mapping[str, AnyGame]
    keep_days: int = 30
    commit_ids: CommitIds = msgspec.field(default_factory=CommitIds)
    meters: Meters = msgspec.field(default_factory=Meters)
    heard: Callable[[Room | None, Room], None] = no_listener
    """Called for every commit that this node has appended, with the room before and after it. Must
    not raise: the log holds the commit."""
    restored: Callable[[Room], None] = nothing_to_do
    """Called for every room whose log this node has put back into the store. The store has lost its
    other data of the room. Must not raise."""
    sign: Sign = unsigned
    """Signs statements of this server about a room. Must not raise."""
    owe: Callable[[str], None] | None = None
    """Called for every room that has left a debt to the public log in the store. Must not raise.
    `None`: there is no public log."""
    wait_ms: Callable[[str], Awaitable[int]] = no_wait
    """Milliseconds until a person may create another room. The answer 0 counts as a creation."""
    archive: Archive | None = None
    """The folder for records; None if the store alone keeps them."""
    searches: Searches = msgspec.field(default_factory=one_search_process)
    """Slow decisions of all rooms. Close it after the last room."""

    @cached_property
    def deciding(self) -> Stage[Request]:
        """The batch of commands that came in this tick."""
        return Stage(self.log.appender.ask_now)

    @cached_property
    def chat_fan_out(self) -> ChatFanOut:
        """Writes the chat of all rooms."""
        return ChatFanOut()

    @cached_property
    def upkeep(self) -> Upkeep:
        """Writes and checks snapshots. Close it after the last room."""
        return Upkeep(self.log, self.games, self.meters)
