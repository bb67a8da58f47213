"""Addresses of tiles and entry bundles below a log's own address, as in C2SP tlog-tiles."""

import re
from typing import Final, NamedTuple

from towerhall_protocol.merkle import TILE_HASHES

MOST_LEVEL: Final = 63
_PATH: Final = re.compile(
    r"(entries|0|[1-9][0-9]?)/((?:x[0-9]{3}/){0,5}[0-9]{3})(?:\.p/([1-9][0-9]{0,2}))?"
)


class TilePath(NamedTuple):
    """A tile, or an entry bundle, that a client asks for."""

    level: int | None
    """None: the entries."""
    number: int
    width: int

    def __str__(self) -> str:
        level = "entries" if self.level is None else str(self.level)
        digits = f"{self.number:03}"
        digits = digits.zfill(-(-len(digits) // 3) * 3)
        groups = [digits[at : at + 3] for at in range(0, len(digits), 3)]
        number = "".join(f"x{group}/" for group in groups[:-1]) + groups[-1]
        part = "" if self.width == TILE_HASHES else f".p/{self.width}"
        return f"{level}/{number}{part}"


def read_tile_path(text: str) -> TilePath | None:
    """The tile that an address names; None if it is no such address, or not in its only form."""
    found = _PATH.fullmatch(text)
    if found is None:
        return None
    level = None if found[1] == "entries" else int(found[1])
    number = int(re.sub("[x/]", "", found[2]))
    path = TilePath(level, number, int(found[3] or TILE_HASHES))
    is_known = (level or 0) <= MOST_LEVEL and path.width <= TILE_HASHES
    return path if is_known and str(path) == text else None
