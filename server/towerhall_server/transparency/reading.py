"""Public requests to the log: checkpoints, tiles, entries, counts, proofs, cosignatures.

Every answer is read from the store; no node's state is needed. Proofs read a few tiles.
"""

from collections.abc import Sequence
from time import time
from typing import Any, Final

import msgspec

from towerhall_protocol.merkle import (
    HASH_BYTES,
    TILE_HASHES,
    Span,
    Subtree,
    complete,
    in_tile,
    inclusion_spans,
    root_of,
    span_hash,
    tile_at,
    tile_of,
)
from towerhall_protocol.notes import (
    BadNoteError,
    Checkpoint,
    Note,
    SignatureLine,
    VerifierKey,
    cosigned_at,
    is_signed_by,
    read_checkpoint,
    read_line,
    read_note,
)
from towerhall_protocol.public_log import Logged, bundled, kind_of, logged_of, read_leaf
from towerhall_server.signing.signer import Signer
from towerhall_server.transparency.store import LONG_DAYS, LogStore

AHEAD_SECONDS: Final = 300
"""Seconds that the clock of a witness may be ahead."""


class _Cosigned(msgspec.Struct, frozen=True):
    size: int
    line: str


class UnknownWitnessError(Exception):
    """The cosignature is of no witness that the operator has listed."""


class NotCosignedError(Exception):
    """The cosignature is not of this log; the message says why."""


class PublicLog:
    """The public side of the log."""

    def __init__(
        self, store: LogStore, signer: Signer, origin: str, witnesses: Sequence[VerifierKey] = ()
    ) -> None:
        self._store, self._signer = store, signer
        self.origin = origin
        self.witnesses = tuple(witnesses)
        self.verifier = signer.verifier(origin)

    async def checkpoint(self) -> str | None:
        """Return the newest checkpoint, with its cosignatures."""
        text = (await self._store.head()).checkpoint
        if not text:
            return None
        note = read_note(text)
        size = read_checkpoint(note.text).size
        lines = [line for at, line in (await self._cosigned()).values() if at == size]
        return str(Note(note.text, (*note.signatures, *lines)))

    async def tile(self, level: int, number: int, width: int) -> bytes | None:
        """Return that many hashes of a tile; None if the log does not have them yet."""
        size = await self._signed_size()
        tile = tile_at(level, number, size)
        if not 0 < width <= tile.width:
            return None
        return (await self._store.tiles([tile]))[tile][: HASH_BYTES * width]

    async def entries(self, number: int, width: int) -> bytes | None:
        """Return that many leaves of a bundle; None if the log does not have them yet."""
        size = await self._signed_size()
        if not 0 < width <= size - number * TILE_HASHES:
            return None
        if width == TILE_HASHES:
            return await self._store.bundle(number)
        return b"".join(map(bundled, (await self._store.leaves(number))[:width]))

    async def about(self) -> dict[str, Any]:
        """Return the counts of the log."""
        head, counts = await self._store.head(), await self._store.counts()
        cosigned = await self._cosigned()
        return {
            "origin": self.origin,
            "size": head.size,
            **msgspec.to_builtins(counts),
            "long_days": LONG_DAYS,
            "witnesses": [
                {"name": name, "size": size, "time": 1000 * (cosigned_at(line) or 0)}
                for name, (size, line) in sorted(cosigned.items())
            ],
            "cosigned": await self._newest_cosigned(cosigned),
        }

    async def proof(self, debt: bytes) -> Logged | None:
        """Prove that the last of these leaves is in the log; None if it is not there yet."""
        text = debt.split(b"\n")[-1]
        leaf, head = read_leaf(text), await self._store.head()
        if leaf is None or not head.checkpoint:
            return None
        (index,) = await self._store.indices([(kind_of(leaf), leaf.uid)])
        size = read_checkpoint(read_note(head.checkpoint).text).size
        if index is None or index >= size:
            return None
        number, at = divmod(index, TILE_HASHES)
        if (await self._store.leaves(number))[at] != text:
            return None
        proof = await self._hashes(inclusion_spans(index, size), size)
        return logged_of(index, size, proof, head.checkpoint)

    async def cosign(self, size: int, text: str) -> None:
        """Accept the cosignature of a witness for the log of that size."""
        try:
            line = read_line(text)
        except BadNoteError as error:
            raise NotCosignedError(str(error)) from None
        key = self._witness(line)
        if not 0 <= size <= await self._signed_size():
            raise NotCosignedError(f"there is no checkpoint of {size} leaves yet")
        (root,) = await self._hashes([(0, size)], size) if size else (root_of(0, _nothing),)
        checkpoint = Checkpoint(self.origin, size, root).text
        if not is_signed_by(checkpoint, line, key):
            raise NotCosignedError("it does not sign what this log was at that size")
        if (cosigned_at(line) or 0) > time() + AHEAD_SECONDS:
            raise NotCosignedError("its time is in the future")
        before = (await self._cosigned()).get(key.name)
        if before is None or before[0] <= size:
            await self._store.cosign(key.name, msgspec.json.encode(_Cosigned(size, str(line))))

    def _witness(self, line: SignatureLine) -> VerifierKey:
        for key in self.witnesses:
            if (key.name, key.key_id) == (line.name, line.key_id):
                return key
        raise UnknownWitnessError

    async def _cosigned(self) -> dict[str, tuple[int, SignatureLine]]:
        """Return the newest cosignature of each listed witness: size and line."""
        found = {}
        for name, data in (await self._store.cosigned()).items():
            kept = msgspec.json.decode(data, type=_Cosigned)
            line = read_line(kept.line)
            if any((key.name, key.key_id) == (name, line.key_id) for key in self.witnesses):
                found[name] = kept.size, line
        return found

    async def _newest_cosigned(self, cosigned: dict[str, tuple[int, SignatureLine]]) -> str:
        """Return the newest checkpoint that a witness has cosigned, as a note; empty if there is
        none."""
        size = max((size for size, _ in cosigned.values()), default=0)
        if not 0 < size <= await self._signed_size():
            return ""
        (root,) = await self._hashes([(0, size)], size)
        text = Checkpoint(self.origin, size, root).text
        lines = [line for at, line in cosigned.values() if at == size]
        return str(Note(text, (self._signer.sign_note(self.origin, text), *lines)))

    async def _signed_size(self) -> int:
        """Return the public size of the log: that of the last signed checkpoint."""
        text = (await self._store.head()).checkpoint
        return read_checkpoint(read_note(text).text).size if text else 0

    async def _hashes(self, spans: Sequence[Span], size: int) -> tuple[bytes, ...]:
        """Return the hashes of spans of the log of that size."""
        subtrees = [subtree for span in spans for subtree in complete(span)]
        tiles = await self._store.tiles({tile_of(subtree, size) for subtree in subtrees})

        def node(subtree: Subtree) -> bytes:
            return in_tile(tiles[tile_of(subtree, size)], subtree)

        return tuple(span_hash(span, node) for span in spans)


def _nothing(subtree: Subtree) -> bytes:
    raise KeyError(subtree)
