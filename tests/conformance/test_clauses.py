"""Each case cites clauses that exist, and each duty of a client has a case or a reason."""

import re
from collections import Counter
from pathlib import Path

import pytest

from towerhall_conformance.cases import ALL, EVERY_BYTE
from towerhall_conformance.server_cases import ALL as OF_SERVERS

SPEC = Path(__file__).parents[2] / "protocol" / "SPEC.md"
CLAUSE = re.compile(r"^### (P-\d+) .*?$(.*?)(?=^##|\Z)", re.M | re.S)
CLAUSES = dict(CLAUSE.findall(SPEC.read_text()))
EVERYWHERE = {"P-3", "P-10", "P-11", "P-41", "P-70"}
"""Looked at in every message of every case."""
NOT_TRIED = {
    "P-15": "how text is shown does not travel over the wire",
    "P-53": "what the server refuses; a client may send `start` at any time",
    "P-110": "about requests over HTTP: a client that only plays makes none",
    "P-161": "about the keys of operators",
    "P-168": "about receivers of webhooks: vectors/webhooks.json",
    "P-169": "about receivers of webhooks: vectors/webhooks.json",
    "P-184": "about observers of the public log: vectors/merkle.json and vectors/notes.json",
    "P-219": "about what push services carry: clients/web/tests/away.test.ts",
    "P-190": "about checks of records: vectors/records/sandbox.json",
}


@pytest.mark.parametrize("case", [*ALL.all, *EVERY_BYTE.all, *OF_SERVERS.all], ids=lambda c: c.name)
def test_a_case_cites_clauses_that_exist_and_says_what_it_is_about(case: object) -> None:
    assert set(case.clauses) <= set(CLAUSES)  # type: ignore[attr-defined]
    assert case.clauses  # type: ignore[attr-defined]
    assert case.about.endswith(".")  # type: ignore[attr-defined]


def test_each_duty_of_a_client_has_a_case_or_a_reason() -> None:
    duties = {number for number, text in CLAUSES.items() if "MUST" in text}
    tried = {clause for case in ALL.all for clause in case.clauses} | EVERYWHERE
    assert len(duties) > 20
    assert duties - tried == set(NOT_TRIED)


@pytest.mark.parametrize("cases", [ALL.all, OF_SERVERS.all], ids=["clients", "servers"])
def test_names_and_numbers_of_cases_are_their_own(cases: list[object]) -> None:
    for field in ("name", "number"):
        counted = Counter(getattr(case, field) for case in cases)
        assert [each for each, times in counted.items() if times > 1] == []
