"""Which blocks of a tower that does not stand fall (NT 5): those that would start to move.

By Gauss' principle of least constraint the blocks move as freely as the contacts let them: among
all forces >= 0 the true ones leave the least net load, weighed by how hard each block is to move.
That is a least squares problem with non-negative unknowns, whose remaining load is unique. It is
solved for each lean that does not stand, and everything that moves in any of them falls at once.
The rest is asked again, until all of it stands.

The solver for that problem is in `least_squares`. Whether a tower stands is known from `stability`.
"""

from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from towerhall_server.games.nikitin_towers.blocks import ORIENTATIONS
from towerhall_server.games.nikitin_towers.footing import INSET
from towerhall_server.games.nikitin_towers.least_squares import non_negative
from towerhall_server.games.nikitin_towers.simplex import EQUATIONS
from towerhall_server.games.nikitin_towers.stability import Statics, statics
from towerhall_server.games.nikitin_towers.tower import Tower

if TYPE_CHECKING:
    from towerhall_server.games.nikitin_towers.simplex import Floats

MOVES = 1e-6
"""NT 5: an acceleration above this is a movement; resting blocks are below 1e-9."""


def collapse(tower: Tower, slope: int, *, inset: Fraction = INSET) -> tuple[tuple[int, ...], ...]:
    """Round by round the indices of the blocks that fall. Empty if the tower stands."""
    rounds: list[tuple[int, ...]] = []
    left = tuple(range(len(tower.blocks)))
    while falling := _movers(tower, slope, inset):
        rounds.append(tuple(left[index] for index in sorted(falling)))
        left = tuple(index for at, index in enumerate(left) if at not in falling)
        tower = tower.without(falling)
    return tuple(rounds)


def _movers(tower: Tower, slope: int, inset: Fraction) -> frozenset[int]:
    """One round: what begins to move in any of the leans."""
    solved = statics(tower, slope, inset)
    falling: set[int] = set()
    for lean, firm in enumerate(solved.firm):
        if not firm:
            speeds = accelerations(tower, solved, lean)
            # A tower that does not stand loses a block, even if rounding hides which.
            least = min(MOVES, float(speeds.max()) / 2)
            falling.update((speeds > least).nonzero()[0].tolist())
    return frozenset(falling)


def accelerations(tower: Tower, solved: Statics, lean: int) -> "Floats":
    """For each block the largest part of its acceleration: falling, or turning in x or y."""
    import numpy as np

    blocks, contacts = len(tower.blocks), len(solved.upper)
    weigh = np.zeros((blocks + 1, EQUATIONS, EQUATIONS))  # the ground is last
    weigh[:blocks] = [resistance(placed.kind, placed.orientation) for placed in tower.blocks]
    weights = solved.load[lean].reshape(-1, EQUATIONS)
    # From moments about the mat's centre to moments about each block's own.
    centres = np.zeros((blocks + 1, EQUATIONS))
    centres[:blocks, 1:] = weights[:, 1:] / weights[:, :1]
    columns = np.zeros((contacts, blocks + 1, EQUATIONS))
    each = np.arange(contacts)
    for sign, blocks_touched in ((1.0, solved.upper), (-1.0, solved.lower)):
        arms = solved.points[lean] - centres[blocks_touched]
        columns[each, blocks_touched] = sign * np.einsum("jab,jb->ja", weigh[blocks_touched], arms)
    columns = np.ascontiguousarray(columns[:, :blocks].reshape(contacts, -1))
    columns[list(solved.props)] = 0.0
    wanted = np.einsum("bi,b->bi", weigh[:blocks, :, 0], weights[:, 0]).ravel()
    start = np.zeros(contacts)
    start[solved.basis[lean]] = np.maximum(solved.forces[lean], 0.0)
    start[list(solved.props)] = 0.0
    forces = non_negative(columns, wanted, start)
    left = (wanted - forces @ columns).reshape(-1, EQUATIONS)
    # The root of the resistance was taken on both sides: once more gives what really moves.
    moving = np.einsum("bji,bj->bi", weigh[:blocks], left)
    speeds: Floats = np.abs(moving).max(axis=1)
    return speeds


@cache
def resistance(kind: str, orientation: int) -> tuple[tuple[float, ...], ...]:
    """A matrix W with W^T W = the inverse of a block's masses: n, and K of NT 5."""
    import numpy as np

    shape = np.array(ORIENTATIONS[kind][orientation - 1], dtype=float)
    arms = shape - shape.mean(axis=0)
    turning = arms[:, :2].T @ arms[:, :2] + (arms[:, 2] ** 2 + 1 / 6).sum() * np.eye(2)
    root = np.linalg.inv(np.linalg.cholesky(turning))
    return (
        (len(shape) ** -0.5, 0.0, 0.0),
        (0.0, float(root[0, 0]), float(root[0, 1])),
        (0.0, float(root[1, 0]), float(root[1, 1])),
    )
