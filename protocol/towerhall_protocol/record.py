"""The record of a finished game: its parts, and how one file holds them (P-120).

Bytes are base64url text without padding. A record from here has the right shape and
nothing more: whether it is true is for `check_record`. Any input gives a record or a `RecordError`.
"""

from typing import Annotated, Any, Final, Literal

import msgspec

from towerhall_protocol.chain import seal
from towerhall_protocol.codec import CodecError, CodecLimits, decode_json
from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.fairness import NONCE_BYTES, SECRET_BYTES, UID_BYTES
from towerhall_protocol.merge_patch import same
from towerhall_protocol.public_log import Logged
from towerhall_protocol.statements import CHAIN_BYTES, Sign, Statement

FORMAT: Final = 2
LIMITS: Final = CodecLimits(
    message_bytes=1 << 26, string_bytes=1 << 20, array_items=1 << 17, map_items=1 << 12, depth=32
)
"""Far beyond any game, and little enough for any machine."""
COMMIT_ID_BYTES: Final = 16
HASH_BYTES: Final = 32

Count = Annotated[int, msgspec.Meta(ge=0)]


class RecordError(Exception):
    """The input is no record; `code` is stable."""

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


class Result(msgspec.Struct, frozen=True):
    """How a game ended: a score and a place for every seat; equal places share."""

    scores: tuple[int, ...]
    places: tuple[int, ...]


class Taken(_Part, frozen=True):
    """A seat, and whose it was: a person's by name, a bot's also by level."""

    name: str
    bot: str = ""


class Hand(_Part, frozen=True):
    """A seat's part in a deal: nothing unless its client showed the hash of a nonce."""

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
    """The sources of chance."""

    commitment: str
    secret: str
    deals: tuple[Deal, ...]


class Signed(_Part, frozen=True):
    """The server's signature of the end: room, commitment, last seq and chain."""

    key: str
    signature: str


class Record(_Part, frozen=True):
    """A finished game, up to the commit that ended it."""

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
    """After the last commit."""
    seal: str
    """Binds everything else to that chain, except for `signed` and `log`."""
    frames: tuple[Any, ...]
    """A spectator's frames, as on the wire, from the first commit on."""
    draws: tuple[Any, ...]
    """`[deal, act, "shuffle", sorted items, result]` or `[deal, act, "below", bound, result]`."""
    proof: Proof
    result: Result | None = None
    closed: str = ""
    """Why there is no result."""
    signed: Signed | None = None
    log: Logged | None = None
    """The proof that the public log has the seal of this record; not under the seal itself."""

    @property
    def sandbox(self) -> int:
        """How fast the clocks of a sandbox room ran (P-190); 0: an ordinary room."""
        speed = self.settings.get("sandbox", 0)
        return speed if type(speed) is int else 0


def write(record: Record) -> bytes:
    """The file."""
    return msgspec.json.encode(record)


def sealed(record: Record) -> Record:
    """The record with the seal that fits it."""
    return msgspec.structs.replace(record, seal=seal_of(as_read(record)))


def signed(record: Record, sign: Sign) -> Record:
    """The record with the server's signature of its end, if there is a key. A server signs nothing
    about a sandbox room."""
    signature = None if record.sandbox else sign(end_of(record))
    if signature is None:
        return record
    return msgspec.structs.replace(record, signed=Signed(*signature))


def end_of(record: Record) -> Statement:
    """The server's words about the end of the room."""
    return Statement(
        from_base64url(record.uid),
        from_base64url(record.proof.commitment),
        record.commits[-1].seq,
        from_base64url(record.chain),
    )


def seal_of(record: Record) -> str:
    """The seal that fits a record that was read."""
    return base64url(seal(from_base64url(record.chain), msgspec.to_builtins(record)))


def as_read(record: Record) -> Record:
    """The record as a reader of the file gets it: plain documents inside."""
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
