"""A node in a process of its own, driven by lines of JSON, and what drives it.

As a program (`python -m tests.live.other_node URL NAME`) it serves rooms with its own beat and its
own ear, and tells on its output what its viewers get. `other_process` starts one; its clients mind
every message like those in the same process do. Tests may stop it, let it go on, or kill it.
"""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec

from tests.live.live_rooms import Client, LiveNode, live_node, payload
from towerhall_protocol.level import LEVEL
from towerhall_protocol.messages import ClientCommand, Cursor
from towerhall_server.frames import Prepared
from towerhall_server.game import Seat
from towerhall_server.live.actor import RoomActor
from towerhall_server.live.items import Command, Doubt, Join
from towerhall_server.room import pace
from towerhall_server.room.seats import Person, guest_of

ROOT = Path(__file__).resolve().parent.parent.parent


# In the process


class _Forwarder:
    """A viewer whose screen is in another process."""

    def __init__(self, key: int, person: Person, origin: str, actor: RoomActor) -> None:
        self.key = key
        self.person = person
        self.origin = origin
        self.actor = actor
        self.seat: Seat | None = None
        self.claim = 0
        self.unanswered: set[int] = set()
        self.alive = True
        self.lags = False
        self.level = LEVEL

    def answered(self, n: int) -> None:
        self.unanswered.discard(n)

    def send(self, *messages: Prepared) -> None:
        for message in messages:
            self._send(message)

    def _send(self, message: Prepared) -> None:
        if self.alive:
            _say(self.key, b64encode(payload(message)).decode())

    def close(self, reason: str) -> None:
        self.alive = False
        self.actor.leave(self)
        _say(self.key, None, reason)


def _say(*what: object) -> None:
    print(json.dumps(what), flush=True)


async def _serve(node: LiveNode, lines: asyncio.StreamReader) -> None:
    viewers: dict[int, _Forwarder] = {}
    while line := await lines.readline():
        match json.loads(line):
            case ["enter", key, code, identity, name, origin, cursor]:
                actor = await node.open(code)
                person = guest_of(actor.follower.room, Person(identity, name))
                viewer = viewers[key] = _Forwarder(key, person, origin, actor)
                place = None if cursor is None else msgspec.convert(cursor, type=Cursor)
                actor.put(Join(viewer, place))
            case ["command", key, document]:
                command = msgspec.convert(document, type=ClientCommand)
                viewers[key].unanswered.add(command.n)
                viewers[key].actor.put(Command(viewers[key], command))
            case ["doubt", key]:
                viewers[key].actor.put(Doubt())


async def _main(url: str, name: str) -> None:
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(lines), sys.stdin
    )
    async with live_node(url, name) as node:
        node.beat()
        _say("ready")
        await _serve(node, lines)


# In the test


class RemoteClient(Client):
    """A client of a room in another process."""

    def __init__(self, node: "OtherProcess", key: int, name: str, origin: str = "") -> None:
        super().__init__(name, origin)
        self._node = node
        self._key = key

    def hand_over(self, command: ClientCommand) -> None:
        self._node.say("command", self._key, msgspec.to_builtins(command))

    def doubt(self) -> None:
        self._node.say("doubt", self._key)

    def greet(self, code: str) -> None:
        self.replay.hello("")
        person, cursor = self.owner, self.replay.cursor
        where = None if cursor is None else msgspec.to_builtins(cursor)
        origin = self.replay.origin
        self._node.say("enter", self._key, code, person.id, person.name, origin, where)


class OtherProcess:
    """Made by `other_process`."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._clients: list[RemoteClient] = []

    def say(self, *what: object) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(what).encode() + b"\n")

    def signal(self, number: signal.Signals) -> None:
        os.kill(self._process.pid, number)

    def client(self, name: str) -> RemoteClient:
        self._clients.append(RemoteClient(self, len(self._clients), name))
        return self._clients[-1]

    async def enter(self, code: str, name: str) -> RemoteClient:
        client = self.client(name)
        client.greet(code)
        await client.until(lambda: client.replay.welcomed)
        return client

    async def hear(self) -> None:
        """Hand what comes to whom it is for, as long as anything comes."""
        async for what in self._lines():
            key, data, *reason = what
            if data is not None:
                self._clients[key].take(b64decode(data))
            else:
                self._clients[key].end(reason[0])

    async def _lines(self) -> AsyncIterator[list[Any]]:
        assert self._process.stdout
        while line := await self._process.stdout.readline():
            yield json.loads(line)


@asynccontextmanager
async def other_process(url: str, name: str = "elsewhere") -> AsyncIterator[OtherProcess]:
    """A node that shares nothing with this process but the store."""
    command = (sys.executable, "-m", "tests.live.other_node", url, name)
    process = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, cwd=ROOT, limit=1 << 20
    )
    node, hearing = OtherProcess(process), None
    try:
        assert process.stdout
        assert json.loads(await process.stdout.readline()) == ["ready"]
        hearing = asyncio.create_task(node.hear())
        yield node
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        if hearing is not None:
            await hearing
        assert process.stdin
        process.stdin.close()
        with suppress(ConnectionError):
            await process.stdin.wait_closed()


if __name__ == "__main__":
    # Tests keep both processes busy by changes that would have to wait.
    with patch.object(pace, "MOST_AT_ONCE", 1_000_000):
        asyncio.run(_main(*sys.argv[1:]))
