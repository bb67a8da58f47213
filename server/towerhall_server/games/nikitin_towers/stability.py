"""Does a tower stand (NT 4)? Non-negative forces must carry every block, in each of four leans.

The idea. A new block carries nothing, so three corners of its footing round its centre hold it, and
push on the blocks below as its weight does. Whatever held the tower before holds it still if all
its forces stay >= 0 under that push, which is a product with a few columns of an inverse: most
placements are decided by it. Where a force turns negative, the dual simplex method of `simplex`
begins with this basis and needs one to three pivots as a rule. The same start serves a tower that
is new here: block after block brings its three corners, so no first phase looks for a basis, and
blocks may be added to a tower that does not stand.

Failure cases. Forces are floating point numbers, and a tie is decided within a tolerance: NT 4 says
why no tie occurs with the inset of the rules. `simplex` checks each answer against the equations,
so an inverse that has gathered errors over many placements is made anew. Verdicts do not depend on
the order in which towers were looked at, nor on what is remembered. A collapse can take away all
that a block rested on and leave the block for the next round, so a block may hang in the air.

Memory. The inverses of a tower of 45 blocks take 0.6 MB. They are kept for the towers looked at
last, not inside towers: states hold many of those. A tower that was forgotten is solved from
scratch. Which blocks fall may not be asked here.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from towerhall_server.games.nikitin_towers.footing import (
    GROUND,
    INSET,
    Brace,
    Corner,
    Mass,
    braces,
    footing,
    mass,
    prop,
    pulls_of,
)
from towerhall_server.games.nikitin_towers.simplex import EQUATIONS, TOLERANCE, Lean
from towerhall_server.games.nikitin_towers.tower import Placed, Tower, owners

if TYPE_CHECKING:
    from towerhall_server.games.nikitin_towers.simplex import Floats, Indices

MOST_REMEMBERED = 32
CENTRE = 1.5
"""The mat's centre: moments are taken about it."""


def prepare() -> None:
    """Load numpy, which takes 70 ms, before the first tower is judged."""
    import numpy  # noqa: F401


def stands(tower: Tower, slope: int, *, inset: Fraction = INSET) -> bool:
    """Whether the tower stands when the table leans by 1 : `slope`; 0 means an upright table."""
    return all(statics(tower, slope, inset).firm)


def stands_with(tower: Tower, placed: Placed, slope: int, *, inset: Fraction = INSET) -> bool:
    """The same for the tower with one more block, which must rest on it. Remembers nothing new."""
    corners = footing(owners(tower), placed, inset)
    block = mass(placed)
    own, held = braces(corners, block, slope, inset.denominator)
    if not held:
        return False
    return statics(tower, slope, inset).holds(corners, own, block)


class Statics:
    """A tower's equations and a solution, for all leans at once: the first index is the lean.

    `firm` tells for each lean whether the tower stands. `props` are contacts that are not there:
    they hold a block that has none, so that it has a place in the equations, and nothing is firm.
    Nothing in it changes once it is settled.
    """

    __slots__ = (
        "basis",
        "firm",
        "forces",
        "inset",
        "inverse",
        "load",
        "lower",
        "points",
        "props",
        "slope",
        "upper",
    )

    def __init__(self, slope: int, inset: Fraction) -> None:
        """The stability of an empty tower."""
        import numpy as np

        leans = len(pulls_of(slope)[0])
        self.slope, self.inset = slope, inset
        self.upper: Indices = np.zeros(0, np.intp)
        self.lower: Indices = np.zeros(0, np.intp)
        self.points: Floats = np.zeros((leans, 0, EQUATIONS))
        self.load: Floats = np.zeros((leans, 0))
        self.inverse: Floats = np.zeros((leans, 0, 0))
        self.forces: Floats = np.zeros((leans, 0))
        self.basis: Indices = np.zeros((leans, 0), np.intp)
        self.firm: tuple[bool, ...] = (True,) * leans
        self.props: tuple[int, ...] = ()

    def lean(self, number: int) -> Lean:
        """One of the leans; its arrays are this object's own."""
        return Lean(
            self.upper,
            self.lower,
            self.points[number],
            self.load[number],
            self.inverse[number],
            self.forces[number],
            self.basis[number],
        )

    def holds(self, corners: Sequence[Corner], own: Sequence[Brace], block: Mass) -> bool:
        """Whether the tower stands with one more block on these corners."""
        if self.props:
            return False
        step = _Step(self, corners, own, block)
        lowest = step.forces.min(axis=1, initial=0.0).tolist()
        if min(lowest) >= -TOLERANCE:
            return True
        return all(
            step.extended((number,)).lean(0).settle()
            for number in sorted(range(len(lowest)), key=lowest.__getitem__)
            if lowest[number] < -TOLERANCE
        )

    def plus(self, corners: Sequence[Corner], own: Sequence[Brace], block: Mass) -> "Statics":
        """With one more block, which its brace holds: not settled."""
        return _Step(self, corners, own, block).extended(range(len(self.firm)))

    def settled(self) -> "Statics":
        """The same object, once its solution is as good as it can be."""
        leans = range(len(self.firm))
        self.firm = tuple(self.lean(number).settle() and not self.props for number in leans)
        return self


