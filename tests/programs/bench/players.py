"""Players without rules: each holds one socket and answers what it is offered.

They read as little of a message as a measurement needs, so that the load costs little beside the
server. A seat of Towerhall picks from its offers by chance; a seat of the baseline takes its turn
when it has counted enough frames. When an answer is sent is decided in `load`.
"""

import asyncio
from random import Random
from typing import Any, Protocol

import msgspec
from picows import WSFrame, WSListener, WSMsgType, WSTransport

SEATS = 4
FRAME, OFFERS, WELCOME = b"\xa5frame", b"\xa6offer", b"\xa7welco"
IGNORED = (b"\xa8prese", b"\xa4seat", b"\xa5chain")
GAME_OVER = b"\xa9game_over"
UINT8, UINT16 = 0xCC, 0xCD


class Played(msgspec.Struct, frozen=True):
    """What is played at a table of Towerhall."""

    game: str
    preset: str
    most_above: int
    """Numbers are less than this above the least that is allowed."""


FIVE_TOWERS = Played("five_towers", "standard", 3)
"""As long as between good bots, with about as many builds per move."""
BID = Played("bid", "long", 1000)
"""Any bid at all."""

_encode = msgspec.msgpack.Encoder().encode
_read_offers = msgspec.msgpack.Decoder(tuple[str, int, str, list[dict[str, Any]]]).decode


class Pacer(Protocol):
    """What a table tells of itself."""

    def offered(self, player: "Player", seq: int, answer: bytes) -> None:
        """A player may answer the decision that came with this seq."""

    def completed(self, sent_at: float) -> None:
        """A move has reached all four."""

    def over(self, table: "Table") -> None:
        """The game has ended."""

    def fail(self, why: str) -> None:
        """Something came that should not."""


class Table:
    """Four players of one room: knows which frames have reached all of them."""

    def __init__(self, pacer: Pacer, chance: Random, played: Played = FIVE_TOWERS) -> None:
        self.pacer = pacer
        self.chance = chance
        self.played = played
        self.players: list[Player] = []
        self.sent_at: dict[int, float] = {}
        """By the seq that a move will have: nobody else acts, so it is the next one."""
        self.hold_at = 0
        """From this seq on, answers wait until the load asks for them."""
        self.seq = 0
        """All four have the frames up to this."""
        self._arrived: dict[int, int] = {}
        self._awaited: tuple[int, asyncio.Future[None]] | None = None

    def arrived(self, seq: int, message: bytes) -> None:
        """One of the four has got a frame."""
        count = self._arrived.get(seq, 0) + 1
        if count < SEATS:
            self._arrived[seq] = count
            return
        del self._arrived[seq]
        if seq != self.seq + 1:
            self.pacer.fail(f"frame {seq} has come to all, but {self.seq + 1} has not")
        self.seq = seq
        sent_at = self.sent_at.pop(seq, None)
        if sent_at is not None:
            self.pacer.completed(sent_at)
        if self._awaited is not None and self._awaited[0] == seq:
            self._awaited[1].set_result(None)
        if GAME_OVER in message:
            self.pacer.over(self)

    async def reaches(self, seq: int) -> None:
        """Wait until all four have that frame."""
        if self.seq < seq:
            self._awaited = (seq, asyncio.get_running_loop().create_future())
            await self._awaited[1]


class Player(WSListener):
    """One socket at a table."""

    transport: WSTransport

    def __init__(self, table: Table, seat: int) -> None:
        self.table = table
        self.seat = seat
        self.welcomed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def on_ws_connected(self, transport: WSTransport) -> None:
        self.transport = transport

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        self.table.pacer.fail("a connection was lost")

    def send(self, message: bytes) -> None:
        self.transport.send(WSMsgType.BINARY, message)


class TowerhallPlayer(Player):
    """Speaks the real protocol."""

    def __init__(self, table: Table, seat: int) -> None:
        super().__init__(table, seat)
        self._n = 0

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        message = frame.get_payload_as_bytes()
        kind = message[1:7]
        if kind == FRAME:
            self.table.arrived(_seq_of_frame(message), message)
        elif kind == OFFERS:
            _, seq, tag, offers = _read_offers(message)
            answer = self.command(
                choose(offers, self.table.chance, self.table.played.most_above), tag
            )
            self.table.pacer.offered(self, seq, answer)
        elif kind == WELCOME:
            self.welcomed.set_result(None)
        elif not kind.startswith(IGNORED):
            self.table.pacer.fail(f"the server said {message[:200]!r}")

    def command(self, body: dict[str, Any], tag: str = "") -> bytes:
        """The next command of this seat. Its number counts from here on: it must be sent."""
        self._n += 1
        return _encode(("command", self._n, tag, body, False))


class BaselinePlayer(Player):
    """Sends the bytes of a real command when its turn has come."""

    def __init__(self, table: Table, seat: int, command: bytes) -> None:
        super().__init__(table, seat)
        self._command = command
        self._seq = 0

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        message = frame.get_payload_as_bytes()
        self._seq += 1
        self.table.arrived(self._seq, message)
        if self._seq % SEATS == self.seat:
            self.take_turn()

    def take_turn(self) -> None:
        self.table.pacer.offered(self, self._seq, self._command)


def choose(
    offers: list[dict[str, Any]], chance: Random, most_above: int = FIVE_TOWERS.most_above
) -> dict[str, Any]:
    """One of the offered commands: each name is equally likely, numbers are small."""
    offer = offers[int(chance.random() * len(offers))]
    body = {"command": offer["command"]}
    for name, (least, most) in offer.get("ranges", {}).items():
        body[name] = min(most, least + int(chance.random() * most_above))
    choices = offer.get("choices")
    if choices:
        body.update(choices[int(chance.random() * len(choices))][0])
    return body


def _seq_of_frame(message: bytes) -> int:
    """The number after the name; decoding the rest would cost more than the measurement."""
    first = message[7]
    if first == UINT8:
        return message[8]
    return int.from_bytes(message[8:10]) if first == UINT16 else first
