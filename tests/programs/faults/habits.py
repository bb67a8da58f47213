"""How the players of a table behave, and what they know of it."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from towerhall_client.retry import Retry
from towerhall_protocol.offers import Offer

if TYPE_CHECKING:
    from tests.programs.faults.players import Player

MOST_ABOVE: Final = 3
"""Numbers are less than this above the least that is allowed: so games have a usual length."""


class Habits(msgspec.Struct, frozen=True):
    """How the players of a table behave."""

    think_seconds: float = 0.03
    """On average; from nothing to twice as long."""
    plays: bool = True
    """If not, time runs out on every turn."""
    retry_seconds: float = Retry().first_seconds
    """The longest first wait after a break."""
    retry_most_seconds: float = Retry().most_seconds


class Table(Protocol):
    """What a player knows of its table."""

    code: str
    seats: int

    @property
    def habits(self) -> Habits: ...

    @property
    def quiet(self) -> bool:
        """Nothing new is begun."""

    def addresses(self) -> Sequence[str]: ...
    def noticed(self, player: "Player") -> None:
        """It has come in, or gone out, or something has happened."""

    def moved(self, player: "Player", seconds: float) -> None:
        """A command of its own is in the log, so long after it was first sent."""

    def returned(self, seconds: float) -> None:
        """A player is in the room again, after so long."""


def choose(offers: Sequence[Offer], chance: Random) -> Mapping[str, Any]:
    """One of the offered commands: each name is equally likely, numbers are small."""
    offer = offers[chance.randrange(len(offers))]
    body: dict[str, Any] = {"command": offer.command}
    for name, numbers in offer.ranges.items():
        body[name] = min(numbers.most, numbers.least + chance.randrange(MOST_ABOVE))
    if offer.choices:
        body.update(offer.choices[chance.randrange(len(offer.choices))].parameters)
    return body
