"""The examples are whole clients: each is short, and passes the kit."""

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.players import program, verdicts
from tests.typescript.node import CLIENTS, npm
from towerhall_conformance.cases import ALL
from towerhall_conformance.stage import code_of, open_stage

EXAMPLES = CLIENTS / "examples"
LINES_MAX = 80
COLUMNS_MAX = 140
GO_PACKAGES = Path(os.sep, "usr", "share", "gocode")
"""Where Debian installs libraries of Go."""
ONLY_PLAYS = {"join", "nonce", "nonce over a break", "second deal"}
"""Cases about sitting down. These clients do not."""
NAMES = [path.name for path in sorted(EXAMPLES.iterdir()) if path.suffix in (".py", ".mjs", ".go")]


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_short(name: str) -> None:
    lines = (EXAMPLES / name).read_text().splitlines()
    assert len(lines) <= LINES_MAX
    assert max(map(len, lines)) <= COLUMNS_MAX


async def passes(command: str, jobs: int = 1) -> None:
    found = await verdicts(ALL.all, program(command, jobs))
    assert [verdict for verdict in found if verdict.verdict == "failed"] == []
    assert {verdict.name for verdict in found if verdict.verdict != "passed"} == ONLY_PLAYS


async def test_the_python_player_passes() -> None:
    await passes(f"{sys.executable} {EXAMPLES / 'player.py'} token {{urls}}")


@pytest.mark.timeout(240)
async def test_the_javascript_player_passes() -> None:
    _, environment = npm()
    node = Path(environment["PATH"].split(os.pathsep)[0], "node")
    await passes(f"{node} {EXAMPLES / 'player.mjs'} token {{urls}}")


@pytest.mark.timeout(240)
async def test_the_go_player_passes(tmp_path: Path) -> None:
    await passes(f"{built_by_go(tmp_path)} token {{url}}", jobs=len(ALL.all))


def built_by_go(tmp_path: Path) -> Path:
    go = shutil.which("go")
    if go is None or not (GO_PACKAGES / "src/github.com/gorilla/websocket").is_dir():
        pytest.skip("Go and gorilla/websocket cannot be installed here: `make test` tried apt-get")
    built = tmp_path / "player"
    environment = os.environ | {
        "GO111MODULE": "off", "GOPATH": str(GO_PACKAGES), "GOCACHE": str(tmp_path / "cache"),
        "GOFLAGS": "-p=1",
    }  # fmt: skip
    command = [go, "build", "-o", str(built), str(EXAMPLES / "player.go")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return built


async def watched(name: str, *words: str, stdin: str = "") -> str:
    """What an example prints that watches one case."""
    [case] = [case for case in ALL.all if case.name == "resume"]
    async with open_stage([case], watches=True) as stage:
        url = stage.url + code_of(case.number)
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(EXAMPLES / name), *words, url,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert process.stdin is not None
        process.stdin.write(stdin.encode())
        out, _ = await process.communicate()
        if not stdin:
            assert stage.verdicts[code_of(case.number)].verdict == "passed"
        return out.decode()


async def test_the_watcher_words_every_commit_once_over_breaks() -> None:
    assert (await watched("watch.py", "token")).splitlines() == [
        f"{seq:5}  seat 1 passes" for seq in (2, 6, 7)
    ]


async def test_the_pipe_carries_lines_both_ways() -> None:
    readme = (EXAMPLES / "README.md").read_text()
    hello = '["hello",{"token":"token","level":1,"origin":"b3JpZ2luMTE"}]'
    assert f"echo '{hello}' | python pipe.py" in readme
    told = (await watched("pipe.py", stdin=hello + "\n")).splitlines()
    assert told[0].startswith('["welcome",{')
    assert told[1].startswith('["frame",2,')
