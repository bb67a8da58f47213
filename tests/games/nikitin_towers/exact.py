"""The truth about towers in rational numbers (NT 4, NT 5), written apart from the game's own code.

Contacts are taken from the cubes one face at a time, with all four corners of each. Standing is
decided by the primal simplex method with a first phase, on whole numbers. What moves is found by an
active-set method over fractions. All of it is slow, and nothing is rounded.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from towerhall_server.games.nikitin_towers.tower import Tower

Row: TypeAlias = list[Fraction]
LEANS = ((1, 0), (-1, 0), (0, 1), (0, -1))
DELTA = Fraction(6, 139)


def leans(slope: int) -> list[tuple[Fraction, Fraction]]:
    """The pull's slant in x and y for each lean."""
    if slope == 0:
        return [(Fraction(0), Fraction(0))]
    return [(Fraction(x, slope), Fraction(y, slope)) for x, y in LEANS]


def equations(
    tower: Tower, lean: tuple[Fraction, Fraction], delta: Fraction
) -> tuple[list[Row], Row]:
    """Columns and right side: for each block force and moments about its own leaned centre."""
    ux, uy = lean
    owner = {cube: index for index, block in enumerate(tower.blocks) for cube in block.cubes}
    centres = []
    for block in tower.blocks:
        n = len(block.cubes)
        cx, cy, cz = (Fraction(sum(2 * c[a] + 1 for c in block.cubes), 2 * n) for a in range(3))
        centres.append((cx - ux * cz, cy - uy * cz))
    size = 3 * len(tower.blocks)
    columns: list[Row] = []
    for (x, y, z), index in owner.items():
        below = owner.get((x, y, z - 1))
        if below == index or (below is None and z > 0):
            continue
        for right in (delta, 1 - delta):
            for up in (delta, 1 - delta):
                column = [Fraction(0)] * size
                for block_index, sign in ((index, 1), (below, -1)):
                    if block_index is not None:
                        cx, cy = centres[block_index]
                        at = 3 * block_index
                        column[at] += sign
                        column[at + 1] += sign * (x + right - ux * z - cx)
                        column[at + 2] += sign * (y + up - uy * z - cy)
                columns.append(column)
    weights = [Fraction(0)] * size
    for index, block in enumerate(tower.blocks):
        weights[3 * index] = Fraction(len(block.cubes))
    return columns, weights


def stands(tower: Tower, slope: int, delta: Fraction = DELTA) -> bool:
    """NT 4, by its definition."""
    return all(feasible(*equations(tower, lean, delta)) for lean in leans(slope))


def feasible(columns: Sequence[Row], wanted: Row) -> bool:
    """Whether some x >= 0 has columns @ x = wanted: phase one of the primal simplex method.

    Rows are whole numbers over one common divisor, the last pivot (Edmonds), so no fraction is
    ever reduced. Bland's rule, after a while, keeps it from running in a circle.
    """
    rows: list[list[int]] = []
    for index, right in enumerate(wanted):
        line = [column[index] for column in columns] + [right]
        scale = lcm(*(value.denominator for value in line)) * (-1 if right < 0 else 1)
        rows.append([int(value * scale) for value in line])
    width = len(columns)
    # The artificial unknowns have no columns of their own: once they leave they never return.
    basis = [width + index for index in range(len(rows))]
    goal = [sum(values) for values in zip(*rows, strict=True)]
    divisor, pivots = 1, 0
    while goal[-1] > 0:
        pivots += 1
        if pivots > 40:
            entering = next((j for j in range(width) if goal[j] > 0), -1)
        else:
            entering = max(range(width), key=goal.__getitem__)
        if entering < 0 or goal[entering] <= 0:
            return False
        leaving = -1
        for index, row in enumerate(rows):
            if row[entering] <= 0:
                continue
            if leaving >= 0:
                best = rows[leaving]
                order = row[-1] * best[entering] - best[-1] * row[entering]
                if order > 0 or (order == 0 and basis[index] > basis[leaving]):
                    continue
            leaving = index
        pivot_row = rows[leaving]
        pivot = pivot_row[entering]
        for row in (*rows, goal):
            if row is pivot_row:
                continue
            factor = row[entering]
            for j, value in enumerate(pivot_row):
                row[j] = (row[j] * pivot - factor * value) // divisor
        basis[leaving] = entering
        divisor = pivot
    return True


