"""The planner: reads the auction.

It values every seat's possible builds with the valuer's function and solves the rest of this
round's auction by backward induction: each seat in turn takes the call that is best for itself,
knowing what those after it will do. A seat likes its own gain and dislikes the others' a little.
"""

from functools import lru_cache

from towerhall_protocol.document import Document
from towerhall_protocol.offers import Offer
from towerhall_server.games.five_towers.bots.greedy import decline
from towerhall_server.games.five_towers.bots.position import Position, read_view
from towerhall_server.games.five_towers.bots.value import Weights
from towerhall_server.games.five_towers.bots.valuer import WEIGHTS, best_build, best_gains

DUEL_WEIGHTS = Weights(fit=1.7, fit_power=0.8)
"""Between two, far more of what fits comes one's way."""
ENVY = 0.35
"""How much the gains of all others together weigh against one's own."""


def choose_planner(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> dict[str, object]:
    """The call with the best forecast for this seat; the build of most value."""
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
    """The rest of one auction: who calls after whom, and what each outcome is worth to whom."""

    def __init__(self, position: Position) -> None:
        seats = len(position.places)
        self.order = [(position.start + turn) % seats for turn in range(seats)]
        self.size = len(position.display)
        weights = _weights(position)
        self.gains = [best_gains(position, seat, weights) for seat in range(seats)]
        self.solve = lru_cache(maxsize=None)(self._solve)

    def worth(self, seat: int, outcome: tuple[int, int]) -> float:
        """What it is worth to the seat that somebody builds that many cards."""
        builder, number = outcome
        if number == 0 or number >= len(self.gains[builder]):
            # Nobody builds, or (FT 7, `bids: table`) the bid is a bluff that will be taken back.
            return 0.0
        gain = self.gains[builder][number]
        return gain if builder == seat else -gain * ENVY / (len(self.order) - 1)

    def _solve(self, turn: int, highest: int, leader: int) -> tuple[int, int]:
        """Who builds how many if the seats from this turn on all call as is best for them."""
        if turn == len(self.order) or highest == self.size:
            return leader, highest
        seat = self.order[turn]
        best = self.solve(turn + 1, highest, leader)
        for number in range(highest + 1, len(self.gains[seat])):
            outcome = self.solve(turn + 1, number, seat)
            if self.worth(seat, outcome) > self.worth(seat, best):
                best = outcome
        return best
