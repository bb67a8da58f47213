"""One question to each of many shards: beats, which move their service clocks on and tell which
rooms are due, and the lobby's entries.

Shards go in small batches, spread over a time: all together they would delay every move by some
milliseconds. Each primary of a cluster has its own shards, and does not wait for another one.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from towerhall_server.eventlog.answers import Beat
from towerhall_server.eventlog.scripts import beat_of
from towerhall_server.store.batch import Call
from towerhall_server.store.errors import StoreError
from towerhall_server.store.opening import Store

BEATS_AT_ONCE: Final = 16
"""Shards whose clocks are moved on in one batch: it takes the engine less than a third of a ms."""
LOBBIES_AT_ONCE: Final = 1
"""Shards whose entries of the lobby are read in one batch: they may have hundreds of rooms each."""


async def beat_all(
    store: Store,
    calls: Mapping[int, Call],
    heard: Callable[[int, Beat], None],
    within_seconds: float,
) -> dict[int, Beat]:
    """Make one call for each shard. A shard without an answer is left out; raises if none
    answered. `heard` gets each answer at once."""
    beats: dict[int, Beat] = {}

    def answered(shard: int, reply: Any) -> None:
        beats[shard] = told = beat_of(reply)
        heard(shard, told)

    await ask_all(store, calls, answered, BEATS_AT_ONCE, within_seconds)
    return beats


async def ask_all(
    store: Store,
    calls: Mapping[int, Call],
    answered: Callable[[int, Any], None],
    at_once: int,
    within_seconds: float = 0.0,
) -> StoreError | None:
    """Make one call for each shard, and hand each answer out at once. A shard without an answer is
    left out; raises if none answered. Returns an error if no primary answered all of its calls."""
    failed: list[Any] = [StoreError("no primary answers")]
    answers = whole = 0

    async def ask(shards: Sequence[int]) -> None:
        """The shards of one primary."""
        nonlocal answers, whole
        missing = len(shards)
        for first in range(0, len(shards), at_once):
            if first and within_seconds:
                await asyncio.sleep(within_seconds * at_once / len(shards))
            group = shards[first : first + at_once]
            replies = await store.call_all([calls[shard] for shard in group])
            told = [
                (shard, reply)
                for shard, reply in zip(group, replies, strict=True)
                if not isinstance(reply, StoreError)
            ]
            for shard, reply in told:
                answered(shard, reply)
            answers += len(told)
            missing -= len(told)
            if len(told) < len(group):
                failed[:] = [reply for reply in replies if isinstance(reply, StoreError)]
            if not told:
                return
        whole += not missing

    shards = list(calls)
    lanes = store.lanes_of(list(calls.values()))
    groups = [ask([shards[index] for index in lane]) for lane in lanes]
    await store.first_lanes(groups, within_seconds=within_seconds)
    if shards and not answers:
        raise failed[0]
    return None if whole or not shards else failed[0]
