"""The public log of a service, read and checked from outside.

Nothing that the service says is believed: what it signs is held against what it signed before, and
against its leaves. A `LogFault` is what must not be; it carries the signed checkpoints that show
it. To check signatures the package `cryptography` is needed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias, TypeVar

import msgspec

from towerhall_client.errors import ServiceError
from towerhall_client.web import Web, read
from towerhall_protocol.commands import from_base64url
from towerhall_protocol.merkle import (
    HASH_BYTES,
    TILE_HASHES,
    Edge,
    Span,
    Subtree,
    Tile,
    complete,
    consistency_spans,
    edge_root,
    grown,
    in_tile,
    leaf_hash,
    proves_consistency,
    span_hash,
    tile_of,
    tiles_of,
)
from towerhall_protocol.notes import (
    ED25519,
    BadNoteError,
    Checkpoint,
    VerifierKey,
    read_checkpoint,
    read_note,
    signer_of,
)
from towerhall_protocol.public_log import Census, Ended, Logged, Opened, proof_problem, unbundled
from towerhall_protocol.statements import PUBLIC_KEY_BYTES
from towerhall_protocol.tile_paths import TilePath

LOG: Final = "/v1/log"
WELL_KNOWN: Final = "/.well-known/towerhall"
Found = TypeVar("Found")
Report: TypeAlias = Callable[[int, int], None]
"""Told how many leaves were read, and how many there are."""


class LogFault(Exception):  # noqa: N818 - a finding, not an error of this program
    """The log is not what it must be. `code` is stable."""

    def __init__(self, code: str, detail: str, *evidence: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code, self.detail = code, detail
        self.evidence = evidence
        """Signed checkpoints that cannot all be true of one log."""


class Signed(msgspec.Struct, frozen=True):
    """A checkpoint, and the note in which the log has signed it."""

    checkpoint: Checkpoint
    note: str


class Memory(msgspec.Struct, frozen=True):
    """An observer's memory of a log from one look to the next."""

    origin: str
    keys: tuple[str, ...]
    """Public keys that the log may sign with. A key is added while another one of them signs."""
    checkpoint: str

    @property
    def signed(self) -> Signed:
        return Signed(read_checkpoint(read_note(self.checkpoint).text), self.checkpoint)


class Numbers(msgspec.Struct, frozen=True):
    """The service's description of its log."""

    size: int
    opened: int
    ended: int
    dropped: int
    open: int
    open_long: int
    long_days: int


class _Key(msgspec.Struct, frozen=True):
    public: str


class _WellKnown(msgspec.Struct, frozen=True):
    keys: tuple[_Key, ...] = ()
    origin: str = ""


