"""A server that collects no cyclic garbage by itself. On SIGUSR1 it logs one line: the connections
that are open, and the objects in cycles that a full collection finds. Run as a module."""

import asyncio
import gc
import signal
import sys
from types import FrameType
from typing import Final

from towerhall_server.cli.main import main
from towerhall_server.gateway.ws.socket import RoomSocket
from towerhall_server.process import garbage

FOUND: Final = "garbage: "


async def never() -> None:
    """Stands in for `garbage.sweep`."""
    gc.collect()
    gc.freeze()
    gc.disable()
    await asyncio.get_running_loop().create_future()


def log_garbage(number: int, frame: FrameType | None) -> None:
    is_open = sum(isinstance(each, RoomSocket) for each in gc.get_objects())
    # With SAVEALL the garbage is kept where it can be counted, and would be found again.
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    kinds = sorted({type(each).__qualname__ for each in gc.garbage})
    print(f"{FOUND}{is_open} {len(gc.garbage)} {','.join(kinds)}", file=sys.stderr, flush=True)
    gc.set_debug(0)
    gc.garbage.clear()
    gc.collect()


if __name__ == "__main__":
    garbage.sweep = never
    signal.signal(signal.SIGUSR1, log_garbage)
    sys.exit(main())
