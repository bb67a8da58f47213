"""Vectors of the public log: trees with their proofs and tiles, notes with their signatures."""

from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from towerhall_protocol.commands import base64url
from towerhall_protocol.merkle import (
    Edge,
    Piece,
    Subtree,
    consistency_spans,
    edge_root,
    grown,
    in_tile,
    inclusion_spans,
    leaf_hash,
    root_of,
    span_hash,
    tile_of,
)
from towerhall_protocol.notes import (
    COSIGNATURE,
    ED25519,
    Checkpoint,
    Note,
    SignatureLine,
    VerifierKey,
    cosignature,
    cosigned_message,
)
from towerhall_protocol.public_log import Dropped, Ended, Opened, leaf_bytes

SIZES: Final = (0, 1, 2, 3, 5, 8, 255, 256, 257, 600)
SECONDS: Final = 1_700_000_000


def sample(number: int) -> bytes:
    """The leaves of all trees."""
    return b"leaf %d" % number


class _Tree:
    """All tiles of a tree, grown at once."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.edge, pieces = grown(Edge(), (leaf_hash(sample(number)) for number in range(size)))
        self.tiles: dict[tuple[int, int], bytes] = {}
        for piece in pieces:
            self._add(piece)

    def _add(self, piece: Piece) -> None:
        place = piece.level, piece.number
        self.tiles[place] = self.tiles.get(place, b"") + piece.data

    def node(self, subtree: Subtree) -> bytes:
        tile = tile_of(subtree, self.size)
        return in_tile(self.tiles[tile.level, tile.number], subtree)


def merkle() -> dict[str, Any]:
    """Leaves are the texts `leaf 0`, `leaf 1` and so on, in UTF-8."""
    trees = {size: _Tree(size) for size in SIZES}
    largest = trees[SIZES[-1]]
    return {
        "leaf_hashes": [
            {"leaf": sample(number).decode(), "hash": base64url(leaf_hash(sample(number)))}
            for number in range(3)
        ],
        "roots": [
            {"size": size, "root": base64url(edge_root(tree.edge))} for size, tree in trees.items()
        ],
        "inclusion": [
            {
                "index": index,
                "size": size,
                "proof": [
                    base64url(span_hash(span, trees[size].node))
                    for span in inclusion_spans(index, size)
                ],
            }
            for size in SIZES
            for index in sorted({0, size // 2, size - 1})
            if 0 <= index < size
        ],
        "consistency": [
            {
                "old": old,
                "new": largest.size,
                "old_root": base64url(root_of(old, largest.node)),
                "proof": [
                    base64url(span_hash(span, largest.node))
                    for span in consistency_spans(old, largest.size)
                ],
            }
            for old in SIZES
        ],
        "tiles": [
            {"level": level, "index": index, "width": len(data) // 32, "hash": _digest(data)}
            for (level, index), data in sorted(largest.tiles.items())
        ],
    }


def _digest(data: bytes) -> str:
    """Tiles are long: the hash of a leaf with this content stands for each."""
    return base64url(leaf_hash(data))


def notes() -> dict[str, Any]:
    """Checkpoints signed by a log and cosigned by a witness, and texts that must be refused."""
    log = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    witness = Ed25519PrivateKey.from_private_bytes(bytes(range(32, 64)))
    key = VerifierKey("towers.example/v1/log", ED25519, _public(log))
    witness_key = VerifierKey("witness.example/w1", COSIGNATURE, _public(witness))
    root = edge_root(_Tree(5).edge)
    text = Checkpoint(key.name, 5, root).text
    signature = SignatureLine(key.name, key.key_id, log.sign(text.encode()))
    seen = cosignature(SECONDS, witness.sign(cosigned_message(text, SECONDS)))
    line = SignatureLine(witness_key.name, witness_key.key_id, seen)
    later = cosignature(SECONDS + 1, seen[8:])
    good = str(Note(text, (signature, line)))
    uid, chain = base64url(bytes(16)), base64url(bytes(32))
    return {
        "log_key": {"seed": base64url(bytes(range(32))), "verifier": str(key)},
        "witness_key": {"seed": base64url(bytes(range(32, 64))), "verifier": str(witness_key)},
        "checkpoint": {
            "origin": key.name,
            "size": 5,
            "root": base64url(root),
            "text": text,
            "note": good,
            "cosigned_at": SECONDS,
        },
        "unsigned": [
            {"name": "another size", "note": good.replace("\n5\n", "\n6\n")},
            {"name": "another key", "note": str(Note(text, (signature._replace(name="other"),)))},
            {"name": "another time", "note": str(Note(text, (line._replace(signature=later),)))},
        ],
        "refused": [
            {"name": "no signature", "note": text},
            {"name": "no empty line", "note": text + f"{signature}\n"},
            {"name": "no end", "note": good.removesuffix("\n")},
            {"name": "a hyphen for the dash", "note": good.replace("\u2014", "-")},
            {"name": "a tab", "note": good.replace("towers", "tow\ters")},
        ],
        "leaves": [
            {"name": "opened", "leaf": leaf_bytes(Opened(uid, chain)).decode()},
            {"name": "ended", "leaf": leaf_bytes(Ended(uid, 7, chain, chain)).decode()},
            {"name": "dropped", "leaf": leaf_bytes(Dropped(uid)).decode()},
        ],
    }


def _public(key: Ed25519PrivateKey) -> bytes:
    return key.public_key().public_bytes_raw()
