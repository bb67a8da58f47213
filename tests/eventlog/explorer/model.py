"""Two nodes on one log, as values: what may happen next in a state.

A node decides commands, appends, retries, reads and heals as `room/follower.py` and `room/actor.py`
do. The fence, the links, the stamps and the choice of what to heal are the server's own functions.
Accidents are limited by a budget: replies and requests get lost or late, a store loses its tail, a
node crashes. What must hold stands in `laws`, and how histories are explored in `exploring`.
"""

from collections.abc import Iterator
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from tests.eventlog.explorer.exploring import BrokenError
from tests.eventlog.explorer.script import Run, Store
from towerhall_server.eventlog.answers import (
    Answer,
    Append,
    Appended,
    Conflict,
    Following,
    Forked,
    Mistimed,
    reading_of,
)
from towerhall_server.eventlog.entry import START, Entry, Point, Stamps, entry_after
from towerhall_server.live.healing import missing_after
from towerhall_server.live.writer import proposed

ROOM = "ABCDEF"
TTL_MS = 86_400_000
FAILOVERS_MS = (20, 20_000)
"""How long a store is away when it loses its tail: stamps of before are taken, or are too old."""


class Command(NamedTuple):
    """A command of a client: at which node it waits, and what the client was told."""

    origin: str
    n: int
    node: int
    told: str = ""
    """`done` or `rejected`."""

    @property
    def blob(self) -> bytes:
        return f"{self.origin} {self.n}".encode()

    def is_overtaken(self, done: list[bytes]) -> bool:
        """Whether a later command of the same client is among these."""
        own = [blob.split(b" ") for blob in done if b" " in blob]
        return any(who.decode() == self.origin and int(n) > self.n for who, n in own)


class Node(NamedTuple):
    """A replica of the log, and the one request that it waits for."""

    entries: tuple[Entry, ...] = ()
    time_ms: int = 1_000
    """What the store said last of its clocks."""
    asked: Append | None = None
    deciding: int = -1
    """The command of that request."""
    healing: tuple[Append, ...] = ()
    """What is still to be put back, beginning with the request."""
    heard: tuple[Entry, ...] = ()
    """Messages of other nodes that are still under way."""
    lost: int = 0
    """Commits that this node has told its viewers to be lost."""

    @property
    def point(self) -> Point:
        return self.entries[-1].point if self.entries else START


class Budget(NamedTuple):
    """Accidents that may still happen."""

    replies: int = 0
    tails: int = 0
    crashes: int = 0
    late: int = 0


class State(NamedTuple):
    """Everything at one moment."""

    store: Store
    nodes: tuple[Node, ...]
    commands: tuple[Command, ...]
    budget: Budget
    late: tuple[Append, ...] = ()
    """Requests on connections that were given up: the store may still get them."""
    ids: int = 0
    """Commit ids that were drawn."""
    tail_lost: bool = False
    crashed: bool = False


class Rules(NamedTuple):
    """What a node does; seeded bugs change one of them."""

    run: Run
    heal_looks: bool = True
    heals: bool = True
    reads_own: bool = True
    looks_up: bool = True
    moves: bool = True
    """Whether commands are asked for as moves first."""


COMMANDS = (Command("ann", 1, 0), Command("bob", 1, 1), Command("ann", 2, 0))


def begin(rules: Rules, budget: Budget, commands: int = len(COMMANDS)) -> State:
    """A log of one entry that both nodes have read, and up to three commands of two clients."""
    stamps = Stamps(Store().time_ms, Store().time_ms)
    create = Append(
        mode="create",
        room=ROOM,
        before=START,
        entry=entry_after(START, stamps, _commit_id(0), b"room"),
        ttl_ms=TTL_MS,
    )
    _, store = rules.run(Store(), create)
    nodes = (Node(store.log), Node(store.log))
    return State(store, nodes, COMMANDS[:commands], budget, ids=1)


def following(rules: Rules, state: State) -> Iterator[State]:
    """Every state that may come next."""
    for number, node in enumerate(state.nodes):
        if node.asked is None:
            yield from _decided(rules, state, number)
            yield _caught_up(rules, state, number)
        else:
            yield from _asked(rules, state, number)
        yield from _heard(rules, state, number)
        if state.budget.crashes:
            yield _crashed(rules, state, number)
    for at, request in enumerate(state.late):
        rest = state.late[:at] + state.late[at + 1 :]
        _, store = rules.run(state.store, request)
        yield state._replace(store=store, late=rest)
    if state.budget.tails:
        yield from _tails_lost(state)


