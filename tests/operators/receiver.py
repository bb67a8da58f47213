"""A hook that does as it is told: it takes, fails, hangs, hangs up, or talks nonsense."""

import asyncio
import hmac
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any, NamedTuple

from tests.sockets import end, part, serving

SECRET = b"n4xZp-2vWmX0aRk93LpYc_uE5hBn8DsGf2TjKoI4xVwM"
OTHER_SECRET = b"Hd83-kQzPw1Lm0XvYt6RbNc_5sJfUe2Ga9TiOo7KxZ4"
PATIENCE_SECONDS = 20.0
OK = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
HANG = b"hang"
HANG_UP = b""


class Delivery(NamedTuple):
    """One request as it came."""

    head: str
    headers: dict[str, str]
    body: bytes
    taken: bool

    @property
    def id(self) -> str:
        return self.headers["towerhall-delivery"]

    @property
    def document(self) -> Any:
        return json.loads(self.body)

    def is_signed_by(self, secret: bytes) -> bool:
        """By the recipe of the specification, written down once more."""
        parts = [part.split("=") for part in self.headers["towerhall-signature"].split(",")]
        (sent,) = [value.encode() for name, value in parts if name == "t"]
        proof = hmac.new(secret, sent + b"." + self.body, sha256).hexdigest()
        return ["v1", proof] in parts


def status(code: int) -> bytes:
    return f"HTTP/1.1 {code} Status\r\nContent-Length: 0\r\n\r\n".encode()


class Receiver:
    """What came so far, and what the next ones are answered."""

    def __init__(self) -> None:
        self.got: list[Delivery] = []
        self.answer: Callable[[int], bytes] = lambda count: OK
        """From the number of requests before this one."""
        self.judge: Callable[[bytes], bytes] | None = None
        """From its body, if that decides."""
        self.port = 0
        self.most_at_once = 0
        self._at_once = 0
        self._came = asyncio.Condition()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?site=7"

    @property
    def taken(self) -> list[Delivery]:
        return [delivery for delivery in self.got if delivery.taken]

    async def until(self, ready: Callable[[], object], seconds: float = PATIENCE_SECONDS) -> None:
        async with asyncio.timeout(seconds), self._came:
            await self._came.wait_for(lambda: bool(ready()))

    async def start(self) -> None:
        """Listen, at the same port as before."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Be down."""
        assert self._server is not None
        self._server.close()
        await end(self._tasks)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving(self._tasks)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            pairs = [line.split(": ", 1) for line in lines[1:] if line]
            headers = {name.lower(): value for name, value in pairs}
            body = await reader.readexactly(int(headers["content-length"]))
            said = self.judge(body) if self.judge else self.answer(len(self.got))
            async with self._came:
                self.got.append(Delivery(lines[0], headers, body, said == OK))
                self._came.notify_all()
            if said == HANG:
                await reader.read()
            else:
                writer.write(said)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._at_once -= 1
            await part(writer)


@asynccontextmanager
async def receiver() -> AsyncIterator[Receiver]:
    running = Receiver()
    await running.start()
    try:
        yield running
    finally:
        await running.stop()
