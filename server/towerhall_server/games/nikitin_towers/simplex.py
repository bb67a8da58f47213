"""The dual simplex method with zero costs (NT 4): are there forces >= 0 that carry all weights?

One lean of one tower is a system of 3 equations per block. A basis names as many contacts as there
are equations, and solves them alone. Where a force of the solution is negative, its row of the
inverse is a combination of all equations: either another contact can take over that force, or the
combination proves that no forces >= 0 exist. Both answers are checked against the equations
themselves, so rounding errors that gathered in the inverse cannot change a verdict unseen.

Nothing here knows blocks or towers.
"""

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Indices: TypeAlias = NDArray[np.intp]

# numpy is imported where it is used: a client without it can import the game, and a server pays
# for it with the first tower only.

TOLERANCE = 1e-9
"""Forces above minus this count as pushes. The least block weighs 1."""
ROUNDING = 1e-11
"""The same beside numbers above 100, as a part of the greatest of them."""
PIVOTS_BEFORE_BLAND = 150
"""From here on the pivots with the lowest numbers are taken, which cannot run in a circle."""
MOST_PIVOTS = 20_000
EQUATIONS = 3
"""For each block: force, and the moments in x and y."""


class Lean:
    """One lean: its equations, a basis with its inverse, and the forces that it gives.

    Contact `j` pushes block `upper[j]` up and block `lower[j]` down, at `points[j]` = (1, x, y).
    The ground is the last of `lower`'s rows, -1. The inverse is kept transposed: by equation, then
    by position in the basis.
    """

    __slots__ = ("basis", "forces", "inverse", "load", "lower", "pivots", "points", "upper")

    def __init__(
        self,
        upper: "Indices",
        lower: "Indices",
        points: "Floats",
        load: "Floats",
        inverse: "Floats",
        forces: "Floats",
        basis: "Indices",
    ) -> None:
        self.upper, self.lower, self.points, self.load = upper, lower, points, load
        self.inverse, self.forces, self.basis = inverse, forces, basis
        self.pivots = 0

    def settle(self) -> bool:
        """Whether forces >= 0 exist. Changes basis, inverse and forces in place."""
        renewed = False
        while self.pivots < MOST_PIVOTS:
            leaving = self._leaving()
            if leaving is None:
                if renewed or not self.pivots or self.error() <= TOLERANCE:
                    return True
            else:
                combination = self.inverse[:, leaving]
                slack = max(TOLERANCE, ROUNDING * float(abs(combination).max()))
                entering = self._entering(self._effects(combination), slack)
                if entering is not None:
                    self._pivot(leaving, entering)
                    renewed = False
                    continue
                # No push acts against the combination. If the weights do, that is a proof.
                if combination @ self.load < -slack:
                    return False
                if renewed:
                    self.forces[leaving] = 0.0
                    continue
            self._renew()
            renewed = True
        raise ArithmeticError(f"no verdict after {MOST_PIVOTS} pivots")

    def _leaving(self) -> int | None:
        """The position of the force that is to become 0.

        Forces are compared in units of their rows: the farthest from what the equations allow.
        """
        import numpy as np

        if self.forces.min() >= -TOLERANCE:
            return None
        if self.pivots < PIVOTS_BEFORE_BLAND:
            lengths = np.sqrt((self.inverse * self.inverse).sum(axis=0))
            return int((self.forces / lengths).argmin())
        negative = (self.forces < -TOLERANCE).nonzero()[0]
        return int(negative[self.basis[negative].argmin()])

    def _entering(self, effects: "Floats", slack: float) -> int | None:
        """The contact that takes over."""
        best = int(effects.argmin())
        if effects[best] >= -slack:
            return None
        if self.pivots < PIVOTS_BEFORE_BLAND:
            return best
        return int((effects < -slack).nonzero()[0][0])

    def _effects(self, combination: "Floats") -> "Floats":
        """The share that a unit push of each contact adds to a combination of the equations."""
        import numpy as np

        shares = np.zeros((len(combination) // EQUATIONS + 1, EQUATIONS))
        shares[:-1] = combination.reshape(-1, EQUATIONS)
        felt = shares[self.upper]
        felt -= shares[self.lower]
        felt *= self.points
        effects: Floats = felt.sum(axis=1)
        return effects

    def _pivot(self, leaving: int, entering: int) -> None:
        """Exchange one contact of the basis for another."""
        at, point = EQUATIONS * self.upper[entering], self.points[entering]
        column = point @ self.inverse[at : at + EQUATIONS]
        below = self.lower[entering]
        if below >= 0:
            at = EQUATIONS * below
            column -= point @ self.inverse[at : at + EQUATIONS]
        row = self.inverse[:, leaving] / column[leaving]
        force = self.forces[leaving] / column[leaving]
        self.forces -= force * column
        self.forces[leaving] = force
        self.inverse -= row[:, None] * column
        self.inverse[:, leaving] = row
        self.basis[leaving] = entering
        self.pivots += 1

    def error(self) -> float:
        """By how much the forces miss the equations."""
        import numpy as np

        size = len(self.load)
        pushes = (self.forces[:, None] * self.points[self.basis]).ravel()
        axes = np.arange(EQUATIONS)
        onto = (EQUATIONS * self.upper[self.basis, None] + axes).ravel()
        off = (EQUATIONS * self.lower[self.basis, None] + axes + EQUATIONS).ravel()
        carried = np.bincount(onto, pushes, size)
        carried -= np.bincount(off, pushes, size + EQUATIONS)[EQUATIONS:]
        return float(np.abs(carried - self.load).max())

    def _renew(self) -> None:
        """Invert the basis anew, without the rounding errors of all pivots before."""
        import numpy as np

        size = len(self.load)
        # One more block for the ground; equations of the ground are dropped.
        matrix = np.zeros((size, size + EQUATIONS))
        pushes = self.points[self.basis]
        for axis in range(EQUATIONS):
            positions = np.arange(size)
            matrix[positions, EQUATIONS * self.upper[self.basis] + axis] += pushes[:, axis]
            matrix[positions, EQUATIONS * self.lower[self.basis] + axis] -= pushes[:, axis]
        self.inverse[:] = np.linalg.inv(matrix[:, :size])
        self.forces[:] = self.load @ self.inverse
