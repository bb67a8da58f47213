"""The valuer: builds and bids for the value of its own table, ignoring the other seats."""

from towerhall_protocol.document import Document
from towerhall_protocol.offers import Offer
from towerhall_server.games.five_towers.bots.greedy import decline
from towerhall_server.games.five_towers.bots.position import Position, read_view
from towerhall_server.games.five_towers.bots.value import Weights, table_value
from towerhall_server.games.five_towers.building import Build

WEIGHTS = {
    "base": Weights(fit=1.2, fit_power=0.8),
    # Under the cap a single 8 opens any tower, so a high top is worth less.
    "cap": Weights(fit=0.9, fit_power=0.8, bridge=0.3),
}


def choose_valuer(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> dict[str, object]:
    """Return the number whose best build gains most value, and that build."""
    position = read_view(view)
    weights = WEIGHTS[position.options.eight]
    if position.phase == "build":
        return best_build(position, weights)
    gains = best_gains(position, position.turn, weights)
    best = max(position.sensible_bids(), key=lambda number: gains[number], default=0)
    if best == 0 or gains[best] <= 0:
        return decline(position)
    return {"command": "bid", "number": best}


def best_build(position: Position, weights: Weights) -> dict[str, object]:
    """Return the build of most value for the seat whose turn it is."""
    found = position.builds(position.turn, position.highest)
    best = max(found, key=lambda build: value_after(position, position.turn, build, weights))
    return position.build_command(best)


def best_gains(position: Position, seat: int, weights: Weights) -> list[float]:
    """Return for each number that the seat could build the value that its best build adds."""
    place = position.places[seat]
    coming, eight = position.coming, position.options.eight
    now = table_value(place.towers, place.demolished, coming, eight, weights)
    gains = [0.0]
    for number in range(1, position.feasible(seat) + 1):
        found = position.builds(seat, number)
        gains.append(max(value_after(position, seat, build, weights) for build in found) - now)
    return gains


def value_after(position: Position, seat: int, build: Build, weights: Weights) -> float:
    place = position.places[seat]
    demolished = place.demolished
    towers = list(place.towers)
    if build.demolish is not None:
        demolished += 1
        towers[build.demolish] = towers[build.demolish][:-1]
    for kind, chain in build.chains:
        towers[kind] += chain
    return table_value(tuple(towers), demolished, position.coming, position.options.eight, weights)
