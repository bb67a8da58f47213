"""When a server looks for garbage that counting does not free: seldom, and never because of moves.

A move leaves no cycles behind, so what it allocates is freed at once, and what stays is in use.
Only connections and rooms that have ended leave some. By default Python looks for cycles after
every so many allocations, however little there is to find: with 200 rooms at play each look stopped
all of them for 10 to 130 ms. Here it happens when as much may have been left as is in use.
"""

import asyncio
import gc
from collections.abc import Callable
from typing import Final

LEAST: Final = 100_000
"""So many objects to be found perhaps, and it is worth while: some ten megabytes."""
EVERY_SECONDS: Final = 1.0
UNKNOWN_AFTER: Final = 600
"""After so many looks whatever is new may be garbage: nobody knows what else leaves cycles."""


async def sweep(left_behind: Callable[[], int]) -> None:
    """For ever, instead of the interpreter's own collections. `left_behind` counts the objects of
    everything that has ended."""
    gc.collect()
    # What is there by now stays for ever: there is no use in looking through it again.
    gc.freeze()
    gc.disable()
    in_use, swept, looks = 0, left_behind(), 0
    try:
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            looks += 1
            found = left_behind() - swept
            if looks >= UNKNOWN_AFTER:
                found = max(found, new_objects())
            if found >= max(LEAST, in_use):
                gc.collect()
                in_use, swept, looks = len(gc.get_objects()), left_behind(), 0
    finally:
        gc.enable()
        gc.unfreeze()


def new_objects() -> int:
    """Objects that may be part of cycles: how many more there are than after the last sweep."""
    return gc.get_count()[0]
