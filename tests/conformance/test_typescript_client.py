"""Our TypeScript client passes the kit."""

import subprocess
from pathlib import Path

import pytest

from tests.conformance.players import program, verdicts
from tests.typescript.node import SDK, npm
from towerhall_conformance.cases import ALL

pytestmark = pytest.mark.timeout(240)  # packages may have to be fetched first


def bundled() -> tuple[str, str]:
    """The command that plays all rooms of the kit, and where its programs are found."""
    command, environment = npm()
    done = subprocess.run(
        [*command, "run", "--silent", "bundle"],
        cwd=SDK, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    node = Path(environment["PATH"].split(":")[0], "node")
    script = SDK / "build" / "conformance.mjs"
    return f"{node} --experimental-websocket --no-warnings {script} {{urls}}", environment["PATH"]


async def test_the_typescript_client_passes_every_case() -> None:
    command, _ = bundled()
    found = await verdicts(ALL.all, program(command))
    assert [verdict for verdict in found if verdict.verdict != "passed" or verdict.why] == []
    assert len(found) == len(ALL.all)
