"""Whoever comes in: hello, tokens, greetings, cursors, keys, pages of other places."""

import time

import pytest

from tests.end_to_end.bad_input.conftest import FRIENDLY_PAGE, KEY
from tests.end_to_end.raw import (
    BOTH,
    connected,
    denied,
    inside,
    new_guest,
    new_room,
)
from tests.end_to_end.servers import ServerProcess
from towerhall_protocol.level import LEVEL, OLDEST_LEVEL
from towerhall_server.access.tokens import Tokens, new_person

NOWHERE = "ZZZZZZ"


@pytest.mark.parametrize("subprotocol", BOTH)
async def test_nothing_is_heard_before_hello(
    shared: ServerProcess, token: str, code: str, subprotocol: str
) -> None:
    async with connected(shared.url, code, subprotocol) as raw:
        for message in (
            ["command", 1, "", {"command": "sit"}],
            ["ping", 1],
            ["chat", "hi"],
            ["history", 1, 1],
        ):
            await raw.say(*message)
            assert (await raw.hear())[:2] == ["error", "hello_expected"]
        await raw.say("hello", {"token": token})
        assert (await raw.hear())[:2] == ["error", "malformed_message"]
        await raw.hello(token)
        welcome = await raw.hear()
        assert welcome[0] == "welcome"
        assert welcome[1]["view"]["room"]["seats"] == {}


def tampered(token: str) -> str:
    payload, when, signature = token.split(".")
    return f"{payload[:-1]}{'A' if payload[-1] != 'A' else 'B'}.{when}.{signature}"


@pytest.mark.parametrize("subprotocol", BOTH)
@pytest.mark.parametrize("room", ["there", NOWHERE])
async def test_without_a_good_token_nobody_learns_whether_there_is_such_a_room(
    shared: ServerProcess, token: str, code: str, subprotocol: str, room: str
) -> None:
    stranger = Tokens([KEY], 90).issue(new_person("Mallory"))
    for bad in ("", "xyzzy", f" {token}", f"{token}A", tampered(token), stranger, "a" * 1100):
        async with connected(shared.url, code if room == "there" else room, subprotocol) as raw:
            await raw.hello(bad)
            end = await raw.end()
            assert end.error == "unauthorized"
            assert (end.code, end.reason) == (4401, "unauthorized")
            assert not bad or bad not in str(end.messages)


async def test_a_token_of_10_kb_is_too_large_a_message(shared: ServerProcess, code: str) -> None:
    async with connected(shared.url, code) as raw:
        await raw.hello("a" * 10_000)
        assert (await raw.end()).code == 1009


async def test_a_token_that_has_expired_is_not_taken(strict: ServerProcess) -> None:
    days_ago = Tokens([KEY], 1, clock=lambda: time.time() - 2 * 86_400)
    async with connected(strict.url, NOWHERE) as raw:
        await raw.hello(days_ago.issue(new_person("Ada")))
        end = await raw.end()
        assert (end.error, end.code) == ("unauthorized", 4401)
        assert end.messages[-1][2] == {"detail": "the token has expired"}


async def test_whoever_does_not_say_hello_in_time_is_closed(strict: ServerProcess) -> None:
    async with connected(strict.url, NOWHERE) as silent, connected(strict.url, NOWHERE) as babbler:
        await babbler.say("ping", 1)
        for raw in (silent, babbler):
            end = await raw.end()
            assert end.error == "hello_late"
            assert (end.code, end.reason) == (4408, "hello_late")


@pytest.mark.parametrize("subprotocol", BOTH)
@pytest.mark.parametrize(
    ("more", "error", "close"),
    [
        ({"level": 0}, "level_too_old", 4410),
        ({"level": -1}, "level_too_old", 4410),
        ({"origin": ""}, "malformed_message", 4400),
        ({"origin": "short"}, "malformed_message", 4400),
        ({"origin": "twelve chars"}, "malformed_message", 4400),
        ({"origin": "AAAAA/AAAAA"}, "malformed_message", 4400),
        ({"origin": "AAAAAAAAAA\n"}, "malformed_message", 4400),
    ],
)
async def test_a_greeting_that_cannot_be_taken_ends_the_connection(
    shared: ServerProcess,
    token: str,
    code: str,
    subprotocol: str,
    more: dict[str, object],
    error: str,
    close: int,
) -> None:
    async with connected(shared.url, code, subprotocol) as raw:
        await raw.hello(token, **more)
        end = await raw.end()
        assert (end.error, end.code) == (error, close)
        if error == "level_too_old":
            assert end.messages[-1][2] == {"oldest": OLDEST_LEVEL, "newest": LEVEL}


