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
from towerhall_server.room.follower import Follower
from towerhall_server.room.inbox import Command
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


def tell(item: Command, message: ServerAccepted | ServerDuplicate | ServerRejected) -> None:
    item.viewer.unanswered.discard(item.asked.n)
    item.viewer.send(Prepared(message))
