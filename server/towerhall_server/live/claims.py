"""Which of several connections of one seat has it: the one with the highest claim.

A claim is the store's time in us at which the connection came. No stored value decides, so a store
that loses data does no harm. Pure: `audience` knows the connections.
"""

from collections.abc import Iterable


def raised(claim: int, known: Iterable[int]) -> int:
    """The claim of a new connection to a node. It is above all claims to that seat that the node
    knows of, because the clock of a store that takes over may be behind."""
    return max(claim, 1 + max(known, default=0))


def yields(claim: int, node: str, other: int, there: str) -> bool:
    """Whether a connection gives way to one on another node. The names of the nodes decide between
    equal claims, so that both nodes decide alike."""
    return (claim, node) < (other, there)
