"""Whatever a stranger sends is answered with its code, harms nobody, and leaves the log calm.

A real server, real sockets, and beside all of it a game of others that has to go on undisturbed.
"""

import asyncio
import json
import random
import secrets
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgpack
import pytest

from tests.end_to_end.games import seated
from tests.end_to_end.raw import (
    BOTH,
    JSON,
    MSGPACK,
    ask,
    connected,
    denied,
    inside,
    new_guest,
    new_room,
)
from tests.end_to_end.servers import ServerProcess, running
from towerhall_client.bot import play_bot, random_policy
from towerhall_client.http import Service
from towerhall_protocol.document import Document
from towerhall_protocol.offers import Offer
from towerhall_server.gateway.tokens import Tokens, new_person

NOWHERE = "ZZZZZZ"
KEY = secrets.token_urlsafe(32)
FRIENDLY_PAGE = "https://play.example.org"
HELLO_SECONDS = 0.6
THINK_SECONDS = 0.01
HEARD_SECONDS = 0.05
"""A line of chat is heard a moment before it is no longer under way."""
TRACES = ("Traceback", " ERROR ", " WARNING ")


class GameBeside:
    """Three people who play one game after the other, in a loop and a thread of their own."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._enough = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._play()))
        self._fault: BaseException | None = None
        self.games = 0

    def __enter__(self) -> "GameBeside":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._enough.set()
        self._thread.join()
        if self._fault is not None:
            raise self._fault

    async def _play(self) -> None:
        try:
            while not self.games or not self._enough.is_set():
                async with seated(Service(self._url), 3, keep_frames=True) as (_, tables):
                    await tables[0].start()
                    views = await asyncio.gather(
                        *(play_bot(table, self._policy(seat)) for seat, table in enumerate(tables))
                    )
                    assert all(view == views[0] for view in views)
                    assert [table.replay.view_at(table.seq) for table in tables] == views
                    self.games += 1
        except BaseException as fault:  # noqa: BLE001 - it is raised again where somebody looks
            self._fault = fault

    def _policy(self, seat: int) -> Any:
        choose = random_policy(random.Random(seat))

        def thoughtful(view: Document, offers: Sequence[Offer]) -> Mapping[str, Any]:
            # The loop is theirs alone, so they may all sleep; in the end they hurry.
            time.sleep(0 if self._enough.is_set() else THINK_SECONDS)
            return choose(view, offers)

        return thoughtful


@pytest.fixture(scope="module", autouse=True)
def game_beside(shared: ServerProcess) -> Iterator[None]:
    """Is played from the first of these tests to the last; everybody sees the same in the end."""
    with GameBeside(shared.url) as beside:
        yield
    assert beside.games >= 1


@pytest.fixture(autouse=True)
def calm_log(shared: ServerProcess) -> Iterator[None]:
    """Nothing that a client sends is worth a line in the log."""
    before = len(shared.log)
    yield
    assert not any(trace in shared.log[before:] for trace in TRACES), shared.log[before:]


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with the limits that it is delivered with, but for impatience with hello."""
    environ = {
        "TOWERHALL_LIMIT_HELLO_SECONDS": str(HELLO_SECONDS),
        "TOWERHALL_TOKEN_KEYS": KEY,
        "TOWERHALL_TOKEN_DAYS": "1",
    }
    folder = tmp_path_factory.mktemp("strict") / "data"
    with running(folder, "--origins", FRIENDLY_PAGE, limits=environ) as process:
        yield process
        assert not any(trace in process.log for trace in TRACES), process.log


@pytest.fixture(scope="module")
def token(shared: ServerProcess) -> str:
    return new_guest(shared.url, "Mallory")


@pytest.fixture(scope="module")
def code(shared: ServerProcess, token: str) -> str:
    """Of a room in which nothing happens, but for what these tests do."""
    return new_room(shared.url, token, seats=2)["code"]


def deep(levels: int) -> list[Any]:
    """So many arrays in each other."""
    nest: list[Any] = []
    for _ in range(levels - 1):
        nest = [nest]
    return nest


