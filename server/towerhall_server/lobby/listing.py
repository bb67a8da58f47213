"""One page of the list of rooms under one filter: one document, and its patches.

A page is bounded. Rooms with a free seat come first, then the others, by code; `more` counts the
rooms behind the page, and `next` begins the next one. Pure: nothing here waits or sends.
"""

from collections.abc import Iterable
from typing import Any, Final

from towerhall_protocol.lobby import MOST_SHOWN, Filter
from towerhall_protocol.merge_patch import diff
from towerhall_server.lobby.index import RoomIndex, document_of

BEHIND_ALL: Final = "~"
"""A place behind that of any room."""


class Selection:
    """A page of the list under one filter."""

    def __init__(
        self, wanted: Filter, rooms: RoomIndex, most: int = MOST_SHOWN, online: int = 0
    ) -> None:
        self.wanted = wanted
        self.online = online
        """People who are connected to the service; 0 if that is not known."""
        self._rooms = rooms
        self._most = min(wanted.limit or most, most)
        self._last = BEHIND_ALL
        """The place up to which changes concern this page."""
        self._summaries: dict[str, bytes] = {}
        """Of the rooms of this page. While one is the same object, so is its document."""
        self.shown: dict[str, Any] = {"rooms": self._page()}
        """The document that viewers have."""
        self.follow(())

    def follow(self, changed: Iterable[str]) -> dict[str, object]:
        """Apply changes at these places. Returns the patch from the document before."""
        first, last = self.wanted.after, self._last
        is_touched = any(first < place <= last for place in changed)
        document: dict[str, Any] = {"rooms": self._page() if is_touched else self.shown["rooms"]}
        more = self._rooms.count(self.wanted, self._last)
        if more:
            document |= {"more": more, "next": self._last}
        if self.online:
            document["online"] = self.online
        patch = diff(self.shown, document)
        self.shown = document
        return patch

    def _page(self) -> dict[str, Any]:
        places = self._rooms.page(self.wanted, self._most)
        self._last = places[-1] if len(places) == self._most else BEHIND_ALL
        before, self._summaries = self._summaries, {}
        rooms = {}
        for place in places:
            code, summary = place[1:], self._rooms.summary(place)
            is_same = before.get(code) is summary
            rooms[code] = self.shown["rooms"][code] if is_same else document_of(summary)
            self._summaries[code] = summary
        return rooms
