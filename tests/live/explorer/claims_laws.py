"""What must hold of a person's connections to a seat."""

from functools import lru_cache

from tests.eventlog.explorer.exploring import BrokenError
from tests.live.explorer.claims_model import NAMES, Rules, State, joined, settled


def is_end(rules: Rules, state: State) -> bool:
    """Whether all connections have come. `BrokenError` if the state, or its end, must not be."""
    if state.budget.connections or state.coming:
        return False
    rest = _rest(rules, state)
    held = [node.here for node in rest.nodes if node.here]
    # A crash takes connections along, perhaps the one for which the others had to go.
    if not held and not _has_crashed(state):
        raise BrokenError("each of the connections was replaced by another one")
    for at in range(len(rest.nodes)):
        _next_wins(rules, rest, at)
        _next_wins(rules, _rest(rules, joined(rules, state, 1 - at)), at)
    return True


def _rest(rules: Rules, state: State) -> State:
    rest = settled(rules, state)
    if rest is None:
        raise BrokenError("two nodes tell each other of their connections for ever")
    if sum(node.here is not None for node in rest.nodes) > 1:
        raise BrokenError("two connections of a seat both stay")
    return rest


@lru_cache(maxsize=1 << 16)
def _next_wins(rules: Rules, rest: State, at: int) -> None:
    """Nobody is locked out after the nodes have heard of each other. A node that has just begun
    knows of no older connection, and of a higher claim only after it has yielded to it once."""
    for _ in range(2 if _has_crashed(rest) else 1):
        rest = _rest(rules, joined(rules, rest, at))
        here = rest.nodes[at].here
        if here is not None and here.number == rest.newest:
            return
    raise BrokenError("a new connection is sent away as replaced")


def _has_crashed(state: State) -> bool:
    return any(node.name not in NAMES for node in state.nodes)
