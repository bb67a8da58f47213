"""A step on its way into the log: the append for the store, and the change if it succeeds."""

from typing import Final

import msgspec

from towerhall_server.eventlog.answers import Append
from towerhall_server.eventlog.entry import Point, Stamps, entry_after, mark
from towerhall_server.live.change import Change
from towerhall_server.live.draft import Draft
from towerhall_server.room import steps
from towerhall_server.room.commits import encode_commit
from towerhall_server.room.state import Room, entered
from towerhall_server.room.steps import Due, Step
from towerhall_server.room.view import summary

TTL_MS: Final = 60 * 24 * 3_600_000
"""Milliseconds until the store drops a log. Rooms end by their own deadline long before."""
BACKSTOP_MS: Final = 3_000
"""Milliseconds after a deadline at which the store's index wakes a room that has no actor."""


class Attempt(msgspec.Struct, gc=False):
    """One step, for one place in the log. Retries send the same bytes: `wanted` never changes."""

    wanted: Append
    change: Change
    """The change, if the append succeeds."""
    ahead: Due
    """The next deadline after it."""
    began: float
    """In monotonic seconds."""
    draft: Draft | None = None
    """The encoded frames, as soon as they are ready."""
    told: bool = False
    """Whether the log holds it and its frames, if ready, were sent. No draft is made after that."""
    fault: Exception | None = None
    """The exception by which its frames could not be sent, though the log holds it."""


def attempt_of(
    room: Room,
    place: Point,
    step: Step,
    commit_id: bytes,
    not_before_ms: int | None,
    clocks: Stamps,
    began: float,
    expected: Due | None = None,
) -> Attempt:
    """The attempt to append a step after that place, at which the room is.

    `clocks` are the store's clocks as this node estimates them. `expected` is the deadline of the
    room now; `None` if it is not known, or if the estimate is not.
    """
    commit = step.commit
    stamps = proposed(place.stamps, clocks, not_before_ms or 0)
    entry = entry_after(place, stamps, commit_id, encode_commit(commit))
    seq, short = entry.seq, mark(entry.chain)
    after = entered(room, step.after, commit, seq, short, stamps.served_ms)
    ahead = steps.due(after)
    due_at_ms = ahead.at_ms(after)
    is_listed_anew = after.table is not room.table
    wanted = Append(
        mode="append",
        room=room.table.code,
        before=place,
        entry=entry,
        ttl_ms=TTL_MS,
        not_before_ms=not_before_ms,
        due_at_ms=due_at_ms + BACKSTOP_MS,
        summary=summary(after.table) if is_listed_anew else None,
        # A turn clock depends on the stamps, so the store compares them with its own clocks.
        is_move=ahead is expected
        and ahead.since == "day"
        and due_at_ms == ahead.at_ms(room)
        and not_before_ms is None
        and not is_listed_anew,
    )
    change = Change(room, after, commit, seq, short, entry.chain)
    return Attempt(wanted, change, ahead, began)


def proposed(before: Stamps, clocks: Stamps, not_before_ms: int) -> Stamps:
    """The stamps of the next entry: time never runs back, and no timer fires early."""
    return Stamps(
        max(clocks.wall_ms, before.wall_ms),
        max(clocks.served_ms, before.served_ms, not_before_ms),
    )
