"""Random ids for commits (P-121), drawn many at a time."""

import os
from collections.abc import Callable
from typing import Final

from towerhall_server.eventlog.entry import COMMIT_ID_BYTES

IDS_AT_ONCE: Final = 256
"""Ids of one draw. A system call for each id would cost more than all else about it."""


class CommitIds:
    """A supply of ids that never gives one twice, in child processes either."""

    def __init__(self, draw: Callable[[int], bytes] = os.urandom) -> None:
        self._draw = draw
        self._left: list[bytes] = []
        # A child process must not draw what its parent has drawn.
        os.register_at_fork(after_in_child=self._left.clear)

    def new(self) -> bytes:
        if not self._left:
            drawn, size = self._draw(IDS_AT_ONCE * COMMIT_ID_BYTES), COMMIT_ID_BYTES
            self._left += [drawn[at : at + size] for at in range(0, len(drawn), size)]
        return self._left.pop()
