"""The vectors that we give to authors of clients: up to date, and true when read as they would."""

import json
from typing import Any

import msgspec
import pytest

from tests.protocol import record_vectors, replay_vectors
from tests.protocol.vectors import FOLDER, MAKERS, records, written
from towerhall_protocol.codec import (
    FROM_CLIENT,
    FROM_SERVER,
    CodecError,
    CodecLimits,
    canonical,
    decode,
    decode_json,
    encode,
    encode_json,
)
from towerhall_protocol.commands import from_base64url as bytes_of
from towerhall_protocol.evidence import Evidence, compare
from towerhall_protocol.fairness import Act, bot_entropy, commitment, game_seed, nonce_hash
from towerhall_protocol.merge_patch import apply, diff
from towerhall_protocol.wire import (
    read_client,
    read_events_client,
    read_lobby_client,
    read_lobby_server,
    read_server,
)
from towerhall_server.game import discover
from towerhall_server.record.verify import verify


def read(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text())


@pytest.mark.parametrize("name", MAKERS)
def test_the_file_says_what_the_code_says(name: str) -> None:
    assert (FOLDER / f"{name}.json").read_text() == written(name), "run `make vectors`"


def test_whole_records_are_what_the_code_writes() -> None:
    for name, data in records().items():
        assert (FOLDER / "records" / f"{name}.json").read_bytes() == data, "run `make vectors`"


def test_a_true_record_agrees_with_the_evidence_and_what_holds_together_may_not() -> None:
    kept = msgspec.convert(read("records/evidence"), Evidence)
    assert compare(kept, read("records/true")) == ()
    assert [finding.code for finding in verify(records()["true"], discover())] == []
    beyond = [case for case in read("records/tampered") if case["evidence"]]
    assert len(beyond) == 2
    for case in beyond:
        forged = record_vectors.changed(read("records/true"), case["set"], repair=case["repair"])
        assert {each.code for each in compare(kept, forged)} >= {"chain"}, case["name"]


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
    for case in vectors["bots"]:
        assert bot_entropy(bytes_of(case["seed"]), case["seq"]) == bytes_of(case["entropy"])
    for case in vectors["shuffles"]:
        assert Act(bytes_of(case["seed"]), case["act"]).shuffle(case["items"]) == case["result"]
    numbers = vectors["numbers"]
    act = Act(bytes_of(numbers["seed"]), numbers["act"])
    assert [act.below(bound) for bound in numbers["below"]] == numbers["results"]


def test_merge_patches_from_the_file_alone() -> None:
    for case in read("merge_patch"):
        before, after, patch = case["before"], case["after"], case["patch"]
        assert canonical(apply(before, patch)) == canonical(after), case["name"]
        is_smallest = case.get("smallest", True)
        assert (canonical(diff(before, after)) == canonical(patch)) == is_smallest, case["name"]


def test_the_codec_from_the_file_alone() -> None:
    vectors = read("codec")
    for case in vectors["documents"]:
        assert decode(bytes_of(case["msgpack"])) == case["document"], case["name"]
        assert encode(case["document"]) == bytes_of(case["msgpack"]), case["name"]
    for case in vectors["refused"]:
        with pytest.raises(CodecError) as refusal:
            decode(bytes_of(case["msgpack"]))
        assert refusal.value.code == case["code"], case["name"]


def test_refused_texts_from_the_file_alone() -> None:
    for case in read("codec")["refused_texts"]:
        with pytest.raises(CodecError) as refusal:
            decode_json(case["json"])
        assert refusal.value.code == case["code"], case["name"]


def test_messages_from_the_file_alone() -> None:
    vectors = read("messages")
    sides: tuple[tuple[str, CodecLimits, Any], ...] = (
        ("client", FROM_CLIENT, read_client),
        ("server", FROM_SERVER, read_server),
        ("to_lobby", FROM_CLIENT, read_lobby_client),
        ("to_events", FROM_CLIENT, read_events_client),
        ("from_lobby", FROM_SERVER, read_lobby_server),
    )
    assert set(vectors) == {side for side, _, _ in sides}
    for side, limits, read_message in sides:
        for case in vectors[side]:
            data, text = bytes_of(case["msgpack"]), case["json"]
            assert decode(data, limits) == decode_json(text, limits) == case["document"]
            message = read_message(case["document"])
            assert encode(message) == data, case["name"]
            assert encode_json(message) == text, case["name"]


def test_replays_from_the_file_alone() -> None:
    cases = read("replay")
    assert len({case["name"] for case in cases}) == len(cases)
    for case in cases:
        client = replay_vectors.begin(case["origin"], replay_vectors.read_nonces(case))
        for number, step in enumerate(case["steps"]):
            sends, faulted = replay_vectors.do(client, step)
            where = f"{case['name']}, step {number}"
            assert msgspec.to_builtins(sends) == step["sends"], where
            assert replay_vectors.known(client, faulted) == step["after"], where
