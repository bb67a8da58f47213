"""A server that was started with `--sandbox`, and one that was not (P-190, P-191)."""

from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from tests.end_to_end.raw import (
    NO_CLOSE,
    Raw,
    ask,
    bearer,
    connected,
    inside,
    new_guest,
    new_room,
)
from tests.end_to_end.servers import ServerProcess
from towerhall_server.cli.main import main

ENTROPY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
SANDBOX = {"sandbox": {"speed": 1000, "entropy": ENTROPY}, "seats": 2, "bot_delay_ms": 100}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sandbox") / "data"


@pytest.fixture(scope="module")
def sandbox(folder: Path) -> Iterator[ServerProcess]:
    server = ServerProcess(folder, "--sandbox", limits={})
    server.start()
    yield server
    server.kill()


async def begun(raw: Raw) -> list[Any]:
    """A game with a bot; the offers of the first turn."""
    await raw.done("sit", seat=0)
    await raw.done("add_bot")
    await raw.command("start")
    return await raw.wait_for("offers")


def test_the_server_tells_that_it_offers_sandbox_rooms(
    sandbox: ServerProcess, shared: ServerProcess
) -> None:
    told = ask(sandbox.url, "GET", "/v1/games").document["sandbox"]
    assert told == {"speed": [1, 1000], "pause_ms": [1, 60_000], "commits": [1, 1000]}
    assert "sandbox" not in ask(shared.url, "GET", "/v1/games").document
    assert "this is a sandbox" in sandbox.log
    assert "this is a sandbox" not in shared.log


def test_such_a_server_has_no_rates(sandbox: ServerProcess) -> None:
    for _ in range(60):
        new_guest(sandbox.url)
    token = new_guest(sandbox.url)
    assert len({new_room(sandbox.url, token)["code"] for _ in range(40)}) == 40


@pytest.mark.parametrize(
    "wanted", [{"speed": 0}, {"speed": 1001}, {"entropy": "short"}, {"pace": 2}, True]
)
def test_a_wrong_sandbox_is_refused(sandbox: ServerProcess, wanted: object) -> None:
    body = {"game": "five_towers", "sandbox": wanted}
    answer = ask(sandbox.url, "POST", "/v1/rooms", body, bearer(new_guest(sandbox.url)))
    assert (answer.status, answer.code) == (400, "bad_request")


async def test_the_same_entropy_is_the_same_game_again(sandbox: ServerProcess) -> None:
    seen = []
    for _ in range(2):
        token = new_guest(sandbox.url)
        made = new_room(sandbox.url, token, **SANDBOX)
        async with inside(sandbox.url, made["code"], token) as raw:
            _, _, _, offers = await begun(raw)
        seen.append((made["uid"], made["commitment"], offers))
    assert seen[0] == seen[1]
    token = new_guest(sandbox.url)
    other = new_room(sandbox.url, token, **SANDBOX | {"sandbox": {}})
    assert other["uid"] != seen[0][0]


async def test_drop_cuts_without_a_close_and_the_client_resumes(sandbox: ServerProcess) -> None:
    token = new_guest(sandbox.url)
    code = new_room(sandbox.url, token, **SANDBOX)["code"]
    async with inside(sandbox.url, code, token) as raw:
        _, seq, mark, *_ = await raw.done("sit")
        await raw.say("sandbox", "drop", 0)
        assert (await raw.end()).code == NO_CLOSE
    async with inside(sandbox.url, code, token) as raw:
        assert (await raw.done("ready"))[1] == seq + 1
    assert mark


