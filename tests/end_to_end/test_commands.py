"""The command line against a running server, as people use it."""

import json
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.cli.runs import Told, here, in_a_process
from tests.end_to_end.raw import new_guest, new_room
from tests.end_to_end.servers import ServerProcess
from towerhall_client.evidence_folder import EvidenceFolder
from towerhall_protocol.evidence import compare

SECONDS = 50


def towerhall(*arguments: str, given: str = "", token: str = "") -> Told:
    return in_a_process(*arguments, given=given, environ=_known(token))


def towerhall_here(*arguments: str, token: str = "") -> Told:
    """For what ends before anybody plays."""
    return here(*arguments, environ=_known(token))


def _known(token: str) -> dict[str, str]:
    return {"TOWERHALL_TOKEN": token} if token else {}


def test_bots_play_whole_games_and_tell_how_they_ended(shared: ServerProcess) -> None:
    done = towerhall("bots", "--rooms", "3", "--seats", "4", "--url", shared.url)
    assert done.status == 0, done.err
    assert len(re.findall(r"^[A-Z]{6} +\d+ +-?\d+ -?\d+ -?\d+ -?\d+$", done.out, re.M)) == 3
    assert "3 games, " in done.out
    assert "3/3" in done.err


def test_bots_without_a_server_say_how_to_start_one() -> None:
    done = towerhall_here("bots", "--url", "http://127.0.0.1:1")
    assert done.status == 2
    assert "`towerhall serve` starts one" in done.err


def test_a_pipe_plays_a_game_whose_record_verifies(shared: ServerProcess, tmp_path: Path) -> None:
    folder = tmp_path / "evidence"
    quick = ("--bot-delay-ms", "0", "--url", shared.url, "--evidence", str(folder))
    done = towerhall("play", "--bots", "easy,easy", *quick, given="#1\n" * 400)
    assert done.status == 0, done.err
    code = done.out.split()[1]
    assert "game_over" in done.out
    assert "secret_revealed" in done.out
    record = tmp_path / "record.json"
    with urllib.request.urlopen(f"{shared.url}v1/rooms/{code}/record") as answer:
        record.write_bytes(answer.read())
    checked = towerhall_here("verify", str(record))
    assert checked.status == 0, checked.out
    assert checked.out.rstrip().endswith("OK")
    document = json.loads(record.read_text())
    kept = EvidenceFolder(folder).find(document["uid"])
    assert kept is not None
    assert f"your evidence is in {folder}" in done.out
    assert list(kept.nonces) == ["1"]
    assert [place.why for place in kept.places if place.why] == ["seal", "end"]
    assert len(kept.places) > 3
    assert compare(kept, document) == ()
    document["result"]["scores"][0] += 1
    record.write_text(json.dumps(document))
    assert towerhall_here("verify", str(record)).status == 1


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
        assert "you have seat 1" in guest.out or "seat 1" in guest.out
        assert '"name":"Ann"' in guest.out.replace('": "', '":"')
        watcher = towerhall("play", code, "--watch", "--url", shared.url, given="sit\nquit\n")
        assert "refused: room_full" in watcher.out
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
        (("play", "ABCDEF", "--bots", "easy"), "leave out the code"),
        (("play", "--name", "\u200b"), "bad_name"),
        (("play", "--name", "a" * 10_000), "message_too_large"),
        (("play", "/#/x/ABCDEF"), "this is not a link to a room"),
        (("play", "/#/l/used-before"), "link_gone"),
        (("play", "--mine"), "set TOWERHALL_TOKEN"),
        (("play", "--quick", "ABCDEF"), "leave out the code"),
        (("play", "--quick", "--bots", "easy"), "leave out --bots"),
        (("play", "--bots", "easy", "--bot-delay-ms", "10001"), "bot_delay_ms is 0 to 10000"),
    ],
)
def test_what_cannot_be_played_is_told_with_its_code(
    shared: ServerProcess, arguments: tuple[str, ...], told: str
) -> None:
    done = towerhall_here(*arguments, "--url", shared.url)
    assert done.status == 2
    assert told in done.err


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
    code = done.out.split()[1].rstrip(",")
    invite = re.search(r"invite by (\S+)", done.out)
    assert invite is not None
    url = ("--url", shared.url)
    assert code not in towerhall_here("play", "--list", *url).out
    assert re.search(
        rf"^{code}  five_towers  waiting  1 of 2 seats: Ann$",
        towerhall_here("play", "--mine", *url, token=token).out,
        re.M,
    )
    bob = towerhall("play", invite[1], "--name", "Bob", *url, given="quit\n")
    assert f"room {code}, waiting; you are Bob" in bob.out
    assert bob.status == 0, bob.err
    link = towerhall_here("play", code, "--link", *url, token=token).out.split()[-1]
    back = towerhall("play", link, *url, given="quit\n")
    assert f"room {code}, waiting; you are Ann, seat 0" in back.out
    assert "link_gone" in towerhall("play", link, *url, given="quit\n").err
    plain = towerhall_here("play", "--link", *url, token=token).out.split()[-1]
    assert code in towerhall_here("play", plain, *url).out
    public = new_room(shared.url, token, seats=2)["code"]
    time.sleep(0.6)
    assert f"{public}  five_towers  waiting  0 of 2 seats: no players" in (
        towerhall_here("play", "--list", *url).out
    )
