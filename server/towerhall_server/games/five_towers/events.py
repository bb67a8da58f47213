"""All events of Five Towers (FT 14): past facts, and the only way to change state.

Events are stored forever and are written as arrays: a name, then the fields in this order. A field
is never moved or removed; a changed event gets a new name. Only `round_started` reveals something
that was hidden.
"""

from typing import TypeAlias

import msgspec

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