# Messages that make no sense

MALFORMED: dict[str, Any] = {
    "an empty array": [],
    "a map": {},
    "a text": "hello",
    "a number": 7,
    "null": None,
    "true": True,
    "an array that begins with a number": [7, "hello"],
    "an array that begins with null": [None],
    "an array that begins with an array": [["ping", 1]],
    "ping without seq": ["ping"],
    "ping with text for seq": ["ping", "1"],
    "ping with true for seq": ["ping", True],
    "ping with a float": ["ping", 1.5],
    "a command without a body": ["command", 1, ""],
    "a command with text for its number": ["command", "1", "", {"command": "sit"}],
    "a command with a number for its tag": ["command", 1, 7, {"command": "sit"}],
    "a command with an array for its body": ["command", 1, "", ["sit"]],
    "a command with text for dry": ["command", 1, "", {"command": "sit"}, "no"],
    "a history without end": ["history", 1],
    "a history of texts": ["history", "1", "2"],
    "a chat of nothing": ["chat"],
    "a chat of a number": ["chat", 7],
    "a text of 1201 bytes": ["chat", "a" * 1201],
    "an array of 65 items": ["ping", 1, *range(63)],
    "a map of 33 keys": ["command", 1, "", {f"k{number}": 1 for number in range(33)}],
}
OUT_OF_RANGE = {
    "2^53": ["ping", 2**53],
    "-2^53": ["ping", -(2**53)],
    "2^64 - 1": ["ping", 2**64 - 1],
    "-2^63": ["command", -(2**63), "", {"command": "sit"}],
    "2^53 in a body": ["command", 1, "", {"command": "sit", "seat": [{"seat": 2**53}]}],
}
OTHERS: dict[str, tuple[list[Any], str, dict[str, object]]] = {
    "an unknown message": (["dance", 1], "unknown_message", {"name": "dance"}),
    "a message with no name": ([""], "unknown_message", {"name": ""}),
    "a long name": (["d" * 1000], "unknown_message", {"name": "d" * 120}),
    "a name of the server's": (["welcome", {}], "unknown_message", {"name": "welcome"}),
    "a second hello": (
        ["hello", {"token": "t", "level": 1, "origin": "AAAAAAAAAAA"}],
        "hello_expected",
        {},
    ),
    "number 0": (["command", 0, "", {"command": "sit"}], "bad_number", {}),
    "a number below 0": (["command", -3, "", {"command": "sit"}], "bad_number", {}),
    "chat of nothing": (["chat", ""], "bad_chat", {}),
    "chat of spaces": (["chat", " \t\n\u3000 "], "bad_chat", {}),
    "chat that nobody can see": (["chat", "\u200b\u202e\ufeff\x00\x1b"], "bad_chat", {}),
    "chat of 301 characters": (["chat", "a" * 301], "bad_chat", {}),
    "history from 0": (["history", 0, 1], "bad_range", {"last": 1}),
    "history from below 0": (["history", -5, 1], "bad_range", {"last": 1}),
    "history backwards": (["history", 1, 0], "bad_range", {"last": 1}),
    "history of the future": (["history", 2, 9], "bad_range", {"last": 1}),
}
CASES = [
    *((name, message, "malformed_message", None) for name, message in MALFORMED.items()),
    *((name, message, "number_out_of_range", None) for name, message in OUT_OF_RANGE.items()),
    *((name, *rest) for name, rest in OTHERS.items()),
    ("9 levels", ["ping", 1, deep(8)], "nested_too_deep", None),
    ("500 levels", ["ping", 1, deep(499)], "nested_too_deep", None),
]


