"""A pytest plugin that writes down at once how each test ended, for whoever runs pytest.

Nothing is lost when a run is cut off, and nothing has to be guessed from what pytest prints. It can
also shorten the patience of tests that wait for something: with a bug it will often never come.
"""

import sys
from pathlib import Path

import msgspec
import pytest

OUT_OF_TIME = "Timeout (>"
"""How pytest-timeout begins to say that a test took too long."""

PATIENCE = "PATIENCE_SECONDS"
"""How modules of tests call the time that they wait for something."""


class Verdict(msgspec.Struct, frozen=True):
    """How one phase of a test ended."""

    test: str
    passed: bool
    why: str = ""

    @property
    def out_of_time(self) -> bool:
        return OUT_OF_TIME in self.why


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--verdicts", metavar="FILE", help="write how tests ended to FILE")
    parser.addoption("--patience", metavar="SECONDS", type=float, help="how long tests wait")


def pytest_configure(config: pytest.Config) -> None:
    target = config.getoption("--verdicts")
    if target:
        config.pluginmanager.register(Writer(Path(target)))


def pytest_collection_finish(session: pytest.Session) -> None:
    patience = session.config.getoption("--patience")
    if patience is not None:
        for name, module in sys.modules.items():
            if name.startswith("tests.") and hasattr(module, PATIENCE):
                setattr(module, PATIENCE, patience)


class Writer:
    """Writes a line for every test that passed, and for every phase that did not."""

    def __init__(self, target: Path) -> None:
        self._target = target

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed or report.when == "call":
            verdict = Verdict(report.nodeid, report.passed, _why(report))
            with self._target.open("ab") as out:
                out.write(msgspec.json.encode(verdict) + b"\n")


def _why(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(crash.message if crash is not None else report.longrepr or "")


def read_verdicts(target: Path) -> tuple[Verdict, ...]:
    """What was written; nothing if no test ended."""
    if not target.exists():
        return ()
    return tuple(
        msgspec.json.decode(line, type=Verdict) for line in target.read_bytes().splitlines()
    )
