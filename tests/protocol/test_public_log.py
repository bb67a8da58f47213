"""P-182: the leaves of the public log, and what must hold for all of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from towerhall_protocol.commands import base64url
from towerhall_protocol.merkle import leaf_hash, node_hash
from towerhall_protocol.notes import Checkpoint, Note, SignatureLine
from towerhall_protocol.public_log import (
    MOST_LEAF_BYTES,
    Census,
    Dropped,
    Ended,
    Leaf,
    Opened,
    bundled,
    leaf_bytes,
    logged_of,
    proof_problem,
    read_leaf,
    unbundled,
)

UID, OTHER = base64url(bytes(16)), base64url(b"o" * 16)
OPENED = Opened(UID, base64url(bytes(32)))
ENDED = Ended(UID, 7, base64url(b"c" * 32), base64url(b"s" * 32))


def test_a_leaf_has_one_form() -> None:
    text = leaf_bytes(ENDED)
    assert text == (
        b'{"chain":"' + ENDED.chain.encode() + b'","kind":"ended","seal":"' + ENDED.seal.encode()
        + b'","seq":7,"uid":"AAAAAAAAAAAAAAAAAAAAAA"}'
    )  # fmt: skip
    for leaf in (OPENED, ENDED, Dropped(UID)):
        assert read_leaf(leaf_bytes(leaf)) == leaf


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b'{"kind":"closed","uid":"AAAAAAAAAAAAAAAAAAAAAA"}',
        b'{"kind": "dropped","uid":"AAAAAAAAAAAAAAAAAAAAAA"}',
        b'{"uid":"AAAAAAAAAAAAAAAAAAAAAA","kind":"dropped"}',
        b'{"kind":"dropped","uid":"AAAA"}',
        b'{"kind":"dropped","uid":"AAAAAAAAAAAAAAAAAAAAAA","x":1}',
        b'{"commitment":"AAAA","kind":"opened","uid":"AAAAAAAAAAAAAAAAAAAAAA"}',
        b"[" * 2000,
        b"\xff",
    ],
)
def test_what_is_no_leaf_in_its_form_is_refused(data: bytes) -> None:
    assert read_leaf(data) is None


@given(st.lists(st.binary(max_size=MOST_LEAF_BYTES), max_size=5))
def test_a_bundle_gives_its_leaves_back(leaves: list[bytes]) -> None:
    data = b"".join(map(bundled, leaves))
    assert unbundled(data) == tuple(leaves)
    if leaves:
        assert unbundled(data[:-1]) is None


def test_a_leaf_is_not_too_long() -> None:
    with pytest.raises(ValueError, match="at most"):
        bundled(bytes(MOST_LEAF_BYTES + 1))


def census(*leaves: Leaf) -> list[str | None]:
    counted = Census()
    return [counted.take(leaf_bytes(leaf)) for leaf in leaves]


def test_a_room_is_opened_once_and_closed_once() -> None:
    assert census(OPENED, ENDED) == [None, None]
    assert census(OPENED, OPENED)[-1] == f"room {UID} is opened twice"
    assert census(ENDED)[-1] == f"room {UID} is closed and was never opened"
    assert census(OPENED, ENDED, Dropped(UID))[-1] == f"room {UID} is closed twice"
    assert Census().take(b"{}") == "it is no leaf in its canonical form"


def test_rooms_that_never_end_are_counted() -> None:
    counted = Census()
    for leaf in (OPENED, Opened(OTHER, OPENED.commitment), Dropped(UID)):
        assert counted.take(leaf_bytes(leaf)) is None
    assert counted.counts == {"opened": 2, "ended": 0, "dropped": 1}
    assert counted.open == 1


def test_the_proof_of_a_record_is_held_against_its_checkpoint() -> None:
    other = leaf_hash(leaf_bytes(OPENED))
    root = node_hash(other, leaf_hash(leaf_bytes(ENDED)))
    line = SignatureLine("log", b"abcd", b"signature")
    note = str(Note(Checkpoint("log", 2, root).text, (line,)))
    logged = logged_of(1, 2, (other,), note)
    assert proof_problem(ENDED, logged) is None
    changed = Ended(UID, 8, ENDED.chain, ENDED.seal)
    assert "do not lead" in str(proof_problem(changed, logged))
    assert "do not lead" in str(proof_problem(ENDED, logged_of(0, 2, (other,), note)))
    assert "of 2 leaves, not of 3" in str(proof_problem(ENDED, logged_of(1, 3, (other,), note)))
    assert proof_problem(ENDED, logged_of(1, 2, (other,), "nothing")) is not None
    with_strange = logged_of(1, 2, (), note)
    bad = type(with_strange)(1, 2, ("not base64url!",), note)
    assert proof_problem(ENDED, bad) is not None
