"""Chat through real sockets: whose rate a line counts for, and what a refused person is told."""

from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.raw import Raw, inside, new_guest, new_room
from tests.end_to_end.servers import LIMITS, ServerProcess, running

SAID = {
    "TOWERHALL_LIMIT_CHAT": "4/h",
    "TOWERHALL_LIMIT_WATCHER_CHAT": "3/h",
    "TOWERHALL_LIMIT_WATCHER_CHAT_PER_ROOM": "5/h",
}


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server on which no token comes back while a test runs."""
    folder: Path = tmp_path_factory.mktemp("strict") / "data"
    with running(folder, limits=LIMITS | SAID) as process:
        yield process


class Room:
    """A room, and connections to it that stay until the test ends."""

    def __init__(self, url: str, stack: AsyncExitStack) -> None:
        self._url, self._stack = url, stack
        self.host = new_guest(url, "Ada")
        self.code = new_room(url, self.host)["code"]

    async def come(self, token: str) -> Raw:
        raw = await self._stack.enter_async_context(inside(self._url, self.code, token))
        assert isinstance(raw, Raw)
        return raw

    async def watch(self, name: str) -> Raw:
        return await self.come(new_guest(self._url, name))


async def spoke(raw: Raw, text: str) -> list[Any]:
    """What a person is told of a line: the line itself, or an error."""
    await raw.say("chat", text)
    while True:
        message = await raw.hear()
        if message[0] == "error" or (message[0] == "chat" and message[4] == text):
            return message


async def are_said(raw: Raw, *texts: str) -> list[bool]:
    return [(await spoke(raw, text))[0] == "chat" for text in texts]


async def test_all_connections_of_a_person_share_one_rate_in_a_room(strict: ServerProcess) -> None:
    async with AsyncExitStack() as stack:
        room = Room(strict.url, stack)
        token = new_guest(strict.url, "Zoe")
        windows = [await room.come(token) for _ in range(4)]
        told = [await are_said(raw, f"window {n}") for n, raw in enumerate(windows)]
        assert told == [[True], [True], [True], [False]]


async def test_a_person_has_a_rate_in_each_room(strict: ServerProcess) -> None:
    async with AsyncExitStack() as stack:
        token = new_guest(strict.url, "Zoe")
        for _ in range(2):
            raw = await Room(strict.url, stack).come(token)
            assert await are_said(raw, "a", "b", "c", "d") == [True, True, True, False]


async def test_watchers_share_a_rate_that_players_do_not_use(strict: ServerProcess) -> None:
    async with AsyncExitStack() as stack:
        room = Room(strict.url, stack)
        ada = await room.come(room.host)
        await ada.done("sit")
        zoe, yan, xia = [await room.watch(name) for name in ("Zoe", "Yan", "Xia")]
        assert await are_said(zoe, "a", "b", "c", "d") == [True, True, True, False]
        assert await are_said(yan, "e", "f", "g") == [True, True, False]
        assert await are_said(xia, "h") == [False]
        assert await are_said(ada, "i", "j", "k", "l", "m") == [True, True, True, True, False]
        heard = ""
        while not heard.endswith("l"):
            heard += (await xia.wait_for("chat"))[4]
        assert heard == "ijkl"


async def test_a_refused_line_or_emote_is_named_by_its_error(strict: ServerProcess) -> None:
    async with AsyncExitStack() as stack:
        zoe = await Room(strict.url, stack).watch("Zoe")
        assert await are_said(zoe, "a", "b", "c") == [True] * 3
        code, params = (await spoke(zoe, "x" * 50))[1:3]
        assert (code, params["text"]) == ("too_many", "x" * 40)
        assert params["retry_ms"] > 0
        await zoe.say("emote", "wow")
        code, params = (await zoe.wait_for("error"))[1:3]
        assert (code, params["emote"]) == ("too_many", "wow")


async def test_a_line_that_cannot_be_said_is_named_by_its_error(shared: ServerProcess) -> None:
    async with AsyncExitStack() as stack:
        zoe = await Room(shared.url, stack).watch("Zoe")
        assert (await spoke(zoe, " \u200b "))[1:3] == ["bad_chat", {"text": " \u200b "}]
        assert (await spoke(zoe, "y" * 301))[1:3] == ["bad_chat", {"text": "y" * 40}]
