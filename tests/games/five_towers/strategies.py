"""Hypothesis strategies: options, and what may lie on a Five Towers table."""

from typing import NamedTuple

from hypothesis import strategies as st

from tests.games.five_towers.brute_force import Towers, may_lie, parse
from towerhall_server.games.five_towers.cards import KINDS, Card, deck
from towerhall_server.games.five_towers.options import Options

BUILDING_OPTIONS = [
    Options(eight=eight, demolish_spire=spire)
    for eight in ("base", "cap")
    for spire in (False, True)
]
ALL_OPTIONS = [
    Options(bids=bids, eight=eight, demolish_spire=spire, auto_pass=auto)
    for bids in ("strict", "table")
    for eight in ("base", "cap")
    for spire in (False, True)
    for auto in (False, True)
]


class Plan(NamedTuple):
    """A seat's towers, a display, and the options under which both are legal."""

    towers: Towers
    display: tuple[Card, ...]
    options: Options

    @property
    def text(self) -> str:
        return " ".join(self.display)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Different cards of few or many kinds: the first are shown, the rest built if they fit."""
    options = draw(st.sampled_from(BUILDING_OPTIONS))
    kinds = draw(st.sets(st.sampled_from(KINDS), min_size=1))
    cards = [card for card in deck(4) if parse(card)[0] in kinds]
    drawn = draw(st.lists(st.sampled_from(cards), unique=True, min_size=1, max_size=22))
    size = draw(st.integers(1, 5))
    towers: Towers = {}
    for kind, value in map(parse, drawn[size:]):
        tower = towers.get(kind, ())
        if may_lie(tower, value, options):
            towers[kind] = (*tower, value)
    return Plan(towers, tuple(drawn[:size]), options)
