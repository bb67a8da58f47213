"""A bot's model of the view: the same knowledge as a person at the table.

All data comes from the public view document; nothing here can reach the state.
"""

from functools import lru_cache
from typing import Any

import msgspec

from towerhall_protocol.document import Document
from towerhall_server.games.nikitin_towers.blocks import KINDS_OF_SIZE
from towerhall_server.games.nikitin_towers.notation import read_placement
from towerhall_server.games.nikitin_towers.options import Options
from towerhall_server.games.nikitin_towers.tower import Placed, Tower


class Position(msgspec.Struct, frozen=True):
    """The table as a view shows it."""

    options: Options
    phase: str
    builder: int
    """The seat that builds in this turn."""
    towers: tuple[Tower, ...]
    kinds: tuple[str, ...]
    """In phase `choose`: the kinds that may be chosen."""
    block: str
    """In phase `place`: the block to place."""

    @property
    def tower(self) -> Tower:
        """The tower that grows in this turn."""
        return self.towers[self.builder]


def read_view(view: Document) -> Position:
    """The position that a view shows. Views come from the server, so their shape is trusted."""
    shown: Any = view
    towers = shown["towers"]
    pile = shown["pile"]
    return Position(
        options=msgspec.convert(shown["options"], type=Options),
        phase=shown["phase"],
        builder=shown["turn"],
        towers=tuple(_tower(towers[str(seat)]["blocks"]) for seat in range(len(towers))),
        kinds=tuple(kind for kind in KINDS_OF_SIZE.get(shown.get("size", 0), ()) if kind in pile),
        block=shown.get("block", ""),
    )


def _tower(blocks: Any) -> Tower:
    return Tower(tuple(_placed(int(turn), blocks[turn]) for turn in sorted(blocks, key=int)))


@lru_cache(maxsize=1 << 12)
def _placed(turn: int, text: str) -> Placed:
    placement = read_placement(text)
    if placement is None or placement.z is None:
        raise ValueError(f"{text!r} is not where a block rests")
    return Placed(
        turn, placement.kind, placement.orientation, placement.x, placement.y, placement.z
    )
