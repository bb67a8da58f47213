"""Merkle trees of an append-only log: hashes, proofs, and the tiles in which a log serves its tree.

Hashes and proofs are those of RFC 6962, section 2.1. Tiles are those of C2SP tlog-tiles: 256 hashes
each. Everything is a function of its arguments. A whole tree is never needed: a log that grows
keeps its right `Edge`, and a proof reads the few tiles that hold its subtrees.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from hashlib import sha256
from typing import Final, NamedTuple, TypeAlias

HASH_BYTES: Final = 32
TILE_HEIGHT: Final = 8
TILE_HASHES: Final = 1 << TILE_HEIGHT
EMPTY_ROOT: Final = sha256(b"").digest()

Span: TypeAlias = tuple[int, int]
"""The leaves from the first number on, up to the second."""


class Subtree(NamedTuple):
    """A complete subtree: `2 ** height` leaves from `number * 2 ** height` on."""

    height: int
    number: int


class Tile(NamedTuple):
    """A tile of a tree: `width` hashes of subtrees of the height `8 * level`."""

    level: int
    number: int
    width: int


class Edge(NamedTuple):
    """The right edge of a tree, which is all that is needed to add leaves to it."""

    size: int = 0
    tiles: tuple[bytes, ...] = ()
    """The hashes of the rightmost tile of each level. It is never full; it may be empty."""


class Piece(NamedTuple):
    """Hashes that go to the end of a tile."""

    level: int
    number: int
    data: bytes


Nodes: TypeAlias = Callable[[Subtree], bytes]
"""The hash of each complete subtree of a tree."""


def leaf_hash(leaf: bytes) -> bytes:
    return sha256(b"\0" + leaf).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\1" + left + right).digest()


# Subtrees and spans


def complete(span: Span) -> Iterator[Subtree]:
    """The complete subtrees that a span of a proof consists of, from left to right."""
    start, end = span
    while start < end:
        height = (end - start).bit_length() - 1
        yield Subtree(height, start >> height)
        start += 1 << height


def span_hash(span: Span, node: Nodes) -> bytes:
    """The hash of a span, which may be an incomplete subtree at the right edge."""
    return _joined([node(subtree) for subtree in complete(span)])


def _joined(hashes: Sequence[bytes]) -> bytes:
    """The hash over subtrees that become smaller from left to right."""
    *others, last = hashes
    return reduce(lambda right, left: node_hash(left, right), reversed(others), last)


def _middle(span: Span) -> int:
    """Where RFC 6962 splits a span: after the largest power of two that is smaller than it."""
    start, end = span
    return start + (1 << ((end - start - 1).bit_length() - 1))


# Proofs


def root_of(size: int, node: Nodes) -> bytes:
    """The root of the first `size` leaves."""
    return span_hash((0, size), node) if size else EMPTY_ROOT


def inclusion_spans(index: int, size: int) -> tuple[Span, ...]:
    """The spans whose hashes prove that the leaf `index` is in the tree of that size."""
    if not 0 <= index < size:
        raise ValueError(f"there is no leaf {index} in a tree of {size}")
    spans, rest = [], (0, size)
    while rest[1] - rest[0] > 1:
        middle = _middle(rest)
        left, right = (rest[0], middle), (middle, rest[1])
        rest, other = (left, right) if index < middle else (right, left)
        spans.append(other)
    return tuple(reversed(spans))


def consistency_spans(old: int, new: int) -> tuple[Span, ...]:
    """The spans whose hashes prove that the tree of size `old` is the beginning of the other."""
    if not 0 <= old <= new:
        raise ValueError(f"a tree of {old} is not the beginning of one of {new}")
    if old == 0:
        return ()
    spans, rest = [], (0, new)
    while rest[1] != old:
        middle = _middle(rest)
        left, right = (rest[0], middle), (middle, rest[1])
        rest, other = (left, right) if old <= middle else (right, left)
        spans.append(other)
    # The old root itself is known to the verifier.
    return tuple(reversed([*spans, rest] if rest[0] else spans))


def proves_inclusion(
    leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes
) -> bool:
    """Whether a leaf of this hash is in that tree (RFC 9162, section 2.1.3.2)."""
    if not 0 <= index < size or not _are_hashes((leaf, root, *proof)):
        return False
    at, last, found = index, size - 1, leaf
    for other in proof:
        if last == 0:
            return False
        if at & 1 or at == last:
            found = node_hash(other, found)
            at, last = _skip(at, last)
        else:
            found = node_hash(found, other)
        at, last = at >> 1, last >> 1
    return last == 0 and found == root


def proves_consistency(
    old: int, old_root: bytes, new: int, new_root: bytes, proof: Sequence[bytes]
) -> bool:
    """Whether the old tree is the beginning of the new one (RFC 9162, section 2.1.4.2)."""
    if not 0 <= old <= new or not _are_hashes((old_root, new_root, *proof)):
        return False
    if old == 0:
        return not proof and old_root == EMPTY_ROOT
    if old == new:
        return not proof and old_root == new_root
    hashes = list(proof) if old & (old - 1) else [old_root, *proof]
    if not hashes:
        return False
    at, last = old - 1, new - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    before = after = hashes[0]
    for other in hashes[1:]:
        if last == 0:
            return False
        if at & 1 or at == last:
            before, after = node_hash(other, before), node_hash(other, after)
            at, last = _skip(at, last)
        else:
            after = node_hash(after, other)
        at, last = at >> 1, last >> 1
    return last == 0 and before == old_root and after == new_root


def _skip(at: int, last: int) -> tuple[int, int]:
    """Go up while there is nothing at the right that could be joined."""
    while at and not at & 1:
        at, last = at >> 1, last >> 1
    return at, last


def _are_hashes(hashes: Iterable[bytes]) -> bool:
    return all(len(each) == HASH_BYTES for each in hashes)


# Tiles


def tile_of(subtree: Subtree, size: int) -> Tile:
    """The tile of a tree of that size in which the hash of a subtree is found, or computed."""
    level, rest = divmod(subtree.height, TILE_HEIGHT)
    return tile_at(level, subtree.number << rest >> TILE_HEIGHT, size)


def tile_at(level: int, number: int, size: int) -> Tile:
    """A tile of a tree of that size; its width is 0 or less if there is none."""
    width = (size >> (TILE_HEIGHT * level)) - (number << TILE_HEIGHT)
    return Tile(level, number, min(width, TILE_HASHES))


def tiles_of(size: int) -> Iterator[Tile]:
    """All tiles of a tree."""
    level = 0
    while hashes := size >> (TILE_HEIGHT * level):
        for number in range(-(-hashes // TILE_HASHES)):
            yield tile_at(level, number, size)
        level += 1


def in_tile(data: bytes, subtree: Subtree) -> bytes:
    """The hash of a subtree, from the hashes of its tile."""
    rest = subtree.height % TILE_HEIGHT
    first = (subtree.number << rest) % TILE_HASHES
    return complete_hash(hashes_of(data)[first : first + (1 << rest)])


def complete_hash(hashes: Sequence[bytes]) -> bytes:
    """The hash over a complete subtree: over a power of two of hashes."""
    while len(hashes) > 1:
        hashes = [node_hash(*hashes[at : at + 2]) for at in range(0, len(hashes), 2)]
    return hashes[0]


def hashes_of(data: bytes) -> list[bytes]:
    return [data[at : at + HASH_BYTES] for at in range(0, len(data), HASH_BYTES)]


# Growing


def grown(edge: Edge, leaves: Iterable[bytes]) -> tuple[Edge, tuple[Piece, ...]]:
    """The edge after more leaves, given by their hashes, and the pieces that tiles get."""
    pieces: list[Piece] = []
    tiles: list[bytes] = []
    new, level, added = list(leaves), 0, 0
    while new or level < len(edge.tiles):
        added += 0 if level else len(new)
        tile = edge.tiles[level] if level < len(edge.tiles) else b""
        number = edge.size >> (TILE_HEIGHT * (level + 1))
        full: list[bytes] = []
        while new:
            taken = new[: TILE_HASHES - len(tile) // HASH_BYTES]
            new = new[len(taken) :]
            data = b"".join(taken)
            pieces.append(Piece(level, number, data))
            tile += data
            if len(tile) == TILE_HASHES * HASH_BYTES:
                full.append(complete_hash(hashes_of(tile)))
                tile, number = b"", number + 1
        tiles.append(tile)
        new, level = full, level + 1
    return Edge(edge.size + added, tuple(tiles)), tuple(pieces)


def edge_tiles(size: int) -> Iterator[Tile]:
    """The tiles of an edge, from level 0 on; those of the width 0 are empty."""
    level = 0
    while size >> (TILE_HEIGHT * level):
        yield tile_at(level, size >> (TILE_HEIGHT * (level + 1)), size)
        level += 1


def edge_root(edge: Edge) -> bytes:
    """The root of the tree of which this is the edge."""
    found: list[bytes] = []
    for level in reversed(edge.tiles):
        hashes = hashes_of(level)
        for height, number in complete((0, len(hashes))):
            found.append(complete_hash(hashes[number << height : (number + 1) << height]))
    return _joined(found) if found else EMPTY_ROOT
