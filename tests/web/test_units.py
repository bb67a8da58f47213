"""The unit tests of the page, which run under node."""

import subprocess
from pathlib import Path

import pytest

from clients.web import build
from tests.typescript.node import TOGETHER, npm

WEB = Path(build.__file__).parent


@pytest.mark.timeout(180)
def test_the_unit_tests_of_the_page_pass() -> None:
    command, environment = npm()
    done = subprocess.run(
        [*command, "run", "--silent", "test", "--", *TOGETHER],
        cwd=WEB,
        env=environment | {"NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
