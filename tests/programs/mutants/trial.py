"""The trial of seeded bugs: first everything is green without them, then each one turns it red.

A bug counts as found only if its own tests failed with it and passed without it in the same copy,
moments before. Whatever else happens is a failure of the run: a bug that nobody saw, a patch that
does not fit any more, a test that is red anyway, or one that ran out of time without having been
expected to.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Final

import msgspec

from tests.programs.mutants.copies import CopyError, applied, environment
from tests.programs.mutants.seeded import Mutant
from tests.programs.mutants.verdicts import Verdict, read_verdicts

TEST_SECONDS: Final = 45
"""For one test. Those of a trial take a second or two each."""
PATIENCE_SECONDS: Final = 6
"""For something that a test waits for, with a bug and without."""
TRIAL_SECONDS: Final = 120
"""For all tests of one bug."""
GREEN_SECONDS: Final = 900
"""For all tests of all bugs, without a bug."""
PARTING_SECONDS: Final = 15
SOME_FAILED: Final = 1


class Run(msgspec.Struct, frozen=True):
    """How pytest ended."""

    status: int | None
    """`None` if it was cut off."""
    verdicts: tuple[Verdict, ...]
    said: str

    @property
    def red(self) -> tuple[Verdict, ...]:
        return tuple(verdict for verdict in self.verdicts if not verdict.passed)

    def is_green(self, test: str) -> bool:
        """Whether this test, or all cases of it, passed."""
        own = [verdict for verdict in self.verdicts if _covers(test, verdict.test)]
        return bool(own) and all(verdict.passed for verdict in own)


class Row(msgspec.Struct, frozen=True):
    """What became of one bug."""

    name: str
    seconds: float
    found: bool
    how: str


def _covers(test: str, case: str) -> bool:
    return case == test or case.startswith((f"{test}[", f"{test}::"))


def run_tests(folder: Path, tests: Sequence[str], seconds: float, *flags: str) -> Run:
    """Run tests of a copy, as the copy is now."""
    with TemporaryDirectory(prefix="verdicts-") as out:
        target = Path(out) / "verdicts"
        command = [sys.executable, "-m", "pytest", "-q", "--tb=line", "--color=no"]
        command += ["-p", "tests.programs.mutants.verdicts", f"--verdicts={target}"]
        command += [f"--patience={PATIENCE_SECONDS}"]
        command += ["-p", "no:cacheprovider", "--hypothesis-seed=0", f"--timeout={TEST_SECONDS}"]
        with subprocess.Popen(
            [*command, *flags, *tests],
            cwd=folder,
            env=environment(folder),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            status: int | None = None
            try:
                said, _ = process.communicate(timeout=seconds)
                status = process.returncode
            except subprocess.TimeoutExpired:
                said = _cut_off(process)
            except BaseException:
                _cut_off(process)
                raise
        return Run(status, read_verdicts(target), said)


def _cut_off(process: subprocess.Popen[str]) -> str:
    """End pytest so that it ends what it has started; if it does not, end all of it."""
    process.send_signal(signal.SIGINT)
    try:
        said, _ = process.communicate(timeout=PARTING_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
    return said


def green_run(folder: Path, mutants: Iterable[Mutant]) -> Run:
    """All tests that are needed, each once, without any bug."""
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    return run_tests(folder, tests, GREEN_SECONDS)


def trials(folder: Path, mutants: Iterable[Mutant], green: Run) -> Iterator[Row]:
    """Each bug in turn, after a run without any."""
    for mutant in mutants:
        began = monotonic()
        found, how = _trial(folder, mutant, green)
        yield Row(mutant.name, monotonic() - began, found, how)


def _trial(folder: Path, mutant: Mutant, green: Run) -> tuple[bool, str]:
    """Whether the bug was found, and by whom or why not."""
    for test in mutant.tests:
        if not green.is_green(test):
            return False, f"not green without the bug: {test}"
    try:
        with applied(folder, mutant.path):
            run = run_tests(folder, mutant.tests, TRIAL_SECONDS, "--exitfirst")
    except CopyError as error:
        return False, f"does not apply: {error}"
    return judge(mutant, run)


def judge(mutant: Mutant, run: Run) -> tuple[bool, str]:
    """What a run with the bug says of it."""
    if run.status is None:
        return bool(mutant.hangs), "did not end"
    if run.status == 0:
        return False, "survived"
    if run.status != SOME_FAILED or not run.red:
        return False, f"no test could run: {_last_line(run.said)}"
    seen = run.red[0]
    if seen.out_of_time and not mutant.hangs:
        return False, f"out of time: {seen.test}"
    return True, seen.test


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["nothing was said"])[-1]
