"""One client of one room: plays what it is offered, survives breaks, and records everything.

It is the protocol's own client core on a fast socket. It comes back by the waits of the Python
client, to any node, and resends what was not answered. What it may do is decided by its table.
"""

import asyncio
import math
from random import Random
from typing import Any, Final

import msgspec
from picows import WSCloseCode, WSError, WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from tests.programs.faults.habits import Table, choose
from tests.programs.faults.history import Recorder
from tests.programs.faults.logs import view_hash
from towerhall_client.retry import Backoff, Retry, may_return
from towerhall_protocol import commands
from towerhall_protocol import updates as u
from towerhall_protocol.codec import encode
from towerhall_protocol.errors import CLOSES
from towerhall_protocol.level import MSGPACK
from towerhall_protocol.messages import ClientCommand, ClientMessage, ServerFrame
from towerhall_protocol.replay import Replay
from towerhall_protocol.wire import read_server

HANDSHAKE_SECONDS: Final = 3.0
WELCOME_SECONDS: Final = 10.0
AGAIN_SECONDS: Final = 0.1
ROOM_GONE: Final = CLOSES["room_gone"].code
_decode = msgspec.msgpack.Decoder().decode


class Player:
    """One client; a seat number of its own, or none if it only watches."""

    def __init__(
        self, table: Table, wanted: int | None, token: str, replay: Replay, recorder: Recorder
    ) -> None:
        self.table = table
        self.wanted = wanted
        self.replay = replay
        self.recorder = recorder
        self.sent_away = 0
        """The close code after which it may not come back."""
        self.at = 0
        """Which of the addresses it is at, or tries next."""
        self.wish: int | None = None
        """Where to go next, instead of anywhere."""
        self.frame_at = 0.0
        """When the last commit came."""
        self.connections = 0
        """How often it was welcomed."""
        self.dropped = 0
        """How often the other side ended the connection without having asked it to go."""
        self.pauses = 0
        """How often it was told that the room stands still."""
        self._token = token
        self._chance = Random(replay.origin)
        self.at = self._chance.randrange(len(table.addresses()))
        habits = table.habits
        self._backoff = Backoff(
            Retry(habits.retry_seconds, habits.retry_most_seconds, chance=self._chance.random)
        )
        self._socket: _Socket | None = None
        self._over = False
        self._may_come = asyncio.Event()
        self._may_come.set()
        self._left = False
        """Whether this side ended the connection."""
        self._go_at: float | None = None
        self._down_at: float | None = None
        self._sent_at: dict[int, float] = {}

    @property
    def up(self) -> bool:
        return self.replay.welcomed and self._socket is not None

    @property
    def in_flight(self) -> int:
        """Commands that are on their way at this moment."""
        return len(self.replay.unanswered) if self.up else 0

    @property
    def waits_since(self) -> float:
        """When the oldest command without an answer was sent; infinite if all have one."""
        unanswered = self.replay.unanswered
        return min((at for n, at in self._sent_at.items() if n in unanswered), default=math.inf)

    @property
    def status(self) -> str:
        room: Any = self.replay.view.get("room", {})
        return str(room.get("status", ""))

    async def run(self) -> None:
        """Stay in the room until stopped, or sent away for good."""
        loop = asyncio.get_running_loop()
        self._elsewhere()
        while not self._over:
            await self._one_connection()
            if self.sent_away:
                break
            if self._go_at is not None:
                await asyncio.sleep(max(0.0, self._go_at - loop.time()))
                self._go_at = None
            elif not self._over:
                await asyncio.sleep(self._backoff.next_seconds())
            self._elsewhere()
            await self._may_come.wait()

    def stay_away(self) -> None:
        """Leave, and do not come back before told to."""
        self._may_come.clear()
        self.drop()

    def come_back(self) -> None:
        self._may_come.set()

    def stop(self) -> None:
        self._over = True
        self._may_come.set()
        self.drop()

    def drop(self) -> None:
        """End the connection from this side, rudely."""
        if self._socket is not None:
            self._left = True
            self._socket.transport.disconnect(graceful=False)

    def _elsewhere(self) -> None:
        count = len(self.table.addresses())
        if self.wish is not None:
            self.at, self.wish = self.wish, None
            return
        self.at = (self.at + 1 + self._chance.randrange(max(1, count - 1))) % count

    async def _one_connection(self) -> None:
        socket = _Socket(self)
        url = f"ws://{self.table.addresses()[self.at]}/v1/rooms/{self.table.code}"
        try:
            transport, _ = await ws_connect(
                lambda: socket,
                url,
                extra_headers={"Sec-WebSocket-Protocol": MSGPACK},
                websocket_handshake_timeout=HANDSHAKE_SECONDS,
                read_buffer_init_size=2048,
            )
        except (OSError, WSError, TimeoutError):
            return
        socket.transport = transport  # a connection may be over before it was called one
        self._socket, self._left = socket, False
        late = asyncio.get_running_loop().call_later(WELCOME_SECONDS, self._late, socket)
        try:
            self.send(self.replay.hello(self._token))
            await transport.wait_disconnected()
        except (OSError, WSError):
            pass  # it broke before it stood
        finally:
            late.cancel()
            self._ended(socket)

    def _late(self, socket: "_Socket") -> None:
        if not self.replay.welcomed:
            socket.transport.disconnect(graceful=False)

    def _ended(self, socket: "_Socket") -> None:
        self._socket = None
        if self.replay.welcomed:
            self._down_at = asyncio.get_running_loop().time()
            self.dropped += not self._left and self._go_at is None
        self.replay.welcomed = False
        for n in self.replay.unanswered:
            self.recorder.unknown(n)
        if socket.close_code == ROOM_GONE:
            self.recorder.gone()
        if socket.close_code and not may_return(socket.close_code) and not self._over:
            self.sent_away = socket.close_code
        self.table.noticed(self)

    # What comes

    def receive(self, data: bytes) -> None:
        message = read_server(_decode(data))
        if message is None:
            return
        updates = self.replay.receive(message)
        if type(message) is ServerFrame:
            self.frame_at = asyncio.get_running_loop().time()
            self.recorder.recv(message.seq, message.mark, view_hash(self.replay.view))
        for update in updates:
            self._happened(update)
        for command in self.replay.postponed():
            self.send(command)
        opening = self.replay.opening()
        if opening is not None:
            self._invoke(opening)
        self.go_on()
        self.table.noticed(self)

    def _happened(self, update: u.Update) -> None:
        match update:
            case u.Synced(_, replaced, lost):
                self.connections += 1
                if self._down_at is not None:
                    self.table.returned(asyncio.get_running_loop().time() - self._down_at)
                self._synced(lost, whole=replaced)
                self.send(self.replay.ping())
            case u.Reset(_, lost):
                self._synced(lost, whole=True)
            case u.Answered(n, seq):
                self.recorder.ack(n, seq)
                now = asyncio.get_running_loop().time()
                self.table.moved(self, now - self._sent_at.pop(n, now))
                self.think()
            case u.Rejected(n, code):
                self.recorder.reject(n, code)
                self._sent_at.pop(n, None)
                self.think(AGAIN_SECONDS)
            case u.OffersCame():
                self.think()
            case u.PongCame():
                self._backoff.reset()
            case u.Paused(paused):
                self.pauses += paused
            case u.MustGo(within_ms):
                self._leave_within(within_ms / 1000)
            case u.Faulted():
                self.drop()

    def _synced(self, lost: int, *, whole: bool) -> None:
        cursor = self.replay.cursor
        assert cursor is not None
        seen = view_hash(self.replay.view)
        self.recorder.sync(cursor.seq, cursor.mark, seen, lost=lost, whole=whole)
        for command in self.replay.resend():
            self.send(command)

    def _leave_within(self, seconds: float) -> None:
        if self._go_at is None:
            loop = asyncio.get_running_loop()
            wait = self._chance.random() * seconds
            self._go_at = loop.time() + wait
            loop.call_later(wait, self.drop)

    # What goes

    def send(self, message: ClientMessage) -> None:
        if self._socket is not None:
            self._socket.transport.send(WSMsgType.BINARY, encode(message))

    def _invoke(self, command: ClientCommand) -> None:
        self._sent_at[command.n] = asyncio.get_running_loop().time()
        self.recorder.invoke(command.n, tagged=bool(command.tag))
        self.send(command)

    def think(self, at_least: float = 0.0) -> None:
        """Answer the offers after a while, if they still stand then."""
        if self.replay.offers:
            wait = at_least + 2 * self.table.habits.think_seconds * self._chance.random()
            asyncio.get_running_loop().call_later(wait, self._choose, self.replay.tag)

    def _choose(self, tag: str) -> None:
        replay, table = self.replay, self.table
        if not self.up or table.quiet or not table.habits.plays:
            return
        if replay.offers and replay.tag == tag and not replay.unanswered:
            self._invoke(replay.command(choose(replay.offers, self._chance)))

    def go_on(self) -> None:
        """Before the game: sit, get ready, and start it if it is one's own."""
        replay, table = self.replay, self.table
        if self.wanted is None or not self.up or table.quiet or replay.unanswered:
            return
        if self.status != "waiting":
            return
        room: Any = replay.view["room"]
        holders = room["seats"]
        if replay.seat is None:
            if str(self.wanted) not in holders:
                self._invoke(replay.sit(self.wanted))
        elif not holders.get(str(replay.seat), {}).get("ready"):
            self._invoke(replay.ready())
        elif self.wanted == 0 and sum("ready" in each for each in holders.values()) == table.seats:
            self._invoke(replay.command(commands.start()))


class _Socket(WSListener):
    """One connection of a player."""

    transport: WSTransport

    def __init__(self, player: Player) -> None:
        self.player = player
        self.close_code = 0

    def on_ws_connected(self, transport: WSTransport) -> None:
        self.transport = transport

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type == WSMsgType.BINARY:
            self.player.receive(frame.get_payload_as_bytes())
        elif frame.msg_type == WSMsgType.CLOSE:
            self.close_code = int.from_bytes(frame.get_payload_as_bytes()[:2])
            transport.send_close(WSCloseCode.OK)
            transport.disconnect()
