"""Messages that make no sense."""

import json
from typing import Any

import msgpack
import pytest

from tests.end_to_end.raw import (
    BOTH,
    JSON,
    MSGPACK,
    connected,
    inside,
)
from tests.end_to_end.servers import ServerProcess


def deep(levels: int) -> list[Any]:
    """So many arrays in each other."""
    nest: list[Any] = []
    for _ in range(levels - 1):
        nest = [nest]
    return nest


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
UNSEEN = "\u200b\u202e\ufeff\x00\x1b"
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
    "chat of nothing": (["chat", ""], "bad_chat", {"text": ""}),
    "chat of spaces": (["chat", " \t\n\u3000 "], "bad_chat", {"text": " \t\n\u3000 "}),
    "chat that nobody can see": (["chat", UNSEEN], "bad_chat", {"text": UNSEEN}),
    "chat of 301 characters": (["chat", "a" * 301], "bad_chat", {"text": "a" * 40}),
    "history from 0": (["history", 0, 1], "bad_range", {"last": 1}),
    "history from below 0": (["history", -5, 1], "bad_range", {"last": 1}),
    "history backwards": (["history", 1, 0], "bad_range", {"last": 1}),
    "history of the future": (["history", 2, 9], "bad_range", {"last": 1}),
}


def has_number(message: Any) -> bool:
    """Whether it is a command whose number can be read."""
    is_command = isinstance(message, list) and message[:1] == ["command"]
    return is_command and type(message[1]) is int and message[1] > 0


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
        if has_number(message):  # P-41
            _, n, told, rule, given, hint = await raw.wait_for("rejected")
            assert n == message[1]
        else:
            _, told, given, hint, rule = await raw.wait_for("error")
        assert told == error
        assert rule.startswith("P-")
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
        if "command" in str(data):  # P-41
            _, n, told, _, params, _ = await raw.wait_for("rejected")
            assert n == 1
        else:
            _, told, params, *_ = await raw.wait_for("error")
        assert told == error
        if wrong_kind:
            assert params == {"wanted": "text" if raw.text else "binary"}
        await raw.quiet()


@pytest.mark.parametrize("subprotocol", BOTH)
async def test_items_and_keys_that_nobody_knows_yet_are_ignored_but_in_commands(
    shared: ServerProcess, token: str, code: str, subprotocol: str
) -> None:
    async with connected(shared.url, code, subprotocol) as raw:
        greeting = {"token": token, "level": 99, "origin": "AAAAAAAAAAA", "later": {"a": [1]}}
        await raw.say("hello", greeting, "more", 1)
        assert (await raw.hear())[0] == "welcome"
        await raw.say("ping", 5, None, deep(7), {"x": "y"})
        assert (await raw.wait_for("pong"))[1] == 5
        # As deep, as long and as wide as it may be.
        body = {"command": "add_bot", "later": deep(6), **{f"m{n}": "" for n in range(30)}}
        await raw.say("command", 1, "", body, True, *range(59))
        refusal = await raw.wait_for("rejected", 1)
        assert refusal[2:5] == ["bad_command", "P-50", {"detail": "add_bot has no later"}]
        await raw.say("command", 2, "", {"command": "add_bot"}, True, *range(59))
        assert await raw.wait_for("accepted", 2) == ["accepted", 2, {}]


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
