"""What a client keeps of a room, and what a record may not disagree with (P-87)."""

from typing import Any

import pytest

from towerhall_protocol.evidence import (
    MOST_MARKED,
    MOST_OTHERS,
    Difference,
    Evidence,
    Place,
    compare,
    view_hash,
    with_nonce,
    with_place,
)
from towerhall_protocol.merge_patch import apply

EMPTY = Evidence("uid", "QJXKZB", "promise")
PATCHES = ({"room": {"status": "waiting"}}, {"game": {"turn": 0}}, {"room": {"status": "over"}})


def chain(seq: int) -> str:
    return f"chain {seq}"


def record() -> dict[str, Any]:
    return {
        "uid": "uid",
        "code": "QJXKZB",
        "commits": [[seq, "id", chain(seq), "blob", 0, 0] for seq in (1, 2, 3)],
        "frames": [["frame", n, "mark", [], [], patch] for n, patch in enumerate(PATCHES, 1)],
        "proof": {
            "commitment": "promise",
            "deals": [{"deal": 1, "seats": [{"nonce": "mine"}, {}]}],
        },
    }


def view(seq: int) -> str:
    document: dict[str, Any] = {}
    for patch in PATCHES[:seq]:
        document = apply(document, patch)
    return view_hash(document)


def seen() -> Evidence:
    evidence = with_nonce(EMPTY, 1, "mine")
    evidence = with_place(evidence, Place(1, chain(1)))
    evidence = with_place(evidence, Place(2, chain(2), view=view(2)))
    return with_place(evidence, Place(3, chain(3), why="end"))


def test_a_record_of_what_was_seen_agrees() -> None:
    assert compare(seen(), record()) == ()


@pytest.mark.parametrize(
    ("path", "value", "found"),
    [
        (("uid",), "other", Difference("room")),
        (("code",), "OTHERR", Difference("room")),
        (("proof", "commitment"), "other", Difference("commitment")),
        (("proof", "deals"), [], Difference("nonce", 1)),
        (("proof", "deals", 0, "deal"), 2, Difference("nonce", 1)),
        (("proof", "deals", 0, "seats", 0), {"nonce": "yours"}, Difference("nonce", 1)),
        (("commits", 0, 2), "other", Difference("chain", 1)),
        (("commits", 2, 2), "other", Difference("chain", 3)),
        (("frames", 0, 5), {"room": {"status": "sealed"}}, Difference("view", 2)),
        (("frames", 1, 5), {"game": {"turn": 1}}, Difference("view", 2)),
    ],
)
def test_what_differs_is_named(path: tuple[Any, ...], value: object, found: Difference) -> None:
    changed = record()
    part: Any = changed
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    assert compare(seen(), changed) == (found,)


def test_a_record_that_ends_elsewhere_is_named() -> None:
    shorter, longer = record(), record()
    shorter["commits"].pop()
    longer["commits"].append([4, "id", chain(4), "blob", 0, 0])
    assert compare(seen(), shorter) == (Difference("short", 3),)
    assert compare(seen(), longer) == (Difference("long", 3),)


def test_two_chains_of_one_seq_are_both_kept_and_one_differs() -> None:
    evidence = with_place(seen(), Place(2, "other", "key", "signature"))
    assert [place.chain for place in evidence.places if place.seq == 2] == [chain(2), "other"]
    assert compare(evidence, record()) == (Difference("chain", 2),)


def test_what_two_messages_say_of_one_place_is_joined() -> None:
    told = with_place(EMPTY, Place(7, "chain", view="view"))
    signed = with_place(told, Place(7, "chain", "key", "signature", why="seal"))
    assert signed.places == (Place(7, "chain", "key", "signature", "view", "seal"),)
    assert with_place(signed, Place(7, "chain")) == signed


def test_evidence_stays_small_and_keeps_what_matters() -> None:
    evidence = EMPTY
    for seq in range(1, 2000):
        why = "seal" if seq == 20 else ""
        evidence = with_place(evidence, Place(seq, chain(seq), why=why))  # type: ignore[arg-type]
    assert [place.seq for place in evidence.places] == [1, 20, *range(2000 - MOST_OTHERS, 2000)]
    for seq in range(3000, 4000):
        evidence = with_place(evidence, Place(seq, chain(seq), "key", "signature"))
    assert len(evidence.places) == 1 + MOST_MARKED + MOST_OTHERS
