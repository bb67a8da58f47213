"""Seeded bugs fit the project as it is, and whoever seeds them can tell whether they were found."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.programs.mutants import __main__ as command
from tests.programs.mutants.copies import ROOT, CopyError, complaint, copied, prove
from tests.programs.mutants.seeded import BadPatchError, Mutant, read, read_all
from tests.programs.mutants.trial import Row, Run, green_run, judge, run_tests, trials
from tests.programs.mutants.verdicts import Verdict

MUTANTS = read_all()
EXPIRY = MUTANTS["token-never-expires"]
EXPECTED = {
    "ack-before-append",
    "backlog-without-bound",
    "broadcast-before-append",
    "no-dedup",
    "append-without-conflicts",
    "redaction-off-for-one-event",
    "resume-without-the-chain",
    "secret-in-the-snapshot",
    "timer-in-memory-only",
}
"""Without these the suite would not be trusted at all."""

TEST_SECONDS = 240
"""For what only ends late where much else is done."""

each_one = pytest.mark.parametrize("mutant", MUTANTS.values(), ids=MUTANTS)

HARMLESS = """breaks: Nothing at all.
rule: A seeded bug that changes nothing is found by nobody.
tests: {test}

diff --git a/{file} b/{file}
--- a/{file}
+++ b/{file}
@@ -1,2 +1,3 @@
 {first}
+Nobody minds.
 {second}
"""


@pytest.fixture(scope="module")
def copy() -> Iterator[Path]:
    with copied() as folder:
        yield folder


# The patches


def test_the_bugs_without_which_nothing_is_proved_are_there() -> None:
    assert set(MUTANTS) >= EXPECTED
    assert len({mutant.diff for mutant in MUTANTS.values()}) == len(MUTANTS)


def test_every_patch_applies_to_the_project_as_it_is(copy: Path) -> None:
    complaints = {name: complaint(copy, mutant.path) for name, mutant in MUTANTS.items()}
    assert {name: why for name, why in complaints.items() if why} == {}


@each_one
def test_what_a_patch_replaces_is_there_once(mutant: Mutant) -> None:
    for file, pieces in mutant.before.items():
        text = (ROOT / file).read_text()
        assert [text.count(piece) for piece in pieces] == [1] * len(pieces)
        assert not file.startswith("tests/"), "bugs are seeded into what is tested"


@pytest.mark.timeout(TEST_SECONDS)
def test_the_tests_of_all_patches_are_there() -> None:
    """Collected here, where modules are compiled already; a copy has the same ones."""
    tests = sorted({test for mutant in MUTANTS.values() for test in mutant.tests})
    run = run_tests(ROOT, tests, TEST_SECONDS, "--collect-only")
    assert run.status == 0, run.said


GOOD = "breaks: x\nrule: y\ntests: z\n\n"


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        "diff --git a/x b/x\n",
        GOOD.replace("breaks: x\n", "") + "diff --git a/x b/x\n",
        GOOD.replace("rule: y\n", "") + "diff --git a/x b/x\n",
        GOOD.replace("tests: z\n", "") + "diff --git a/x b/x\n",
        GOOD.replace("rule: y", "rule: y\nrule: y") + "diff --git a/x b/x\n",
        GOOD.replace("tests: z", "tests:") + "diff --git a/x b/x\n",
        "words\n" + GOOD + "diff --git a/x b/x\n",
    ],
)
def test_a_patch_that_does_not_say_what_it_has_to_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "some.patch"
    path.write_text(text)
    with pytest.raises(BadPatchError):
        read(path)


# The copy


def test_what_is_not_imported_from_the_copy_is_noticed(copy: Path) -> None:
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with pytest.raises(CopyError, match="not from the copy"):
        prove(copy, plain)


# The trial


@pytest.fixture
def harmless(tmp_path: Path) -> Mutant:
    """A patch that changes no more than the text that opens a module."""
    file = "server/towerhall_server/access/tokens.py"
    first, second = (ROOT / file).read_text().splitlines()[:2]
    path = tmp_path / "harmless.patch"
    patch = HARMLESS.format(test=EXPIRY.tests[0], file=file, first=first, second=second)
    path.write_text(patch)
    return read(path)


def test_a_bug_is_found_by_its_test_and_what_is_none_is_not(copy: Path, harmless: Mutant) -> None:
    file = next(iter(EXPIRY.before))
    assert complaint(copy, harmless.path) == ""
    green = green_run(copy, [EXPIRY, harmless])
    assert green.status == 0
    rows = list(trials(copy, [EXPIRY, harmless], green))
    assert [(row.name, row.found, row.how) for row in rows] == [
        ("token-never-expires", True, EXPIRY.tests[0]),
        ("harmless", False, "survived"),
    ]
    assert (copy / file).read_text() == (ROOT / file).read_text()


def test_a_patch_that_does_not_apply_finds_nothing(copy: Path, harmless: Mutant) -> None:
    harmless.path.write_text(harmless.path.read_text().replace('"""Guest', '"""No guest'))
    green = Run(0, tuple(Verdict(test, True) for test in EXPIRY.tests), "")
    [row] = trials(copy, [harmless], green)
    assert not row.found
    assert row.how.startswith("does not apply")


@pytest.mark.parametrize(
    "verdicts",
    [(), (Verdict("other", True),), (Verdict("test[a]", True), Verdict("test[b]", False))],
    ids=["nothing ran", "another ran", "a case is red"],
)
def test_a_test_counts_only_if_it_was_green_before(verdicts: tuple[Verdict, ...]) -> None:
    assert not Run(1, verdicts, "").is_green("test")


def test_all_cases_of_a_test_are_meant_by_its_name() -> None:
    green = Run(0, (Verdict("test[a]", True), Verdict("test[b]", True)), "")
    assert green.is_green("test")
    assert green.is_green("test[a]")
    assert not green.is_green("tes")


def test_a_mutant_whose_tests_are_red_anyway_is_not_found(copy: Path) -> None:
    [row] = trials(copy, [EXPIRY], Run(1, (Verdict(EXPIRY.tests[0], False),), ""))
    assert (row.found, row.how) == (False, f"not green without the bug: {EXPIRY.tests[0]}")


LATE = Verdict("test", False, "Failed: Timeout (>45.0s) from pytest-timeout.")


@pytest.mark.parametrize(
    ("run", "found", "found_if_it_may_hang"),
    [
        (Run(1, (Verdict("test", False, "assert"),), ""), True, True),
        (Run(0, (Verdict("test", True),), ""), False, False),
        (Run(2, (), "SyntaxError"), False, False),
        (Run(4, (), "not found: test"), False, False),
        (Run(5, (), "no tests ran"), False, False),
        (Run(1, (LATE,), ""), False, True),
        (Run(None, (), ""), False, True),
    ],
    ids=["red", "green", "collection", "usage", "no tests", "late", "cut off"],
)
def test_only_a_test_that_failed_has_found_something(
    run: Run, found: bool, found_if_it_may_hang: bool
) -> None:
    may_hang = Mutant("m", Path("m"), "", "", ("test",), "because", "")
    may_not = Mutant("m", Path("m"), "", "", ("test",), "", "")
    assert judge(may_not, run)[0] is found
    assert judge(may_hang, run)[0] is found_if_it_may_hang


def test_the_table_tells_what_was_not_found(capsys: pytest.CaptureFixture[str]) -> None:
    command.print_table([Row("one", 1.0, True, "a test"), Row("two", 2.0, False, "survived")])
    out = capsys.readouterr().out
    assert "NOT FOUND: survived" in out
    assert "1 of 2 seeded bugs were found" in out
