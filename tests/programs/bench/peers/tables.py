"""Tables at other servers: four sockets each that speak the protocol of that server.

As players of ours, they read as little of a message as a measurement needs. A player sends for a
bid what the client library of its framework sends, and decodes no patches: what that costs clients
is not measured.
"""

import asyncio
import json
from http.client import HTTPConnection
from random import Random
from typing import Any, Final

import msgspec
from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from tests.programs.bench.players import SEATS, Pacer, Player, Table

NUMBERS: Final = 1000
"""Bids are less than this."""
READ_BUFFER: Final = 4096
_encode = msgspec.msgpack.Encoder().encode
# Of Colyseus: the first byte of a message.
JOINED, BID, STATE, PATCH = 10, 13, 14, 15
# Of boardgame.io: socket.io on engine.io, in the namespace of the game.
OPENED, PING, PONG = b"0", b"2", "3"
CONNECT, CONNECTED = "40/bid,", b"40/bid,"
EVENT: Final = "42/bid,"
SYNC, MOVED, IGNORED = b'42/bid,["sync', b'42/bid,["patch', b'42/bid,["matchData'


class PeerPlayer(Player):
    """Takes its turn when it has counted enough patches."""

    def __init__(self, table: Table, seat: int) -> None:
        super().__init__(table, seat)
        self._seq = 0

    def moved(self, message: bytes) -> None:
        """A patch has come."""
        self._seq += 1
        self.table.arrived(self._seq, message)
        if self._seq % SEATS == self.seat:
            self.take_turn()

    def take_turn(self) -> None:
        number = int(self.table.chance.random() * NUMBERS)
        self.table.pacer.offered(self, self._seq, self.bid(number))

    def bid(self, number: int) -> bytes:
        """What a client sends for this bid."""
        raise NotImplementedError

    def unexpected(self, message: bytes) -> None:
        self.table.pacer.fail(f"the server said {message[:200]!r}")


class ColyseusPlayer(PeerPlayer):
    """Speaks the protocol of Colyseus 0.18."""

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        message = frame.get_payload_as_bytes()
        kind = message[0]
        if kind == PATCH:
            self.moved(message)
        elif kind == JOINED:
            self.send(bytes([JOINED]))
        elif kind == STATE:
            self.welcomed.set_result(None)
        else:
            self.unexpected(message)

    def bid(self, number: int) -> bytes:
        return bytes([BID]) + _encode("bid") + _encode(number)


class BoardgamePlayer(PeerPlayer):
    """Speaks the protocol of boardgame.io 0.50."""

    match = ""

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        message = frame.get_payload_as_bytes()
        if message.startswith(MOVED):
            self.moved(message)
        elif message == PING:
            self._say(PONG)
        elif message.startswith(OPENED):
            self._say(CONNECT)
        elif message.startswith(CONNECTED):
            self._say(self._event("sync", self.match, str(self.seat), None, SEATS))
        elif message.startswith(SYNC):
            self.welcomed.set_result(None)
        elif not message.startswith(IGNORED):
            self.unexpected(message)

    def bid(self, number: int) -> bytes:
        seat = str(self.seat)
        payload = {"type": "bid", "args": [number], "playerID": seat, "credentials": None}
        action = {"type": "MAKE_MOVE", "payload": payload}
        return self._event("update", action, self._seq, self.match, seat).encode()

    def send(self, message: bytes) -> None:
        self.transport.send(WSMsgType.TEXT, message)

    def _say(self, message: str) -> None:
        self.send(message.encode())

    def _event(self, *parts: Any) -> str:
        return EVENT + json.dumps(parts, separators=(",", ":"))


async def colyseus_tables(pacer: Pacer, address: str, count: int, seed: int) -> list[Table]:
    http = HTTPConnection(address)
    tables = []
    for number in range(count):
        table = Table(pacer, Random(f"{seed}/{number}"))
        how = "create/bid"
        for seat in range(SEATS):
            place = _reserve(http, how, seat)
            how = f"joinById/{place['roomId']}"
            player = ColyseusPlayer(table, seat)
            table.players.append(player)
            path = f"/{place['processId']}/{place['roomId']}?sessionId={place['sessionId']}"
            await _connect(player, address, path)
        tables.append(table)
    http.close()
    return tables


async def boardgame_tables(pacer: Pacer, address: str, count: int, seed: int) -> list[Table]:
    tables = []
    for number in range(count):
        table = Table(pacer, Random(f"{seed}/{number}"))
        for seat in range(SEATS):
            player = BoardgamePlayer(table, seat)
            player.match = f"{seed}-{number}"
            table.players.append(player)
            # The first one makes the match.
            await _connect(player, address, "/socket.io/?EIO=4&transport=websocket")
        tables.append(table)
    return tables


def _reserve(http: HTTPConnection, how: str, seat: int) -> dict[str, str]:
    headers = {"Content-Type": "application/json"}
    http.request("POST", f"/matchmake/{how}", json.dumps({"seat": seat}), headers)
    response = http.getresponse()
    answer: dict[str, str] = json.loads(response.read())
    if response.status != 200:
        raise RuntimeError(f"matchmaking was answered by {response.status}: {answer}")
    return answer


async def _connect(player: Player, address: str, path: str) -> None:
    def listener() -> WSListener:
        return player

    await ws_connect(listener, f"ws://{address}{path}", read_buffer_init_size=READ_BUFFER)
    async with asyncio.timeout(10):
        await player.welcomed
