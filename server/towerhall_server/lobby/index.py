"""All public rooms of the service, in an order from which any page is taken without a search.

Rooms of one kind, which is all that a filter asks for, have one sorted list of places. A page is
the beginning of the lists of some kinds, merged. So its cost depends on its length and on the
number of kinds, which is small, and not on the number of rooms. Pure: nothing here waits or sends.
"""

import logging
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Set
from heapq import merge
from itertools import islice
from typing import Final

import msgspec

from towerhall_protocol.lobby import Filter
from towerhall_server.eventlog.keys import shard_of

logger = logging.getLogger(__name__)

document_of: Final = msgspec.json.Decoder(dict[str, object]).decode
"""Returns what the list shows of a room."""
NOTHING: Final[Set[str]] = frozenset()


class Kind(msgspec.Struct, frozen=True, gc=False):
    """What filters can tell of a room."""

    game: str
    status: str
    free: int

    @property
    def is_open(self) -> bool:
        return self.status == "waiting" and self.free > 0

    def matches(self, wanted: Filter) -> bool:
        return (
            wanted.game in ("", self.game)
            and wanted.status in ("", self.status)
            and self.free >= wanted.free
        )

    def place_of(self, code: str) -> str:
        """Return the room's place in the order of all rooms: open rooms come first."""
        return f"0{code}" if self.is_open else f"1{code}"


class _Facts(msgspec.Struct, gc=False):
    """The part of a summary that makes its kind. Fields of other types count as missing."""

    game: object = None
    status: object = None
    seats: object = None
    taken: object = None


_facts_of: Final = msgspec.json.Decoder(_Facts).decode


class RoomIndex:
    """Rooms by their codes, as the store summarises them."""

    def __init__(self) -> None:
        self._summaries: dict[str, bytes] = {}
        """Also those that cannot be read, so that they are told once."""
        self._kinds: dict[str, Kind] = {}
        self._places: dict[Kind, list[str]] = {}
        self._shards: dict[int, set[str]] = {}

    def __len__(self) -> int:
        return len(self._kinds)

    def codes(self, shard: int) -> Set[str]:
        """Return the rooms of a shard."""
        return self._shards.get(shard, NOTHING)

    def put(self, code: str, summary: bytes) -> tuple[str, ...]:
        """Take in a room as it is now; an empty summary removes it. Returns the places that have
        changed."""
        if summary == self._summaries.get(code, b""):
            return ()
        before = self._kinds.pop(code, None)
        changed = []
        if before is not None:
            changed.append(self._leave(before, code))
        if not summary:
            del self._summaries[code]
            self._shards[shard_of(code)].discard(code)
            return tuple(changed)
        if self._summaries.get(code) is None:
            self._shards.setdefault(shard_of(code), set()).add(code)
        self._summaries[code] = summary
        kind = _kind_of(code, summary)
        if kind is not None:
            self._kinds[code] = kind
            place = kind.place_of(code)
            insort(self._places.setdefault(kind, []), place)
            changed.append(place)
        return tuple(changed)

    def _leave(self, kind: Kind, code: str) -> str:
        place, places = kind.place_of(code), self._places[kind]
        del places[bisect_left(places, place)]
        if not places:
            del self._places[kind]
        return place

    def page(self, wanted: Filter, most: int) -> tuple[str, ...]:
        """Return the first places after `wanted.after` that match the filter."""
        parts = []
        for places in self._matching(wanted):
            first = bisect_right(places, wanted.after)
            parts.append(places[first : first + most])
        return tuple(islice(merge(*parts), most))

    def count(self, wanted: Filter, after: str) -> int:
        """Return how many rooms after a place match the filter."""
        return sum(len(places) - bisect_right(places, after) for places in self._matching(wanted))

    def _matching(self, wanted: Filter) -> Iterator[list[str]]:
        return (places for kind, places in self._places.items() if kind.matches(wanted))

    def summary(self, place: str) -> bytes:
        """Return the summary of the room at a place: the same object until it changes."""
        return self._summaries[place[1:]]


def _kind_of(code: str, summary: bytes) -> Kind | None:
    """Return the kind of a room; None if its summary cannot be read."""
    try:
        document_of(summary)
        facts = _facts_of(summary)
    except (msgspec.MsgspecError, UnicodeError):
        logger.warning("the lobby entry of room %s cannot be read", code)
        return None
    seats, taken = facts.seats, facts.taken
    free = seats - taken if isinstance(seats, int) and isinstance(taken, int) else 0
    return Kind(_text(facts.game), _text(facts.status), free)


def _text(found: object) -> str:
    return found if isinstance(found, str) else ""
