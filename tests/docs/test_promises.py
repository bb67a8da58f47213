"""Each promise names tests, faults and seeded bugs, and all of them exist."""

import re

from tests.docs.pages import ROOT, text
from tests.programs.faults.__main__ import PARTS

PROMISES = text("docs/promises.md").partition("\n## ")[0]
TESTS = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))


def promises() -> list[str]:
    return PROMISES.split("\n- ")[1:]


def test_each_promise_names_a_test() -> None:
    assert len(promises()) >= 10
    for promise in promises():
        assert re.search(r"`test_\w+`", promise), promise


def test_all_tests_that_are_named_exist() -> None:
    for name in re.findall(r"`(test_\w+)`", "\n".join(promises())):
        assert re.search(rf"^ *(?:async )?def {name}\(", TESTS, re.MULTILINE), name


def test_all_faults_and_bugs_that_are_named_exist() -> None:
    faults = re.findall(r"fault `([\w-]+)`", PROMISES)
    bugs = re.findall(r"bug `([\w-]+)`", PROMISES)
    assert set(faults) <= PARTS.keys()
    assert [
        bug for bug in bugs if not (ROOT / f"tests/programs/mutants/{bug}.patch").is_file()
    ] == []
    assert faults
    assert bugs
