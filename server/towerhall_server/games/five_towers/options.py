"""Room options (FT 12) and the presets that make each published text playable as written."""

from typing import Literal

import msgspec


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, cache_hash=True, gc=False):
    """The host's choices. The defaults are the official rules with checked bids."""

    bids: Literal["strict", "table"] = "strict"
    """`strict` refuses a bid that cannot be built; `table` lets it stand and rolls it back."""
    eight: Literal["base", "cap"] = "base"
    """`base`: anything may lie on an 8. `cap`: an 8 may lie on anything."""
    demolish_spire: bool = False
    """Whether a 0 on top may be demolished."""
    auto_pass: bool = True
    """Whether the game makes forced calls by itself."""


PRESETS = {
    "standard": Options(),
    "printed": Options(bids="table"),
    "spanish": Options(bids="table", eight="cap", demolish_spire=True),
}
