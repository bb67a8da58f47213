"""Commands, chat and history of somebody who is inside."""

import time
from typing import Any

import pytest

from tests.end_to_end.raw import (
    BOTH,
    inside,
    new_guest,
    new_room,
)
from tests.end_to_end.servers import ServerProcess


@pytest.mark.parametrize("subprotocol", BOTH)
async def test_seats_that_cannot_be_had_are_refused(
    shared: ServerProcess, token: str, subprotocol: str
) -> None:
    room = new_room(shared.url, token, seats=2)["code"]
    ben, cyd = new_guest(shared.url, "Ben"), new_guest(shared.url, "Cyd")
    async with (
        inside(shared.url, room, token, subprotocol) as first,
        inside(shared.url, room, ben, subprotocol) as second,
        inside(shared.url, room, cyd, subprotocol) as third,
    ):
        for seat in (2, -1, 99, 2**53 - 1):
            assert await first.refused("sit", seat=seat) == "no_such_seat"
        await first.done("sit", seat=1)
        assert await first.refused("sit") == "already_seated"
        assert await first.refused("sit", seat=0) == "already_seated"
        assert await second.refused("sit", seat=1) == "seat_taken"
        await second.done("sit")
        assert await third.refused("sit") == "room_full"
        assert await third.refused("sit", seat=0) == "seat_taken"
        assert (await third.quiet())[-1:] in ([], [["presence", [0, 1], 1]])


@pytest.mark.parametrize(
    "body",
    [{}, {"command": 7}, {"command": None}, {"command": ["sit"]}, {"command": {}}, {"Command": ""}],
)
async def test_a_command_without_a_name_is_rejected_by_its_number(
    shared: ServerProcess, token: str, code: str, body: dict[str, object]
) -> None:
    async with inside(shared.url, code, token) as raw:
        await raw.say("command", 3, "", body)
        assert (await raw.wait_for("rejected"))[:4] == ["rejected", 3, "bad_command", "P-41"]


@pytest.mark.parametrize(
    ("command", "fields"),
    [
        ("ready", {"ready": "yes"}),
        ("ready", {"ready": 1}),
        ("ready", {"nonce": 7}),
        ("ready", {"nonce": "A" * 42}),
        ("ready", {"nonce": "=" * 43}),
        ("add_bot", {"level": "genius"}),
        ("add_bot", {"level": 7}),
        ("add_bot", {"level": {"a": []}}),
    ],
)
async def test_parameters_of_the_wrong_kind_are_bad_commands(
    shared: ServerProcess, token: str, command: str, fields: dict[str, object]
) -> None:
    room = new_room(shared.url, token, seats=2)["code"]
    async with inside(shared.url, room, token) as raw:
        await raw.done("sit")
        assert await raw.refused(command, **fields) == "bad_command"


@pytest.mark.parametrize("subprotocol", BOTH)
async def test_the_ninth_unanswered_command_is_an_error_and_never_rejected(
    shared: ServerProcess, token: str, code: str, subprotocol: str
) -> None:
    async with inside(shared.url, code, token, subprotocol) as raw:
        body = {"command": "stand"}
        raw.burst(*(["command", n, "", body] for n in range(1, 10)))
        heard = await raw.up_to("rejected", 8)
        assert [each for each in heard if each[0] == "error"] == [
            ["error", "too_many_unanswered", {"most": 8, "n": 9}, heard_hint(heard), "P-44"]
        ]
        assert [each[1] for each in heard if each[0] == "rejected"] == list(range(1, 9))
        # It was not looked at, so the same number may come again; and now there is room.
        assert await raw.refused("stand", n=9) == "not_seated"


@pytest.mark.parametrize("subprotocol", BOTH)
async def test_p42_a_number_belongs_to_one_command(
    shared: ServerProcess, token: str, subprotocol: str
) -> None:
    room = new_room(shared.url, token, seats=2)["code"]
    sit = {"command": "sit", "seat": 1}
    async with inside(shared.url, room, token, subprotocol) as raw:
        await raw.say("command", 1, "", sit)
        assert (await raw.wait_for("frame"))[3][2] == 1
        await raw.say("command", 1, "", {"command": "stand"})
        assert (await raw.wait_for("rejected"))[1:4] == [1, "number_reused", "P-42"]
        await raw.say("command", 1, "any tag", {"seat": 1, "nonce": None, "command": "sit"})
        assert await raw.wait_for("duplicate") == ["duplicate", 1, 2]
        await raw.say("command", 1, "", {"command": "stand"}, True)
        assert await raw.wait_for("accepted") == ["accepted", 1, {}]
        await raw.say("command", 1, "", sit, True)
        assert (await raw.wait_for("rejected"))[1:3] == [1, "already_seated"]


