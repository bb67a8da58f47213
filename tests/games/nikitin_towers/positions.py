"""Towers for tests and measurements: built by hand, by lot, or by simple players.

A builder plays one tower on from the pile, as in a game whose neighbour chooses by lot. Everything
follows from the seed.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from random import Random

from towerhall_server.games.nikitin_towers.blocks import (
    CATALOGUE,
    ORIENTATIONS,
    Cube,
    at_zero,
)
from towerhall_server.games.nikitin_towers.collapse import collapse
from towerhall_server.games.nikitin_towers.search import Candidate, candidates, places
from towerhall_server.games.nikitin_towers.stability import stands, stands_with
from towerhall_server.games.nikitin_towers.tower import Placed, Tower, why_illegal

SLOPE = 10


def placed(cubes: Sequence[Cube], turn: int = 0) -> Placed:
    """The block that fills exactly these cubes."""
    shape = at_zero(tuple(cubes))
    x, y, z = (min(cube[axis] for cube in cubes) for axis in range(3))
    for kind, orientations in ORIENTATIONS.items():
        if shape in orientations:
            return Placed(turn, kind, orientations.index(shape) + 1, x, y, z)
    raise ValueError(f"no block has the cubes {shape}")


def cubes(text: str) -> list[Cube]:
    """`"210 2,-1,4"` is the cubes (2, 1, 0) and (2, -1, 4)."""
    found: list[Cube] = []
    for word in text.split():
        x, y, z = map(int, word.split(",") if "," in word else word)
        found.append((x, y, z))
    return found


def tower_of(*blocks: str) -> Tower:
    """A tower of blocks by their cubes, placed in this order; each placement must be legal."""
    tower = Tower()
    for turn, text in enumerate(blocks):
        block = placed(cubes(text), turn)
        reason = why_illegal(tower, block.kind, block.cubes)
        if reason is not None:
            raise ValueError(f"block {turn} is illegal: {reason}")
        tower = tower.plus(block)
    return tower


def pole(x: int, y: int, levels: int) -> Tower:
    """Cubes on top of each other."""
    return Tower(tuple(Placed(z, "A1", 1, x, y, z) for z in range(levels)))


def full_pile() -> list[str]:
    return [name for name, kind in CATALOGUE.items() for _ in range(kind.count)]


Policy = Callable[[Random, Sequence[Candidate]], list[Candidate]]
"""Puts candidates into the order in which a builder tries them."""


def tallest(chance: Random, found: Sequence[Candidate]) -> list[Candidate]:
    """Best height first, as greedy players build."""
    lots = {candidate.placed: chance.random() for candidate in found}
    return sorted(found, key=lambda one: (-one.height, one.top, lots[one.placed]))


def widest(chance: Random, found: Sequence[Candidate]) -> list[Candidate]:
    """Low places first, as ring builders build."""
    lots = {candidate.placed: chance.random() for candidate in found}
    return sorted(found, key=lambda one: (one.top, lots[one.placed]))


def anywhere(chance: Random, found: Sequence[Candidate]) -> list[Candidate]:
    """By lot: wide, top-heavy towers with many counterweights."""
    return chance.sample(found, len(found))


POLICIES: tuple[Policy, ...] = (tallest, widest, anywhere)


def played(seed: int, policy: Policy, blocks: int = 45, slope: int = SLOPE) -> Iterator[Tower]:
    """One tower growing block by block; each of these towers stands. Blocks without place go."""
    chance = Random(f"{policy.__name__} {seed}")
    pile = full_pile()
    chance.shuffle(pile)
    tower = Tower()
    while pile and len(tower.blocks) < blocks:
        turn = len(tower.blocks)
        kind = pile.pop()
        for candidate in policy(chance, list(candidates(tower, kind, slope, turn))):
            if stands_with(tower, candidate.placed, slope):
                tower = tower.plus(candidate.placed)
                yield tower
                break


def heaped(seed: int, blocks: int, *, careless: float = 0.0) -> Tower:
    """Blocks at legal places by lot, mostly on their own footing, without asking what stands."""
    chance = Random(f"heap {seed}")
    pile = full_pile()
    chance.shuffle(pile)
    tower = Tower()
    for turn in range(blocks):
        kind = pile.pop()
        where = [one.placed for one in candidates(tower, kind, SLOPE, turn)]
        if not where or chance.random() < careless:
            where = list(places(tower, kind, turn))
        # High places more often: flat heaps say little.
        where.sort(key=lambda one: one.z)
        tower = tower.plus(where[max(chance.randrange(len(where)) for _ in range(2))])
    return tower


def shaken(seed: int, blocks: int) -> Tower:
    """What blocks by lot leave after their collapses: prefixes of it need not stand."""
    chance = Random(f"shaken {seed}")
    tower = Tower()
    for turn in range(blocks):
        kind = chance.choice(full_pile())
        tower = tower.plus(chance.choice(list(places(tower, kind, turn))))
        fallen = frozenset(index for some in collapse(tower, SLOPE) for index in some)
        tower = tower.without(fallen)
    return tower


def critical_insets(tower: Tower, slope: int, digits: int) -> tuple[Fraction, Fraction] | None:
    """Two insets 10^-digits apart: with the lesser one the tower stands, with the other not.

    Both are near ties. Returns None if the inset does not matter between 0 and 1/4.
    """
    scale = 10**digits
    low, high = 0, scale // 4
    if not stands(tower, slope, inset=Fraction(0)):
        return None
    if stands(tower, slope, inset=Fraction(high, scale)):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if stands(tower, slope, inset=Fraction(middle, scale)):
            low = middle
        else:
            high = middle
    return Fraction(low, scale), Fraction(high, scale)
