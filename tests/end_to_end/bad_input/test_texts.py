"""Text that people wrote: markup, names, chat."""

import asyncio

import pytest

from tests.end_to_end.raw import (
    BOTH,
    JSON,
    ask,
    inside,
    new_room,
)
from tests.end_to_end.servers import ServerProcess

HEARD_SECONDS = 0.05
"""A line of chat is heard a moment before it is no longer under way."""


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
