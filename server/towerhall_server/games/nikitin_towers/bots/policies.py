"""Bots: how each of them builds, and which block each of them gives to its neighbour."""

from collections.abc import Callable
from functools import partial

from towerhall_protocol.document import Document
from towerhall_protocol.fairness import Act
from towerhall_protocol.offers import Offer
from towerhall_server.games.nikitin_towers.bots.building import (
    Judge,
    best_place,
    place_command,
    ranked_places,
)
from towerhall_server.games.nikitin_towers.bots.position import Position, read_view
from towerhall_server.games.nikitin_towers.bots.worth import (
    Worth,
    worth_of_height,
    worth_of_ring,
)
from towerhall_server.games.nikitin_towers.search import find_standing
from towerhall_server.games.nikitin_towers.stability import stands_with
from towerhall_server.games.nikitin_towers.tower import Placed, Tower

POOR_EYE, FAIR_EYE = 20, 100
"""Easy and medium bots overlook one of this many towers that do not stand."""

Command = dict[str, object]
Give = Callable[[Position, Worth, Act], str]
"""Which kind the neighbour gives to the builder."""


def choose_random(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> Command:
    """Each offered command with the same probability, apart from asking for a search."""
    sure = [offer for offer in offers if not offer.unsure]
    chance = Act(entropy, 0)
    number = chance.below(sum(offer.count() for offer in sure))
    for offer in sure:
        if number < offer.count():
            return next(command for at, command in enumerate(offer.commands()) if at == number)
        number -= offer.count()
    raise ValueError("there are no offers")


def choose_careful(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> Command:
    """The highest place that stands; the neighbour gets any block."""
    return _choose(view, entropy, worth_of_height, _give_any)


def choose_mean(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> Command:
    """Builds like `careful`; the neighbour gets the block that is worth least to it."""
    return _choose(view, entropy, worth_of_height, _give_worst)


def choose_ring(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> Command:
    """Builds full rings; the neighbour gets the block that spoils its ring most."""
    return _choose(view, entropy, worth_of_ring, _give_worst)


def choose_easy(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> Command:
    """Builds by worth with poor judgement of statics; the neighbour gets any block."""
    return _choose(view, entropy, _goal(view), _give_any, POOR_EYE)


def choose_medium(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> Command:
    """Builds by worth with fair judgement of statics; the neighbour gets any block."""
    return _choose(view, entropy, _goal(view), _give_any, FAIR_EYE)


def choose_hard(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> Command:
    """Builds by worth; the neighbour gets the block that is worth least to it."""
    return _choose(view, entropy, _goal(view), _give_worst)


def _goal(view: Document) -> Worth:
    return worth_of_ring if read_view(view).options.win == "ring" else worth_of_height


def _choose(view: Document, entropy: bytes, worth: Worth, give: Give, eye: int = 0) -> Command:
    position, chance = read_view(view), Act(entropy, 0)
    if position.phase == "roll":
        return {"command": "roll"}
    if position.phase == "choose":
        return {"command": "choose", "block": give(position, worth, chance)}
    judge = partial(_misjudge, chance, eye) if eye else stands_with
    return _build(position, worth, judge)


def _misjudge(chance: Act, eye: int, tower: Tower, placed: Placed, slope: int) -> bool:
    return stands_with(tower, placed, slope) or chance.below(eye) == 0


def _build(position: Position, worth: Worth, judge: Judge) -> Command:
    tower, kind, slope = position.tower, position.block, position.options.slope
    place = best_place(tower, kind, slope, worth, judge)
    if place is not None:
        return place_command(place.placed)
    found = find_standing(tower, kind, slope)
    if found is None:
        return {"command": "give_back"}
    if isinstance(found, Placed):
        return place_command(found)
    # Nothing was found within the bound, and the server's search would find nothing either.
    return place_command(next(ranked_places(tower, kind, worth)).placed)


def _give_any(position: Position, worth: Worth, chance: Act) -> str:
    return position.kinds[chance.below(len(position.kinds))]


def _give_worst(position: Position, worth: Worth, chance: Act) -> str:
    """The kind whose best place is worth least to the builder. A block that stands nowhere would
    only go back, and the game would stand still: it is given only if there is no other."""
    found = {}
    for kind in position.kinds:
        place = best_place(position.tower, kind, position.options.slope, worth)
        if place is not None:
            found[kind] = place.worth
    return min(found, key=found.__getitem__) if found else _give_any(position, worth, chance)
