"""Records checked by the specification alone: true ones hold, and each change is named."""

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.examples import examples
from tests.protocol import record_vectors
from tests.protocol.signed_record_vectors import ORIGIN
from tests.protocol.vectors import FOLDER
from tests.record.record_games import STORIES, Story, record_of_story
from towerhall_protocol.check_record import Check, check_record
from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.evidence import Evidence, Place, read_evidence
from towerhall_protocol.record import RecordError

RECORDS = FOLDER / "records"
GOLDEN = sorted((Path(__file__).parents[1] / "versions/golden").glob("*/*.record.json"))
TRUE, SIGNED = ((RECORDS / f"{name}.json").read_bytes() for name in ("true", "signed"))
KEYS = json.loads((RECORDS / "keys.json").read_text())
KEPT = read_evidence((RECORDS / "evidence.json").read_bytes())
INNER = ["commitment", "deals", "nonces", "seed", "draws", "chain", "facts", "names", "result"]
STEPS = [*INNER, "signature", "log", "seen"]
Case = dict[str, Any]


def cases(name: str) -> list[Any]:
    found = json.loads((RECORDS / f"{name}.json").read_text())
    return [pytest.param(case, id=case["name"]) for case in found]


def wrong(record: Any, **known: Any) -> list[str]:
    """The steps that do not hold, or the code of a file that is no record."""
    data = record if isinstance(record, bytes) else json.dumps(record).encode()
    try:
        return [check.name for check in check_record(data, **known) if not check.ok]
    except RecordError as error:
        return [error.code]


def of(name: str, checks: tuple[Check, ...]) -> Check:
    return next(check for check in checks if check.name == name)


def test_all_steps_hold_for_a_true_record_and_say_what_was_not_checked() -> None:
    checks = check_record(TRUE)
    assert [check.name for check in checks] == STEPS
    assert all(check.ok for check in checks)
    skipped = {check.name: check.skipped for check in checks if check.skipped}
    assert skipped == {"signature": "no_signature", "log": "not_logged", "seen": "no_evidence"}
    assert of("chain", checks).detail["commits"] == 72


def test_a_sandbox_room_is_checked_by_its_own_clocks() -> None:
    told = json.loads((RECORDS / "sandbox.json").read_bytes())
    assert wrong(told) == []
    # An ordinary room would have cancelled its deal far too early.
    created = msgspec.msgpack.decode(from_base64url(told["commits"][0][3]))
    del created[1][0][7]["sandbox"]
    told["commits"][0][3] = base64url(msgspec.msgpack.encode(created, order="sorted"))
    del told["settings"]["sandbox"]
    assert wrong(record_vectors.repaired(told)) == ["deals"]


def test_with_keys_and_evidence_nothing_is_left_unchecked() -> None:
    checks = check_record(SIGNED, keys=KEYS, evidence=KEPT)
    assert [(check.ok, check.skipped) for check in checks] == [(True, "")] * len(STEPS)
    assert of("signature", checks).detail == {"key": next(iter(KEYS))}
    assert of("log", checks).detail == {"leaves": 13}
    assert ORIGIN in json.loads(SIGNED)["log"]["checkpoint"]


def test_without_the_key_a_signature_is_called_unchecked() -> None:
    checks = check_record(SIGNED)
    skipped = {check.name: check.skipped for check in checks if check.skipped}
    assert skipped == {"signature": "no_key", "log": "no_key", "seen": "no_evidence"}


def test_without_the_package_for_signatures_they_are_called_unchecked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    checks = check_record(SIGNED, keys=KEYS, evidence=KEPT)
    skipped = {check.name: check.skipped for check in checks if check.skipped}
    assert skipped == {"signature": "no_ed25519", "log": "no_ed25519"}


@pytest.mark.parametrize("story", STORIES)
def test_other_games_cancelled_deals_bots_and_clocks_hold_too(story: Story) -> None:
    assert wrong(record_of_story(story)) == []


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.name)
def test_records_of_earlier_versions_hold(file: Path) -> None:
    assert wrong(file.read_bytes()) == []


def test_a_resignation_and_new_names_hold_and_no_other_reason_does() -> None:
    told = json.loads((RECORDS / "resigned.json").read_bytes())
    assert wrong(told) == []
    assert [seat["name"] for seat in told["seats"]] == ["Ada", "Ben again"]
    assert told["proof"]["deals"][0]["seats"][1]["name"] == "Eve"
    assert (told["closed"], told["result"]["places"]) == ("resigned", [1, 2])
    assert wrong(told | {"seats": [{"name": "Ada"}, {"name": "Eve"}]}) == ["chain", "names"]
    without = {key: value for key, value in told.items() if key != "closed"}
    assert wrong(without) == ["chain", "result"]
    agreed = json.loads(json.dumps(told).replace('"resigned"', '"agreed"'))
    commit = msgspec.msgpack.decode(from_base64url(told["commits"][-1][3]))
    assert commit[1][1] == ["room_closed", "resigned"]
    commit[1][1][1] = "agreed"
    agreed["frames"][-1][5]["room"]["seats"] = told["frames"][-1][5]["room"]["seats"]
    blob = base64url(msgspec.msgpack.encode(commit, order="sorted"))
    change = [[["commits", len(told["commits"]) - 1, 3], blob]]
    assert wrong(record_vectors.changed(agreed, change, repair=True)) == ["facts"]


