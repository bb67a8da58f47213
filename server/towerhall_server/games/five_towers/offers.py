"""A seat's possible commands (FT 5 to 7), and the command of the clock after a timeout."""

from functools import lru_cache

from towerhall_protocol.offers import Choice, Offer, Range
from towerhall_server.game import Seat
from towerhall_server.games.five_towers.building import Build, builds
from towerhall_server.games.five_towers.rules import bid_range
from towerhall_server.games.five_towers.state import State

_PASS = Offer("pass")


def to_act(state: State) -> tuple[Seat, ...]:
    return () if state.phase == "over" else (state.turn,)


def offers(state: State, seat: Seat) -> tuple[Offer, ...]:
    """Calls as a range; builds one by one, each with the seat's score after it."""
    if state.phase == "over" or seat != state.turn:
        return ()
    if state.phase == "build":
        choices = [
            Choice(build.parameters(state.display), {"score": build.score})
            for build in _builds(state)
        ]
        return (Offer("build", choices=tuple(choices)),)
    least, most = bid_range(state, seat)
    return _calls(least, most, bool(state.calls))


@lru_cache(maxsize=128)
def _calls(least: int, most: int, may_pass: bool) -> tuple[Offer, ...]:
    bids = () if most < least else (Offer("bid", ranges={"number": Range(least, most)}),)
    return (*bids, _PASS) if may_pass else bids


def timeout(state: State, seat: Seat) -> dict[str, object]:
    """Decline in the auction; build for the most points, with a demolition only if needed."""
    if state.phase == "auction":
        return {"command": "pass"} if state.calls else {"command": "bid", "number": 0}
    best = max(_builds(state), key=lambda build: (build.demolish is None, build.score))
    return {"command": "build", **best.parameters(state.display)}


def _builds(state: State) -> list[Build]:
    player = state.table.players[state.turn]
    return builds(
        player.towers,
        len(player.demolished),
        state.display,
        state.leading,
        state.options,
    )
