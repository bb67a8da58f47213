"""The command line against a running server, as people use it."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.end_to_end.raw import new_guest, new_room
from tests.end_to_end.servers import ServerProcess

SECONDS = 50


def towerhall(
    *arguments: str, given: str = "", token: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "towerhall_server", *arguments],
        env=os.environ | ({"TOWERHALL_TOKEN": token} if token else {}),
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
        (("play", "--name", "a" * 10_000), "message_too_large"),
        (("play", "/#/x/ABCDEF"), "this link leads nowhere"),
        (("play", "/#/l/used-before"), "link_gone"),
        (("play", "--mine"), "set TOWERHALL_TOKEN"),
        (("play", "--quick", "ABCDEF"), "leave the code away"),
        (("play", "--quick", "--bots", "easy"), "no bots"),
    ],
)
def test_what_cannot_be_played_is_told_with_its_code(
    shared: ServerProcess, arguments: tuple[str, ...], told: str
) -> None:
    done = towerhall(*arguments, "--url", shared.url)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_two_who_want_the_same_are_seated_at_one_table(shared: ServerProcess) -> None:
    more = ("--turn-seconds", "77", "--url", shared.url)

    def command(name: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "towerhall_server", "play", "--quick", *more, "--name", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    with command("Ann") as ann, command("Bob") as bob:
        rooms = []
        for player in (ann, bob):
            assert player.stdout is not None
            found = re.match(r"room ([A-Z]{6}), seat (\d)", player.stdout.readline())
            assert found is not None
            rooms.append(found.groups())
        assert rooms[0][0] == rooms[1][0]
        assert {seat for _, seat in rooms} == {"0", "1"}
        for player in (ann, bob):
            player.communicate("quit\n", timeout=SECONDS)


def test_rooms_are_listed_and_links_carry_a_person_and_a_key(shared: ServerProcess) -> None:
    token = new_guest(shared.url, "Ann")
    done = towerhall("play", "--private", "--url", shared.url, given="quit\n", token=token)
    code = done.stdout.split()[1].rstrip(",")
    invite = re.search(r"invite by (\S+)", done.stdout)
    assert invite is not None
    url = ("--url", shared.url)
    assert code not in towerhall("play", "--list", *url).stdout
    assert re.search(
        rf"^{code}  five_towers  waiting  1 of 2 seats: Ann$",
        towerhall("play", "--mine", *url, token=token).stdout,
        re.M,
    )
    bob = towerhall("play", invite[1], "--name", "Bob", *url, given="quit\n")
    assert f"room {code}, waiting; you are Bob" in bob.stdout
    assert bob.returncode == 0, bob.stderr
    link = towerhall("play", code, "--link", *url, token=token).stdout.split()[-1]
    back = towerhall("play", link, *url, given="quit\n")
    assert f"room {code}, waiting; you are Ann, seat 0" in back.stdout
    assert "link_gone" in towerhall("play", link, *url, given="quit\n").stderr
    plain = towerhall("play", "--link", *url, token=token).stdout.split()[-1]
    assert code in towerhall("play", plain, *url).stdout
    public = new_room(shared.url, token, seats=2)["code"]
    time.sleep(0.6)
    assert f"{public}  five_towers  waiting  0 of 2 seats: nobody" in (
        towerhall("play", "--list", *url).stdout
    )
