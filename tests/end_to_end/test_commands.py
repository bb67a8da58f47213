"""The command line against a running server, as people use it."""

import json
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.end_to_end.servers import ServerProcess

SECONDS = 50


def towerhall(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "towerhall_server", *arguments],
        input=given,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def test_bots_play_whole_games_and_tell_how_they_ended(shared: ServerProcess) -> None:
    done = towerhall("bots", "--rooms", "3", "--seats", "4", "--url", shared.url)
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"^[A-Z]{6} +\d+ +-?\d+ -?\d+ -?\d+ -?\d+$", done.stdout, re.M)) == 3
    assert "3 games, " in done.stdout
    assert "3/3" in done.stderr


def test_bots_without_a_server_say_how_to_start_one() -> None:
    done = towerhall("bots", "--url", "http://127.0.0.1:1")
    assert done.returncode == 2
    assert "`towerhall serve` starts one" in done.stderr


def test_a_pipe_plays_a_game_whose_record_verifies(shared: ServerProcess, tmp_path: Path) -> None:
    done = towerhall("play", "--bots", "easy,easy", "--url", shared.url, given="#1\n" * 400)
    assert done.returncode == 0, done.stderr
    code = done.stdout.split()[1]
    assert "game_over" in done.stdout
    assert "secret_revealed" in done.stdout
    record = tmp_path / "record.json"
    with urllib.request.urlopen(f"{shared.url}v1/rooms/{code}/record") as answer:
        record.write_bytes(answer.read())
    checked = towerhall("verify", str(record))
    assert checked.returncode == 0, checked.stdout
    assert checked.stdout.rstrip().endswith("OK")
    document = json.loads(record.read_text())
    document["result"]["scores"][0] += 1
    record.write_text(json.dumps(document))
    assert towerhall("verify", str(record)).returncode == 1


def test_somebody_joins_somebody_watches_and_both_leave(shared: ServerProcess) -> None:
    host = subprocess.Popen(
        [sys.executable, "-m", "towerhall_server", "play", "--url", shared.url, "--name", "Ann"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert host.stdout is not None
        code = host.stdout.readline().split()[1]
        guest = towerhall(
            "play", code.lower(), "--url", shared.url, "--name", "Bob", given="view\n"
        )
        assert "you have seat 1" in guest.stdout or "seat 1" in guest.stdout
        assert '"name":"Ann"' in guest.stdout.replace('": "', '":"')
        watcher = towerhall("play", code, "--watch", "--url", shared.url, given="sit\nquit\n")
        assert "refused: room_full" in watcher.stdout
        told, _ = host.communicate("start\nquit\n", timeout=SECONDS)
        assert "sealed" in told
        assert host.returncode == 0
    finally:
        host.kill()
        host.wait()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("play", "NOSUCH"), "room_gone"),
        (("play", "--game", "chess"), "unknown_game"),
        (("play", "--preset", "wrong"), "preset must be one of"),
        (("play", "ABCDEF", "--bots", "easy"), "leave the code away"),
        (("play", "--name", "\u200b"), "bad_name"),
    ],
)
def test_what_cannot_be_played_is_told_with_its_code(
    shared: ServerProcess, arguments: tuple[str, ...], told: str
) -> None:
    done = towerhall(*arguments, "--url", shared.url)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