class RemoteLog:
    """The log of one service, by the address that its page has."""

    def __init__(self, url: str) -> None:
        self._web = Web(url)

    async def look(self, memory: Memory | None = None) -> tuple[Signed, Memory]:
        """The newest checkpoint, signed by a key that the log may sign with; and what to keep."""
        known = read(await self._get(WELL_KNOWN), _WellKnown)
        if not known.origin or not known.keys:
            raise ServiceError("not_found", f"{self._web.url} has no public log")
        origin = known.origin if memory is None else memory.origin
        published = tuple(key.public for key in known.keys)
        trusted = published if memory is None else memory.keys
        note = (await self._get(f"{LOG}/checkpoint")).decode(errors="replace")
        signed = checked(note, origin, trusted, published)
        if gone := [key for key in trusted if key not in published]:
            raise LogFault("key_gone", f"key {gone[0]} is not published any more", note)
        return signed, Memory(origin, tuple(dict.fromkeys([*trusted, *published])), note)

    async def prove(self, old: Signed, new: Signed) -> None:
        """See that one checkpoint continues another one; `LogFault` if it does not."""
        before, after = old.checkpoint, new.checkpoint
        compared(old, new)
        proof = await self._hashes(consistency_spans(before.size, after.size), after.size)
        if not proves_consistency(before.size, before.root, after.size, after.root, proof):
            raise LogFault("rewritten", _differ(before, after), old.note, new.note)

    async def leaves(self, signed: Signed, report: Report | None = None) -> list[bytes]:
        """All leaves of a checkpoint, held against its root."""
        size, found = signed.checkpoint.size, list[bytes]()
        edge = Edge()
        for number in range(-(-size // TILE_HASHES)):
            width = min(TILE_HASHES, size - number * TILE_HASHES)
            data = await self._part(TilePath(None, number, width), signed)
            leaves = unbundled(data)
            if leaves is None or len(leaves) != width:
                detail = f"bundle {number} does not hold the {width} leaves that are signed"
                raise LogFault("missing", detail, signed.note)
            edge, _ = grown(edge, map(leaf_hash, leaves))
            found += leaves
            if report is not None:
                report(len(found), size)
        if edge_root(edge) != signed.checkpoint.root:
            detail = f"the {size} leaves do not lead to the root that is signed"
            raise LogFault("missing", detail, signed.note)
        return found

    async def check_tiles(self, signed: Signed, leaves: Sequence[bytes]) -> None:
        """Hold the tiles, from which others take their proofs, against the leaves."""
        tiles = dict[tuple[int, int], bytes]()
        for level, number, data in grown(Edge(), map(leaf_hash, leaves))[1]:
            tiles[level, number] = tiles.get((level, number), b"") + data
        for level, number, width in tiles_of(len(leaves)):
            if await self._part(TilePath(level, number, width), signed) != tiles[level, number]:
                detail = f"tile {number} of level {level} is not that of the leaves"
                raise LogFault("missing", detail, signed.note)

    async def numbers(self) -> Numbers:
        return read(await self._get(LOG), Numbers)

    async def post(self, size: int, line: str) -> None:
        """Give the log a cosignature."""
        await self._patiently(
            lambda: self._web.ask(
                "POST", f"{LOG}/cosignatures", {"size": size, "cosignature": line}
            )
        )

    async def _hashes(self, spans: Sequence[Span], size: int) -> list[bytes]:
        subtrees = [subtree for span in spans for subtree in complete(span)]
        tiles = dict[Tile, bytes]()
        for tile in sorted({tile_of(subtree, size) for subtree in subtrees}):
            data = await self._get(f"{LOG}/tile/{TilePath(*tile)}")
            # A tile that is too short proves nothing, and so is found out.
            tiles[tile] = data.ljust(HASH_BYTES * tile.width, b"\0")

        def node(subtree: Subtree) -> bytes:
            return in_tile(tiles[tile_of(subtree, size)], subtree)

        return [span_hash(span, node) for span in spans]

    async def _part(self, path: TilePath, signed: Signed) -> bytes:
        try:
            return await self._get(f"{LOG}/tile/{path}")
        except ServiceError as error:
            if error.status != 404:
                raise
            detail = f"{path} is not there, though it is signed"
            raise LogFault("missing", detail, signed.note) from None

    async def _get(self, path: str) -> bytes:
        return await self._patiently(lambda: self._web.ask("GET", path))

    async def _patiently(self, asking: Callable[[], Awaitable[Found]]) -> Found:
        """Ask as often as the service allows."""
        while True:
            try:
                return await asking()
            except ServiceError as error:
                if error.code != "too_many" or error.retry_ms is None:
                    raise
                await asyncio.sleep(error.retry_ms / 1000)


def checked(note: str, origin: str, trusted: Sequence[str], published: Sequence[str]) -> Signed:
    """A checkpoint that one of the trusted keys has signed."""
    try:
        found = read_note(note)
        checkpoint = read_checkpoint(found.text)
    except BadNoteError as error:
        raise LogFault("unsigned", f"the checkpoint cannot be read: {error}") from None
    if checkpoint.origin != origin:
        raise LogFault("other_log", f"the checkpoint is one of {checkpoint.origin}", note)
    if signer_of(found, verifiers(origin, trusted)) is None:
        if signer_of(found, verifiers(origin, published)) is not None:
            detail = "the log signs with a key that was not published while an earlier one signed"
            raise LogFault("strange_key", detail, note)
        raise LogFault("unsigned", "no published key has signed the checkpoint", note)
    return Signed(checkpoint, note)


def verifiers(origin: str, keys: Sequence[str]) -> tuple[VerifierKey, ...]:
    """The keys that may sign checkpoints of a log."""
    found = []
    for text in keys:
        try:
            public = from_base64url(text)
        except ValueError:
            continue
        if len(public) == PUBLIC_KEY_BYTES:
            found.append(VerifierKey(origin, ED25519, public))
    return tuple(found)


def compared(old: Signed, new: Signed) -> None:
    """The difference that two checkpoints show without any proof."""
    before, after = old.checkpoint, new.checkpoint
    if after.size < before.size:
        detail = f"the log had {before.size} leaves, and has {after.size} now"
        raise LogFault("shortened", detail, old.note, new.note)
    if after.size == before.size and after.root != before.root:
        detail = f"there are two logs of {after.size} leaves with different roots"
        raise LogFault("forked", detail, old.note, new.note)


def check_beginning(old: Signed, new: Signed, leaves: Sequence[bytes]) -> None:
    """See that a checkpoint was one of the log that has these leaves now."""
    compared(old, new)
    edge, _ = grown(Edge(), map(leaf_hash, leaves[: old.checkpoint.size]))
    if edge_root(edge) != old.checkpoint.root:
        detail = _differ(old.checkpoint, new.checkpoint)
        raise LogFault("rewritten", detail, old.note, new.note)


def check_leaves(leaves: Sequence[bytes], note: str = "") -> Census:
    """See that each room is opened once, and closed once at most."""
    census = Census()
    for number, leaf in enumerate(leaves):
        problem = census.take(leaf)
        if problem is not None:
            raise LogFault("bad_leaf", f"leaf {number}: {problem}", note)
    return census


def check_record(
    parts: tuple[Opened, Ended, Logged | None],
    census: Census,
    leaves: Sequence[bytes],
    new: Signed,
    keys: Sequence[str],
) -> None:
    """See that the log has this record and no other one of its room."""
    opened, ended, logged = parts
    commitment, closed = census.commitments.get(ended.uid), census.closed.get(ended.uid)
    if commitment is None:
        raise LogFault("not_logged", f"room {ended.uid} was never opened in this log", new.note)
    if commitment != opened.commitment:
        detail = f"room {ended.uid} was opened with another commitment"
        raise LogFault("other_commitment", detail, new.note)
    if closed is None:
        raise LogFault("not_logged", f"the log has no end of room {ended.uid}", new.note)
    if closed != ended:
        raise LogFault("other_record", f"the log has another end of room {ended.uid}", new.note)
    if logged is None:
        return
    problem = proof_problem(ended, logged)
    if problem is not None:
        raise LogFault("bad_proof", f"the proof in the record does not hold: {problem}")
    old = checked(logged.checkpoint, new.checkpoint.origin, keys, keys)
    check_beginning(old, new, leaves)


def _differ(before: Checkpoint, after: Checkpoint) -> str:
    return f"the log of {after.size} leaves does not begin with the one of {before.size}"