def heard_hint(heard: list[list[Any]]) -> object:
    return next(each[3] for each in heard if each[0] == "error")


@pytest.mark.parametrize("subprotocol", BOTH)
async def test_a_number_that_is_sent_again_under_way_has_one_answer(
    shared: ServerProcess, token: str, subprotocol: str
) -> None:
    room = new_room(shared.url, token, seats=2)["code"]
    async with inside(shared.url, room, token, subprotocol) as raw:
        sit = ["command", 1, "", {"command": "sit"}]
        raw.burst(sit, sit, sit, ["command", 2, "", {"command": "ready"}])
        heard = await raw.up_to("frame", 3)
        answers = [each for each in heard if raw.is_answer(each, 1)]
        assert [each[:2] for each in answers] == [["frame", 2]]
        # Later it is told where it was done, and is not done again.
        await raw.say(*sit)
        assert await raw.answer(1) == ["duplicate", 1, 2]
        assert [each for each in await raw.quiet() if each[0] == "frame"] == []


async def test_numbers_and_tags_that_have_passed_are_stale(
    shared: ServerProcess, token: str
) -> None:
    room = new_room(shared.url, token, seats=2, bot_delay_ms=0)["code"]
    async with inside(shared.url, room, token) as raw:
        await raw.done("sit", n=5)
        n, rule = await stale(raw, "ready", n=3)
        assert (n, rule) == (3, "P-42")
        await raw.done("add_bot", n=6)
        await raw.command("start", n=7)
        heard = await raw.up_to("offers")
        tag, offers = heard[-1][2], heard[-1][3]
        assert offers
        offer = offers[0]
        fields = {name: least for name, (least, _) in offer.get("ranges", {}).items()}
        for choice, _ in offer.get("choices", [])[:1]:
            fields |= choice
        for wrong in ("", "x", tag[:-1], tag + "A"):
            n, rule = await stale(raw, offer["command"], n=8, tag=wrong, **fields)
            assert (n, rule) == (8, "P-43")
        await raw.done(offer["command"], n=9, tag=tag, **fields)
        assert (await stale(raw, offer["command"], n=10, tag=tag, **fields))[1] == "P-43"


async def stale(raw: Any, command: str, **more: Any) -> tuple[int, str]:
    answer = await raw.answer(await raw.command(command, **more))
    assert answer[0] == "rejected"
    assert answer[2] == "stale"
    return answer[1], answer[3]


async def test_commands_that_come_too_fast_wait_and_are_answered_in_order(
    strict: ServerProcess,
) -> None:
    token = new_guest(strict.url)
    room = new_room(strict.url, token, seats=2)["code"]
    count, at_once, per_second, window = 27, 20, 10, 8
    async with inside(strict.url, room, token) as raw:
        began = time.monotonic()
        for n in range(1, window + 1):
            await raw.command("add_bot", n=n, dry=True)
        answered = []
        for n in range(1, count + 1):
            message = await raw.hear()
            while message[0] == "presence":
                message = await raw.hear()
            answered.append(message)
            if n + window <= count:
                await raw.command("add_bot", n=n + window, dry=True)
        assert answered == [["accepted", n, {}] for n in range(1, count + 1)]
        assert time.monotonic() - began > (count - at_once) / per_second - 0.15
        # What is no command does not wait; it shares the rate and is told when to come back.
        await raw.say("ping", 1)
        _, error, params, *_ = await raw.wait_for("error")
        assert error == "too_many"
        assert 0 < params["retry_ms"] <= 1000 / per_second + 1


async def test_chat_and_history_have_rates_of_their_own(
    strict: ServerProcess,
) -> None:
    token = new_guest(strict.url)
    room = new_room(strict.url, token, seats=2)["code"]
    async with inside(strict.url, room, token) as raw:
        await raw.done("sit")
        raw.burst(*(["chat", f"line {number}"] for number in range(5)))
        heard: list[Any] = []
        while sum(each[0] == "chat" for each in heard) < 5:
            heard += await raw.up_to("chat")
        assert [each[4] for each in heard if each[0] == "chat"] == [f"line {n}" for n in range(5)]
        assert not [each for each in heard if each[0] == "error"]
        await raw.say("chat", "too much")
        _, error, params, *_ = await raw.wait_for("error")
        assert error == "too_many"
        assert 0 < params["retry_ms"] <= 1001
        raw.burst(*(["history", 1, 1] for _ in range(11)))
        heard = [await raw.wait_for("error")]
        assert heard[0][1] == "too_many"
        for _ in range(10):
            assert (await raw.wait_for("history"))[2] == 1
