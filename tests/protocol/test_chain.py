"""Chains, marks and seals, as a client computes them from what the specification says (P-121)."""

import json
from hashlib import sha256
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tests.protocol.vectors import FOLDER
from towerhall_protocol.chain import START, link, mark, seal
from towerhall_protocol.codec import MAX_INTEGER, canonical_json
from towerhall_protocol.commands import from_base64url as bytes_of
from towerhall_protocol.evidence import Evidence, compare

KEYS = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=5)
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX_INTEGER, MAX_INTEGER) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)


def read(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text())


def linked(before: bytes, row: dict[str, Any]) -> bytes:
    times = row["wall_ms"], row["served_ms"]
    return link(before, *times, bytes_of(row["commit_id"]), bytes_of(row["blob"]))


def test_links_and_seals_from_the_file_alone() -> None:
    vectors = read("chain")
    for row in vectors["links"]:
        assert linked(bytes_of(row["before"]), row) == bytes_of(row["chain"])
        assert mark(bytes_of(row["chain"])) == row["mark"]
    for case in vectors["seals"]:
        assert seal(bytes_of(case["chain"]), case["record"]) == bytes_of(case["seal"])
        text = sha256(case["text"].encode()).digest()
        by_hand = sha256(b"towerhall/1/seal\0" + bytes_of(case["chain"]) + text).digest()
        assert by_hand == bytes_of(case["seal"])


def test_two_histories_with_equal_marks_have_other_chains() -> None:
    """A mark of 64 bits was forged for this. A client that keeps whole chains tells them apart."""
    one, other = read("equal_marks")["histories"]
    for history in (one, other):
        before = START
        for row in history:
            assert linked(before, row) == bytes_of(row["chain"])
            before = bytes_of(row["chain"])
    assert [row["mark"] for row in one] == [row["mark"] for row in other]
    told = [msgspec.msgpack.decode(bytes_of(history[-1]["blob"]))[2] for history in (one, other)]
    assert told == [[["passed", 0]], [["passed", 1]]]
    assert one[-1]["chain"] != other[-1]["chain"]
    assert bytes_of(one[-1]["chain"])[:8] == bytes_of(other[-1]["chain"])[:8]


def test_evidence_from_the_file_alone() -> None:
    vectors = read("evidence")
    kept = msgspec.convert(vectors["evidence"], Evidence)
    for case in vectors["records"]:
        found = [*map(msgspec.to_builtins, compare(kept, case["record"]))]
        assert found == case["differences"], case["name"]
    codes = [each["code"] for case in vectors["records"] for each in case["differences"]]
    assert set(codes) == {"room", "commitment", "nonce", "chain", "view", "short", "long"}


@given(DOCUMENTS)
def test_the_text_that_is_sealed_is_that_of_rfc_8785(document: Any) -> None:
    plain = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert canonical_json(document) == plain.encode()
