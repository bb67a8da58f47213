"""What is in the record of a game, and how it is written to and read from one JSON file.

Bytes are base64url text without padding. What a reader gets from here has the right shape and
nothing more: whether it is true is for `verify`. Any input gives a record or a `RecordError`.
"""

from typing import Annotated, Any, Final, Literal

import msgspec

from towerhall_protocol.codec import CodecError, Limits, decode_json
from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.fairness import NONCE_BYTES, SECRET_BYTES, UID_BYTES
from towerhall_protocol.merge_patch import same
from towerhall_server.eventlog.entry import CHAIN_BYTES, COMMIT_ID_BYTES, Entry, Stamps
from towerhall_server.game import Result
from towerhall_server.room.commits import decode_commit
from towerhall_server.room.events import RoomCreated
from towerhall_server.room.seats import HASH_BYTES

FORMAT: Final = 1
LIMITS: Final = Limits(
    message_bytes=1 << 26, string_bytes=1 << 20, array_items=1 << 17, map_items=1 << 12, depth=32
)
"""Far beyond any game, and little enough for any machine."""

Count = Annotated[int, msgspec.Meta(ge=0)]


class RecordError(Exception):
    """What was given is no record; `code` is stable."""

    def __init__(self, code: str, where: str, detail: str) -> None:
        super().__init__(f"{where}: {detail}")
        self.code, self.where, self.detail = code, where, detail


class _Part(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    pass


class Row(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One commit, as the log held it."""

    seq: Count
    commit_id: str
    chain: str
    blob: str
    wall_ms: Count
    served_ms: Count


class Taken(_Part, frozen=True):
    """A seat, and whose it was: a person's by name, a bot's also by level."""

    name: str
    bot: str = ""


class Hand(_Part, frozen=True):
    """What a seat put into a deal: nothing unless its client showed the hash of a nonce."""

    name: str
    bot: str = ""
    nonce_hash: str = ""
    nonce: str = ""
    """Shown later than the hash, when nothing could be changed any more."""


class Deal(_Part, frozen=True):
    """One deal, dealt or not."""

    deal: int
    outcome: Literal["dealt", "cancelled", "closed"]
    """`closed`: the room ended before all nonces were open."""
    seats: tuple[Hand, ...]
    unseated: tuple[int, ...] = ()
    """Who did not open in time, and so cancelled it."""
    seed: str = ""
    """From which all draws follow, if it was dealt."""


class Proof(_Part, frozen=True):
    """What chance was made of."""

    commitment: str
    secret: str
    deals: tuple[Deal, ...]


class Record(_Part, frozen=True):
    """A finished game."""

    format: int
    code: str
    uid: str
    game: str
    version: int
    options: dict[str, Any]
    settings: dict[str, Any]
    seats: tuple[Taken | None, ...]
    commits: tuple[Row, ...]
    chain: str
    """After the last commit: its first 11 characters are the mark that clients saw last."""
    seal: str
    """One more link, without a commit: it binds the times of the last one."""
    frames: tuple[Any, ...]
    """What a spectator got, as on the wire, from the first commit on."""
    draws: tuple[Any, ...]
    """`[deal, act, "shuffle", sorted items, result]` or `[deal, act, "below", bound, result]`."""
    proof: Proof
    result: Result | None = None
    closed: str = ""
    """Why there is no result."""


def write(record: Record) -> bytes:
    """The file."""
    return msgspec.json.encode(record)


def key_hash_of(data: bytes) -> bytes:
    """Of the key that guards a kept record, as it guarded the room; nothing if it was public."""
    first = decode_commit(
        from_base64url(msgspec.json.decode(data, type=_Commits).commits[0].blob), None
    )
    created = first.room[0]
    return created.key_hash if isinstance(created, RoomCreated) else b""


class _Commits(msgspec.Struct, frozen=True):
    commits: tuple[Row, ...]


def as_read(record: Record) -> Record:
    """The record as somebody gets it who reads the file: plain documents inside."""
    return msgspec.json.decode(write(record), type=Record)


def read(data: bytes) -> Record:
    """The record in a file from anywhere."""
    try:
        document = decode_json(data, LIMITS)
    except CodecError as error:
        raise RecordError("unreadable", "the file", error.detail) from None
    found = document.get("format") if isinstance(document, dict) else None
    if type(found) is not int:
        raise RecordError("unreadable", "the file", "it is no record of a game")
    if found != FORMAT:
        raise RecordError("unknown_format", "the file", f"format {found} is not known here")
    try:
        record = msgspec.convert(document, Record)
    except msgspec.ValidationError as error:
        raise RecordError("unreadable", "the file", str(error)) from None
    if not same(document, msgspec.json.decode(write(record))):
        raise RecordError("unreadable", "the file", "it holds things that are no part of a record")
    _check_bytes(record)
    return record


def entries_of(record: Record) -> tuple[Entry, ...]:
    """The log that the commits were."""
    return tuple(
        Entry(
            row.seq,
            from_base64url(row.commit_id),
            from_base64url(row.chain),
            from_base64url(row.blob),
            Stamps(row.wall_ms, row.served_ms),
        )
        for row in record.commits
    )


def rows_of(entries: tuple[Entry, ...]) -> tuple[Row, ...]:
    return tuple(
        Row(
            entry.seq,
            base64url(entry.commit_id),
            base64url(entry.chain),
            base64url(entry.blob),
            entry.stamps.wall_ms,
            entry.stamps.served_ms,
        )
        for entry in entries
    )


def _check_bytes(record: Record) -> None:
    proof = record.proof
    _sized("uid", record.uid, UID_BYTES)
    _sized("chain", record.chain, CHAIN_BYTES)
    _sized("seal", record.seal, CHAIN_BYTES)
    _sized("proof, commitment", proof.commitment, HASH_BYTES)
    _sized("proof, secret", proof.secret, SECRET_BYTES)
    for deal in proof.deals:
        if deal.seed:
            _sized(f"deal {deal.deal}, seed", deal.seed, HASH_BYTES)
        for seat, hand in enumerate(deal.seats):
            place = f"deal {deal.deal}, seat {seat}"
            if hand.nonce_hash:
                _sized(place, hand.nonce_hash, HASH_BYTES)
            if hand.nonce:
                _sized(place, hand.nonce, NONCE_BYTES)
    if not record.commits:
        raise RecordError("unreadable", "commits", "there is none")
    for row in record.commits:
        place = f"commit {row.seq}"
        _sized(place, row.commit_id, COMMIT_ID_BYTES)
        _sized(place, row.chain, CHAIN_BYTES)
        _sized(place, row.blob)


def _sized(where: str, text: str, size: int | None = None) -> None:
    try:
        data = from_base64url(text)
    except ValueError:
        raise RecordError("unreadable", where, "it is not base64url") from None
    if size is not None and len(data) != size:
        raise RecordError("unreadable", where, f"it has {len(data)} bytes instead of {size}")
