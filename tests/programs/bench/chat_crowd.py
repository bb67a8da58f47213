"""A process of watchers who chat: many in each of a few rooms, each at a steady rate.

It is told what to do by lines of JSON and answers each with one. First comes the crowd that is
wanted, which is answered when all watch. Then `true` lets them chat, and `false` ends it; both are
answered with what was said and heard so far. Lines are counted and not decoded: the crowd must not
cost the load much beside it.
"""

import asyncio
import gc
import os
import secrets
import sys
from contextlib import suppress
from http.client import HTTPConnection
from itertools import cycle
from typing import Final

import msgspec
import uvloop
from picows import WSFrame, WSListener, WSMsgType, WSTransport

from tests.programs.bench.arrivals import AT_ONCE, connect, post
from tests.programs.bench.players import FIVE_TOWERS
from towerhall_protocol import commands
from towerhall_protocol.level import LEVEL
from towerhall_protocol.messages import ClientChat, ClientHello, Greeting

TICK_SECONDS: Final = 0.01
CHAT, ERROR, WELCOME = b"\xa4chat", b"\xa5erro", b"\xa7welc"
_encode = msgspec.msgpack.Encoder().encode


class Crowd(msgspec.Struct, frozen=True):
    """The watchers that are wanted."""

    address: str
    rooms: int
    watchers: int
    """Of each room."""
    lines_per_second: float
    """Of each watcher."""


class Told(msgspec.Struct, frozen=True):
    """Counts since the crowd came."""

    said: int
    heard: int
    """Lines that have come, counted at each socket."""
    refused: int


class Watcher(WSListener):
    """One socket that says the same line again and again."""

    transport: WSTransport

    def __init__(self, name: str) -> None:
        self.line = _encode(ClientChat(f"I am {name}, and I talk"))
        self.welcomed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.said = self.heard = self.refused = 0

    def on_ws_connected(self, transport: WSTransport) -> None:
        self.transport = transport

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        sys.stderr.write("a watcher was disconnected\n")

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        kind = frame.get_payload_as_bytes()[1:6]
        if kind == CHAT:
            self.heard += 1
        elif kind == ERROR:
            self.refused += 1
        elif kind == WELCOME:
            self.welcomed.set_result(None)

    def talk(self) -> None:
        self.said += 1
        self.transport.send(WSMsgType.BINARY, self.line)


async def came(wanted: Crowd) -> list[Watcher]:
    """All watchers, after their welcome; neighbours in the list are in different rooms."""
    http = HTTPConnection(wanted.address)
    host = post(http, "/v1/guests", {"name": "Host"})["token"]
    codes = [
        post(http, "/v1/rooms", {"game": FIVE_TOWERS.game}, host)["code"]
        for _ in range(wanted.rooms)
    ]
    names = [f"watcher {number}" for number in range(wanted.rooms * wanted.watchers)]
    tokens = [post(http, "/v1/guests", {"name": name})["token"] for name in names]
    http.close()
    watchers = [Watcher(name) for name in names]
    plans = list(zip(watchers, tokens, cycle(codes), strict=False))

    async def enter(watcher: Watcher, token: str, code: str) -> None:
        await connect(watcher, wanted.address, code)
        origin = commands.base64url(secrets.token_bytes(8))
        watcher.transport.send(
            WSMsgType.BINARY, _encode(ClientHello(Greeting(token, LEVEL, origin)))
        )
        await watcher.welcomed

    for first in range(0, len(plans), AT_ONCE):
        await asyncio.gather(*(enter(*plan) for plan in plans[first : first + AT_ONCE]))
    return watchers


async def talk(watchers: list[Watcher], lines_per_second: float) -> None:
    """For ever: each watcher in turn, so that lines come evenly in all rooms."""
    loop, turn = asyncio.get_running_loop(), cycle(watchers)
    began, said = loop.time(), 0
    while True:
        due = int((loop.time() - began) * lines_per_second * len(watchers))
        for _ in range(due - said):
            next(turn).talk()
        said = due
        await asyncio.sleep(TICK_SECONDS)


def told(watchers: list[Watcher]) -> Told:
    return Told(
        sum(watcher.said for watcher in watchers),
        sum(watcher.heard for watcher in watchers),
        sum(watcher.refused for watcher in watchers),
    )


async def main() -> None:
    orders = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    wanted = msgspec.json.decode(await orders.readline(), type=Crowd)
    watchers = await came(wanted)
    gc.collect()
    gc.disable()
    talking: asyncio.Task[None] | None = None
    _answer(told(watchers))
    while order := await orders.readline():
        if talking is not None:
            talking.cancel()
            with suppress(asyncio.CancelledError):
                await talking
            talking = None
        if msgspec.json.decode(order, type=bool):
            talking = asyncio.create_task(talk(watchers, wanted.lines_per_second))
        _answer(told(watchers))
    os._exit(0)  # connections need not be closed one by one


def _answer(answer: Told) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    uvloop.run(main())
