"""P-181: trees, proofs and tiles, held against a tree that is built as RFC 6962 defines it."""

from collections.abc import Sequence
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from towerhall_protocol.merkle import (
    EMPTY_ROOT,
    HASH_BYTES,
    TILE_HASHES,
    Edge,
    Subtree,
    Tile,
    complete_hash,
    consistency_spans,
    edge_root,
    edge_tiles,
    grown,
    in_tile,
    inclusion_spans,
    leaf_hash,
    node_hash,
    proves_consistency,
    proves_inclusion,
    root_of,
    span_hash,
    tile_at,
    tile_of,
    tiles_of,
)


def hashes(count: int) -> list[bytes]:
    return [leaf_hash(b"leaf %d" % number) for number in range(count)]


MOST = 300
LEAVES = hashes(MOST)
sizes = st.integers(0, MOST)


# The tree of RFC 6962, word for word


def naive_split(count: int) -> int:
    power = 1
    while power * 2 < count:
        power *= 2
    return power


def naive_root(leaves: Sequence[bytes]) -> bytes:
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    k = naive_split(len(leaves))
    return node_hash(naive_root(leaves[:k]), naive_root(leaves[k:]))


def naive_path(m: int, leaves: Sequence[bytes]) -> list[bytes]:
    if len(leaves) == 1:
        return []
    k = naive_split(len(leaves))
    if m < k:
        return [*naive_path(m, leaves[:k]), naive_root(leaves[k:])]
    return [*naive_path(m - k, leaves[k:]), naive_root(leaves[:k])]


def naive_proof(m: int, leaves: Sequence[bytes], whole: bool = True) -> list[bytes]:
    if m == len(leaves):
        return [] if whole else [naive_root(leaves)]
    k = naive_split(len(leaves))
    if m <= k:
        return [*naive_proof(m, leaves[:k], whole), naive_root(leaves[k:])]
    return [*naive_proof(m - k, leaves[k:], whole=False), naive_root(leaves[:k])]


def node(subtree: Subtree) -> bytes:
    height, index = subtree
    return complete_hash(LEAVES[index << height : (index + 1) << height])


def inclusion(index: int, size: int) -> list[bytes]:
    return [span_hash(span, node) for span in inclusion_spans(index, size)]


def consistency(old: int, new: int) -> list[bytes]:
    return [span_hash(span, node) for span in consistency_spans(old, new)]


# Laws


@given(sizes)
def test_the_root_is_that_of_the_definition(size: int) -> None:
    assert root_of(size, node) == naive_root(LEAVES[:size])


@given(st.data())
def test_an_inclusion_proof_is_that_of_the_definition_and_holds(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, MOST))
    index = data.draw(st.integers(0, size - 1))
    proof, root = inclusion(index, size), naive_root(LEAVES[:size])
    assert proof == naive_path(index, LEAVES[:size])
    assert proves_inclusion(LEAVES[index], index, size, proof, root)


@given(st.data())
def test_a_consistency_proof_is_that_of_the_definition_and_holds(data: st.DataObject) -> None:
    new = data.draw(sizes)
    old = data.draw(st.integers(0, new))
    proof = consistency(old, new)
    assert proof == (naive_proof(old, LEAVES[:new]) if old else [])
    roots = naive_root(LEAVES[:old]), naive_root(LEAVES[:new])
    assert proves_consistency(old, roots[0], new, roots[1], proof)


@given(st.data())
def test_no_other_leaf_place_root_or_proof_is_proved(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, MOST))
    index = data.draw(st.integers(0, size - 1))
    proof, root = inclusion(index, size), naive_root(LEAVES[:size])
    other = data.draw(st.integers(0, MOST - 1).filter(lambda other: other != index))
    assert not proves_inclusion(LEAVES[other], index, size, proof, root)
    assert not proves_inclusion(LEAVES[index], other, size, proof, root)
    assert not proves_inclusion(LEAVES[index], index, size, proof, leaf_hash(b"other"))
    assert not proves_inclusion(LEAVES[index], index, size, [*proof, root], root)
    if proof:
        at = data.draw(st.integers(0, len(proof) - 1))
        wrong = [*proof[:at], leaf_hash(b"other"), *proof[at + 1 :]]
        assert not proves_inclusion(LEAVES[index], index, size, wrong, root)
        assert not proves_inclusion(LEAVES[index], index, size, proof[:-1], root)


