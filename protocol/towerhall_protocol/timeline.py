"""Kept frames: the view at any seq, made again on this side.

It knows whole views at some seqs (nothing at all at 0) and the frames between; from these it plays
forward to whichever seq is asked for. Missing parts can be named, and requested as history.
"""

from collections.abc import Iterable

from towerhall_protocol.document import Document
from towerhall_protocol.merge_patch import apply
from towerhall_protocol.messages import ServerFrame

EMPTY: Document = {}
"""The view before the first commit."""


class Timeline:
    """Frames and views of one room, as one viewer sees it."""

    def __init__(self) -> None:
        self._frames: dict[int, ServerFrame] = {}
        self._views: dict[int, Document] = {0: EMPTY}

    def know(self, seq: int, view: Document) -> None:
        """A whole view that came from the server."""
        self._views[seq] = view

    def add(self, frames: Iterable[ServerFrame]) -> None:
        self._frames.update((frame.seq, frame) for frame in frames)

    def forget(self) -> None:
        """The kept frames belong to another view or to another history of the game."""
        self._frames.clear()
        self._views = {0: EMPTY}

    def missing(self, last: int) -> tuple[int, int] | None:
        """The first gap among the frames 1 to `last`, both ends included."""
        first = next((seq for seq in range(1, last + 1) if seq not in self._frames), None)
        if first is None:
            return None
        end = next((seq for seq in range(first, last + 1) if seq in self._frames), last + 1)
        return first, end - 1

    def frames(self, first: int, last: int) -> tuple[ServerFrame, ...]:
        """Those of them that are kept, in order."""
        return tuple(self._frames[seq] for seq in range(first, last + 1) if seq in self._frames)

    def view_at(self, seq: int) -> Document | None:
        """The view after that commit; `None` if frames are missing on the way to it."""
        start = seq
        while start not in self._views:
            if start not in self._frames:
                return None
            start -= 1
        view = self._views[start]
        for frame in self.frames(start + 1, seq):
            view = apply(view, frame.patch)
        return view
