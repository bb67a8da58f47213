"""The steps that show that a record fits together (P-86, P-120 to P-125).

Each step is a function of the record. It returns the values that it looked at, or raises a `Fault`
with the place. Checks that need the rules of a game are not made here.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from towerhall_protocol.chain import START, link, mark
from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.fairness import NO_NONCE, Act, commitment, game_seed, nonce_hash
from towerhall_protocol.merge_patch import apply, same
from towerhall_protocol.record import Record, RecordError, seal_of
from towerhall_protocol.stored import Stored, are_told, read_commit

FASTER_MS: Final = 2_500
"""How much more service time than wall time may pass between two commits of a record (P-125)."""
OPEN_MS: Final = 10_000
"""Service time for opening nonces (P-83)."""
LATE_OPEN_MS: Final = 30_000
"""How much later than that a sealed deal may go on, or be cancelled (P-125): no search runs then.
"""
ENDS: Final = frozenset({"game_over", "room_closed", "secret_revealed"})
"""Events that end a room: they stand in its last commit only."""
OPERATOR: Final = 15
"""Where `room_created` has the operator that the room belongs to."""
REASON: Final = re.compile(r"[a-z0-9_]{1,40}")
OWN_REASONS: Final = frozenset({"abandoned", "agreed", "resigned"})
"""Reasons of a close that only the room itself gives."""
DEFAULTS: Final = {"turn_seconds": 0, "bot_delay_ms": 600}
"""Settings that are not stored."""

Where = Mapping[str, Any]
Fact = list[Any]


class Fault(Exception):  # noqa: N818 - a finding, not an error of this program
    """Something does not hold, at this place."""

    def __init__(self, **where: Any) -> None:
        super().__init__(where)
        self.where = where


class Frame(NamedTuple):
    seq: int
    mark: str
    cause: list[Any]
    facts: list[Fact]
    patch: dict[str, Any]


class File(NamedTuple):
    """A record, and its frames as they were found to be."""

    record: Record
    frames: tuple[Frame, ...]

    def facts(self, name: str) -> list[Fact]:
        return [fact for frame in self.frames for fact in frame.facts if fact[0] == name]

    def stored(self) -> Iterator[tuple[int, Stored]]:
        """The commits as the log holds them, from 1 on."""
        for at, row in enumerate(self.record.commits, start=1):
            yield at, read_commit(from_base64url(row.blob))


def read_file(record: Record) -> File:
    """`RecordError` if a frame has another shape."""
    return File(record, tuple(map(_frame, record.frames)))


def _frame(found: Any) -> Frame:
    match found:
        case ["frame", int(seq), str(marked), list(cause), list(facts), dict(patch)]:
            is_named = all(isinstance(fact, list) and fact and fact[0] for fact in facts)
            if type(seq) is int and is_named:
                return Frame(seq, marked, cause, facts, patch)
    raise RecordError("unreadable", "frames", "a frame has another shape")


def need(holds: object, **where: Any) -> None:
    if not holds:
        raise Fault(**where)


def _check_commitment(file: File) -> Where:
    """The server chose its secret before any person sat down, and revealed that same one."""
    record, proof = file.record, file.record.proof
    right = commitment(from_base64url(record.uid), from_base64url(proof.secret))
    need(base64url(right) == proof.commitment, part="secret")
    head = [record.game, record.version, len(record.seats), record.uid, proof.commitment]
    first = file.frames[0].facts if file.frames else []
    created = [fact for fact in first if fact[0] == "room_created"]
    need(created and same(created[0], ["room_created", *head]), frame=1)
    revealed = file.facts("secret_revealed")
    right_ones = [fact for fact in revealed if fact[1:] == [proof.secret]]
    need(revealed and len(right_ones) == len(revealed), frame=len(file.frames))
    return {"commitment": proof.commitment, "secret": proof.secret}


def _check_deals(file: File) -> Where:
    """Every deal before the last was cancelled for all to see and in time, and the deals are those
    that the frames tell of."""
    deals = file.record.proof.deals
    claimed = [["sealed", one.deal, [hand.nonce_hash for hand in one.seats]] for one in deals]
    need(same(file.facts("sealed"), claimed), part="deals")
    for at, one in enumerate(deals, start=1):
        need(one.deal == at and (one.outcome == "cancelled" or at == len(deals)), deal=at)
    cancelled = [one for one in deals if one.outcome == "cancelled"]
    told = [["deal_cancelled", one.deal, one.unseated] for one in cancelled]
    need(same(file.facts("deal_cancelled"), told), part="deals")
    dealt = [["dealt", one.deal] for one in deals if one.outcome == "dealt"]
    need(same(file.facts("dealt"), dealt), part="deals")
    sealed_ms: int | None = None
    open_ms = OPEN_MS // (file.record.sandbox or 1)
    for row, frame in zip(file.record.commits, file.frames, strict=False):
        names = [fact[0] for fact in frame.facts]
        if sealed_ms is not None:
            waited = row.served_ms - sealed_ms
            is_early = "deal_cancelled" in names and waited < open_ms
            need(not is_early and waited <= open_ms + LATE_OPEN_MS, commit=row.seq)
        for name in names:
            if name == "sealed":
                sealed_ms = row.served_ms
            elif name in ("dealt", "deal_cancelled"):
                sealed_ms = None
    return {"deals": len(deals), "cancelled": len(cancelled)}


def _check_nonces(file: File) -> Where:
    """Every nonce is the one whose hash was shown before, and was opened where frames say so."""
    uid = from_base64url(file.record.uid)
    opened = [(seat, nonce) for _, seat, nonce in file.facts("nonce_opened")]
    left, took = set(opened), []
    for one in file.record.proof.deals:
        for seat, hand in enumerate(one.seats):
            place = {"deal": one.deal, "seat": seat}
            if not hand.nonce and not (hand.nonce_hash and one.outcome == "dealt"):
                continue
            right = base64url(nonce_hash(uid, from_base64url(hand.nonce)))
            need(right == hand.nonce_hash and (seat, hand.nonce) in left, **place)
            left.remove((seat, hand.nonce))
            if one.outcome == "dealt":
                took.append(seat)
    need(not left, part="nonces")
    return {"nonces": len(opened), "seats": took}


def _check_seeds(file: File) -> Where:
    """The seed follows from the secret and the nonces, and from nothing else."""
    uid, secret = from_base64url(file.record.uid), from_base64url(file.record.proof.secret)
    seeds = []
    for one in file.record.proof.deals:
        right = ""
        if one.outcome == "dealt":
            nonces = [from_base64url(hand.nonce) if hand.nonce else NO_NONCE for hand in one.seats]
            right = base64url(game_seed(secret, uid, one.deal, nonces))
            seeds.append(right)
        need(one.seed == right, deal=one.deal)
    return {"seeds": seeds}


def _check_draws(file: File) -> Where:
    """All that was drawn follows from the seed."""
    seeds = {one.deal: one.seed for one in file.record.proof.deals}
    acts: dict[tuple[int, int], Act] = {}
    for at, (deal, number, kind, given, result) in enumerate(file.record.draws, start=1):
        need(seeds.get(deal) and type(number) is type(deal) is int, draw=at)
        # An act that draws more than once goes on in its own stream.
        key = deal, number
        act = acts.setdefault(key, Act(from_base64url(seeds[deal]), number))
        if kind == "below":
            need(type(given) is int, draw=at)
            need(same(act.below(given), result), draw=at)
        else:
            need(kind == "shuffle" and same(given, sorted(given)), draw=at)
            need(same(act.shuffle(given), result), draw=at)
    return {"draws": len(file.record.draws)}


def _check_chain(file: File) -> Where:
    """No entry was removed from the log, added or changed, nothing else in the record was changed,
    and the clocks went together."""
    record, before = file.record, START
    times, ids, least = (0, 0), set[str](), None
    for at, row in enumerate(record.commits, start=1):
        commit_id, blob = from_base64url(row.commit_id), from_base64url(row.blob)
        before = link(before, row.wall_ms, row.served_ms, commit_id, blob)
        need(row.seq == at and base64url(before) == row.chain, commit=at)
        need(row.commit_id not in ids, commit=at)
        need(row.wall_ms >= times[0] and row.served_ms >= times[1], commit=at)
        lead = row.served_ms - row.wall_ms
        least = lead if least is None else min(least, lead)
        need(lead - least <= FASTER_MS, commit=at)
        is_there = at <= len(file.frames)
        need(is_there and file.frames[at - 1][:2] == (at, mark(before)), frame=at)
        ids.add(row.commit_id)
        times = row.wall_ms, row.served_ms
    need(len(file.frames) == len(record.commits), part="commits")
    need(base64url(before) == record.chain, part="chain")
    need(seal_of(record) == record.seal, part="seal")
    return {"commits": len(record.commits), "chain": record.chain}


def _check_facts(file: File) -> Where:
    """The facts and causes of frames are those of the log: each event once and in order."""
    told, last = 0, len(file.record.commits)
    operator: Any = ""
    for at, stored in file.stored():
        need(at <= len(file.frames), frame=at)
        if at == 1:
            operator = stored.room[0][OPERATOR]
        frame = file.frames[at - 1]
        is_told = are_told(frame.facts, stored, file.record.game)
        need(same(frame.cause, stored.cause) and is_told, frame=at)
        need(any(fact[0] in ENDS for fact in frame.facts) == (at == last), commit=at)
        need(all(_is_close(stored, event, operator) for event in stored.room), commit=at)
        told += len(frame.facts)
    return {"facts": told}


def _is_close(stored: Stored, event: Fact, operator: Any) -> bool:
    """Whether a close has the reason that its command leads to (P-125)."""
    if event[0] != "room_closed":
        return True
    command, reason = stored.command, event[1]
    if not stored.cause and command:
        closer = command.get("by")
        may_close = closer == "service" or (closer == "operator" and operator != "")
        is_told = same(command, {"command": "close", "by": closer, "reason": reason})
        is_reason = REASON.fullmatch(reason) is not None and reason not in OWN_REASONS
        return may_close and is_told and is_reason
    if not stored.cause:
        return bool(reason == "abandoned")
    is_resigned = {"seat_resigned", "game_over"} <= {each[0] for each in stored.room}
    return bool(reason == ("resigned" if is_resigned else "agreed"))


class Taker(NamedTuple):
    """Who has a seat: a person by the id in this room, or a bot by its level."""

    name: str
    bot: str = ""
    identity: str = ""

    @property
    def shown(self) -> tuple[str, str]:
        return self.name, self.bot


def _bot(level: str) -> Taker:
    return Taker(f"bot {level}", level)


def _check_names(file: File) -> Where:
    """The head and all names are those of the log; each command came from the seat it names."""
    record = file.record
    seats: list[Taker | None] = [None] * len(record.seats)
    deals: list[list[Taker | None]] = []
    for at, stored in file.stored():
        if at == 1:
            need(_is_creation(stored.room, file), commit=at)
            seats = [_bot(level) if level else None for level in stored.room[0][12]] or seats
        else:
            need(all(event[0] != "room_created" for event in stored.room), commit=at)
        # A seat is named as it is before the commit: a person who sits down with it had none.
        if len(stored.cause) == 3:
            held = (n for n, one in enumerate(seats) if one and one.identity == stored.identity)
            need(stored.identity and next(held, -1) == stored.cause[0], commit=at)
        for event in stored.room:
            _seat_with(seats, deals, event)
    named = [None if one is None else (one.name, one.bot) for one in record.seats]
    need(named == [one and one.shown for one in seats], part="seats")
    for at, one in enumerate(record.proof.deals):
        held_then = [taker and taker.shown for taker in deals[at]]
        need([(hand.name, hand.bot) for hand in one.seats] == held_then, deal=at + 1)
    return {"names": [one.name if one else f"{at}" for at, one in enumerate(record.seats, 1)]}


def _is_creation(events: list[Fact], file: File) -> bool:
    """Whether the room was created as the head of the record says."""
    if len(events) != 1 or len(events[0]) != 17:
        return False
    record = file.record
    name, uid, code, game, version, options, count, settings = events[0][:8]
    changed = file.facts("options_changed")
    if changed:
        _, options, settings = changed[-1]
    head = ["room_created", record.uid, record.code, record.game, record.version]
    return (
        same([name, uid, code, game, version, count], [*head, len(record.seats)])
        and same(options, record.options)
        and same({**DEFAULTS, **settings}, record.settings)
    )


def _seat_with(
    seats: list[Taker | None], deals: list[list[Taker | None]], event: list[Any]
) -> None:
    """Who has which seat after an event, and who had which when a deal was sealed."""
    match event:
        case ["person_sat", seat, identity, name, *_]:
            _put(seats, seat, Taker(name, "", identity))
        case ["person_renamed", seat, name]:
            held = [each for at, each in enumerate(seats) if each and at == seat]
            need(held and held[0].identity, part="seats")
            _put(seats, seat, held[0]._replace(name=name))
        case ["bot_sat", seat, level]:
            _put(seats, seat, _bot(level))
        case ["seat_left" | "seat_kicked", seat]:
            _put(seats, seat, None)
        case ["deal_cancelled", _, unseated]:
            for seat in unseated:
                _put(seats, seat, None)
        case ["sealed", *_]:
            deals.append(list(seats))


def _put(seats: list[Taker | None], seat: Any, taker: Taker | None) -> None:
    need(type(seat) is int and 0 <= seat < len(seats), part="seats")
    seats[seat] = taker


def _check_result(file: File) -> Where:
    """The frames lead to the result that the record claims."""
    record, view = file.record, dict[str, Any]()
    for frame in file.frames:
        view = apply(view, frame.patch)
    room = view.get("room", {})
    claimed: dict[str, Any] = {"closed": record.closed}
    if record.result is not None:
        claimed["result"] = msgspec.to_builtins(record.result)
    told = {"closed": ""} | {key: room[key] for key in ("closed", "result") if key in room}
    head = [room.get("status"), room.get("uid"), room.get("code")]
    is_right = same(claimed, told) and same(head, ["over", record.uid, record.code])
    need(is_right, frame=len(file.frames))
    return claimed


STEPS: Final[Mapping[str, Callable[[File], Where]]] = {
    "commitment": _check_commitment,
    "deals": _check_deals,
    "nonces": _check_nonces,
    "seed": _check_seeds,
    "draws": _check_draws,
    "chain": _check_chain,
    "facts": _check_facts,
    "names": _check_names,
    "result": _check_result,
}
"""By name, in the order in which the proof is built."""
