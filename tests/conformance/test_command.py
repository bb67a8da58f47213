"""`towerhall conformance`: what it prints, what it writes, and how it ends."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.conformance.players import play
from towerhall_conformance import command
from towerhall_conformance.cases import ALL
from towerhall_conformance.stage import NEXT, code_of, open_stage
from towerhall_server.cli.main import main

SAYS_HELLO_TWICE = """
import json, sys
from websockets.sync.client import connect
hello = json.dumps(["hello", {"token": "t", "level": 1, "origin": "b3JpZ2luMTE"}])
with connect(sys.argv[1], subprotocols=["towerhall.v1.json"]) as socket:
    socket.send(hello)
    socket.send(hello)
    try:
        while True:
            socket.recv()
    except Exception:
        pass
"""


def ran(*words: str) -> int:
    return main(["conformance", *words])


def test_a_broken_client_fails_with_the_clause_and_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script, target = tmp_path / "client.py", tmp_path / "report.json"
    script.write_text(SAYS_HELLO_TWICE)
    run = f"{sys.executable} {script} {{url}}"
    assert ran("--run", run, "--only", "hello", "--only", "1", "--json", str(target)) == 1
    assert "P-16: hello came twice" in capsys.readouterr().out
    told = json.loads(target.read_text())
    assert (told["passed"], told["failed"], told["not_tried"]) == (0, 1, 0)
    [case] = told["cases"]
    assert (case["number"], case["name"], case["verdict"]) == (1, "hello", "failed")
    assert case["why"] == "P-16: hello came twice"


def test_a_client_that_never_comes_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran("--run", f"{sys.executable} -c pass {{urls}}", "--only", "close 1000 *") == 1
    assert "its program has ended" in capsys.readouterr().out


def test_the_cases_are_listed_with_their_rooms(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran("--list") == 0
    out = capsys.readouterr().out
    for case in ALL.all:
        assert f"{code_of(case.number)}  {case.name}" in out
    assert ran("--list", "--server", "http://127.0.0.1:8000") == 0
    assert "resume at every cursor" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [("--run", "client"), ("--only", "of_a_later_level"), ("--server", "127.0.0.1:8000")],
    ids=["no place for the address", "no such case", "no address"],
)
def test_a_wrong_command_line_says_what_is_right(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran(*words) == 2
    assert "towerhall conformance: " in capsys.readouterr().err
    assert command.main(words) == 2


async def test_one_room_stands_for_all_cases_in_turn() -> None:
    names = ["hello", "numbers", "resume"]
    async with open_stage([case for case in ALL.all if case.name in names]) as stage:
        for _ in names:
            await play(f"http://127.0.0.1:{stage.port}", NEXT)
        async with asyncio.timeout(5):
            await stage.ended.wait()
        found = [(each.name, each.verdict) for each in stage.verdicts.values()]
        assert found == [(name, "passed") for name in names]


async def test_a_view_that_was_merged_wrongly_fails() -> None:
    [case] = [case for case in ALL.all if case.name == "hello"]
    async with open_stage([case]) as stage:
        code = code_of(case.number)
        view = await play(f"http://127.0.0.1:{stage.port}", code)
        assert view is not None
        stage.shown[code] = {**view, "more": 1}
        stage.compare_views()
        assert stage.verdicts[code].why.startswith("P-33: ")
