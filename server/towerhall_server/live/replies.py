"""Answers to the sender of a command, where its frame is not enough."""

from time import monotonic
from typing import Final

from towerhall_protocol.document import Document
from towerhall_protocol.error_messages import error_of
from towerhall_protocol.messages import (
    ServerAccepted,
    ServerDuplicate,
    ServerRejected,
    ServerSearching,
)
from towerhall_server.frames import Prepared
from towerhall_server.game import Rejected
from towerhall_server.live.follower import Follower, RoomGoneError
from towerhall_server.live.items import Command, Item, Join, Order, Resync, Tried
from towerhall_server.live.viewer import Viewer
from towerhall_server.room.commits import Cause
from towerhall_server.room.explaining import explain
from towerhall_server.room.state import Done, Room, look_up

STORE_UNAVAILABLE: Final = Prepared(error_of("store_unavailable"))
"""Tells a sender that the command waits for the store. Its outcome follows."""

LOG_DAMAGED: Final = Prepared(error_of("log_damaged"))
"""Tells viewers that the log cannot be read to its end."""

SEARCHING_LEVEL: Final = 2
"""Lowest level of clients that know `searching`."""


def done(follower: Follower, item: Command) -> None:
    """The log holds the command, and its frame was sent."""
    follower.node.meters.broadcast_seconds.observe(monotonic() - item.at)
    item.viewer.answered(item.asked.n)


def is_shown(room: Room, viewer: Viewer, n: int) -> bool:
    """Whether the room has taken in a commit of that command, so that its frame was sent. The
    command itself may still wait in the inbox."""
    cause = Cause(-1, viewer.person.id, viewer.origin, n)
    return isinstance(look_up(room, cause), Done)


def already(follower: Follower, item: Command, found: Done | Rejected) -> None:
    """The log has answered the command already."""
    match found:
        case Done(seq):
            duplicate(follower, item, seq)
        case Rejected():
            reject(follower, item, found)


def duplicate(follower: Follower, item: Command, seq: int) -> None:
    """The command was done before, at that seq."""
    follower.node.meters.duplicates += 1
    tell(item, ServerDuplicate(item.asked.n, seq))


def reject(follower: Follower, item: Command, refusal: Rejected) -> None:
    """The command is refused for good."""
    follower.node.meters.rejects[refusal.code] += 1
    text = explain(follower.room.rules, refusal)
    tell(item, ServerRejected(item.asked.n, refusal.code, refusal.rule, refusal.params, text))


def fault(follower: Follower, item: Item, error: Exception) -> None:
    """An item could not be handled: answer its sender."""
    match item:
        case (Command() as command) | Tried(command):
            reject(follower, command, Rejected("poisoned", "P-40"))
        case Join(viewer) | Resync(viewer):
            viewer.close("server_fault")
        case Order():
            item.fail(error)


def damaged(follower: Follower, item: Item) -> None:
    """The log is damaged. Its unreadable part may hold the command, which is therefore not called
    rejected."""
    match item:
        case (Command() as command) | Tried(command):
            person, asked = command.viewer.person.id, command.asked
            cause = Cause(-1, person, command.viewer.origin, asked.n)
            found = look_up(follower.room, cause, asked)
            if found is None:
                command.viewer.send(LOG_DAMAGED)
            else:
                already(follower, command, found)
        case Order():
            item.fail(RoomGoneError())


def searching(item: Command, ahead: int) -> None:
    """Tell the sender how many searches come before that of the command."""
    if item.viewer.level >= SEARCHING_LEVEL:
        item.viewer.send(Prepared(ServerSearching(item.asked.n, ahead)))


def send_away(item: Item, reason: str) -> None:
    """The room has ended here before the item's turn."""
    match item:
        case Join(viewer):
            viewer.close(reason)
        case Order():
            item.fail(RoomGoneError())


def accept(item: Command, effect: Document) -> None:
    """A dry run: the command would be done, with that effect."""
    tell(item, ServerAccepted(item.asked.n, effect))


def tell(item: Command, message: ServerAccepted | ServerDuplicate | ServerRejected) -> None:
    item.viewer.answered(item.asked.n)
    item.viewer.send(Prepared(message))
