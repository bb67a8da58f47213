"""What must hold in each state of the model, and when all has come to rest."""

from tests.eventlog.explorer.exploring import BrokenError
from tests.eventlog.explorer.model import Rules, State, settled
from towerhall_server.eventlog.answers import Following, reading_of
from towerhall_server.eventlog.entry import START, Entry
from towerhall_server.live.healing import missing_after

MOST_IDS = 16
"""Decisions of one history: more would mean that a node makes no progress."""


def is_end(rules: Rules, state: State) -> bool:
    """Whether every command is answered. `BrokenError` if the state, or its end, must not be."""
    check(state)
    if not all(command.told for command in state.commands):
        return False
    rest = settled(rules, state)
    check_settled(rest)
    tails = _to_put_back(state)
    if tails and not any(rest.store.log[: len(tail)] == tail for tail in tails):
        raise BrokenError("a tail that a node holds is not put back")
    return True


def check(state: State) -> None:
    """What holds in every state."""
    log = state.store.log
    reading = reading_of(START, log, more=False)
    if not isinstance(reading, Following):
        raise BrokenError(f"the log is forked at {reading.seq}")
    if state.ids > MOST_IDS:
        raise BrokenError("a command is decided again and again")
    blobs = [entry.blob for entry in log]
    if len(set(blobs)) < len(blobs):
        raise BrokenError("a command was done twice")
    of_ann = [blob for blob in blobs if blob.startswith(b"ann")]
    if of_ann != sorted(of_ann):
        raise BrokenError("an older command was done after a later one")
    for command in state.commands:
        if command.told == "rejected" and command.blob in blobs:
            raise BrokenError("a rejected command is in the log")
        if command.told == "done" and command.blob not in blobs and not state.tail_lost:
            raise BrokenError("an acknowledged command is not in the log")


def check_settled(state: State) -> None:
    """What holds when nothing is under way any more and everybody has read."""
    check(state)
    for node in state.nodes:
        if node.entries != state.store.log:
            raise BrokenError("a node does not see what the log holds")
    blobs = {entry.blob for entry in state.store.log}
    gone = [each for each in state.commands if each.told == "done" and each.blob not in blobs]
    reported = any(node.lost for node in state.nodes)
    if gone and not reported and not state.crashed:
        raise BrokenError("an acknowledged command was lost and nobody was told")


def _to_put_back(state: State) -> list[tuple[Entry, ...]]:
    """The logs that nodes hold beyond the end of the store's. A late request may be faster."""
    if state.late:
        return []
    log = state.store.log
    tails = [missing_after(node.entries, log[-1]) for node in state.nodes]
    return [(*log, *tail) for tail in tails if tail]
