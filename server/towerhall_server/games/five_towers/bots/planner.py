"""The planner: reads the auction.

It values every seat's possible builds with the valuer's function and solves the rest of this
round's auction by backward induction: each seat in turn takes the call that is best for itself,
knowing what those after it will do. A seat likes its own gain and dislikes the others' a little.
Because forecasts of other minds err, a call is also judged as if nobody outbid it.
"""

from collections.abc import Sequence
from functools import lru_cache

from towerhall_protocol.document import Document
from towerhall_protocol.offers import Offer
from towerhall_server.games.five_towers.bots.greedy import decline
from towerhall_server.games.five_towers.bots.position import Position, read_view
from towerhall_server.games.five_towers.bots.valuer import best_build, best_gains

ENVY = 0.5
"""How much the gains of all others together weigh against one's own."""
DOUBT = 0.3
"""How much of a call's worth is what it brings if nobody outbids it."""
PASS = -1


def choose_planner(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> dict[str, object]:
    position = read_view(view)
    if position.phase == "build":
        return best_build(position)
    auction = _Auction(position)
    seat, numbers = position.turn, position.sensible_bids()
    leader = max(position.calls, key=lambda caller: position.calls[caller], default=-1)
    declined = auction.solve(auction.order.index(seat) + 1, max(position.highest, 0), leader)
    best, command = auction.worth(seat, declined), decline(position)
    for number in numbers:
        if number > 0:
            outcome = auction.solve(auction.order.index(seat) + 1, number, seat)
            forecast = auction.worth(seat, outcome)
            hoped = auction.worth(seat, (seat, number))
            value = (1 - DOUBT) * forecast + DOUBT * hoped
            if value > best:
                best, command = value, {"command": "bid", "number": number}
    return command


class _Auction:
    """The rest of one auction: who calls after whom, and what each outcome is worth to whom."""

    def __init__(self, position: Position) -> None:
        seats = len(position.places)
        self.order = [(position.start + turn) % seats for turn in range(seats)]
        self.size = len(position.display)
        self.gains: Sequence[list[float]] = [best_gains(position, seat) for seat in range(seats)]
        self.solve = lru_cache(maxsize=None)(self._solve)

    def worth(self, seat: int, outcome: tuple[int, int]) -> float:
        """What it is worth to the seat that somebody builds that many cards."""
        builder, number = outcome
        if number == 0:
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
