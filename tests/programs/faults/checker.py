"""Judges what happened in a room: the logs that were left against what every client recorded.

A seq is a witness of order, so every rule takes one pass. A room has one log, and one more for each
time that its store went back to an older copy: what the store held just before that. `logs` lists
them in order, the one that stands last; `losses` are the ticks at which the store went back.

Pure: how a log is read and what its views are is the matter of `logs`.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final, Literal, TypeAlias

import msgspec

from tests.programs.faults.history import Ack, Entry, Gone, Invoke, Recorder, Recv, Reject, Sync

Rule = Literal[
    "numbering",  # the seqs of a log are 1, 2, 3 ... without a gap
    "once",  # a command is in a log once at most
    "invented",  # nobody's command is there that nobody sent
    "rules",  # every commit follows from the one before by the rules of the game
    "ack",  # an acknowledged command stands where the acknowledgement says
    "lost",  # an acknowledged command that is gone was reported as lost
    "rejected",  # a refused command is not there
    "order",  # what was sent after another was acknowledged comes after it
    "contiguous",  # commits are shown one after the other, from where a sync left off
    "unwritten",  # what was shown was in the log
    "view",  # and was shown as the log has it
    "silent",  # nobody is moved to another past without being told
    "gone",  # a room is called gone if its log is, and then nobody is left in it
    "answered",  # at the end every command has its answer
    "agree",  # at the end everybody sees the same, which is the end of the log
]
Place: TypeAlias = tuple[int, str]
"""A seq with its mark: the mark stands for everything up to there."""
Command: TypeAlias = tuple[str, int]
"""Origin and number."""
NOWHERE: Final[Place] = (0, "")


class Commit(msgspec.Struct, frozen=True):
    """One entry of a log, as far as it can be compared with what clients say."""

    seq: int
    mark: str
    view: str
    origin: str = ""
    n: int = 0
    flaw: str = ""
    """Why it does not follow from the one before."""
    late_ms: int | None = None
    """If a timer made it: how long after its time. Early ones have a flaw."""

    @property
    def place(self) -> Place:
        return self.seq, self.mark


Log: TypeAlias = Sequence[Commit]


class Violation(msgspec.Struct, frozen=True):
    rule: Rule
    room: str
    who: str
    """The origin of a client, or `log`."""
    detail: str


class _Read:
    """A log, to be looked things up in."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.places = {commit.place: commit for commit in log}
        # Of a command that is there twice the first one counts: `once` tells of the other.
        self.commands = {(each.origin, each.n): each for each in reversed(log) if each.n}
        self.top = log[-1].place if log else NOWHERE


def check(
    room: str, clients: Sequence[Recorder], logs: Sequence[Log], losses: Sequence[int] = ()
) -> list[Violation]:
    """Everything that is wrong, in the order of the rules for the logs, then for each client."""
    if len(logs) != len(losses) + 1:
        raise ValueError(f"{len(logs)} logs for {len(losses)} losses")
    reads = [_Read(log) for log in logs]
    found = [
        Violation(rule, room, "log", detail)
        for rule, detail in chain(
            *(_of_log(log) for log in logs),
            _invented(clients, logs[-1]),
            _order(clients, reads[-1]),
        )
    ]
    for client in clients:
        judged = chain(
            _acks(client, reads),
            _rejections(client, reads, losses),
            _shown(client.entries, reads),
            _end(client, reads[-1]),
        )
        found += [Violation(rule, room, client.origin, detail) for rule, detail in judged]
    return found


Findings: TypeAlias = Iterator[tuple[Rule, str]]


def _of_log(log: Log) -> Findings:
    seen: set[Command] = set()
    for place, commit in enumerate(log, start=1):
        if commit.seq != place:
            yield "numbering", f"commit {place} has seq {commit.seq}"
            return
        command = (commit.origin, commit.n)
        if commit.n and command in seen:
            yield "once", f"{command} is there again at {commit.seq}"
        seen.add(command)
        if commit.flaw:
            yield "rules", f"at {commit.seq}: {commit.flaw}"


def _invented(clients: Sequence[Recorder], log: Log) -> Findings:
    known = {client.origin for client in clients}
    sent = {
        (client.origin, entry.n)
        for client in clients
        for entry in client.entries
        if isinstance(entry, Invoke)
    }
    for commit in log:
        if commit.origin in known and (commit.origin, commit.n) not in sent:
            yield "invented", f"{commit.origin} never sent {commit.n}, which is at {commit.seq}"