class _Step:
    """From a tower to the same with one more block: what the block's own brace does to the rest."""

    __slots__ = ("before", "block", "corners", "forces", "points", "push", "reach", "three")

    def __init__(
        self, before: Statics, corners: Sequence[Corner], own: Sequence[Brace], block: Mass
    ) -> None:
        import numpy as np

        self.before, self.block, self.corners = before, block, corners
        table = np.array(corners, dtype=float)
        pulls, divisor = pulls_of(before.slope)
        slant = np.array(pulls) / divisor
        self.points = np.ones((len(pulls), len(corners), EQUATIONS))
        self.points[:, :, 1:] = (
            table[:, 1:3] / before.inset.denominator - CENTRE - slant[:, None] * table[:, 3, None]
        )
        self.three = np.array([brace[:3] for brace in own])
        self.push = np.array([brace[3:] for brace in own])
        leans = np.arange(len(pulls))[:, None]
        onto = table[:, 0].astype(np.intp)[self.three]
        lever = self.points[leans, self.three]
        lever[onto == GROUND] = 0.0
        # By lean, corner and position: the forces of the old basis that answer a push of 1.
        if before.load.size:
            equations = EQUATIONS * onto[:, :, None] + np.arange(EQUATIONS)
            answers = before.inverse[leans[:, :, None], equations]
            self.reach = np.matmul(lever[:, :, None, :], answers)[:, :, 0]
        else:
            self.reach = np.zeros((*onto.shape, 0))
        self.forces = before.forces + np.matmul(self.push[:, None, :], self.reach)[:, 0]

    def extended(self, leans: Sequence[int]) -> Statics:
        """Some leans of the tower with the block, not settled yet."""
        import numpy as np

        before, chosen = self.before, list(leans)
        old, contacts = before.load.shape[1], len(before.upper)
        size = old + EQUATIONS
        after = Statics(before.slope, before.inset)
        after.props = before.props
        below = [corner[0] for corner in self.corners]
        block = np.full(len(below), old // EQUATIONS)
        after.upper = np.concatenate((before.upper, block))
        after.lower = np.concatenate((before.lower, np.array(below, np.intp)))
        after.points = np.concatenate((before.points[chosen], self.points[chosen]), axis=1)
        three = self.three[chosen]
        push = self.push[chosen]
        rows = np.arange(len(chosen))[:, None]
        triangle = self.points[chosen][rows, three]
        after.load = np.empty((len(chosen), size))
        after.load[:, :old] = before.load[chosen]
        after.load[:, old:] = np.matmul(push[:, None, :], triangle)[:, 0]
        after.forces = np.concatenate((self.forces[chosen], push), axis=1)
        after.basis = np.concatenate((before.basis[chosen], three + contacts), axis=1)
        own = np.linalg.inv(triangle)
        after.inverse = np.zeros((len(chosen), size, size))
        after.inverse[:, :old, :old] = before.inverse[chosen]
        after.inverse[:, old:, :old] = np.matmul(own, self.reach[chosen])
        after.inverse[:, old:, old:] = own
        return after


_remembered: dict[tuple[tuple[Placed, ...], int, Fraction], Statics] = {}
"""The latest last. Threads may share it: each step on it is one operation of the dictionary."""


def statics(tower: Tower, slope: int, inset: Fraction = INSET) -> Statics:
    """The solved equations of a tower: remembered, or from the tower before its last block."""
    key = (tower.blocks, slope, inset)
    found = _remembered.pop(key, None)
    if found is None:
        found = _solve(tower, slope, inset)
    _remembered[key] = found
    if len(_remembered) > MOST_REMEMBERED:
        for old in list(_remembered)[:-MOST_REMEMBERED]:
            _remembered.pop(old, None)
    return found


def forget() -> None:
    """Remember no tower. For tests and measurements: nothing else can tell the difference."""
    _remembered.clear()


def _solve(tower: Tower, slope: int, inset: Fraction) -> Statics:
    before = _remembered.get((tower.blocks[:-1], slope, inset))
    known = Statics(slope, inset) if before is None else before
    whole = owners(tower)
    for placed in tower.blocks[0 if before is None else -1 :]:
        block = mass(placed)
        corners = footing(whole, placed, inset)
        propped = not corners
        if propped:
            corners = prop(block, inset)
        own, _ = braces(corners, block, slope, inset.denominator)
        contacts = len(known.upper)
        known = known.plus(corners, own, block)
        if propped:
            known.props += tuple(range(contacts, len(known.upper)))
    # Not before all blocks are there: a forgotten tower takes half the pivots in this way.
    return known.settled() if tower.blocks else known
