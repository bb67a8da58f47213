"""Schedules cyclic garbage collection: young objects often, all objects rarely.

A move leaves no cycles behind: its objects are freed at once, and the rest is in use. By default
Python collects in the middle of a move, and sometimes all objects: with 200 rooms at play that
stopped them for 10 to 130 ms. Here it happens between moves, in two ways. After some thousand new
objects the young generation is collected: all garbage that clients can cause is new. A full
collection runs when there are twice as many objects as after the last one: ended rooms and
connections leave some in cycles.
"""

import asyncio
import gc
from typing import Final

LOOK_SECONDS: Final = 0.1
YOUNG: Final = 10_000
"""New objects before a young collection: at most some megabytes, and a pause below a
millisecond."""
LEAST: Final = 20_000
"""Minimum of further objects before a full collection: some megabytes."""


async def sweep() -> None:
    """Collect in a loop, forever, in place of the interpreter's own collections."""
    gc.collect()
    # Objects of the startup stay forever: freeze them, so that no collection visits them.
    gc.freeze()
    gc.disable()
    in_use, kept = 0, 0
    try:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            new = new_objects()
            if new >= YOUNG:
                kept += new - gc.collect(0)
            enough = max(LEAST, in_use)
            if kept >= enough:
                # Most may be freed again: after a collection the interpreter counts anew.
                kept = len(gc.get_objects()) - in_use
            if kept >= enough:
                gc.collect()
                in_use, kept = len(gc.get_objects()), 0
    finally:
        gc.enable()
        gc.unfreeze()


def new_objects() -> int:
    """Return the net number of new container objects since the last collection."""
    return gc.get_count()[0]