@given(st.data())
def test_a_rewritten_or_shortened_tree_is_not_proved_consistent(data: st.DataObject) -> None:
    new = data.draw(st.integers(2, MOST))
    old = data.draw(st.integers(1, new))
    changed = data.draw(st.integers(0, old - 1))
    leaves = [*LEAVES[:changed], leaf_hash(b"other"), *LEAVES[changed + 1 : new]]
    old_root, new_root = naive_root(LEAVES[:old]), naive_root(leaves)
    proofs = [consistency(old, new), naive_proof(old, leaves), []]
    for proof in proofs:
        assert not proves_consistency(old, old_root, new, new_root, proof)
    if old < new:
        whole = naive_root(LEAVES[:new])
        assert not proves_consistency(new, whole, old, old_root, consistency(old, new))
        for at in range(len(proofs[0])):
            wrong = [*proofs[0][:at], leaf_hash(b"other"), *proofs[0][at + 1 :]]
            assert not proves_consistency(old, old_root, new, whole, wrong)
        assert not proves_consistency(old, old_root, new, whole, [*proofs[0], whole])


@given(st.lists(st.integers(0, 700), max_size=6))
def test_an_edge_grows_like_the_tree_in_whatever_steps(steps: list[int]) -> None:
    edge, tiles = Edge(), dict[tuple[int, int], bytes]()
    total = 0
    for step in steps:
        added = [leaf_hash(b"%d" % number) for number in range(total, total + step)]
        total += step
        edge, pieces = grown(edge, added)
        for level, index, data in pieces:
            tiles[level, index] = tiles.get((level, index), b"") + data
    assert edge.size == total
    assert edge_root(edge) == naive_root([leaf_hash(b"%d" % number) for number in range(total)])
    listed = {(tile.level, tile.number): tile.width for tile in tiles_of(total)}
    assert {place: len(data) // HASH_BYTES for place, data in tiles.items()} == listed
    for level, tile in enumerate(edge_tiles(total)):
        assert tiles.get((level, tile.number), b"") == edge.tiles[level]


def test_subtrees_are_read_from_tiles() -> None:
    size = 70_000
    leaves = [leaf_hash(b"%d" % number) for number in range(size)]
    edge, pieces = grown(Edge(), leaves)
    tiles: dict[tuple[int, int], bytes] = {}
    for level, index, data in pieces:
        tiles[level, index] = tiles.get((level, index), b"") + data

    def from_tiles(subtree: Subtree) -> bytes:
        tile = tile_of(subtree, size)
        data = tiles[tile.level, tile.number]
        assert len(data) == HASH_BYTES * tile.width
        return in_tile(data, subtree)

    assert root_of(size, from_tiles) == edge_root(edge)
    for index in (0, 255, 256, 65_535, 65_536, 69_999):
        proof = [span_hash(span, from_tiles) for span in inclusion_spans(index, size)]
        assert proves_inclusion(leaves[index], index, size, proof, edge_root(edge))
    for old in (1, 255, 256, 257, 65_536, 69_999):
        proof = [span_hash(span, from_tiles) for span in consistency_spans(old, size)]
        old_root = edge_root(grown(Edge(), leaves[:old])[0])
        assert proves_consistency(old, old_root, size, edge_root(edge), proof)


# Examples


def test_the_tiles_of_the_example_in_the_format() -> None:
    widths = [(tile.level, tile.width) for tile in tiles_of(70_000)]
    assert widths.count((0, TILE_HASHES)) == 273
    rest = [each for each in widths if each != (0, TILE_HASHES)]
    assert rest == [(0, 112), (1, TILE_HASHES), (1, 17), (2, 1)]
    assert list(tiles_of(256)) == [Tile(0, 0, 256), Tile(1, 0, 1)]
    assert tile_at(0, 274, 70_000).width <= 0


def test_an_empty_tree_has_a_root_and_proves_nothing() -> None:
    assert edge_root(Edge()) == EMPTY_ROOT == root_of(0, node)
    assert proves_consistency(0, EMPTY_ROOT, 5, naive_root(LEAVES[:5]), [])
    assert not proves_consistency(0, LEAVES[0], 5, naive_root(LEAVES[:5]), [])
    assert not proves_inclusion(LEAVES[0], 0, 0, [], EMPTY_ROOT)
    assert not proves_inclusion(LEAVES[0], -1, 1, [], LEAVES[0])


@pytest.mark.parametrize(("index", "size"), [(0, 0), (3, 3), (-1, 2)])
def test_nothing_proves_a_leaf_that_is_not_there(index: int, size: int) -> None:
    with pytest.raises(ValueError, match="there is no leaf"):
        inclusion_spans(index, size)


def test_a_longer_tree_is_not_the_beginning_of_a_shorter_one() -> None:
    with pytest.raises(ValueError, match="not the beginning"):
        consistency_spans(5, 4)


def test_what_is_no_hash_proves_nothing() -> None:
    assert not proves_inclusion(b"", 0, 1, [], b"")
    assert not proves_consistency(1, LEAVES[0][:-1], 1, LEAVES[0][:-1], [])