def settled(rules: Rules, state: State) -> State:
    """The state after all requests are answered and everybody has read to the end."""
    before = None
    while before != state:
        before = state
        for number in range(len(state.nodes)):
            state = _finished(rules, state, number)
            state = _finished(rules, _caught_up(rules, state, number), number)
    return state


def _finished(rules: Rules, state: State, number: int) -> State:
    while state.nodes[number].asked is not None:
        state = _answered(rules, state, number, *_run(rules, state, number))
    return state


# --- what nodes do ---


def _with(state: State, number: int, node: Node) -> State:
    nodes = (*state.nodes[:number], node, *state.nodes[number + 1 :])
    return state._replace(nodes=nodes)


def _commit_id(drawn: int) -> bytes:
    return blake2b(b"%d" % drawn, digest_size=16).digest()


def _decided(rules: Rules, state: State, number: int) -> Iterator[State]:
    """The node decides one of the commands that wait for it; those of a client go in order."""
    node = state.nodes[number]
    begun: set[str] = set()
    for at, command in enumerate(state.commands):
        if command.told or command.node != number or command.origin in begun:
            continue
        begun.add(command.origin)
        done = [entry.blob for entry in node.entries]
        if command.blob in done:
            # The rules would not allow it a second time.
            yield _told(state, at, "done" if rules.looks_up else "rejected")
            continue
        if rules.looks_up and command.is_overtaken(done):
            yield _told(state, at, "rejected")
            continue
        yield _with(
            state._replace(ids=state.ids + 1),
            number,
            node._replace(asked=_append(rules, state, node, command), deciding=at),
        )


def _append(rules: Rules, state: State, node: Node, command: Command) -> Append:
    before = node.point
    stamps = proposed(before.stamps, Stamps(node.time_ms, node.time_ms), 0)
    return Append(
        mode="append",
        room=ROOM,
        before=before,
        entry=entry_after(before, stamps, _commit_id(state.ids), command.blob),
        ttl_ms=TTL_MS,
        is_move=rules.moves,
    )


def _run(rules: Rules, state: State, number: int) -> tuple[Answer | None, Store]:
    asked = state.nodes[number].asked
    assert asked is not None
    return rules.run(state.store, asked)


def _asked(rules: Rules, state: State, number: int) -> Iterator[State]:
    """The request reaches the store and is answered, or one of the two does not happen."""
    answer, store = _run(rules, state, number)
    yield _answered(rules, state, number, answer, store)
    budget, asked = state.budget, state.nodes[number].asked
    if budget.replies and store != state.store:
        unknown = _published(state._replace(store=store), number)
        yield unknown._replace(budget=budget._replace(replies=budget.replies - 1))
    if budget.late and asked is not None:
        late = (*state.late, asked)
        yield state._replace(late=late, budget=budget._replace(late=budget.late - 1))


def _published(state: State, number: int) -> State:
    """The other nodes hear of the newest entry, some time or never."""
    newest = state.store.log[-1]
    nodes = [
        node if at == number else node._replace(heard=(newest,))
        for at, node in enumerate(state.nodes)
    ]
    return state._replace(nodes=tuple(nodes))


def _answered(
    rules: Rules, state: State, number: int, answer: Answer | None, store: Store
) -> State:
    """What a node makes of an answer."""
    is_new = store != state.store
    state = state._replace(store=store)
    node = state.nodes[number]
    asked, deciding = node.asked, node.deciding
    assert asked is not None
    if answer is None:
        # No move can be made there: the same request goes to the whole script.
        whole = msgspec.structs.replace(asked, is_move=False)
        return _with(state, number, node._replace(asked=whole))
    if node.healing:
        return _healed(rules, state, number, answer)
    node = node._replace(asked=None, deciding=-1)
    match answer:
        case Appended():
            state = _with(state, number, node._replace(entries=(*node.entries, asked.entry)))
            state = _published(state, number) if is_new else state
            return _told(state, deciding, "done")
        case Mistimed(now):
            return _with(state, number, node._replace(time_ms=now.wall_ms))
        case Conflict():
            return _caught_up(rules, _with(state, number, node), number)
    raise BrokenError(f"the script answered {answer}")


