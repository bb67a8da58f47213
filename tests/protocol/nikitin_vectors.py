"""Vectors of Nikitin Towers: what its notation names, for clients that draw blocks."""

from collections.abc import Iterator
from typing import Any

from towerhall_server.games.nikitin_towers.blocks import CATALOGUE, ORIENTATIONS, Cubes
from towerhall_server.games.nikitin_towers.notation import read_placement
from towerhall_server.games.nikitin_towers.tower import Placed, Tower, height, rest, ring_level

TOWER = ("F1.1@0,0", "F1.1@0,1", "D4.3@1,-1", "C1.1@0,0", "A1.1@2,2", "E4.2@-1,1")
"""Blocks put down one after the other."""


def nikitin_towers() -> dict[str, Any]:
    """Every orientation by its number, and where blocks come to rest."""
    return {
        "kinds": {
            name: {"count": kind.count, "orientations": list(map(_spelt, ORIENTATIONS[name]))}
            for name, kind in CATALOGUE.items()
        },
        "rests": list(_rests()),
    }


def _spelt(cubes: Cubes) -> str:
    """The cubes of an orientation as `xyz xyz ...`: each coordinate is one digit."""
    return " ".join(f"{x}{y}{z}" for x, y, z in cubes)


def _rests() -> Iterator[dict[str, Any]]:
    tower = Tower()
    for turn, text in enumerate(TOWER, start=1):
        placement = read_placement(text)
        if placement is None:
            raise ValueError(f"{text} is no placement")
        kind, orientation = placement.kind, placement.orientation
        shape = ORIENTATIONS[kind][orientation - 1]
        z = rest(tower, shape, placement.x, placement.y)
        tower = tower.plus(Placed(turn, kind, orientation, placement.x, placement.y, z))
        yield {
            "placement": text,
            "z": z,
            "height": height(tower),
            "ring": ring_level(tower),
        }
