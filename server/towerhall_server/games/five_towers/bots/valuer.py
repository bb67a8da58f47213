"""The valuer: builds and bids for the value of its own table, ignoring the other seats."""

from towerhall_protocol.document import Document
from towerhall_protocol.offers import Offer
from towerhall_server.games.five_towers.bots.greedy import decline
from towerhall_server.games.five_towers.bots.position import Position, read_view
from towerhall_server.games.five_towers.bots.value import table_value
from towerhall_server.games.five_towers.building import Build


def choose_valuer(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> dict[str, object]:
    """The number whose best build gains most value, and that build."""
    position = read_view(view)
    if position.phase == "build":
        return best_build(position)
    gains = best_gains(position, position.turn)
    best = max(position.sensible_bids(), key=lambda number: gains[number], default=0)
    if best == 0 or gains[best] <= 0:
        return decline(position)
    return {"command": "bid", "number": best}


def best_build(position: Position) -> dict[str, object]:
    """The build of most value for the seat whose turn it is."""
    found = position.builds(position.turn, position.highest)
    best = max(found, key=lambda build: value_after(position, position.turn, build))
    return position.build_command(best)


def best_gains(position: Position, seat: int) -> list[float]:
    """For each number that the seat could build: what the best such build adds in value."""
    place = position.places[seat]
    now = table_value(place.towers, place.demolished, position.coming, position.options.eight)
    gains = [0.0]
    for number in range(1, position.feasible(seat) + 1):
        found = position.builds(seat, number)
        gains.append(max(value_after(position, seat, build) for build in found) - now)
    return gains


def value_after(position: Position, seat: int, build: Build) -> float:
    place = position.places[seat]
    demolished = place.demolished
    towers = list(place.towers)
    if build.demolish is not None:
        demolished += 1
        towers[build.demolish] = towers[build.demolish][:-1]
    for kind, chain in build.chains:
        towers[kind] += chain
    return table_value(tuple(towers), demolished, position.coming, position.options.eight)
