"""What is always run in the browser is there: a name that fits nothing would shorten it unseen."""

import re
from pathlib import Path

from tests.browser.always import ALWAYS

BROWSER = Path(__file__).parent / "browser"


def test_every_file_of_the_browser_has_tests_that_are_always_run() -> None:
    assert set(ALWAYS) == {path.name for path in BROWSER.glob("test_*.py")}


def test_all_that_is_always_run_is_there() -> None:
    for file, names in ALWAYS.items():
        found = set(re.findall(r"^async def (test_\w+)", (BROWSER / file).read_text(), re.M))
        assert {name.partition("[")[0] for name in names} <= found, file
