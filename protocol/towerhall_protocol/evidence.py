"""The evidence that a client keeps of a room, and how it is compared with the record (P-87).

A record alone can only show that it fits together. That it is the game which this client saw, the
client shows with what it kept: the commitment, its own nonces, and chains that the server told.

`Collector` gathers evidence from what a `Replay` takes in. Nothing here reads or writes files.
"""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Final, Literal

import msgspec

from towerhall_protocol.chain import MARK_LENGTH, mark
from towerhall_protocol.codec import canonical_json
from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.document import Document
from towerhall_protocol.merge_patch import apply
from towerhall_protocol.messages import Arrival
from towerhall_protocol.statements import CHAIN_BYTES

MOST_MARKED: Final = 64
"""Places with a reason or a signature that are kept."""
MOST_OTHERS: Final = 32
"""Places without either that are kept besides the first one: the newest."""
PATCH: Final = 5
"""Where a frame has its patch."""
ANYWHERE: Final = 0
"""The seq, or the deal, of what a person remembers without its place."""

Why = Literal["", "seal", "end"]
Code = Literal["room", "commitment", "nonce", "chain", "view", "short", "long"]


class Place(msgspec.Struct, frozen=True, omit_defaults=True):
    """The server said that the log led to this chain at this seq."""

    seq: int
    chain: str
    key: str = ""
    signature: str = ""
    view: str = ""
    """The hash of the view at that seq, if spectators saw the same."""
    why: Why = ""
    """`seal`: a deal was sealed there. `end`: the room ended there."""


class Evidence(msgspec.Struct, frozen=True, omit_defaults=True):
    """A client's evidence of one room. A person may remember less: an empty text is not
    compared, and a mark may stand for its chain."""

    uid: str
    code: str
    commitment: str
    nonces: dict[str, str] = {}
    """By deal: the nonce that this client opened."""
    places: tuple[Place, ...] = ()
    """By seq. Two of one seq: the server said two different things."""


class Difference(msgspec.Struct, frozen=True):
    """Something in a record is not what this client saw: at a seq, in a deal, or as a whole (0)."""

    code: Code
    at: int = 0


def with_place(evidence: Evidence, place: Place) -> Evidence:
    """The evidence with one more place, in bounded size."""
    places = list(evidence.places)
    for number, known in enumerate(places):
        if (known.seq, known.chain) == (place.seq, place.chain):
            places[number] = _joined(known, place)
            break
    else:
        places.append(place)
    places.sort(key=lambda each: each.seq)
    first, *rest = places
    marked = [each for each in rest if each.why or each.signature][-MOST_MARKED:]
    others = [each for each in rest if not (each.why or each.signature)][-MOST_OTHERS:]
    kept = [each for each in rest if each in marked or each in others]
    return msgspec.structs.replace(evidence, places=(first, *kept))


def with_nonce(evidence: Evidence, deal: int, nonce: str) -> Evidence:
    """The evidence with the nonce that this client opened for a deal."""
    return msgspec.structs.replace(evidence, nonces={**evidence.nonces, str(deal): nonce})


def view_hash(view: Document) -> str:
    """The hash of a view."""
    return base64url(sha256(canonical_json(view)).digest())


def read_evidence(data: bytes) -> Evidence:
    """The evidence in a file. Raises `ValueError` if the file holds none."""
    kept = msgspec.json.decode(data, type=Evidence)
    if not (kept.uid and kept.code and kept.commitment):
        raise ValueError("it names no room")
    for place in kept.places:
        if place.seq < 1 or len(from_base64url(place.chain)) != CHAIN_BYTES:
            raise ValueError(f"{place.chain!r} at {place.seq} is no place of a log")
    return kept


def compare(evidence: Evidence, record: Mapping[str, Any]) -> tuple[Difference, ...]:
    """The points on which a record contradicts this client's evidence. The record must have the
    shape of P-120; whether it fits together is for others to check."""
    for name, kept in (("uid", evidence.uid), ("code", evidence.code)):
        if kept and record[name] != kept:
            return (Difference("room"),)
    proof, commits, frames = record["proof"], record["commits"], record["frames"]
    found: list[Difference] = []
    if evidence.commitment and proof["commitment"] != evidence.commitment:
        found.append(Difference("commitment"))
    opened = {
        (deal, hand.get("nonce"))
        for each in proof["deals"]
        for hand in each["seats"]
        for deal in (str(each["deal"]), str(ANYWHERE))
    }
    for deal, nonce in evidence.nonces.items():
        if (deal, nonce) not in opened:
            found.append(Difference("nonce", int(deal)))
    views = _views(frames, {place.seq for place in evidence.places if place.view})
    for place in evidence.places:
        if place.seq > len(commits):
            found.append(Difference("short", place.seq))
            continue
        rows = commits if place.seq == ANYWHERE else commits[place.seq - 1 : place.seq]
        if not any(_is_of(place.chain, row[2]) for row in rows):
            found.append(Difference("chain", place.seq))
        if place.view and views.get(place.seq) != place.view:
            found.append(Difference("view", place.seq))
        if place.why == "end" and place.seq < len(commits):
            found.append(Difference("long", place.seq))
    return tuple(found)


