"""A step on its way into the log: what the store is asked, and what there will be if it agrees."""

from typing import Final

import msgspec

from towerhall_server.eventlog.answers import Append
from towerhall_server.eventlog.entry import Point, link, mark
from towerhall_server.room import core
from towerhall_server.room.commits import encode_commit
from towerhall_server.room.core import Due, Step
from towerhall_server.room.draft import Draft
from towerhall_server.room.replica import Change
from towerhall_server.room.state import Room, decides
from towerhall_server.room.view import summary

TTL_MS: Final = 60 * 24 * 3_600_000
"""A backstop: rooms end by their own deadline long before."""
BACKSTOP_MS: Final = 3_000
"""A sleeping room is woken this much after its deadline, which a live actor meets by itself."""


class Attempt(msgspec.Struct, gc=False):
    """One step, for one place in the log. It has that place or none: nothing of it may change."""

    wanted: Append
    change: Change
    """As it will be; its room learns of its place and time when the store has agreed."""
    ahead: Due
    """What is due after it."""
    began: float
    """In monotonic seconds."""
    draft: Draft | None = None
    """How it will look, as soon as that is ready."""
    told: bool = False
    """Whether it is in the log, and told as far as it was ready: a draft is of no use any more."""
    fault: Exception | None = None
    """Why nobody could be told of it, though it is in the log."""


def attempt_of(
    room: Room, place: Point, step: Step, commit_id: bytes, not_before_ms: int | None, now: float
) -> Attempt:
    """What to ask for so that a step follows that place, at which the room is."""
    commit, after = step.commit, step.after
    blob = encode_commit(commit)
    chain = link(place, commit_id, blob)
    ahead = core.due(after)
    old_decision = ahead.since == "decision" and not decides(room, after)
    wanted = Append(
        mode="append",
        room=room.table.code,
        before=place,
        commit_id=commit_id,
        chain=chain,
        blob=blob,
        ttl_ms=TTL_MS,
        origin=commit.cause.sender,
        n=commit.cause.n,
        not_before_ms=not_before_ms,
        due_in_ms=None if old_decision else ahead.ms + BACKSTOP_MS,
        due_at_ms=room.began_ms + ahead.ms + BACKSTOP_MS if old_decision else None,
        summary=None if after.table is room.table else summary(after.table),
    )
    return Attempt(wanted, Change(room, after, commit, place.seq + 1, mark(chain)), ahead, now)
