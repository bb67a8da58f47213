"""Beats of many shards: their service clocks are moved on, and rooms that are due are told.

Shards go in small batches, spread over a time: all together they would delay every move by some
milliseconds. Each primary of a cluster has its own shards, and does not wait for another one.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from towerhall_server.eventlog.answers import Beat
from towerhall_server.eventlog.scripts import beat_of
from towerhall_server.store.batch import Call
from towerhall_server.store.errors import StoreError
from towerhall_server.store.opening import Store

BEATS_AT_ONCE: Final = 16
"""Shards whose clocks are moved on in one batch: it takes the engine less than a third of a ms."""


async def beat_all(
    store: Store,
    calls: Mapping[int, Call],
    heard: Callable[[int, Beat], None],
    within_seconds: float,
) -> dict[int, Beat]:
    """Make one call for each shard. A shard without an answer is left out; raises if none
    answered. `heard` gets each answer at once."""
    beats: dict[int, Beat] = {}
    failed = [StoreError("no primary answers")]

    async def beat(shards: Sequence[int]) -> None:
        """The shards of one primary."""
        for first in range(0, len(shards), BEATS_AT_ONCE):
            if first and within_seconds:
                await asyncio.sleep(within_seconds * BEATS_AT_ONCE / len(shards))
            group = shards[first : first + BEATS_AT_ONCE]
            replies = await store.call_all([calls[shard] for shard in group])
            answered = {
                shard: beat_of(reply)
                for shard, reply in zip(group, replies, strict=True)
                if not isinstance(reply, StoreError)
            }
            for shard, told in answered.items():
                heard(shard, told)
            beats.update(answered)
            if not answered:
                failed[:] = replies
                break

    shards = list(calls)
    lanes = store.lanes_of(list(calls.values()))
    groups = [beat([shards[index] for index in lane]) for lane in lanes]
    await store.first_lanes(groups, within_seconds=within_seconds)
    if shards and not beats:
        raise failed[0]
    return beats