def _told(state: State, at: int, told: str) -> State:
    commands = list(state.commands)
    commands[at] = commands[at]._replace(told=told)
    return state._replace(commands=tuple(commands))


def _heard(rules: Rules, state: State, number: int) -> Iterator[State]:
    """A message of another node comes, to a node that has nothing under way."""
    node = state.nodes[number]
    for at, entry in enumerate(node.heard):
        rest = node.heard[:at] + node.heard[at + 1 :]
        if node.asked is not None:
            continue
        heard = _with(state, number, node._replace(heard=rest))
        if entry.chain in [known.chain for known in node.entries]:
            yield heard
        elif entry.follows(node.point):
            taken = node._replace(heard=rest, entries=(*node.entries, entry))
            yield _with(state, number, taken)
        else:
            yield _caught_up(rules, heard, number)


def _caught_up(rules: Rules, state: State, number: int) -> State:
    """The node reads what the log holds beyond its own place."""
    node, log = state.nodes[number], state.store.log
    node = node._replace(time_ms=state.store.time_ms)
    own = node.point if rules.reads_own else START
    found = log[max(own.seq, 1) - 1 :]
    if own.seq and not found:
        missing = missing_after(node.entries, log[-1]) if rules.heals else ()
        if not missing:
            return _reloaded(state, number)
        healing = tuple(_heal(log[-1].point, missing))
        return _with(state, number, node._replace(asked=healing[0], healing=healing))
    reading = reading_of(own, found, more=False)
    if isinstance(reading, Forked):
        return _reloaded(state, number)
    new = reading.entries if rules.reads_own else reading.entries[node.point.seq :]
    return _with(state, number, node._replace(entries=(*node.entries, *new)))


def _heal(before: Point, missing: tuple[Entry, ...]) -> Iterator[Append]:
    for entry in missing:
        yield Append(
            mode="heal",
            room=ROOM,
            before=before,
            entry=entry,
            ttl_ms=TTL_MS,
        )
        before = entry.point


def _healed(rules: Rules, state: State, number: int, answer: Answer) -> State:
    node = state.nodes[number]
    rest = node.healing[1:]
    node = node._replace(healing=rest, asked=rest[0] if rest else None)
    if isinstance(answer, Appended) or not rules.heal_looks:
        if not rest and node.entries != state.store.log[: len(node.entries)]:
            raise BrokenError("a node goes on with a tail that the log does not hold")
        return _with(state, number, node)
    return _reloaded(_with(state, number, node._replace(healing=(), asked=None)), number)


def _reloaded(state: State, number: int) -> State:
    """The node takes the log as it is, and tells its viewers how much is lost."""
    node, log = state.nodes[number], state.store.log
    if not isinstance(reading_of(START, log, more=False), Following):
        raise BrokenError("a node cannot read the log")
    pairs = zip(node.entries, log, strict=False)
    shared = sum(here.chain == there.chain for here, there in pairs)
    lost = node.lost + len(node.entries) - shared
    return _with(state, number, node._replace(entries=log, lost=lost, time_ms=state.store.time_ms))


# --- accidents ---


def _crashed(rules: Rules, state: State, number: int) -> State:
    """A node ends; its clients go to the other one. It comes back with nothing but the log."""
    commands = [
        command._replace(node=1 - number) if command.node == number else command
        for command in state.commands
    ]
    fresh = Node(state.store.log, state.store.time_ms, lost=state.nodes[number].lost)
    budget = state.budget._replace(crashes=state.budget.crashes - 1)
    state = state._replace(commands=tuple(commands), budget=budget, crashed=True)
    return _with(state, number, fresh)


def _tails_lost(state: State) -> Iterator[State]:
    """The store goes back by one or two entries, and is away for a while."""
    log = state.store.log
    budget = state.budget._replace(tails=state.budget.tails - 1)
    # Time matters to requests alone.
    waits = state.late or any(node.asked for node in state.nodes)
    for left in range(max(1, len(log) - 2), len(log)):
        for away_ms in FAILOVERS_MS if waits else FAILOVERS_MS[:1]:
            store = Store(log[:left], state.store.time_ms + away_ms)
            yield state._replace(store=store, budget=budget, tail_lost=True)
