"""Verdicts as lines for people, and as one JSON document for programs."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from towerhall_conformance.case import Case, Verdict
from towerhall_protocol.level import LEVEL


def line(verdict: Verdict) -> str:
    clauses = " ".join(verdict.clauses)
    text = f"{verdict.number:4}  {verdict.verdict:9}  {verdict.name:36}  {clauses}"
    return f"{text}\n      {verdict.why}" if verdict.why else text


def summary(verdicts: Iterable[Verdict], cases: int) -> str:
    count = Counter(verdict.verdict for verdict in verdicts)
    left = cases - sum(count.values())
    text = f"{count['passed']} passed, {count['failed']} failed, {count['not tried']} not tried"
    return f"{text}, {left} without a connection" if left else text


def document(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The report: all verdicts in order."""
    count = Counter(verdict.verdict for verdict in verdicts)
    ordered = sorted(verdicts, key=lambda verdict: verdict.number)
    return {
        "level": LEVEL,
        "passed": count["passed"],
        "failed": count["failed"],
        "not_tried": count["not tried"],
        "cases": [
            {field: getattr(verdict, field) for field in verdict.__struct_fields__}
            for verdict in ordered
        ],
    }


def listing(cases: Iterable[tuple[str, Case[Any]]]) -> str:
    """The cases with the codes of their rooms."""
    return "\n".join(
        f"{case.number:4}  {code:6}  {case.name:36}  {' '.join(case.clauses)}\n      {case.about}"
        for code, case in cases
    )
