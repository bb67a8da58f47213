"""The vectors that we give to authors of clients: up to date, and true when read as they would."""

import json
from base64 import urlsafe_b64decode
from typing import Any

import pytest

from tests.protocol.vectors import FOLDER, MAKERS, written
from towerhall_protocol.codec import CodecError, canonical, decode, encode
from towerhall_protocol.fairness import Act, commitment, game_seed, nonce_hash
from towerhall_protocol.merge_patch import apply, diff


def read(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text())


def bytes_of(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


@pytest.mark.parametrize("name", MAKERS)
def test_the_file_says_what_the_code_says(name: str) -> None:
    assert (FOLDER / f"{name}.json").read_text() == written(name), "run `make vectors`"


def test_no_file_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(MAKERS)


def test_fairness_from_the_file_alone() -> None:
    vectors = read("fairness")
    for case in vectors["commitments"]:
        found = commitment(bytes_of(case["uid"]), bytes_of(case["secret"]))
        assert found == bytes_of(case["commitment"])
    for case in vectors["nonce_hashes"]:
        found = nonce_hash(bytes_of(case["uid"]), bytes_of(case["nonce"]))
        assert found == bytes_of(case["hash"])
    for case in vectors["seeds"]:
        nonces = list(map(bytes_of, case["nonces"]))
        found = game_seed(bytes_of(case["secret"]), bytes_of(case["uid"]), case["deal"], nonces)
        assert found == bytes_of(case["seed"])
    for case in vectors["shuffles"]:
        assert Act(bytes_of(case["seed"]), case["act"]).shuffle(case["items"]) == case["result"]
    numbers = vectors["numbers"]
    act = Act(bytes_of(numbers["seed"]), numbers["act"])
    assert [act.below(bound) for bound in numbers["below"]] == numbers["results"]


def test_merge_patches_from_the_file_alone() -> None:
    for case in read("merge_patch"):
        before, after, patch = case["before"], case["after"], case["patch"]
        assert canonical(apply(before, patch)) == canonical(after), case["name"]
        assert canonical(diff(before, after)) == canonical(patch), case["name"]


def test_the_codec_from_the_file_alone() -> None:
    vectors = read("codec")
    for case in vectors["documents"]:
        assert decode(bytes_of(case["msgpack"])) == case["document"], case["name"]
        assert encode(case["document"]) == bytes_of(case["msgpack"]), case["name"]
    for case in vectors["refused"]:
        with pytest.raises(CodecError) as refusal:
            decode(bytes_of(case["msgpack"]))
        assert refusal.value.code == case["code"], case["name"]
