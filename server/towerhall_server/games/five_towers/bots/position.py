"""A bot's model of the view: the same knowledge as a person at the table.

All data comes from the public view document; nothing here can reach the state.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from towerhall_protocol.document import Document
from towerhall_server.games.five_towers.building import Build, builds, most_cards
from towerhall_server.games.five_towers.cards import (
    KINDS,
    Card,
    Values,
    deck,
    values_by_kind,
)
from towerhall_server.games.five_towers.options import Options


class Place(msgspec.Struct, frozen=True):
    """The cards before one seat."""

    towers: tuple[Values, ...]
    demolished: int


class Position(msgspec.Struct, frozen=True):
    """The table at a decision of the seat `turn`."""

    options: Options
    phase: str
    turn: int
    start: int
    places: tuple[Place, ...]
    display: tuple[Card, ...]
    calls: Mapping[int, int]
    coming: tuple[Values, ...]
    """The cards that may still be dealt after this display, by kind."""

    @property
    def highest(self) -> int:
        return max(self.calls.values(), default=-1)

    def feasible(self, seat: int) -> int:
        """FT 7: the number of display cards that this seat could build."""
        return most_cards(self.places[seat].towers, self.display, self.options)

    def builds(self, seat: int, number: int) -> list[Build]:
        place = self.places[seat]
        return builds(place.towers, place.demolished, self.display, number, self.options)

    def sensible_bids(self) -> range:
        """The numbers that this seat may name and could build; with `bids: table` more are allowed.

        A withdrawn number (FT 7) was above the possible builds, so it is out of this range anyway.
        """
        return range(self.highest + 1, self.feasible(self.turn) + 1)

    def build_command(self, build: Build) -> dict[str, object]:
        return {"command": "build", **build.parameters(self.display)}


def read_view(view: Document) -> Position:
    """The position that a view shows. Views come from the server, so their shape is trusted."""
    shown: Any = view
    seats = shown["seats"]
    display = tuple(shown["display"])
    places = tuple(_place(seats[str(seat)]) for seat in range(len(seats)))
    return Position(
        options=msgspec.convert(shown["options"], type=Options),
        phase=shown["phase"],
        turn=shown["turn"],
        start=shown["start"],
        places=places,
        display=display,
        calls={int(seat): number for seat, number in shown["calls"].items()},
        coming=_coming(shown, places),
    )


def _place(seat: Any) -> Place:
    towers = tuple(tuple(seat["towers"].get(kind, ())) for kind in KINDS)
    return Place(towers, sum(map(len, seat["demolished"].values())))


def _coming(view: Any, places: tuple[Place, ...]) -> tuple[Values, ...]:
    """FT 11: in the first lap all cards but those built, demolished or shown; then the pile.

    The discard pile of the first lap comes again in the second one, that of the second never.
    """
    gone = [Counter(values) for values in values_by_kind(tuple(view["display"]))]
    for kind, name in enumerate(KINDS):
        for place in places:
            gone[kind].update(place.towers[kind])
        for seat in view["seats"].values():
            gone[kind].update(seat["demolished"].get(name, ()))
        if view["lap"] == 2:
            gone[kind].update(view["discard"].get(name, ()))
    whole = values_by_kind(deck(len(places)))
    return tuple(
        tuple((Counter(values) - gone[kind]).elements()) for kind, values in enumerate(whole)
    )