def _order(clients: Sequence[Recorder], final: _Read) -> Findings:
    """Real time: a command that was sent when another was known to stand comes after that one."""
    happened = sorted(
        (
            (entry.tick, client.origin, entry)
            for client in clients
            for entry in client.entries
            if isinstance(entry, Invoke | Ack)
        ),
        key=lambda each: each[0],
    )
    newest = 0
    for _, origin, entry in happened:
        commit = final.commands.get((origin, entry.n))
        if commit is None:
            continue
        if isinstance(entry, Ack):
            newest = max(newest, commit.seq)
        elif commit.seq <= newest:
            yield "order", f"{origin}'s {entry.n} is at {commit.seq}, but {newest} stood before it"


def _acks(client: Recorder, reads: Sequence[_Read]) -> Findings:
    told = 0
    """The tick of the last report that something is lost."""
    for entry in reversed(client.entries):
        if isinstance(entry, Gone) or (isinstance(entry, Sync) and entry.lost):
            told = entry.tick
            break
    for entry in client.entries:
        if not isinstance(entry, Ack):
            continue
        command = (client.origin, entry.n)
        stood = [read for read in reads if (c := read.commands.get(command)) and c.seq == entry.seq]
        if not stood:
            yield "ack", f"{entry.n} is not at {entry.seq}"
        elif command not in reads[-1].commands and told < entry.tick:
            yield "lost", f"{entry.n} was at {entry.seq} and is gone"


def _rejections(client: Recorder, reads: Sequence[_Read], losses: Sequence[int]) -> Findings:
    """Only of tagged commands: others may be right a moment later, and a copy may be under way.

    Nor of those that were refused on a past which was then put back to what it had been.
    """
    tagged = {e.n for e in client.entries if isinstance(e, Invoke) and e.tagged}
    here, peaks = NOWHERE, list[Place]()
    for entry in client.entries:
        if isinstance(entry, Sync) and entry.lost:
            peaks.append(here)
        if isinstance(entry, Recv | Sync):
            here = (entry.seq, entry.mark)
        elif isinstance(entry, Reject) and entry.n in tagged:
            read = reads[sum(loss < entry.tick for loss in losses)]
            commit = read.commands.get((client.origin, entry.n))
            healed = any(peak in read.places and peak[0] > here[0] for peak in peaks)
            if commit is not None and not healed:
                yield "rejected", f"{entry.n} ({entry.code}) is at {commit.seq}"


def _shown(entries: Sequence[Entry], reads: Sequence[_Read]) -> Findings:
    before = NOWHERE
    for entry in entries:
        if not isinstance(entry, Recv | Sync):
            continue
        place = (entry.seq, entry.mark)
        if isinstance(entry, Recv) and entry.seq != before[0] + 1:
            yield "contiguous", f"{entry.seq} came after {before[0]}"
        elif isinstance(entry, Sync) and not entry.whole and place != before:
            yield "contiguous", f"it was at {before[0]} and was resumed from {entry.seq}"
        elif not any(place in read.places for read in reads):
            yield "unwritten", f"{place} was in no log"
        elif not _leads(before, place, reads) and not (isinstance(entry, Sync) and entry.lost):
            yield "silent", f"{place} does not follow {before}"
        else:
            views = {read.places[place].view for read in reads if place in read.places}
            if entry.view not in views:
                yield "view", f"at {entry.seq}"
        before = place


def _leads(before: Place, after: Place, reads: Sequence[_Read]) -> bool:
    """Whether some log holds both, the one not later than the other."""
    if before == NOWHERE:
        return True
    return before[0] <= after[0] and any(
        before in read.places and after in read.places for read in reads
    )


def _end(client: Recorder, final: _Read) -> Findings:
    gone = any(isinstance(entry, Gone) for entry in client.entries)
    if gone != (not final.log):
        told, is_there = ("gone", "is") if gone else ("there", "is not")
        yield "gone", f"the room was called {told}, and its log {is_there} there"
    if gone:
        if not isinstance(client.entries[-1], Gone):
            yield "gone", f"after that there was a {type(client.entries[-1]).__name__.lower()}"
        return
    open_ = {entry.n for entry in client.entries if isinstance(entry, Invoke)}
    open_ -= {entry.n for entry in client.entries if isinstance(entry, Ack | Reject)}
    if open_:
        yield "answered", f"{sorted(open_)} have no answer"
    last = next((e for e in reversed(client.entries) if isinstance(e, Recv | Sync)), None)
    place = NOWHERE if last is None else (last.seq, last.mark)
    if final.log and place != final.top:
        yield "agree", f"it ended at {place}, the log at {final.top}"
