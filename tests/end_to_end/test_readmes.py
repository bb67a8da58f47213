"""The programs in the READMEs play legal games at a real server."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.servers import ServerProcess

ROOT = Path(__file__).resolve().parent.parent.parent
MOST_LINES = 30


def programs(readme: str) -> list[str]:
    """The Python blocks that talk to a server."""
    text = (ROOT / readme).read_text()
    found = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [block for block in found if "127.0.0.1:8000" in block]


@pytest.mark.parametrize("readme", ["README.md", "protocol/README.md"])
def test_the_program_plays_a_legal_game_to_its_end(shared: ServerProcess, readme: str) -> None:
    (program,) = programs(readme)
    here = program.replace("127.0.0.1:8000", f"127.0.0.1:{shared.port}")
    done = subprocess.run(
        [sys.executable, "-c", here], capture_output=True, text=True, timeout=50, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "scores" in done.stdout


def test_a_bot_takes_thirty_lines_at_most() -> None:
    (program,) = programs("README.md")
    assert len(program.splitlines()) <= MOST_LINES
