"""All events of Five Towers (FT 14): past facts, and the only way to change state.

Events are stored forever and are written as arrays: a name, then the fields in this order. A field
is never moved or removed; a changed event gets a new name. Only `round_started` reveals something
that was hidden.
"""

from typing import TypeAlias

import msgspec
from msgspec.structs import astuple

from towerhall_server.game import Seat, event_name
from towerhall_server.games.five_towers.cards import Card
from towerhall_server.games.five_towers.options import Options
from towerhall_server.games.five_towers.scoring import Score


class _Event(
    msgspec.Struct,
    frozen=True,
    array_like=True,
    forbid_unknown_fields=True,
    tag=event_name,
    gc=False,
):
    pass


class GameStarted(_Event, frozen=True):
    seats: int
    options: Options
    cards: int
    start: Seat


class RoundStarted(_Event, frozen=True):
    round: int
    start: Seat
    display: tuple[Card, ...]
    pile: int


class BidMade(_Event, frozen=True):
    seat: Seat
    number: int
    forced: bool = False


class Passed(_Event, frozen=True):
    seat: Seat
    forced: bool = False


class AuctionWon(_Event, frozen=True):
    seat: Seat
    number: int


class AuctionEmpty(_Event, frozen=True):
    pass


class BidWithdrawn(_Event, frozen=True):
    seat: Seat
    number: int
    calls_kept: int


class CardsTaken(_Event, frozen=True):
    seat: Seat
    cards: tuple[Card, ...]


class CardDemolished(_Event, frozen=True):
    seat: Seat
    card: Card
    demolished: int


class CardBuilt(_Event, frozen=True):
    seat: Seat
    card: Card
    height: int


class DisplayCleared(_Event, frozen=True):
    cards: tuple[Card, ...]


class PileReshuffled(_Event, frozen=True):
    pile: int


class GameEnded(_Event, frozen=True):
    scores: tuple[Score, ...]
    winners: tuple[Seat, ...]


Event: TypeAlias = (
    GameStarted
    | RoundStarted
    | BidMade
    | Passed
    | AuctionWon
    | AuctionEmpty
    | BidWithdrawn
    | CardsTaken
    | CardDemolished
    | CardBuilt
    | DisplayCleared
    | PileReshuffled
    | GameEnded
)

PUBLIC_FIELDS: dict[type[Event], tuple[str, ...]] = {
    GameStarted: ("seats", "options", "cards", "start"),
    RoundStarted: ("round", "start", "display", "pile"),
    BidMade: ("seat", "number", "forced"),
    Passed: ("seat", "forced"),
    AuctionWon: ("seat", "number"),
    AuctionEmpty: (),
    BidWithdrawn: ("seat", "number", "calls_kept"),
    CardsTaken: ("seat", "cards"),
    CardDemolished: ("seat", "card", "demolished"),
    CardBuilt: ("seat", "card", "height"),
    DisplayCleared: ("cards",),
    PileReshuffled: ("pile",),
    GameEnded: ("scores", "winners"),
}
"""The allow-list: viewers never get a field that is not named here."""

_NAMES = {kind: event_name(kind.__name__) for kind in PUBLIC_FIELDS}

_ALL_PUBLIC = {kind for kind, public in PUBLIC_FIELDS.items() if public == kind.__struct_fields__}
"""Events that are public as a whole, which is cheap: they are written in the order of their
fields."""

_PLAIN = {
    kind: (_NAMES[kind],)
    for kind in _ALL_PUBLIC
    if {field.type for field in msgspec.structs.fields(kind)} <= {int, bool, str, Seat}
}
"""Of these, the events without fields to convert: the most frequent and the cheapest."""


def facts(event: Event) -> tuple[object, ...]:
    """Return the public part of the event, as plain data."""
    kind = type(event)
    if kind in _PLAIN:
        return _PLAIN[kind] + astuple(event)
    if kind in _ALL_PUBLIC:
        return tuple(msgspec.to_builtins(event))
    public = (getattr(event, name) for name in PUBLIC_FIELDS[kind])
    return (_NAMES[kind], *msgspec.to_builtins(tuple(public)))
