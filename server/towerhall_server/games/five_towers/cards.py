"""The cards (FT 2): five kinds, values 0..15, and the second copies used by four or five."""

from functools import lru_cache
from typing import TypeAlias

from towerhall_server.game import COPY_MARK

Card: TypeAlias = str
"""`sand:7`; its second copy is `sand:7+`."""
Values: TypeAlias = tuple[int, ...]

KINDS = ("candy", "spooky", "tree", "scrap", "sand")
TOP_VALUE = 15
SPIRE = 0
COPIED_VALUES = (0, 2, 5, 7, 10, 12)
DISPLAY_SIZE = 5

_PLAIN = tuple(tuple(f"{kind}:{value}" for value in range(TOP_VALUE + 1)) for kind in KINDS)
"""By kind and value."""
_SMALL_DECK = tuple(card for cards in _PLAIN for card in cards)
_COPIES = tuple(f"{kind}:{value}{COPY_MARK}" for kind in KINDS for value in COPIED_VALUES)
_COPY_OF = {card.removesuffix(COPY_MARK): card for card in _COPIES}

KIND_INDEX = {kind: index for index, kind in enumerate(KINDS)}
KIND_OF = {card: KIND_INDEX[card.split(":")[0]] for card in _SMALL_DECK + _COPIES}
VALUE_OF = {card: int(card.split(":")[1].rstrip(COPY_MARK)) for card in _SMALL_DECK + _COPIES}


def deck(seats: int) -> tuple[Card, ...]:
    """80 cards for two or three players, 110 for four or five."""
    return _SMALL_DECK if seats <= 3 else _SMALL_DECK + _COPIES


@lru_cache(maxsize=1 << 9)
def values_by_kind(cards: tuple[Card, ...]) -> tuple[Values, ...]:
    """The sorted values of the cards, one tuple for each of `KINDS`."""
    values: list[Values] = [()] * len(KINDS)
    for card in sorted(cards, key=VALUE_OF.__getitem__):
        values[KIND_OF[card]] += (VALUE_OF[card],)
    return tuple(values)


def name_cards(display: tuple[Card, ...], chains: tuple[tuple[int, Values], ...]) -> list[Card]:
    """The ids of display cards for (kind, values); of two copies the plain one goes first."""
    names: list[Card] = []
    for kind, chain in chains:
        for value in chain:
            name = _PLAIN[kind][value]
            if name not in display or name in names:
                name = _COPY_OF[name]
            names.append(name)
    return names
