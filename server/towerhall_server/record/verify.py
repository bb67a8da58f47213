"""Verifies a record without trusting its source.

Everything is derived again from the file alone: the chain link by link; the secret against the
commitment and the nonces against their hashes; every commit from its command, by the rules; from
these the frames, the draws and the result. Claims of the file are only compared with the derived
values, never applied. No record can lead a room where its rules would not.

Each kind of error is reported with its first place and a count. After an error the checks continue
from the derived state, and end where the rules give no step. A bot is asked again for each of its
moves; if it would move differently, the checks continue from the recorded move.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import msgspec

from towerhall_protocol.check_record import Keys, check_signed
from towerhall_protocol.codec import encode
from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.evidence import ANYWHERE, Code, Evidence, compare
from towerhall_protocol.fairness import commitment, nonce_hash, witnessed
from towerhall_protocol.merge_patch import same
from towerhall_protocol.record import Record, RecordError, as_read, read, seal_of
from towerhall_server.eventlog.entry import START, Entry, link, mark
from towerhall_server.game import AnyGame, Seat, UnknownRulesError
from towerhall_server.record.findings import Finding, Findings
from towerhall_server.record.format import entries_of
from towerhall_server.record.narrate import Telling, is_same
from towerhall_server.record.rederive import Again, UndecidedError, decide_again, decide_first
from towerhall_server.record.rethinking import is_move_of_bot
from towerhall_server.record.timekeeping import Duties, check_times
from towerhall_server.room.commits import Commit, decode_commit, form_of
from towerhall_server.room.events import RoomCreated

__all__ = ["Finding", "Summary", "Verification", "check", "verify"]

_PARTS: Mapping[str, tuple[str, ...]] = {
    "head": ("code", "uid", "game", "version", "options", "settings", "seats"),
    "result": ("result", "closed"),
}
"""Fields that are compared as a whole; lists are compared item by item."""


class Summary(msgspec.Struct, frozen=True):
    """The subject of a record, and the extent of the check."""

    code: str
    game: str
    version: int
    seats: int
    mark: str
    """The mark of the last commit, as clients saw it."""
    commits: int
    decided: int
    """Commits that were derived again."""
    actors: Mapping[str, int]
    """Commits by kind of actor: see `rederive.Actor`."""
    frames: int
    draws: int
    deals: int
    cancelled: int
    nonces: int
    took_part: tuple[int, ...]
    """The seats whose nonces are in the played deal."""
    ending: str
    """`result`, or why there is none."""
    sandbox: int = 0
    """How fast the clocks of a sandbox room ran; 0: an ordinary room."""


class Verification(msgspec.Struct, frozen=True):
    """All findings, and a summary: None if the file is not a record."""

    findings: tuple[Finding, ...]
    summary: Summary | None = None
    unsigned: Mapping[str, str] = {}
    """Why `signature` or `log` was not checked, if so."""


Passing: TypeAlias = Callable[[tuple[Entry, ...]], Iterable[Entry]]
"""Wraps an iteration over entries: a progress bar."""


def verify(record: bytes, games: Mapping[str, AnyGame]) -> tuple[Finding, ...]:
    """Return the faults of a record; empty if there are none."""
    return check(record, games).findings


def check(
    data: bytes,
    games: Mapping[str, AnyGame],
    passing: Passing = iter,
    seen: tuple[Evidence, ...] = (),
    keys: Keys | None = None,
) -> Verification:
    """Return the faults of a record, and the extent of the check. `seen` is the evidence that
    players of that game kept; each is compared by itself. `keys` are those of the server."""
    found = Findings()
    try:
        record = read(data)
    except RecordError as error:
        found.add(error.code, error.where, error.detail)
        return Verification(found.all())
    entries = entries_of(record)
    _check_chain(record, entries, found)
    _check_ids(entries, found)
    check_times(entries, found)
    _compare_seen(record, seen, found)
    signed = check_signed(record, {} if keys is None else keys)
    for step in signed:
        if not step.ok:
            ((what, fault),) = step.detail["where"].items()
            found.add(step.name, "the end", f"{what}: {fault}")
    _check_secrets(record, entries[0], found)
    retold = _Retold(games, from_base64url(record.proof.secret))
    finished = retold.tell_all(passing(entries), found)
    _compare(record, entries, retold.telling, found, finished=finished)
    unsigned = {step.name: step.skipped for step in signed if step.skipped}
    return Verification(found.all(), _summary(record, retold), unsigned)


def _check_chain(record: Record, entries: tuple[Entry, ...], found: Findings) -> None:
    before = START
    for place, entry in enumerate(entries, start=1):
        if entry.seq != place:
            found.add("chain", f"commit {place}", f"it is numbered {entry.seq}")
        if entry.chain != link(before.chain, entry.stamps, entry.commit_id, entry.blob):
            found.add(
                "chain",
                f"commit {place}",
                "its link does not fit its content and times, or not the commit before it",
            )
        before = entry.point
    if record.chain != base64url(before.chain):
        found.add("chain", "the end of the chain", "it is not the chain of the last commit")
    if record.seal != seal_of(record):
        found.add("chain", "the seal", "it does not fit the chain and the rest of the record")


def _check_ids(entries: tuple[Entry, ...], found: Findings) -> None:
    first: dict[bytes, int] = {}
    for place, entry in enumerate(entries, start=1):
        earlier = first.setdefault(entry.commit_id, place)
        if earlier != place:
            found.add("repeated", f"commit {place}", f"commit {earlier} has the same id")


_KEPT: Mapping[Code, tuple[str, str]] = {
    "room": ("other_room", "another room was kept"),
    "commitment": ("other_commitment", "another one was kept"),
    "nonce": ("other_nonce", "no seat opened the nonce that was kept"),
    "chain": ("other_mark", "another chain was kept"),
    "short": ("other_mark", "a chain was kept after it, and the record ends before"),
    "long": ("other_mark", "the room was seen to end there, and the record goes on"),
    "view": ("other_view", "another view was kept"),
}
"""Names and meanings of differences from kept evidence."""


def _compare_seen(record: Record, seen: tuple[Evidence, ...], found: Findings) -> None:
    document = msgspec.to_builtins(record) if seen else {}
    for evidence in seen:
        for difference in compare(evidence, document):
            code, detail = _KEPT[difference.code]
            noun = "deal" if difference.code == "nonce" else "commit"
            at = difference.at
            found.add(code, "the record" if at == ANYWHERE else f"{noun} {at}", detail)


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
    """Whether the server showed the commitment before a seat could be taken."""
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
        self._duties = Duties()
        self.actors: Counter[str] = Counter()

    def tell_all(self, entries: Iterable[Entry], found: Findings) -> bool:
        """Whether the rules lead through the whole log."""
        for place, entry in enumerate(entries, start=1):
            where = f"commit {place}"
            if self.telling.is_over:
                found.add("undecided", where, "the room was over before it")
                return False
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
                found.add("undecided", where, f"it cannot be derived ({kind}: {error})")
            else:
                continue
            return False
        return True

    def _tell(self, entry: Entry, where: str, found: Findings) -> None:
        room = self.telling.room
        rules = room.rules if room else None
        commit = decode_commit(entry.blob, rules)
        if form_of(entry.blob, commit, rules) != entry.blob:
            found.add("form", where, "it is not the canonical form of its content")
        self._duties.check(entry.stamps.served_ms, where, found)
        with witnessed() as drawn:
            again = (
                decide_again(room, commit)
                if room
                else decide_first(self._games, self._secret, commit)
            )
        if not is_same(again.step.commit, commit):
            found.add("decision", where, _difference(again, commit))
        if room and again.actor == "bot":
            seat = Seat(again.step.commit.cause.seat)
            if not is_move_of_bot(room, seat, commit.command):
                found.add("bot", where, f"the bot of seat {seat} would make another move")
        if entry.stamps.served_ms < again.not_before_ms:
            missing = again.not_before_ms - entry.stamps.served_ms
            found.add("early", where, f"it was not due for another {missing} ms")
        after = self.telling.take(entry, again.step.commit, again.step.after, drawn)
        self._duties.follow(after)
        self.actors[again.actor] += 1


def _difference(again: Again, stored: Commit) -> str:
    """Return the part of a commit that differs from the derived one."""
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
    """Compare the rest of the record with the derived values."""
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
            found.add(
                code, f"{code} {place}", "it differs from the one that follows from the commits"
            )
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
        sandbox=record.sandbox,
    )
