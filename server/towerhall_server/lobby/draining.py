"""Send the viewers of a list to another node: ask all, wait a while, close the rest one by one."""

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Final, Protocol

from towerhall_protocol.messages import ServerGo
from towerhall_server.frames import Prepared

LOOK_SECONDS: Final = 0.05
CLOSING_SECONDS: Final = 1.0
"""Seconds over which the rest is closed, so that not all reconnect at once."""


class ListViewer(Protocol):
    """A viewer of a list."""

    def send(self, message: Prepared, *more: Prepared) -> None: ...
    def close(self, reason: str) -> None: ...


async def send_on(viewers: Callable[[], tuple[ListViewer, ...]], within_ms: int) -> None:
    """Return when no viewer is left."""
    go = Prepared(ServerGo(within_ms))
    for viewer in viewers():
        viewer.send(go)
    deadline = monotonic() + within_ms / 1000
    while viewers():
        if monotonic() > deadline:
            break
        await asyncio.sleep(LOOK_SECONDS)
    late = viewers()
    for viewer in late:
        viewer.close("restart")
        await asyncio.sleep(CLOSING_SECONDS / len(late))
