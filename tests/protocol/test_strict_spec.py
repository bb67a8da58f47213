"""The numbers and words of P-125 are those of both verifiers, and of the room that they judge."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from towerhall_protocol import record_steps, stored
from towerhall_server.record import timekeeping
from towerhall_server.room import closing, steps
from towerhall_server.room.events import PUBLIC_FIELDS, RoomCreated, Settings, facts

SPEC = (Path(__file__).parents[2] / "protocol/SPEC.md").read_text()
CLAUSE = SPEC.split("### P-125 ")[1].split("\n## ")[0]


def test_the_numbers_are_those_of_both_verifiers() -> None:
    written = dict(re.findall(r"^\| ([a-z ]+ ms) \| (\d+) \|", CLAUSE, re.M))
    late = timekeeping.LATE_MS
    assert {name: int(value) for name, value in written.items()} == {
        "faster ms": timekeeping.FASTER_MS,
        "late open ms": late["open"],
        "late ms": late["bot"],
    }
    assert late["bot"] == late["turn"] == late["close"]
    assert set(late) == {"open", "bot", "turn", "close"}
    assert (
        timekeeping.FASTER_MS,
        late["open"],
        steps.OPEN_MS,
    ) == (record_steps.FASTER_MS, record_steps.LATE_OPEN_MS, record_steps.OPEN_MS)


def test_the_reasons_of_a_close_are_those_of_the_room() -> None:
    assert record_steps.OWN_REASONS == closing.OWN_REASONS
    assert all(f"`{reason}`" in CLAUSE for reason in closing.OWN_REASONS)
    for reason in ("a", "a" * 40, "closed_by_operator", "", "a" * 41, "A", "a b", "ä"):
        assert (record_steps.REASON.fullmatch(reason) is not None) == closing.is_reason(reason)


def test_what_is_left_out_of_settings_and_facts_is_that_of_the_room() -> None:
    # Later settings are in a record only if they are in use.
    later = {"beat_ms": 0, "bot_accounts": False, "rated": False, "sandbox": 0}
    assert msgspec.structs.asdict(Settings()) == record_steps.DEFAULTS | later
    fields = msgspec.structs.fields(RoomCreated)
    assert fields[record_steps.OPERATOR - 1].name == "operator"
    kinds: Mapping[type[Any], Iterable[str]] = PUBLIC_FIELDS
    for kind, public in kinds.items():
        names = [field.name for field in msgspec.structs.fields(kind)]
        told = (0, *(1 + names.index(name) for name in public))
        event = str(facts(kind(**dict.fromkeys(names, 0)))[0])
        assert stored.HIDING.get(event, tuple(range(len(names) + 1))) == told