@pytest.mark.parametrize("case", cases("tampered"))
def test_a_changed_record_is_found_out(case: Case) -> None:
    record = record_vectors.changed(json.loads(TRUE), case["set"], repair=case["repair"])
    if case["evidence"]:
        assert wrong(record) == []
        assert wrong(record, evidence=KEPT) == ["seen"]
    else:
        assert wrong(record) != []


@pytest.mark.parametrize("case", cases("tampered_signed"))
def test_a_changed_signature_or_proof_is_found_out_by_its_step(case: Case) -> None:
    record = record_vectors.changed(json.loads(SIGNED), case["set"], repair=False)
    assert wrong(record, keys=KEYS) == [case["step"]]


@pytest.mark.parametrize(
    ("kept", "where"),
    [
        (Evidence("other", "", ""), {"part": "uid"}),
        (Evidence("", "", "other"), {"part": "commitment"}),
        (Evidence("", "", "", {"1": "other"}), {"deal": 1}),
        (Evidence("", "", "", places=(Place(7, "other"),)), {"commit": 7}),
    ],
)
def test_what_a_client_saw_otherwise_is_named(kept: Evidence, where: dict[str, object]) -> None:
    found = of("seen", check_record(TRUE, evidence=kept))
    assert (found.ok, found.detail) == (False, {"where": where})


@pytest.mark.parametrize(("by", "reason"), [("service", "tidied"), ("", "abandoned")])
def test_a_close_that_says_who_and_why_fits_together(by: str, reason: str) -> None:
    """Whether the room was due to close is for the rules to say."""
    close = record_vectors.closed(by, reason)
    record = record_vectors.changed(json.loads(TRUE), close(json.loads(TRUE)), repair=True)
    assert wrong(record) == []


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to all values that hold no others."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return [leaf for key, item in items for leaf in leaves(item, (*path, key))]
    return [path]


def other(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return value + 1
    return ("B" if value[:1] == "A" else "A") + value[1:] if isinstance(value, str) else "other"


STEP = examples(30, 10)


def test_some_leaves_show_when_the_forger_repairs_chain_and_seal() -> None:
    """Views between the first and the last are for the rules to judge, and ids for evidence."""
    told = json.loads(TRUE)
    unseen = []
    for path in leaves(told)[random.randrange(STEP) :: STEP]:
        record = record_vectors.changed(
            json.loads(TRUE), [[list(path), other(_at(told, path))]], repair=False
        )
        try:
            record_vectors.repaired(record)
        except (ValueError, TypeError):
            continue
        if record != told and not wrong(record):
            unseen.append(path)
    free = {(path[0], path[2]) for path in unseen}
    assert free <= {("frames", 5), ("commits", 1), ("commits", 4), ("commits", 5)}, unseen


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def nodes(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all values."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield (*path, key)
        if isinstance(item, dict | list):
            yield from nodes(item, (*path, key))


STRANGE: tuple[Any, ...] = (
    None,
    [],
    {},
    -1,
    0,
    True,
    "x",
    "",
    1 << 60,
    1.5,
    [[]],
    {"a": 1},
    "AAAA",
    "A" * 43,
)


def test_no_strange_value_anywhere_raises_or_passes_beside_evidence() -> None:
    told, chance = json.loads(SIGNED), random.Random(1)
    paths = list(nodes(told))
    for _ in range(examples(120, 250)):
        path, value = chance.choice(paths), chance.choice(STRANGE)
        record = record_vectors.changed(json.loads(SIGNED), [[list(path), value]], repair=False)
        if record != told:
            assert wrong(record, keys=KEYS, evidence=KEPT), (path, value)


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"{}", b'{"format": 2}', b'{"format": 9}', TRUE[:-9], TRUE + b"{}"]
)
def test_what_is_no_record_is_refused(text: bytes) -> None:
    with pytest.raises(RecordError):
        check_record(text)


def test_a_frame_of_another_shape_is_refused() -> None:
    for at, value in ((1, True), (3, "x"), (4, [[]]), (5, 0)):
        record = json.loads(TRUE)
        record["frames"][3][at] = value
        assert wrong(record) == ["unreadable"]
