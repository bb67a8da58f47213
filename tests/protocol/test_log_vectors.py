"""The vectors of the public log, read without anything else."""

from typing import Any

import pytest

from tests.protocol.test_vectors import read
from towerhall_protocol.commands import from_base64url as bytes_of
from towerhall_protocol.merkle import leaf_hash, proves_consistency, proves_inclusion
from towerhall_protocol.notes import (
    BadNoteError,
    cosigned_at,
    read_checkpoint,
    read_note,
    read_verifier_key,
    signer_of,
)
from towerhall_protocol.public_log import read_leaf


def test_proofs_from_the_file_alone() -> None:
    vectors = read("merkle")
    roots = {case["size"]: bytes_of(case["root"]) for case in vectors["roots"]}
    for case in vectors["leaf_hashes"]:
        assert leaf_hash(case["leaf"].encode()) == bytes_of(case["hash"])
    for case in vectors["inclusion"]:
        index, size = case["index"], case["size"]
        leaf, proof = leaf_hash(b"leaf %d" % index), hashes(case)
        assert proves_inclusion(leaf, index, size, proof, roots[size])
        assert not proves_inclusion(leaf_hash(b"leaf"), index, size, proof, roots[size])
    for case in vectors["consistency"]:
        old, new, proof = case["old"], case["new"], hashes(case)
        assert bytes_of(case["old_root"]) == roots[old]
        assert proves_consistency(old, roots[old], new, roots[new], proof)
    assert sum(case["width"] for case in vectors["tiles"] if not case["level"]) == max(roots)


def hashes(case: dict[str, Any]) -> list[bytes]:
    return [bytes_of(text) for text in case["proof"]]


def test_notes_from_the_file_alone() -> None:
    vectors = read("notes")
    keys = tuple(
        read_verifier_key(vectors[name]["verifier"]) for name in ("log_key", "witness_key")
    )
    case = vectors["checkpoint"]
    note = read_note(case["note"])
    assert note.text == case["text"]
    assert [signer_of(note, (key,)) for key in keys] == [*keys]
    checkpoint = read_checkpoint(note.text)
    assert checkpoint == (case["origin"], case["size"], bytes_of(case["root"]))
    assert cosigned_at(note.signatures[1]) == case["cosigned_at"]
    for case in vectors["unsigned"]:
        assert signer_of(read_note(case["note"]), keys) is None, case["name"]
    for case in vectors["refused"]:
        with pytest.raises(BadNoteError):
            read_note(case["note"])
    for case in vectors["leaves"]:
        assert read_leaf(case["leaf"].encode()) is not None, case["name"]
