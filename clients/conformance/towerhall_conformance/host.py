"""The server under test, as its cases speak with it: over HTTP, and over sockets of their own."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from towerhall_conformance.case import BrokenError, NotTriedError, expect
from towerhall_conformance.conduct import Message
from towerhall_conformance.merge import merged
from towerhall_protocol import codec
from towerhall_protocol.level import LEVEL, MSGPACK

SECONDS: Final = 10.0
ORIGIN: Final = "b3JpZ2luMTE"
BOT_ACCOUNTS_LEVEL: Final = 6


class Answer(msgspec.Struct, frozen=True):
    """An answer over HTTP."""

    status: int
    document: Any


class Peer:
    """A socket to the server under test, and the view that its messages make."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.view: dict[str, Any] = {}
        self.cursor: Message = []
        self.offers: Message | None = None
        """The latest message of that name."""
        self.frames: list[Message] = []
        self.origin = ORIGIN

    @property
    def subprotocol(self) -> str | None:
        return self._socket.subprotocol

    async def send(self, message: Message) -> None:
        msgpack = self.subprotocol == MSGPACK
        await self.send_raw(codec.encode(message) if msgpack else codec.encode_json(message))

    async def send_raw(self, data: str | bytes) -> None:
        try:
            await self._socket.send(data)
        except ConnectionClosed:
            return  # what is read next tells why

    async def hello(self, token: str, **more: Any) -> None:
        self.origin = more.get("origin", ORIGIN)
        await self.send(["hello", {"token": token, "level": LEVEL, "origin": ORIGIN, **more}])

    async def receive(self) -> Message:
        """The next message, which is merged as well."""
        try:
            async with asyncio.timeout(SECONDS):
                data = await self._socket.recv()
        except TimeoutError:
            raise BrokenError("P-6", "nothing came in 10 s") from None
        message: Any = (
            codec.decode(data, codec.FROM_SERVER)
            if isinstance(data, bytes)
            else codec.decode_json(data, codec.FROM_SERVER)
        )
        self._take(message)
        return list(message)

    async def until(self, *names: str, clause: str = "P-5") -> Message:
        """The next message of one of these names; others are passed over."""
        try:
            while True:
                message = await self.receive()
                if message[0] in names:
                    return message
        except ConnectionClosed as closed:
            raise BrokenError(
                clause, f"{' or '.join(names)} was due, it closed: {closed}"
            ) from None

    async def error(self, code: str, clause: str) -> Message:
        """An `error` with that code must come."""
        message = await self.until("error", clause=clause)
        expect(message[1] == code, clause, f"the error is {message[1]}, not {code}")
        expect(
            isinstance(message[2], dict) and isinstance(message[3], str),
            "P-100",
            "an error has not code, params and hint",
        )
        return message

    async def closed(self, code: int, name: str, clause: str) -> None:
        """The close must be that one."""
        try:
            while True:
                await self.receive()
        except ConnectionClosed as closed:
            found = None if closed.rcvd is None else (closed.rcvd.code, closed.rcvd.reason)
            expect(found == (code, name), clause, f"it closed as {found}, not {(code, name)}")

    async def command(self, n: int, tag: str, body: dict[str, Any], *dry: bool) -> Message:
        """Send it, and wait for its answer."""
        await self.send(["command", n, tag, body, *dry])
        while True:
            message = await self.until("frame", "rejected", "duplicate", "accepted", clause="P-40")
            if message[0] != "frame" and message[1] == n:
                return message
            if message[0] == "frame" and message[3][1:3] == [self.origin, n]:
                return message

    def _take(self, message: Message) -> None:
        match message:
            case ["welcome", arrival, *_]:
                self.cursor, self.view = arrival["cursor"], arrival.get("view", self.view)
            case ["reset", cursor, view, *_]:
                self.cursor, self.view = cursor, view
            case ["frame", seq, mark, _, _, patch, *_]:
                wanted = self.cursor[1] + 1
                expect(seq == wanted, "P-25", f"frame {seq} came where {wanted} is due")
                self.view, self.cursor = merged(self.view, patch), [self.cursor[0], seq, mark]
                self.frames.append(message)
                self.offers = None if "game" in patch else self.offers
            case ["offers", *_]:
                self.offers = message


class Listener(Peer):
    """A socket to what concerns a person, and the list that its messages make (P-153)."""

    def __init__(self, socket: ClientConnection) -> None:
        super().__init__(socket)
        self.list: dict[str, Any] = {}

    def _take(self, message: Message) -> None:
        match message:
            case ["welcome", arrival, *_]:
                self.list = arrival["list"]
            case ["reset", shown, *_]:
                self.list = shown
            case ["patch", patch, *_]:
                self.list = merged(self.list, patch)

    async def shows(self, code: str, clause: str, **wanted: object) -> None:
        """A place must become like this; without `wanted`, it must leave the list."""
        while True:
            place = self.list["rooms"].get(code)
            if (place is None) if not wanted else wanted.items() <= (place or {}).items():
                return
            await self.until("patch", "reset", clause=clause)


