"""Room options (NT 9) and their presets."""

from typing import Literal

import msgspec

LEANS = {"normal": 10, "calm": 20}
"""Slope of each lean as one part in this many (NT 4)."""


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, cache_hash=True, gc=False):
    """The host's choices."""

    win: Literal["height", "ring"] = "height"
    """`height`: the highest tower wins. `ring`: the highest ring level wins."""
    lean: Literal["normal", "calm"] = "normal"
    """How far the table leans when the game checks whether a tower stands."""
    auto_roll: bool = True
    """Whether the game rolls the die for each player."""

    @property
    def slope(self) -> int:
        return LEANS[self.lean]


PRESETS = {"standard": Options(), "ring": Options(win="ring")}
