"""The list of rooms under one filter: one document, and its patches.

The list is bounded. Rooms with a free seat come first, then the others, by code; `more` counts the
rooms left out. Pure: nothing here waits or sends.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping
from typing import Any, Final

from towerhall_protocol.document import Document
from towerhall_protocol.lobby import Filter
from towerhall_protocol.merge_patch import diff

MOST_ROOMS: Final = 500
"""Rooms shown at once. The list stays well below the largest message that clients accept."""

Summaries = Mapping[str, Document]
"""The public facts of each listed room, by its code."""


def matches(wanted: Filter, room: Document) -> bool:
    """Whether a room passes the filter."""
    return (
        wanted.game in ("", room.get("game"))
        and wanted.status in ("", room.get("status"))
        and free_seats(room) >= wanted.free
    )


def free_seats(room: Document) -> int:
    seats, taken = room.get("seats"), room.get("taken")
    return seats - taken if isinstance(seats, int) and isinstance(taken, int) else 0


class Selection:
    """The list under one filter."""

    def __init__(
        self, wanted: Filter, rooms: Summaries, most: int = MOST_ROOMS, online: int = 0
    ) -> None:
        self.wanted = wanted
        self.online = online
        """People who are connected to the service; 0 if that is not known."""
        self._most = most
        self._matching: dict[str, Document] = {}
        self._order: list[tuple[bool, str]] = []
        self.shown: dict[str, Any] = {"rooms": {}}
        """The document that viewers have."""
        self.follow(rooms, rooms)

    def follow(self, rooms: Summaries, changed: Iterable[str]) -> dict[str, object]:
        """Apply changes of rooms. Returns the patch from the list before."""
        for code in changed:
            self._forget(code)
            room = rooms.get(code)
            if room is not None and matches(self.wanted, room):
                self._matching[code] = room
                insort(self._order, _place(code, room))
        codes = [code for _, code in self._order[: self._most]]
        document: dict[str, Any] = {"rooms": {code: self._matching[code] for code in codes}}
        if len(self._order) > self._most:
            document["more"] = len(self._order) - self._most
        if self.online:
            document["online"] = self.online
        patch = diff(self.shown, document)
        self.shown = document
        return patch

    def _forget(self, code: str) -> None:
        room = self._matching.pop(code, None)
        if room is not None:
            del self._order[bisect_left(self._order, _place(code, room))]


def _place(code: str, room: Document) -> tuple[bool, str]:
    is_open = room.get("status") == "waiting" and free_seats(room) > 0
    return not is_open, code
