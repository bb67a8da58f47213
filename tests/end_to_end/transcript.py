"""The transcript of `protocol/README.md`, played anew. Run as a module it rewrites the page.

The lines of the client are sent as they stand there, with the token, the tags and the cursor of
this run. A step is one line of the client and all that the server says because of it.
"""

import asyncio
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.end_to_end.raw import JSON, SECONDS, ask, bearer
from tests.end_to_end.servers import ServerProcess, running
from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.fairness import NONCE_BYTES, nonce_hash

README: Final = Path(__file__).parents[2] / "protocol" / "README.md"
BLOCK: Final = re.compile(r"^```text\n(> (?:.*\n)*?)```$", re.M)
ANSWER: Final = re.compile(r"^```json\n(\{(?:.*\n)*?)```$", re.M)
POSTED: Final = re.compile(r" -d '(\{.*\})'$", re.M)
COLUMNS: Final = 116
Message = list[Any]


class Fixed(ServerProcess):
    module = "tests.end_to_end.fixed_server"


class Step(NamedTuple):
    sent: Message
    got: Sequence[Message]


class Played(NamedTuple):
    """A run: the answers over HTTP, and the steps."""

    answers: Sequence[dict[str, Any]]
    steps: Sequence[Step]


def lines(block: str) -> Iterator[tuple[str, Message]]:
    """The messages of a block, with `>` or `<`."""
    for line in block.replace("\n    ", "").splitlines():
        yield line[0], json.loads(line[2:])


def written(page: str) -> Played:
    """What the page says."""
    steps: list[Step] = []
    for block in BLOCK.findall(page):
        for side, message in lines(block):
            if side == ">":
                steps.append(Step(message, []))
            else:
                steps[-1] = Step(steps[-1].sent, [*steps[-1].got, message])
    return Played([json.loads(text) for text in ANSWER.findall(page)], steps)


class Player:
    """The client of the page. It knows how to wait, and nothing else."""

    def __init__(self, url: str, token: str, room: dict[str, Any]) -> None:
        self._url = f"ws{url.rstrip('/')[4:]}/v1/rooms/{room['code']}"
        self._token, self._uid = token, from_base64url(room["uid"])
        self._nonce = Random("nonce").randbytes(NONCE_BYTES)
        self._origin = ""
        self._socket: ClientConnection | None = None
        self._cursor: Message = []
        self._tag = ""
        self._sent: set[int] = set()

    async def step(self, step: Step) -> Step:
        """Send the line, and read all that follows from it. After a line that shows nothing the
        connection is cut: what came is lost."""
        name, *rest = step.sent
        if name == "hello":
            cursor = {"cursor": self._cursor} if self._cursor else {}
            rest[0] = rest[0] | {"token": self._token} | cursor
            self._origin = rest[0]["origin"]
            if self._socket is not None:
                await self._socket.close()
            subprotocols = [Subprotocol(JSON)]
            self._socket = await connect(self._url, subprotocols=subprotocols, compression=None)
        else:
            rest[1] = self._tag if rest[1] else ""
            rest[2] = rest[2] | self._secrets(rest[2]["command"])
        assert self._socket is not None
        await self._socket.send(json.dumps([name, *rest]))
        got: list[Message] = []
        async with asyncio.timeout(SECONDS):
            while not self._is_whole([name, *rest], got):
                got.append(json.loads(await self._socket.recv()))
        self._sent.add(rest[0] if name == "command" else 0)
        if step.got:
            self._know(got)
        return Step([name, *rest], got if step.got else [])

    def _is_whole(self, sent: Message, got: Sequence[Message]) -> bool:
        """Whether nothing more follows from what was sent."""
        names = {message[0] for message in got}
        if sent[0] == "hello":
            return "welcome" in names and ("presence" in names or bool(self._cursor))
        number, body = sent[1], sent[3]
        if number in self._sent:
            return {"duplicate", "presence"} <= names
        wanted = {"sit": {"seat", "presence"}, "start": {"chain"}}.get(body["command"], set())
        for message in got:
            if message[0] == "rejected" and message[1] == number:
                return True
            if message[0] == "frame" and message[3][1:] == [self._origin, number]:
                return wanted | ({"offers"} if "game" in message[5] else set()) <= names
        return False

    def _know(self, got: Sequence[Message]) -> None:
        for name, *rest in got:
            if name == "welcome":
                self._cursor = rest[0]["cursor"]
            elif name == "frame":
                self._cursor = [self._cursor[0], *rest[:2]]
            elif name == "offers":
                self._tag = rest[1]

    def _secrets(self, command: str) -> dict[str, str]:
        if command == "sit":
            return {"nonce": base64url(nonce_hash(self._uid, self._nonce))}
        return {"nonce": base64url(self._nonce)} if command == "open" else {}

    async def leave(self) -> None:
        if self._socket is not None:
            await self._socket.close()


async def play(page: str, folder: Path) -> Played:
    """Do what the page says."""
    guest_body, room_body = map(json.loads, POSTED.findall(page))
    with running(folder / "data", kind=Fixed) as server:
        guest = ask(server.url, "POST", "/v1/guests", guest_body).document
        room = ask(server.url, "POST", "/v1/rooms", room_body, bearer(guest["token"])).document
        player = Player(server.url, guest["token"], room)
        try:
            steps = [await player.step(step) for step in written(page).steps]
        finally:
            await player.leave()
    return Played([guest, room], steps)


# Writing


def shortened(value: Any, key: str = "") -> Any:
    """The same with long texts cut, as the page shows them."""
    if isinstance(value, dict):
        return {name: shortened(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [shortened(item) for item in value]
    if isinstance(value, str) and (key == "token" or re.fullmatch(r"[\w-]{40,}", value)):
        return value[: 12 if key == "token" else 6] + "…"
    return value


def wrapped(document: Any, begin: str = "") -> str:
    """A document on lines that end with commas, so that they make it whole again."""
    text = json.dumps(shortened(document), separators=(",", ":"), ensure_ascii=False)
    rows, row = [], begin
    for part in re.split(r"(?<=,)", text):
        if len(row) + len(part) > COLUMNS:
            rows.append(row)
            row = "    "
        row += part
    return "\n".join([*rows, row])


def rewritten(page: str, played: Played) -> str:
    """The page with what came in this run."""
    steps, answers = iter(played.steps), iter(played.answers)

    def block(found: re.Match[str]) -> str:
        rows = []
        for side, _ in lines(found[1]):
            if side == ">":
                step = next(steps)
                rows.append(wrapped(step.sent, "> "))
                rows += [wrapped(each, "< ") for each in step.got]
        return "```text\n" + "\n".join(rows) + "\n```"

    def answer(_: re.Match[str]) -> str:
        return f"```json\n{wrapped(next(answers))}\n```"

    return ANSWER.sub(answer, BLOCK.sub(block, page))


if __name__ == "__main__":
    text = README.read_text()
    with tempfile.TemporaryDirectory() as made:
        README.write_text(rewritten(text, asyncio.run(play(text, Path(made)))))