class Host:
    """The server, and the people and rooms that cases share, because rates limit new ones."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self.tokens: dict[str, str] = {}
        self.game: dict[str, Any] = {}
        self.bot: dict[str, Any] = {}

    async def ask(
        self, method: str, path: str, body: Any = None, token: str = "", **headers: str
    ) -> Answer:
        return await asyncio.to_thread(self._ask, method, path, body, token, headers)

    async def token(self, name: str = "Ada") -> str:
        if name not in self.tokens:
            answer = await self.ask("POST", "/v1/guests", {"name": name})
            expect(answer.status == 201, "P-112", f"POST /v1/guests answers {answer}")
            self.tokens[name] = answer.document["token"]
        return self.tokens[name]

    async def account(self) -> dict[str, Any]:
        """The bot account. Servers of older levels have none."""
        if self.bot:
            return self.bot
        games = await self.ask("GET", "/v1/games")
        if games.document["level"]["newest"] < BOT_ACCOUNTS_LEVEL:
            raise NotTriedError(f"the server is below level {BOT_ACCOUNTS_LEVEL}")
        answer = await self.ask("POST", "/v1/guests", {"name": "Deep", "bot_account": True})
        expect(answer.status == 201, "P-112", f"POST /v1/guests answers {answer}")
        expect(answer.document.get("bot_account") is True, "P-157", "the account is not marked")
        self.bot, self.tokens["Deep"] = answer.document, answer.document["token"]
        return self.bot

    @asynccontextmanager
    async def following(self, token: str) -> AsyncIterator[Listener]:
        """A socket to the events of a person that has been welcomed."""
        async with connect(
            f"ws{self.url.removeprefix('http')}/v1/me/events",
            subprotocols=[Subprotocol(MSGPACK)],
            compression=None,
            proxy=None,
            close_timeout=1,
        ) as socket:
            listener = Listener(socket)
            await listener.send(["hello", {"token": token, "level": LEVEL}])
            await listener.until("welcome", clause="P-153")
            yield listener

    async def room(self, owner: str = "Ada", **more: Any) -> dict[str, Any]:
        """A new room for two."""
        if not self.game:
            games = await self.ask("GET", "/v1/games")
            self.game = next(g for g in games.document["games"] if g["seats"][0] <= 2)
        body = {"game": self.game["name"], "seats": 2, "bot_delay_ms": 0, **more}
        answer = await self.ask("POST", "/v1/rooms", body, await self.token(owner))
        expect(answer.status == 201, "P-115", f"POST /v1/rooms answers {answer}")
        found: dict[str, Any] = answer.document
        return found

    @asynccontextmanager
    async def socket(
        self, code: str, subprotocols: Sequence[str] = (MSGPACK,)
    ) -> AsyncIterator[Peer]:
        async with connect(
            f"ws{self.url.removeprefix('http')}/v1/rooms/{code}",
            subprotocols=[Subprotocol(each) for each in subprotocols] or None,
            compression=None,
            proxy=None,
            close_timeout=1,
        ) as socket:
            yield Peer(socket)

    @asynccontextmanager
    async def inside(self, code: str, name: str = "Ada", **more: Any) -> AsyncIterator[Peer]:
        """A socket that has been welcomed."""
        async with self.socket(code) as peer:
            await peer.hello(await self.token(name), **more)
            await peer.until("welcome", clause="P-17")
            yield peer

    @asynccontextmanager
    async def playing(self) -> AsyncIterator[tuple[str, Peer]]:
        """A game against a bot in a room of its own, at the first offers."""
        code = (await self.room())["code"]
        async with self.inside(code) as peer:
            for n, body in enumerate(
                ({"command": "sit"}, {"command": "add_bot"}, {"command": "start"}), start=1
            ):
                answer = await peer.command(n, "", body)
                expect(answer[0] == "frame", "P-50", f"{body} was answered {answer}")
            await self.turn(peer)
            yield code, peer

    async def turn(self, peer: Peer) -> Message:
        """The offers, which may have come already."""
        return peer.offers or await peer.until("offers", clause="P-36")

    def _ask(
        self, method: str, path: str, body: Any, token: str, headers: dict[str, str]
    ) -> Answer:
        told = {"Content-Type": "application/json"} if body is not None else {}
        told |= {"Authorization": f"Bearer {token}"} if token else {}
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        request = Request(self.url + path, data, told | headers, method=method)  # noqa: S310
        try:
            with urlopen(request, timeout=SECONDS) as response:  # noqa: S310
                return Answer(response.status, json.load(response))
        except HTTPError as error:
            text = error.read()
            try:
                return Answer(error.code, json.loads(text))
            except ValueError:
                return Answer(error.code, text.decode(errors="replace"))


def any_of(offers: Message) -> dict[str, Any]:
    """The first command that an offers message describes."""
    offer = offers[3][0]
    body = {"command": offer["command"]}
    if "choices" in offer:
        body |= offer["choices"][0][0]
    return body | {name: ends[0] for name, ends in offer.get("ranges", {}).items()}