class Collector:
    """Gathers evidence while a room is watched."""

    def __init__(self, recall: Callable[[str], Evidence | None] = lambda uid: None) -> None:
        """`recall` finds what was kept of a room before, by its uid."""
        self.evidence: Evidence | None = None
        self._recall = recall
        self._shared = False
        self._over = False
        """Whether the room has ended: what comes after that is in no record."""
        self._why: Why = ""
        """Why the newest commit is kept."""
        self._awaited: dict[int, Place] = {}
        """Places that were told before the view is there."""
        self._opening: dict[int, tuple[int, str]] = {}

    def arrive(self, view: Document, arrival: Arrival) -> None:
        """A connection stands, with this view."""
        self._shared = arrival.shared
        self._awaited.clear()
        self.replace(view)
        if arrival.chain is not None and not self._over:
            self._awaited[arrival.chain[0]] = Place(*arrival.chain)
            self._settle(arrival.cursor.seq, view, arrival.seat)

    def replace(self, view: Document) -> None:
        """Another view is shown instead of the one before."""
        room = _room(view)
        uid, code, commitment = (str(room.get(key, "")) for key in ("uid", "code", "commitment"))
        if self.evidence is None and uid and code and commitment:
            self.evidence = self._recall(uid) or Evidence(uid, code, commitment)
        self._over, self._why = room.get("status") == "over", ""

    def move(
        self, seq: int, facts: tuple[tuple[Any, ...], ...], view: Document, seat: int | None
    ) -> None:
        """A commit was added to the view."""
        was_over, self._why = self._over, ""
        self._over = _room(view).get("status") == "over"
        if was_over:
            self._awaited.clear()
        elif self._over:
            self._why = "end"
        elif any(fact[0] == "sealed" for fact in facts):
            self._why = "seal"
        self._settle(seq, view, seat)

    def tell(self, place: Place, seq: int, view: Document, seat: int | None) -> None:
        """The server told the chain, while the view is at that seq."""
        if self._over and not (self._why == "end" and place.seq == seq):
            return
        self._awaited[place.seq] = place
        self._settle(seq, view, seat)

    def open(self, n: int, view: Document, nonce: str) -> None:
        """Command n opens a nonce."""
        deal = _room(view).get("deal")
        if isinstance(deal, int):
            self._opening[n] = (deal, nonce)

    def opened(self, n: int, *, done: bool) -> None:
        """Command n was done, or was not."""
        opening = self._opening.pop(n, None)
        if done and opening is not None and self.evidence is not None:
            self.evidence = with_nonce(self.evidence, *opening)

    def _settle(self, seq: int, view: Document, seat: int | None) -> None:
        """Keep a place that the view has reached, or has passed by."""
        for number in [each for each in self._awaited if each <= seq]:
            place = self._awaited.pop(number)
            if number == seq:
                seen = view_hash(view) if self._shared or seat is None else ""
                place = msgspec.structs.replace(place, view=seen, why=self._why)
            if self.evidence is not None:
                self.evidence = with_place(self.evidence, place)


def _joined(one: Place, other: Place) -> Place:
    """Two messages about one place."""
    signed = one if one.signature else other
    return Place(
        one.seq,
        one.chain,
        signed.key,
        signed.signature,
        one.view or other.view,
        one.why or other.why,
    )


def _is_of(kept: str, chain: str) -> bool:
    """Whether a kept chain, or its short form, is that of a record."""
    return kept == (mark(from_base64url(chain)) if len(kept) == MARK_LENGTH else chain)


def _views(frames: Any, wanted: set[int]) -> dict[int, str]:
    """The hashes of the views at some seqs, as frames of spectators lead to them. What is no frame
    leads to no view, and neither does anything after it."""
    view: Document = {}
    found = {}
    for seq, frame in enumerate(frames[: max(wanted, default=0)], start=1):
        try:
            view = apply(view, frame[PATCH])
        except (TypeError, IndexError, KeyError, AttributeError):
            break
        if seq in wanted:
            found[seq] = view_hash(view)
    return found


def _room(view: Document) -> Mapping[str, Any]:
    room = view.get("room")
    return room if isinstance(room, dict) else {}
