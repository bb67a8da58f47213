"""When a server looks for garbage that counting does not free: seldom, and never because of moves.

A move leaves no cycles behind, so what it allocates is freed at once. Connections and rooms that
have ended do leave some. By default Python looks for cycles after every so many allocations,
however little there is to find: with 200 rooms at play each look stopped all of them for 10 to 50
ms, several times in a minute. Here it happens when there may be as much garbage as is in use.
"""

import asyncio
import gc
from typing import Final

LEAST: Final = 100_000
"""So many more objects than after the last sweep, and it is worth while: some ten megabytes."""
EVERY_SECONDS: Final = 1.0


async def sweep() -> None:
    """For ever, instead of the interpreter's own collections."""
    gc.collect()
    # What is there by now stays for ever: there is no use in looking through it again.
    gc.freeze()
    gc.disable()
    in_use = 0
    try:
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            if new_objects() >= max(LEAST, in_use):
                gc.collect()
                in_use = len(gc.get_objects())
    finally:
        gc.enable()
        gc.unfreeze()


def new_objects() -> int:
    """Objects that may be part of cycles: how many more there are than after the last sweep."""
    return gc.get_count()[0]