@pytest.mark.parametrize("subprotocol", BOTH)
@pytest.mark.parametrize(
    ("message", "error", "params"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
async def test_a_message_that_makes_no_sense_is_answered_and_otherwise_ignored(
    shared: ServerProcess,
    token: str,
    code: str,
    subprotocol: str,
    message: Any,
    error: str,
    params: dict[str, object] | None,
) -> None:
    async with inside(shared.url, code, token, subprotocol) as raw:
        packed: bytes = msgpack.packb(message)
        await raw.throw(json.dumps(message) if raw.text else packed)
        name, told, given, hint = await raw.wait_for("error")
        assert (name, told) == ("error", error)
        assert params is None or given == params
        assert hint
        assert "?" not in hint
        assert [each for each in await raw.quiet() if each[0] != "presence"] == []


SIT = b'["command",1,"",{"command":"sit"%s}]'
NOT_JSON = {
    "nothing": b"",
    "half a message": b'["ping",',
    "two messages": b'["ping",1]["ping",2]',
    "a comma too many": b'["ping",1,]',
    "single quotes": b"['ping',1]",
    "a comment": b'["ping",1] // hi',
    "a byte order mark": b'\xef\xbb\xbf["ping",1]',
    "NaN": b'["ping",NaN]',
    "Infinity": b'["ping",-Infinity]',
    "a fraction": b'["ping",1.0]',
    "an exponent": b'["ping",1e3]',
    "a number of 4000 digits and a fraction": b'["ping",' + b"1" * 4000 + b".0]",
    "half a surrogate pair": b'["chat","\\ud800"]',
    "a raw control character": b'["chat","\x00"]',
    "a key twice": SIT % b',"command":"stand"',
    "a key twice, deep inside": SIT % b',"x":[{"a":1,"a":1}]',
}
NOT_MSGPACK = {
    "nothing": b"",
    "half a message": b"\x92\xa4ping",
    "two messages": b"\x92\xa4ping\x01" * 2,
    "the byte that is never used": b"\xc1",
    "binary": b"\x92\xa4ping\xc4\x01a",
    "an extension": b"\x92\xa4ping\xd4\x05a",
    "a timestamp": b"\x92\xa4ping\xd6\xff\x00\x00\x00\x00",
    "a float": b"\x92\xa4ping\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00",
    "a text that is no UTF-8": b"\x92\xa4chat\xa2\xff\xfe",
    "an array of 2^32 - 1 items": b"\xdd\xff\xff\xff\xff",
    "a map of 2^32 - 1 keys": b"\xdf\xff\xff\xff\xff",
    "a text of 2^32 - 1 bytes": b"\xdb\xff\xff\xff\xff",
    "a key that is a number": b"\x94\xa7command\x01\xa0\x81\x01\x01",
    "a key twice": b"\x94\xa7command\x01\xa0\x82\xa1a\x01\xa1a\x02",
    "JSON": b'["ping",1]',
}
BYTES = [
    *((JSON, name, data, "malformed_message") for name, data in NOT_JSON.items()),
    *((MSGPACK, name, data, "malformed_message") for name, data in NOT_MSGPACK.items()),
    (JSON, "a number of 4000 digits", b'["ping",' + b"1" * 4000 + b"]", "number_out_of_range"),
    (JSON, "2000 levels", b"[" * 2000 + b"]" * 2000, "nested_too_deep"),
    (MSGPACK, "1000 levels", b"\x91" * 1000 + b"\x90", "nested_too_deep"),
    (MSGPACK, "a text message", '["ping",1]', "wrong_frame_type"),
    (JSON, "a binary message", b'["ping",1]', "wrong_frame_type"),
]


@pytest.mark.parametrize(
    ("subprotocol", "data", "error"),
    [(subprotocol, data, error) for subprotocol, _, data, error in BYTES],
    ids=[f"{subprotocol[13:]}: {name}" for subprotocol, name, _, _ in BYTES],
)
async def test_bytes_that_are_no_message_are_answered_and_otherwise_ignored(
    shared: ServerProcess, token: str, code: str, subprotocol: str, data: bytes, error: str
) -> None:
    async with inside(shared.url, code, token, subprotocol) as raw:
        wrong_kind = error == "wrong_frame_type"
        await raw.throw(data, text=None if wrong_kind else raw.text)
        _, told, params, _ = await raw.wait_for("error")
        assert told == error
        if wrong_kind:
            assert params == {"wanted": "text" if raw.text else "binary"}
        await raw.quiet()


@pytest.mark.parametrize("subprotocol", BOTH)
async def test_items_and_keys_that_nobody_knows_yet_are_ignored(
    shared: ServerProcess, token: str, code: str, subprotocol: str
) -> None:
    async with connected(shared.url, code, subprotocol) as raw:
        greeting = {"token": token, "level": 99, "origin": "AAAAAAAAAAA", "later": {"a": [1]}}
        await raw.say("hello", greeting, "more", 1)
        assert (await raw.hear())[0] == "welcome"
        await raw.say("ping", 5, None, deep(7), {"x": "y"})
        assert (await raw.wait_for("pong"))[1] == 5
        # As deep, as long and as wide as it may be.
        body = {"command": "add_bot", "later": deep(6), **{f"k{n}": "" for n in range(30)}}
        await raw.say("command", 1, "", body, True, *range(59))
        assert await raw.wait_for("accepted", 1) == ["accepted", 1, {}]


async def test_too_large_a_message_and_text_that_is_no_utf8_end_the_connection(
    shared: ServerProcess, token: str, code: str
) -> None:
    async with inside(shared.url, code, token) as raw:
        await raw.say("chat", "a" * 5000)
        assert (await raw.end()).code == 1009
    async with inside(shared.url, code, token, JSON) as raw:
        await raw.throw(b'["chat","\xff"]', text=True)
        end = await raw.end()
        assert (end.code, end.reason) == (1007, "malformed_message")
    async with inside(shared.url, code, token, JSON) as raw:
        message = '["ping",7' + " " * 4086 + "]"
        assert len(message) == 4096
        await raw.throw(message)
        assert (await raw.wait_for("pong"))[1] == 7


@pytest.mark.parametrize("subprotocol", BOTH)
async def test_whoever_talks_nonsense_on_and_on_is_closed_as_bad_message(
    shared: ServerProcess, token: str, code: str, subprotocol: str
) -> None:
    async with inside(shared.url, code, token, subprotocol) as raw:
        raw.burst(*(["dance", number] for number in range(12)), ["ping", 1])
        end = await raw.end()
        errors = [message for message in end.messages if message[0] == "error"]
        assert [message[1] for message in errors] == ["unknown_message"] * 11
        assert (end.code, end.reason) == (4400, "bad_message")
        assert not any(message[0] == "pong" for message in end.messages)


# Coming in


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
        assert end.messages[-1][2] == {"detail": "the token is too old"}


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
            assert end.messages[-1][2] == {"oldest": 1, "newest": 1}


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
            await raw.hello(token, **more)
            end = await raw.end()
            return end.data, end.code, end.reason

    absent = await end_of(NOWHERE)
    assert absent[1:] == (4404, "room_gone")
    for room in (hidden, NOWHERE):
        for wrong in ({}, {"key": ""}, {"key": key[:-1]}, {"key": key + "A"}, {"key": "a" * 1200}):
            assert await end_of(room, **wrong) == absent
    for nothing in (code.lower(), "NOSUCH", "A" * 5, "A" * 7, "%00" * 6, "ÄÄÄÄÄÄ", "1" * 6):
        assert await end_of(nothing) == absent
    async with inside(shared.url, hidden, token, subprotocol, key=key) as raw:
        await raw.quiet()
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


# Inside


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
        assert await third.refused("sit", seat=0) == "room_full"
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
            ["error", "too_many_unanswered", {"most": 8}, heard_hint(heard)]
        ]
        assert [each[1] for each in heard if each[0] == "rejected"] == list(range(1, 9))
        # It was not looked at, so the same number may come again; and now there is room.
        assert await raw.refused("stand", n=9) == "not_seated"


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
        _, error, params, _ = await raw.wait_for("error")
        assert error == "too_many"
        assert 0 < params["retry_ms"] <= 1000 / per_second + 1


async def test_chat_and_history_have_rates_of_their_own_and_four_at_a_time(
    strict: ServerProcess,
) -> None:
    token = new_guest(strict.url)
    room = new_room(strict.url, token, seats=2)["code"]
    async with inside(strict.url, room, token) as raw:
        raw.burst(*(["chat", f"line {number}"] for number in range(5)))
        heard: list[Any] = []
        while sum(each[0] == "chat" for each in heard) < 4:
            heard += await raw.up_to("chat")
        assert [each[4] for each in heard if each[0] == "chat"] == [f"line {n}" for n in range(4)]
        assert [each[:3] for each in heard if each[0] == "error"] == [
            ["error", "too_many", {"retry_ms": 100}]
        ]
        await raw.say("chat", "too much")
        _, error, params, _ = await raw.wait_for("error")
        assert error == "too_many"
        assert 0 < params["retry_ms"] <= 1001
        for _ in range(10):
            await raw.say("history", 1, 1)
            assert (await raw.wait_for("history"))[2] == 1
        await raw.say("history", 1, 1)
        assert (await raw.wait_for("error"))[1] == "too_many"


# Text that people wrote

XSS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=a()>",
    '"><svg onload=a()>',
    "'-alert(1)-'",
    "javascript:alert(1)",
    "{{7*7}}${7*7}<%=7%>",
    "</script><b>",
    "&lt;b&gt;&#x3c;",
    "\\u003cb\\u003e\\",
    "' OR 1=1; --",
    "=cmd|' /C calc'!A0",
    "%00%0d%0aSet-Cookie:a",
]