def solve(matrix: Sequence[Row], right: Row) -> Row:
    """Gauss elimination of a system whose rows are independent."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for index in range(len(rows)):
        found = next(at for at in range(index, len(rows)) if rows[at][index])
        rows[index], rows[found] = rows[found], rows[index]
        pivot = rows[index] = [value / rows[index][index] for value in rows[index]]
        for at, row in enumerate(rows):
            if at != index and row[index]:
                factor = row[index]
                rows[at] = [value - factor * by for value, by in zip(row, pivot, strict=True)]
    return [row[-1] for row in rows]


def mobility(tower: Tower) -> list[list[Row]]:
    """For each block the inverse of its mass matrix: of n for force, of K for moments (NT 5)."""
    found = []
    for block in tower.blocks:
        n = len(block.cubes)
        middle = [Fraction(sum(c[a] for c in block.cubes), n) for a in range(3)]
        xx = xy = yy = Fraction(0)
        for cube in block.cubes:
            dx, dy, dz = (cube[a] - middle[a] for a in range(3))
            round_axis = dz * dz + Fraction(1, 6)
            xx, xy, yy = xx + dx * dx + round_axis, xy + dx * dy, yy + dy * dy + round_axis
        area = xx * yy - xy * xy
        zero = Fraction(0)
        found.append(
            [
                [Fraction(1, n), zero, zero],
                [zero, yy / area, -xy / area],
                [zero, -xy / area, xx / area],
            ]
        )
    return found


def accelerations(columns: Sequence[Row], wanted: Row, masses: list[list[Row]]) -> Row:
    """What still moves under the best forces >= 0: the active-set method of Lawson and Hanson."""

    def moved(load: Row) -> Row:
        result: Row = []
        for block, mass in enumerate(masses):
            part = load[3 * block : 3 * block + 3]
            result += [_dot(row, part) for row in mass]
        return result

    moves = [moved(column) for column in columns]
    products = [[_dot(move, column) for column in columns] for move in moves]
    aims = [_dot(move, wanted) for move in moves]
    free: list[int] = []
    forces = [Fraction(0)] * len(columns)
    while True:
        rest = [
            right - sum(forces[j] * columns[j][index] for j in free)
            for index, right in enumerate(wanted)
        ]
        gradient = [_dot(move, rest) for move in moves]
        best = max(range(len(columns)), key=gradient.__getitem__)
        if gradient[best] <= 0:
            return moved(rest)
        free.append(best)
        while True:
            aim = solve([[products[i][j] for j in free] for i in free], [aims[i] for i in free])
            sinking = [
                (forces[j] / (forces[j] - value), j)
                for j, value in zip(free, aim, strict=True)
                if value <= 0
            ]
            if not sinking:
                break
            share, first = min(sinking)
            for j, value in zip(free, aim, strict=True):
                forces[j] += share * (value - forces[j])
            forces[first] = Fraction(0)
            free.remove(first)
        for j, value in zip(free, aim, strict=True):
            forces[j] = value


def _dot(left: Row, right: Row) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True) if a and b), Fraction(0))


def movers(tower: Tower, slope: int, delta: Fraction = DELTA) -> frozenset[int]:
    """What falls in the first round."""
    found: set[int] = set()
    for lean in leans(slope):
        moving = accelerations(*equations(tower, lean, delta), mobility(tower))
        found |= {index for index in range(len(tower.blocks)) if any(moving[3 * index :][:3])}
    return frozenset(found)


def collapse(tower: Tower, slope: int, delta: Fraction = DELTA) -> tuple[tuple[int, ...], ...]:
    """NT 5, by its definition. Asks for movers even where the tower should stand."""
    rounds: list[tuple[int, ...]] = []
    left = list(range(len(tower.blocks)))
    while tower.blocks and (falling := movers(tower, slope, delta)):
        rounds.append(tuple(left[index] for index in sorted(falling)))
        left = [index for at, index in enumerate(left) if at not in falling]
        tower = tower.without(falling)
    return tuple(rounds)
