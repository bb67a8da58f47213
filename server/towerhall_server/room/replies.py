"""What whoever gave a command is told of it, if its frame does not tell enough."""

from time import monotonic
from typing import Final

from towerhall_protocol.errors import hint
from towerhall_protocol.messages import (
    ServerAccepted,
    ServerDuplicate,
    ServerError,
    ServerRejected,
)
from towerhall_server.game import Rejected
from towerhall_server.room.explaining import explain
from towerhall_server.room.follower import Follower, RoomGoneError
from towerhall_server.room.inbox import Command, Item, Join, Order, Resync, Tried
from towerhall_server.room.prepared import Prepared

STORE_UNAVAILABLE: Final = Prepared(
    ServerError("store_unavailable", {}, hint("store_unavailable", {}))
)
"""What a command is answered that has to wait: it is kept, and its fate will be told."""


def done(follower: Follower, item: Command) -> None:
    """It is in the log, and its frame has told everybody."""
    follower.node.meters.broadcast_seconds.observe(monotonic() - item.at)
    item.viewer.unanswered.discard(item.asked.n)


def duplicate(follower: Follower, item: Command, seq: int) -> None:
    """It had been done before, at that seq."""
    follower.node.meters.duplicates += 1
    tell(item, ServerDuplicate(item.asked.n, seq))


def reject(follower: Follower, item: Command, refusal: Rejected) -> None:
    """It is refused: nothing of it has happened, or will."""
    follower.node.meters.rejects[refusal.code] += 1
    text = explain(follower.room.rules, refusal)
    tell(item, ServerRejected(item.asked.n, refusal.code, refusal.rule, refusal.params, text))


def fault(follower: Follower, item: Item, error: Exception) -> None:
    """Something could not be handled: whoever waits for it need not wait any longer."""
    match item:
        case (Command() as command) | Tried(command):
            reject(follower, command, Rejected("poisoned", "P-40"))
        case Join(viewer) | Resync(viewer):
            viewer.close("server_fault")
        case Order():
            item.fail(error)


def send_away(item: Item, reason: str) -> None:
    """The room has ended here, before this was its turn."""
    match item:
        case Join(viewer):
            viewer.close(reason)
        case Order():
            item.fail(RoomGoneError())


def tell(item: Command, message: ServerAccepted | ServerDuplicate | ServerRejected) -> None:
    item.viewer.unanswered.discard(item.asked.n)
    item.viewer.send(Prepared(message))
