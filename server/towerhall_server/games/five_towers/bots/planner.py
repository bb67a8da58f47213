"""The planner: solves the auction.

It values every seat's possible builds with the valuer's function, and solves the rest of this
round's auction by backward induction. Each seat in turn takes the call that is best for itself, and
expects the others to do the same. A seat weighs its own gain fully and the others' gains slightly
negatively.
"""

from functools import lru_cache

from towerhall_protocol.document import Document
from towerhall_protocol.offers import Offer
from towerhall_server.games.five_towers.bots.greedy import decline
from towerhall_server.games.five_towers.bots.position import Position, read_view
from towerhall_server.games.five_towers.bots.value import Weights
from towerhall_server.games.five_towers.bots.valuer import WEIGHTS, best_build, best_gains

DUEL_WEIGHTS = Weights(fit=1.7, fit_power=0.8)
"""Between two players, a seat gets far more of the cards that fit."""
ENVY = 0.35
"""Weight of the gains of all other seats together, against one's own."""


def choose_planner(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> dict[str, object]:
    """Return the call with the best forecast for this seat, or the build of most value."""
    position = read_view(view)
    if position.phase == "build":
        return best_build(position, _weights(position))
    auction, seat = _Auction(position), position.turn
    next_turn = len(position.calls) + 1
    leader = max(position.calls, key=lambda caller: position.calls[caller], default=seat)
    declined = auction.solve(next_turn, max(position.highest, 0), leader)
    best, command = auction.worth(seat, declined), decline(position)
    for number in position.sensible_bids():
        worth = auction.worth(seat, auction.solve(next_turn, number, seat))
        if worth > best:
            best, command = worth, {"command": "bid", "number": number}
    return command


def _weights(position: Position) -> Weights:
    eight = position.options.eight
    return DUEL_WEIGHTS if len(position.places) == 2 and eight == "base" else WEIGHTS[eight]


class _Auction:
    """The rest of one auction: the order of calls, and the value of each outcome for each seat."""

    def __init__(self, position: Position) -> None:
        seats = len(position.places)
        self.order = [(position.start + turn) % seats for turn in range(seats)]
        self.size = len(position.display)
        weights = _weights(position)
        self.gains = [best_gains(position, seat, weights) for seat in range(seats)]
        self.solve = lru_cache(maxsize=None)(self._solve)

    def worth(self, seat: int, outcome: tuple[int, int]) -> float:
        """Return the seat's value if that builder builds that many cards."""
        builder, number = outcome
        if number == 0 or number >= len(self.gains[builder]):
            # There is no builder, or (FT 7, `bids: table`) the bid is a bluff that will be taken
            # back.
            return 0.0
        gain = self.gains[builder][number]
        return gain if builder == seat else -gain * ENVY / (len(self.order) - 1)

    def _solve(self, turn: int, highest: int, leader: int) -> tuple[int, int]:
        """Return builder and number if all seats from this turn on make their best calls."""
        if turn == len(self.order) or highest == self.size:
            return leader, highest
        seat = self.order[turn]
        best = self.solve(turn + 1, highest, leader)
        for number in range(highest + 1, len(self.gains[seat])):
            outcome = self.solve(turn + 1, number, seat)
            if self.worth(seat, outcome) > self.worth(seat, best):
                best = outcome
        return best