async def test_pause_silences_the_server_and_nothing_is_lost(sandbox: ServerProcess) -> None:
    host, guest = new_guest(sandbox.url), new_guest(sandbox.url, "Ben")
    code = new_room(sandbox.url, host, **SANDBOX)["code"]
    async with inside(sandbox.url, code, host) as raw, inside(sandbox.url, code, guest) as other:
        began = monotonic()
        await raw.say("sandbox", "pause", 400)
        n = await raw.command("sit", seat=0)
        await other.done("sit", seat=1)
        heard = await raw.up_to("frame")
        while not raw.is_answer(heard[-1], n):
            heard += await raw.up_to("frame")
        # The own command is read after the pause, and the other's frame is not lost.
        assert monotonic() - began >= 0.4
        sat = [fact[1] for message in heard if message[0] == "frame" for fact in message[4]]
        assert sorted(sat) == [0, 1]


async def test_lose_is_told_to_those_who_are_here_and_to_those_who_come_back(
    sandbox: ServerProcess,
) -> None:
    token = new_guest(sandbox.url)
    code = new_room(sandbox.url, token, **SANDBOX)["code"]
    async with inside(sandbox.url, code, token) as raw:
        await raw.done("sit")
        _, seq, mark, *_ = await raw.done("ready")
        await raw.say("sandbox", "lose", 2)
        _, cursor, view, lost = await raw.wait_for("reset")
        assert (cursor[1], lost, view["room"]["seats"]) == (seq - 2, 2, {})
    async with connected(sandbox.url, code) as raw:
        await raw.hello(token, cursor=[cursor[0], seq, mark])
        welcome = await raw.hear()
    assert welcome[1]["lost"] == 2
    assert welcome[1]["cursor"] == cursor


async def test_none_of_it_in_a_room_that_is_not_marked(sandbox: ServerProcess) -> None:
    token = new_guest(sandbox.url)
    code = new_room(sandbox.url, token)["code"]
    async with inside(sandbox.url, code, token) as raw:
        for act, number in (("drop", 0), ("pause", 10), ("lose", 1)):
            await raw.say("sandbox", act, number)
            assert (await raw.hear())[:2] == ["error", "no_sandbox"]


async def test_the_record_says_so_and_so_does_a_check(
    sandbox: ServerProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    token = new_guest(sandbox.url)
    code = new_room(sandbox.url, token, **SANDBOX)["code"]
    async with inside(sandbox.url, code, token) as raw:
        await begun(raw)
        await raw.say("sign")
        assert (await raw.wait_for("error"))[1] == "not_signed"
        await raw.command("want_end")
        await raw.wait_for("frame")
        await raw.quiet()
        await raw.say("sandbox", "lose", 1)
        assert (await raw.wait_for("error"))[1] == "already_over"
    answer = ask(sandbox.url, "GET", f"/v1/rooms/{code}/record")
    assert answer.document["settings"]["sandbox"] == 1000
    assert not {"signed", "log"} & set(answer.document)
    file = tmp_path / "record.json"
    file.write_bytes(answer.body)
    assert main(["verify", str(file)]) == 0
    said = capsys.readouterr().out
    assert "a sandbox room: its maker may have chosen the draws" in said
    assert said.splitlines()[-1] == "OK, but it is a sandbox room: no fairness is claimed"


async def test_none_of_it_on_a_server_without_the_setting(
    sandbox: ServerProcess, shared: ServerProcess, folder: Path
) -> None:
    body = {"game": "five_towers", "sandbox": {}}
    answer = ask(shared.url, "POST", "/v1/rooms", body, bearer(new_guest(shared.url)))
    assert (answer.status, answer.code) == (400, "no_sandbox")
    # Not even in a marked room, which a sandbox server has left behind.
    token = new_guest(sandbox.url)
    code = new_room(sandbox.url, token, **SANDBOX)["code"]
    sandbox.stop()
    ordinary = ServerProcess(folder)
    ordinary.start()
    try:
        async with inside(ordinary.url, code, token) as raw:
            for act, number in (("drop", 0), ("pause", 10), ("lose", 1)):
                await raw.say("sandbox", act, number)
                assert (await raw.hear())[:2] == ["error", "no_sandbox"]
    finally:
        ordinary.kill()
        sandbox.start()
