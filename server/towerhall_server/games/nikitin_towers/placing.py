"""Placing a block (NT 3 to 5): where it comes to rest, whether that is legal, and what falls."""

from collections.abc import Iterator
from functools import lru_cache

import msgspec

from towerhall_protocol.document import Document
from towerhall_server.game import BAD_COMMAND, Rejected, Seat
from towerhall_server.games.nikitin_towers.blocks import ORIENTATIONS
from towerhall_server.games.nikitin_towers.collapse import collapse
from towerhall_server.games.nikitin_towers.commands import Place
from towerhall_server.games.nikitin_towers.events import BlockPlaced, TowerCollapsed
from towerhall_server.games.nikitin_towers.notation import read_shape, spell_resting
from towerhall_server.games.nikitin_towers.rejections import rejected
from towerhall_server.games.nikitin_towers.stability import stands_with
from towerhall_server.games.nikitin_towers.state import State
from towerhall_server.games.nikitin_towers.tower import (
    Placed,
    Tower,
    height,
    rest,
    ring_level,
    why_illegal,
)

FARTHEST = 99
"""Columns and levels beyond this have no notation. No tower reaches so far."""


def where(state: State, seat: Seat, command: Place) -> Placed | Rejected:
    """Where the block comes to rest, if it may be put there (NT 3)."""
    shape = read_shape(command.shape)
    if shape is None or shape.kind != state.block:
        return rejected("shape", block=state.block)
    kind, orientation = shape
    if not (-FARTHEST <= command.x <= FARTHEST and -FARTHEST <= command.y <= FARTHEST):
        return rejected(BAD_COMMAND, detail=f"x and y must be {-FARTHEST} to {FARTHEST}")
    tower, cubes = state.towers[seat], ORIENTATIONS[kind][orientation - 1]
    z = command.z
    if isinstance(z, msgspec.UnsetType):
        z = rest(tower, cubes, command.x, command.y)
    elif not -FARTHEST <= z <= FARTHEST:
        return rejected(BAD_COMMAND, detail=f"z must be {-FARTHEST} to {FARTHEST}")
    placed = Placed(state.turns, kind, orientation, command.x, command.y, z)
    reason = why_illegal(tower, kind, placed.cubes)
    return placed if reason is None else rejected(reason)


def what_happens(
    state: State, seat: Seat, placed: Placed
) -> Iterator[BlockPlaced | TowerCollapsed]:
    """The block is placed; then what cannot stand falls."""
    before, slope = state.towers[seat], state.options.slope
    tower = before.plus(placed)
    yield BlockPlaced(seat, spell_resting(placed), height(tower), ring_level(tower))
    if stands(before, placed, slope):
        return
    rounds = collapse(tower, slope)
    left = tower.without(frozenset(index for indices in rounds for index in indices))
    turns = tuple(tuple(str(tower.blocks[index].turn) for index in indices) for indices in rounds)
    yield TowerCollapsed(seat, turns, height(left), ring_level(left))


@lru_cache(maxsize=256)
def stands(tower: Tower, placed: Placed, slope: int) -> bool:
    """Whether the tower stands with one more block. `slow` asks first, and `decide` asks again."""
    return stands_with(tower, placed, slope)


def look_of(state: State, seat: Seat, placed: Placed) -> Document:
    """A player's view before placing: where the block rests, never whether the tower stands."""
    tower = state.towers[seat].plus(placed)
    return {"rests": spell_resting(placed), "height": height(tower), "ring": ring_level(tower)}
