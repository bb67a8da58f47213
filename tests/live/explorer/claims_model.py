"""One person's connections to one seat, over two nodes, as values: what may happen next.

Nodes raise claims, compare them and tell each other as `room/audience.py` does; both decisions are
its own functions. Accidents are limited by a budget: the store goes back in time, a subscription
breaks and its messages are lost, a node crashes and another one takes its place. What must hold
stands in `claims_laws`.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from towerhall_server.live.claims import raised, yields

NAMES = ("a", "b")
BACK_US = 1_000
"""How far a store goes back: more than all connections of a history take."""


class Connection(NamedTuple):
    """A connection and its claim."""

    number: int
    """Later connections have higher numbers."""
    claim: int


class Message(NamedTuple):
    """What a node tells the other one."""

    node: str
    claim: int
    """0: nobody is connected there."""
    asks: bool


class Node(NamedTuple):
    """What one node knows of the seat."""

    name: str
    here: Connection | None = None
    elsewhere: tuple[tuple[str, int], ...] = ()
    """The claims at other nodes, as far as they have told."""
    inbox: tuple[Message, ...] = ()
    told: int = 0
    """The claim that it told last."""
    owes: bool = False
    """It tells its claim soon, whether or not it has changed."""
    asks: bool = True
    """It wants to be told the same."""


class Budget(NamedTuple):
    """Connections that are still to come, and accidents that may still happen."""

    connections: int = 3
    ties: int = 0
    back: int = 0
    breaks: int = 0
    crashes: int = 0


class State(NamedTuple):
    """Everything at one moment."""

    nodes: tuple[Node, ...]
    budget: Budget
    time_us: int = 2 * BACK_US
    coming: tuple[tuple[int, Connection], ...] = ()
    """Connections that have their claim and are not in the room yet, and at which node."""
    newest: int = 0


class Rules(NamedTuple):
    """What a node does; seeded bugs change one of them."""

    raised: Callable[[int, Iterable[int]], int] = raised
    yields: Callable[[int, str, int, str], bool] = yields
    asks_after_breaks: bool = True


def begin(budget: Budget) -> State:
    return State(tuple(map(Node, NAMES)), budget)


def following(rules: Rules, state: State) -> Iterator[State]:
    """Every state that may come next."""
    budget = state.budget
    for at, node in enumerate(state.nodes):
        if budget.connections:
            yield from _arrived(state, at)
        if must_tell(node):
            yield told(state, at)
        if node.inbox:
            yield heard(rules, state, at)
            if budget.breaks:
                yield _broken(rules, state, at)
        if budget.crashes:
            yield _crashed(state, at)
        yield from _forgotten(state, at)
    for coming in state.coming:
        yield added(rules, state, coming)
    if budget.back:
        back = state._replace(time_us=state.time_us - BACK_US)
        yield back._replace(budget=budget._replace(back=budget.back - 1))


def settled(rules: Rules, state: State) -> State | None:
    """The state after everything is told and heard; None if that never ends."""
    for _ in range(32):
        before = state
        for at in range(len(state.nodes)):
            if must_tell(state.nodes[at]):
                state = told(state, at)
            while state.nodes[at].inbox:
                state = heard(rules, state, at)
        for at in range(len(state.nodes)):
            for after in _forgotten(state, at):
                state = after
        if state == before:
            return state
    return None


def joined(rules: Rules, state: State, at: int) -> State:
    """One more connection comes to that node, and is in the room at once."""
    coming = (at, Connection(state.newest + 1, state.time_us))
    state = state._replace(newest=state.newest + 1, time_us=state.time_us + 1)
    return added(rules, state._replace(coming=(*state.coming, coming)), coming)


def with_node(state: State, at: int, node: Node) -> State:
    return state._replace(nodes=(*state.nodes[:at], node, *state.nodes[at + 1 :]))


def must_tell(node: Node) -> bool:
    return node.owes or _own(node) != node.told


def _own(node: Node) -> int:
    return node.here.claim if node.here else 0


def _arrived(state: State, at: int) -> Iterator[State]:
    """A connection asks the store for its claim; two of them may ask in the same moment."""
    budget = state.budget._replace(connections=state.budget.connections - 1)
    coming = (*state.coming, (at, Connection(state.newest + 1, state.time_us)))
    state = state._replace(budget=budget, coming=coming, newest=state.newest + 1)
    yield state._replace(time_us=state.time_us + 1)
    if budget.ties:
        yield state._replace(budget=budget._replace(ties=budget.ties - 1))


def added(rules: Rules, state: State, coming: tuple[int, Connection]) -> State:
    """A connection is in the room, and an older one on the same node has to go."""
    at, connection = coming
    node = state.nodes[at]
    known = [claim for _, claim in node.elsewhere]
    if node.here:
        known.append(node.here.claim)
    claim = rules.raised(connection.claim, known)
    node = node._replace(here=connection._replace(claim=claim))
    rest = tuple(each for each in state.coming if each != coming)
    return with_node(state._replace(coming=rest), at, node)


def told(state: State, at: int) -> State:
    node, there = state.nodes[at], state.nodes[1 - at]
    message = Message(node.name, _own(node), node.asks)
    state = with_node(state, at, node._replace(told=_own(node), owes=False, asks=False))
    return with_node(state, 1 - at, there._replace(inbox=(*there.inbox, message)))


def heard(rules: Rules, state: State, at: int) -> State:
    node = state.nodes[at]
    message, *rest = node.inbox
    others = dict(node.elsewhere) | {message.node: message.claim}
    node = node._replace(inbox=tuple(rest), elsewhere=tuple(sorted(others.items())))
    if node.here and message.claim:
        if rules.yields(node.here.claim, node.name, message.claim, message.node):
            node = node._replace(here=None)
        else:
            node = node._replace(owes=True)
    return with_node(state, at, node._replace(owes=node.owes or message.asks))


def _broken(rules: Rules, state: State, at: int) -> State:
    """The node's subscription breaks: what was on its way to it is lost, and it asks around."""
    budget = state.budget._replace(breaks=state.budget.breaks - 1)
    asks = rules.asks_after_breaks
    node = state.nodes[at]
    node = node._replace(inbox=(), asks=node.asks or asks, owes=node.owes or asks)
    return with_node(state._replace(budget=budget), at, node)


def _crashed(state: State, at: int) -> State:
    """A node ends with its connections; one with another name takes its place."""
    budget = state.budget._replace(crashes=state.budget.crashes - 1)
    coming = tuple(each for each in state.coming if each[0] != at)
    node = Node(f"{state.nodes[at].name}{budget.crashes}")
    return with_node(state._replace(budget=budget, coming=coming), at, node)


def _forgotten(state: State, at: int) -> Iterator[State]:
    """The node notices that another one has gone, long after the last message of that one."""
    node, alive = state.nodes[at], {each.name for each in state.nodes}
    late = {message.node for message in node.inbox}
    kept = tuple(each for each in node.elsewhere if each[0] in alive | late)
    if kept != node.elsewhere:
        yield with_node(state, at, node._replace(elsewhere=kept))
