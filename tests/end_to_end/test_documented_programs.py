"""The programs in the documentation play legal games at a real server."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.servers import ServerProcess

ROOT = Path(__file__).resolve().parent.parent.parent
MOST_LINES = 30


def programs(page: str) -> list[str]:
    """The Python blocks that talk to a server."""
    text = (ROOT / page).read_text()
    found = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [block for block in found if "127.0.0.1:8000" in block]


@pytest.mark.parametrize("page", ["docs/write-a-client.md", "protocol/README.md"])
def test_the_program_plays_a_legal_game_to_its_end(shared: ServerProcess, page: str) -> None:
    (program,) = programs(page)
    here = program.replace("127.0.0.1:8000", f"127.0.0.1:{shared.port}")
    done = subprocess.run(
        [sys.executable, "-c", here], capture_output=True, text=True, timeout=50, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "scores" in done.stdout


def test_what_is_posted_by_hand_is_declared_as_json() -> None:
    text = (ROOT / "protocol/README.md").read_text().replace("\\\n", "")
    posted = [line for line in text.splitlines() if line.startswith("curl ") and " -d " in line]
    assert len(posted) == 2
    assert all('-H "Content-Type: application/json"' in line for line in posted)


def test_a_bot_takes_thirty_lines_at_most() -> None:
    (program,) = programs("docs/write-a-client.md")
    assert len(program.splitlines()) <= MOST_LINES
