"""Least squares with non-negative unknowns: the active-set method of Lawson and Hanson.

Find the unknowns >= 0 whose sum of `columns` comes nearest to `wanted`. Some unknowns are
free, all others are 0. The free ones are solved for. One that would turn negative is given up on
the way, one that would help is freed, until none would. Each step leads nearer, so it ends.

The inverse of the free columns' products is updated from step to step, which is fast and gathers
errors; but what is left of `wanted`, and its gradient, always come from the columns themselves.
Where the two disagree, the method goes on from there with an orthogonal solver for each step.

Nothing here knows blocks or towers.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from towerhall_server.games.nikitin_towers.simplex import Floats

NO_GAIN = 1e-10
"""A gradient below this cannot be told from 0: columns and weights are of the order of 1."""
SETTLED = 1e-9
"""The gradient of free unknowns must be below this, or the solution is not one."""
STEPS_PER_UNKNOWN = 30


def non_negative(columns: "Floats", wanted: "Floats", start: "Floats") -> "Floats":
    """The unknowns, one for each row of `columns`.

    Those that `start` has above 0 must belong to independent columns. A good start saves steps.
    """
    found, certain = _descend(_Quick(columns, wanted), start)
    if not certain:
        found, certain = _descend(_Orthogonal(columns, wanted), found)
    if not certain:
        raise ArithmeticError("no forces of least constraint found")
    return found


class _Orthogonal:
    """Solves for the free unknowns from their columns, each time anew."""

    def __init__(self, columns: "Floats", wanted: "Floats") -> None:
        self.columns, self.wanted = columns, wanted
        self.free: list[int] = []

    def release(self, unknowns: list[int]) -> None:
        self.free += unknowns

    def fix(self, position: int) -> None:
        del self.free[position]

    def solution(self) -> "Floats":
        import numpy as np

        found = np.linalg.lstsq(self.columns[self.free].T, self.wanted, rcond=None)[0]
        return np.asarray(found, float)

    def gradient(self, values: "Floats") -> "Floats":
        """How much each unknown would help."""
        found: Floats = self.columns @ (self.wanted - values @ self.columns[self.free])
        return found


class _Quick(_Orthogonal):
    """Keeps the inverse of the free columns' products, and borders or shrinks it."""

    def __init__(self, columns: "Floats", wanted: "Floats") -> None:
        super().__init__(columns, wanted)
        self.aims: Floats = columns @ wanted
        self.inverse: Floats = columns[:0, :0]

    def release(self, unknowns: list[int]) -> None:
        import numpy as np

        mine = self.columns[self.free]
        if not self.free or len(unknowns) > 1:
            self.free += unknowns
            mine = self.columns[self.free]
            self.inverse = np.asarray(np.linalg.inv(mine @ mine.T), float)
            return
        column = self.columns[unknowns[0]]
        mixed = mine @ column
        shadow = self.inverse @ mixed
        height = column @ column - mixed @ shadow
        size = len(self.free)
        wider = np.empty((size + 1, size + 1))
        wider[:size, :size] = self.inverse
        wider[:size, :size] += shadow[:, None] * (shadow / height)
        wider[:size, size] = wider[size, :size] = -shadow / height
        wider[size, size] = 1 / height
        self.inverse = wider
        self.free += unknowns

    def fix(self, position: int) -> None:
        import numpy as np

        keep = np.arange(len(self.free)) != position
        column = self.inverse[keep, position]
        corner = self.inverse[position, position]
        self.inverse = self.inverse[keep][:, keep] - column[:, None] * (column / corner)
        super().fix(position)

    def solution(self) -> "Floats":
        mine = self.columns[self.free]
        found: Floats = self.inverse @ self.aims[self.free]
        # The rest after rounding, once more: as exact as the columns are.
        found += self.inverse @ (mine @ (self.wanted - found @ mine))
        return found


def _descend(solver: _Orthogonal, start: "Floats") -> tuple["Floats", bool]:
    """From a point to the best one, and whether its gradient shows that it is the best."""
    import numpy as np

    if start.any():
        solver.release(start.nonzero()[0].tolist())
    values = start[solver.free]
    barred: list[int] = []
    released = -1
    certain = False
    for _ in range(STEPS_PER_UNKNOWN * len(start)):
        while solver.free:
            aim = solver.solution()
            sinking = (aim <= 0).nonzero()[0]
            if not sinking.size:
                values = aim
                break
            # Go towards the aim until the first free unknown is 0, and give that one up.
            drops = np.maximum(values[sinking] - aim[sinking], 1e-300)
            shares = values[sinking] / drops
            first = int(shares.argmin())
            given_up = int(sinking[first])
            values = np.delete(values + shares[first] * (aim - values), given_up)
            if solver.free[given_up] == released:
                barred.append(released)
            elif shares[first] > 0:
                barred.clear()
            solver.fix(given_up)
        gradient = solver.gradient(values)
        settled = np.abs(gradient[solver.free]).max(initial=0.0)
        gradient[solver.free] = gradient[barred] = 0.0
        released = int(gradient.argmax())
        if gradient[released] <= NO_GAIN:
            certain = bool(settled <= SETTLED and np.isfinite(values).all())
            break
        solver.release([released])
        values = np.append(values, 0.0)
    found = np.zeros_like(start)
    found[solver.free] = values
    return found, certain
