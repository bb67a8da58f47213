"""Three simple policies: a random command, the most points now, and the same with mistakes."""

from towerhall_protocol.document import Document
from towerhall_protocol.fairness import Act
from towerhall_protocol.offers import Offer
from towerhall_server.games.five_towers.bots.position import Position, read_view
from towerhall_server.games.five_towers.building import Build
from towerhall_server.games.five_towers.scoring import total

MISTAKE_IN = 3
"""An easy bot takes its second-best choice once in this many decisions."""


def choose_random(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> dict[str, object]:
    """Choose each offered command with the same probability."""
    commands = [command for offer in offers for command in offer.commands()]
    return commands[Act(entropy, 0).below(len(commands))]


def choose_greedy(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> dict[str, object]:
    """Choose the most points after this round, without regard to later rounds or other seats."""
    return ranked_by_points(read_view(view))[0]


def choose_easy(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> dict[str, object]:
    """Greedy, but sometimes the second-best choice."""
    ranked = ranked_by_points(read_view(view))
    mistaken = len(ranked) > 1 and Act(entropy, 0).below(MISTAKE_IN) == 0
    return ranked[1 if mistaken else 0]


def ranked_by_points(position: Position) -> list[dict[str, object]]:
    """Return the sensible commands, most points first; of equals the earlier one."""
    if position.phase == "build":
        found = position.builds(position.turn, position.highest)
        ordered = sorted(found, key=lambda build: -build.score)
        return [position.build_command(build) for build in ordered]
    place = position.places[position.turn]
    now = total(place.towers, place.demolished)
    gains: list[tuple[int, dict[str, object]]] = [(0, decline(position))]
    for number in position.sensible_bids():
        if number > 0:
            best = max(map(points, position.builds(position.turn, number)))
            gains.append((best - now, {"command": "bid", "number": number}))
    gains.sort(key=lambda gain: -gain[0])
    return [command for _, command in gains]


def decline(position: Position) -> dict[str, object]:
    """FT 5: the start player declines by naming 0."""
    return {"command": "pass"} if position.calls else {"command": "bid", "number": 0}


def points(build: Build) -> int:
    return build.score
