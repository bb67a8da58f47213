"""Debounce of chat: lines and emotes of a tenth of a second leave in one write per viewer.

A line to 200 viewers costs 200 writes, which is one or two milliseconds of the event loop. Windows
of several rooms may end together. All rooms of a node share one fan-out, which writes to a few
viewers per tick, so that moves wait for one group only. Each line stays a message of its own. The
gateway limits the rate of chat, and `chat` stores it.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from towerhall_protocol.messages import ServerChat, ServerEmote
from towerhall_server.frames import Prepared
from towerhall_server.live.viewer import Viewer

WINDOW_SECONDS: Final = 0.1
"""Longest time that a line waits for others."""
GROUP: Final = 32
"""Viewers per tick of the event loop, of all rooms: a fraction of a millisecond of writes."""


class ChatFanOut:
    """Write chat to viewers, a group per tick, in the order in which it was added."""

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: deque[tuple[Sequence[Prepared], Iterator[Viewer]]] = deque()

    def add(self, messages: Sequence[Prepared], viewers: Iterable[Viewer]) -> None:
        """Send these messages to each viewer. The first group gets them now if none waits."""
        self._waiting.append((messages, iter(viewers)))
        if len(self._waiting) == 1:
            self._send_to_group()

    def _send_to_group(self) -> None:
        messages, viewers = self._waiting[0]
        group = tuple(islice(viewers, GROUP))
        if len(group) < GROUP:
            self._waiting.popleft()
        # First of all, so that a fault of one viewer does not keep chat from all others.
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._send_to_group)
        for viewer in group:
            viewer.send(*messages)


class ChatWindow:
    """Lines and emotes that wait to be sent, in order."""

    __slots__ = ("_fan_out", "_said", "_timer", "_viewers")

    def __init__(self, viewers: Callable[[], Iterable[Viewer]], fan_out: "ChatFanOut") -> None:
        self._viewers = viewers
        self._fan_out = fan_out
        self._said: list[ServerChat | ServerEmote] = []
        self._timer: asyncio.TimerHandle | None = None

    def add(self, message: ServerChat | ServerEmote) -> None:
        """Send this at the end of the window; open one if none is open."""
        self._said.append(message)
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(WINDOW_SECONDS, self.end)

    def end(self) -> None:
        """Send all that waits to the present viewers. May be called when no window is open."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        said, self._said = self._said, []
        if said:
            self._fan_out.add(tuple(map(Prepared, said)), tuple(self._viewers()))