@pytest.mark.parametrize("text", XSS)
async def test_markup_comes_through_as_the_text_that_it_is(
    shared: ServerProcess, text: str
) -> None:
    name = text[:24]
    answer = ask(shared.url, "POST", "/v1/guests", {"name": name})
    assert answer.document["name"] == name
    author = answer.document["token"]
    room = new_room(shared.url, author, seats=2)["code"]
    async with (
        inside(shared.url, room, author) as speaker,
        inside(shared.url, room, author, JSON) as listener,
    ):
        await speaker.say("chat", text)
        for raw in (speaker, listener):
            line = await raw.wait_for("chat")
            assert (line[2], line[4]) == (name, text)
        frame = await speaker.done("sit")
        assert frame[4] == [["person_sat", 0, name, ""]]
        assert frame[5]["room"]["seats"]["0"]["name"] == name


@pytest.mark.parametrize(
    ("name", "cleaned"),
    [
        ("A\u202eda\u2066", "Ada"),
        ("\u200bA\u200dd\u2060a\ufeff", "Ada"),
        ("A\x00d\x1b[31ma\x7f", "Ad[31ma"),
        ("  A \t\r\n da  ", "A da"),
        ("Ａｄａ", "Ada"),
        ("", None),
        ("\u200b", None),
        ("\x00\x1b", None),
        (" \u3000 ", None),
        ("a" * 25, None),
        ("a" * 3000, None),
    ],
)
async def test_names_are_cleaned_or_refused(
    shared: ServerProcess, name: str, cleaned: str | None
) -> None:
    answer = ask(shared.url, "POST", "/v1/guests", {"name": name})
    if cleaned is None:
        assert (answer.status, answer.code) == (400, "bad_name")
    else:
        assert (answer.status, answer.document["name"]) == (201, cleaned)


async def test_a_name_of_10000_characters_is_not_even_read(shared: ServerProcess) -> None:
    answer = ask(shared.url, "POST", "/v1/guests", {"name": "a" * 10_000})
    assert (answer.status, answer.code) == (413, "message_too_large")


@pytest.mark.parametrize("subprotocol", BOTH)
async def test_chat_is_cleaned_and_as_long_as_it_may_be(
    shared: ServerProcess, token: str, code: str, subprotocol: str
) -> None:
    async with inside(shared.url, code, token, subprotocol) as raw:
        for said, heard in ((" a\u202e \x07 b\u200b", "a b"), ("😀" * 300, "😀" * 300)):
            await raw.say("chat", said)
            while (line := await raw.wait_for("chat"))[4] != heard:
                pass  # an earlier line, as everybody gets who comes in
            assert line[2:4] == ["Mallory", -1]
            await asyncio.sleep(HEARD_SECONDS)
