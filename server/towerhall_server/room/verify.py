"""Checking a record without trusting whoever made it.

Everything is done again from the file alone: the chain link by link; the secret against the
commitment and the nonces against their hashes; every commit from its command, by the rules; from
that the frames, the draws and the result. What the file claims is only ever compared with what
comes out, never played, so no record can lead a room where its rules would not.

Of each kind of error the first place is named. The checks go on from what should have been, and
end where the rules lead no further.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any, TypeAlias

import msgspec

from towerhall_protocol.codec import encode
from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.fairness import commitment, nonce_hash, witnessed
from towerhall_protocol.merge_patch import same
from towerhall_server.eventlog.entry import START, Entry, link, mark
from towerhall_server.game import AnyGame, UnknownRulesError
from towerhall_server.room.commits import Commit, decode_commit
from towerhall_server.room.events import RoomCreated
from towerhall_server.room.findings import Finding, Findings
from towerhall_server.room.record_shape import (
    Record,
    RecordError,
    as_read,
    entries_of,
    read,
)
from towerhall_server.room.redecide import Again, UndecidedError, decide_again, decide_first
from towerhall_server.room.telling import Telling, is_same

__all__ = ["Finding", "Report", "Summary", "check", "verify"]

_PARTS: Mapping[str, tuple[str, ...]] = {
    "head": ("code", "uid", "game", "version", "options", "settings", "seats"),
    "result": ("result", "closed"),
}
"""Fields that are one thing each; lists are compared item by item."""


class Summary(msgspec.Struct, frozen=True):
    """What a record is about, and how much of it was checked."""

    code: str
    game: str
    version: int
    seats: int
    mark: str
    """Of the last commit, as clients saw it."""
    commits: int
    decided: int
    """Commits that were decided again."""
    actors: Mapping[str, int]
    """How many of those each kind of actor made: `person`, `bot`, `timer`, `room`."""
    frames: int
    draws: int
    deals: int
    cancelled: int
    nonces: int
    took_part: tuple[int, ...]
    """The seats whose nonces are in the deal that was played."""
    ending: str
    """`result`, or why there is none."""


class Report(msgspec.Struct, frozen=True):
    """All findings, and what was looked at: nothing if the file is no record."""

    findings: tuple[Finding, ...]
    summary: Summary | None = None


Passing: TypeAlias = Callable[[tuple[Entry, ...]], Iterable[Entry]]
"""Something that entries pass on their way: a progress bar."""


def verify(record: bytes, games: Mapping[str, AnyGame]) -> tuple[Finding, ...]:
    """What is wrong with a record; nothing if all is well."""
    return check(record, games).findings


def check(data: bytes, games: Mapping[str, AnyGame], passing: Passing = iter) -> Report:
    """What is wrong with a record, and what was looked at to find out."""
    found = Findings()
    try:
        record = read(data)
    except RecordError as error:
        found.add(error.code, error.where, error.detail)
        return Report(found.all())
    entries = entries_of(record)
    _check_chain(record, entries, found)
    _check_times(entries, found)
    _check_secrets(record, entries[0], found)
    retold = _Retold(games, from_base64url(record.proof.secret))
    finished = retold.tell_all(passing(entries), found)
    _compare(record, entries, retold.telling, found, finished=finished)
    return Report(found.all(), _summary(record, retold))


def _check_chain(record: Record, entries: tuple[Entry, ...], found: Findings) -> None:
    before = START
    for place, entry in enumerate(entries, start=1):
        if entry.seq != place:
            found.add("chain", f"commit {place}", f"it is numbered {entry.seq}")
        if entry.chain != link(before, entry.commit_id, entry.blob):
            found.add(
                "chain",
                f"commit {place}",
                "its link does not fit its content, or not the commit before it and its times",
            )
        before = entry.point
    if record.chain != base64url(before.chain):
        found.add("chain", "the end of the chain", "it is not the link of the last commit")
    if record.seal != base64url(link(before, b"", b"")):
        found.add("chain", "the seal", "it does not fit the last commit and its times")


def _check_times(entries: tuple[Entry, ...], found: Findings) -> None:
    for place, (before, entry) in enumerate(pairwise(entries), start=2):
        old, new = before.stamps, entry.stamps
        if new.wall_ms < old.wall_ms:
            found.add("time", f"commit {place}", "its wall time is before that of the last one")
        if new.served_ms < old.served_ms:
            found.add("time", f"commit {place}", "its service time is before that of the last one")


def _check_secrets(record: Record, first: Entry, found: Findings) -> None:
    uid, proof = from_base64url(record.uid), record.proof
    if not _is_committed(first, uid, from_base64url(proof.commitment)):
        found.add("commitment", "commit 1", "the commitment of the proof was not made there")
    if commitment(uid, from_base64url(proof.secret)) != from_base64url(proof.commitment):
        found.add("commitment", "the proof", "the secret does not give the commitment")
    for deal in proof.deals:
        for seat, hand in enumerate(deal.seats):
            nonce, shown = from_base64url(hand.nonce), from_base64url(hand.nonce_hash)
            if nonce and nonce_hash(uid, nonce) != shown:
                found.add(
                    "nonce", f"deal {deal.deal}, seat {seat}", "the nonce does not give its hash"
                )


def _is_committed(first: Entry, uid: bytes, committed: bytes) -> bool:
    """Whether the server showed the commitment before anybody could sit."""
    try:
        (created,) = decode_commit(first.blob, None).room
    except ValueError:
        return False
    if not isinstance(created, RoomCreated):
        return False
    return (created.uid, created.commitment) == (uid, committed)


class _Retold:
    """The game, played again by its rules from its commands alone."""

    def __init__(self, games: Mapping[str, AnyGame], secret: bytes) -> None:
        self._games = games
        self._secret = secret
        self.telling = Telling()
        self.actors: Counter[str] = Counter()

    def tell_all(self, entries: Iterable[Entry], found: Findings) -> bool:
        """Whether the rules lead through all of it, whatever they lead to."""
        for place, entry in enumerate(entries, start=1):
            where = f"commit {place}"
            try:
                self._tell(msgspec.structs.replace(entry, seq=place), where, found)
            except UnknownRulesError as error:
                found.add("unknown_rules", where, f"{error}: only chain and secrets were checked")
            except UndecidedError as error:
                found.add("undecided", where, f"{error}; nothing after it was checked")
            except msgspec.DecodeError as error:
                found.add("commit", where, f"{error}; nothing after it was checked")
            except Exception as error:  # noqa: BLE001 - a file may hold anything at all
                kind = type(error).__name__
                found.add("undecided", where, f"it leads nowhere ({kind}: {error})")
            else:
                continue
            return False
        return True

    def _tell(self, entry: Entry, where: str, found: Findings) -> None:
        room = self.telling.room
        commit = decode_commit(entry.blob, room.rules if room else None)
        with witnessed() as drawn:
            again = (
                decide_again(room, commit)
                if room
                else decide_first(self._games, self._secret, commit)
            )
        if not is_same(again.step.commit, commit):
            found.add("decision", where, _difference(again, commit))
        if entry.stamps.served_ms < again.not_before_ms:
            missing = again.not_before_ms - entry.stamps.served_ms
            found.add("early", where, f"it was not due for another {missing} ms")
        self.telling.take(entry, again.step.commit, again.step.after, drawn)
        self.actors[again.actor] += 1


def _difference(again: Again, stored: Commit) -> str:
    """Which part of a commit is not what the rules lead to."""
    decided = again.step.commit
    for part, name in (
        ("cause", "who caused it"),
        ("room", "what happened to the room"),
        ("game", "what happened in the game"),
        ("end", "what the end brought"),
        ("command", "the command"),
    ):
        if encode(getattr(decided, part)) != encode(getattr(stored, part)):
            return f"by the rules, {name} is different"
    return "by the rules it is different"


def _compare(
    record: Record,
    entries: tuple[Entry, ...],
    telling: Telling,
    found: Findings,
    *,
    finished: bool,
) -> None:
    """What is written down next to the commits, with what they lead to."""
    frames = tuple(map(msgspec.json.decode, telling.frames))
    _compare_items(
        "frame", record.frames if finished else record.frames[: len(frames)], frames, found
    )
    if not finished:
        return
    if not telling.is_over:
        found.add("unfinished", f"commit {len(entries)}", "the room is not over after it")
        return
    made = as_read(telling.record(entries))
    for code, names in _PARTS.items():
        for name in names:
            if not same(getattr(record, name), getattr(made, name)):
                found.add(code, name, "the commits say otherwise")
    _compare_items("draw", record.draws, made.draws, found)
    _compare_items("deal", record.proof.deals, made.proof.deals, found)


def _compare_items(
    code: str, claimed: tuple[Any, ...], made: tuple[Any, ...], found: Findings
) -> None:
    for place, (one, other) in enumerate(zip(claimed, made, strict=False), start=1):
        if not same(one, other):
            found.add(code, f"{code} {place}", "it is not what the commits lead to")
    if len(claimed) != len(made):
        found.add(code, f"the {code}s", f"there are {len(claimed)} instead of {len(made)}")


def _summary(record: Record, retold: _Retold) -> Summary:
    deals = record.proof.deals
    played = [deal for deal in deals if deal.outcome == "dealt"]
    return Summary(
        code=record.code,
        game=record.game,
        version=record.version,
        seats=len(record.seats),
        mark=mark(from_base64url(record.chain)),
        commits=len(record.commits),
        decided=retold.actors.total(),
        actors=dict(retold.actors),
        frames=len(retold.telling.frames),
        draws=len(retold.telling.draws),
        deals=len(deals),
        cancelled=sum(deal.outcome == "cancelled" for deal in deals),
        nonces=sum(bool(hand.nonce) for deal in deals for hand in deal.seats),
        took_part=tuple(
            seat for deal in played for seat, hand in enumerate(deal.seats) if hand.nonce
        ),
        ending=record.closed or "result",
    )