@pytest.mark.parametrize(
    "cursor",
    [[], ["base"], ["base", "1", "mark"], ["base", 1, 7], {"base": 1}, "base", 7, ["b", 1.5, "m"]],
)
async def test_a_cursor_that_is_none_is_malformed(
    shared: ServerProcess, token: str, code: str, cursor: object
) -> None:
    async with connected(shared.url, code) as raw:
        await raw.hello(token, cursor=cursor)
        assert (await raw.hear())[:2] == ["error", "malformed_message"]


async def test_a_cursor_from_elsewhere_leads_to_room_gone_and_an_impossible_one_to_the_view(
    shared: ServerProcess, token: str, code: str
) -> None:
    for base in ("", "base", "AAAAAAAAAAAAAAAAAAAAAA.all.1.1", "." * 300):
        async with connected(shared.url, code) as raw:
            await raw.hello(token, cursor=[base, 1, "AAAAAAAAAAA"])
            assert (await raw.end()).code == 4404
    async with connected(shared.url, code) as raw:
        await raw.hello(token)
        base, seq, mark = (await raw.hear())[1]["cursor"]
    for place in ([base, 2**53 - 1, mark], [base, -1, mark], [base, 0, ""], [base, seq, "x" * 11]):
        async with connected(shared.url, code) as raw:
            await raw.hello(token, cursor=place)
            arrival = (await raw.hear())[1]
            assert arrival["cursor"] == [base, seq, mark]
            assert arrival["view"]["room"]["code"] == code
            assert arrival["lost"] >= 1


@pytest.mark.parametrize("subprotocol", BOTH)
async def test_a_private_room_answers_a_wrong_key_as_if_it_were_not_there(
    shared: ServerProcess, token: str, code: str, subprotocol: str
) -> None:
    private = new_room(shared.url, token, seats=2, private=True)
    hidden, key = private["code"], private["key"]

    async def end_of(room: str, **more: object) -> tuple[object, ...]:
        async with connected(shared.url, room, subprotocol) as raw:
            await raw.hello(stranger, **more)
            end = await raw.end()
            return end.data, end.code, end.reason

    stranger = new_guest(shared.url)
    absent = await end_of(NOWHERE)
    assert absent[1:] == (4404, "room_gone")
    for room in (hidden, NOWHERE):
        for wrong in ({}, {"key": ""}, {"key": key[:-1]}, {"key": key + "A"}, {"key": "a" * 1200}):
            assert await end_of(room, **wrong) == absent
    for nothing in (code.lower(), "NOSUCH", "A" * 5, "A" * 7, "%00" * 6, "ÄÄÄÄÄÄ", "1" * 6):
        assert await end_of(nothing) == absent
    async with inside(shared.url, hidden, stranger, subprotocol, key=key) as raw:
        await raw.quiet()
    # P-16: the host has no seat, and a device that does not know the key.
    async with inside(shared.url, hidden, token, subprotocol) as raw:
        await raw.done("sit")
    async with inside(shared.url, code, token, subprotocol, key="not needed") as raw:
        await raw.quiet()


@pytest.mark.parametrize(
    "page",
    ["https://evil.example", "null", "nonsense", "http://127.0.0.1", "https://play.example.org:8"],
)
async def test_a_page_of_another_place_is_refused_before_the_socket_opens(
    strict: ServerProcess, page: str
) -> None:
    answer = await denied(strict.url, NOWHERE, page=page)
    assert (answer.status, answer.code) == (403, "foreign_origin")


async def test_the_pages_that_may_connect_do(strict: ServerProcess) -> None:
    for page in (FRIENDLY_PAGE, strict.url.rstrip("/"), None):
        async with connected(strict.url, NOWHERE, page=page) as raw:
            await raw.say("ping", 1)
            assert (await raw.hear())[:2] == ["error", "hello_expected"]


async def test_without_a_known_subprotocol_no_socket_opens(
    shared: ServerProcess, code: str
) -> None:
    for offered in ((), ("chat",), ("towerhall.v2.msgpack", "towerhall.v1.MSGPACK")):
        answer = await denied(shared.url, code, subprotocols=offered)
        assert (answer.status, answer.code) == (400, "bad_request")
