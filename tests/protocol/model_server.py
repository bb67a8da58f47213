"""A server in a few lines, without store or sockets: what a client core is tested against.

It keeps a log of views, answers commands once, resumes by cursor or by snapshot, and may lose the
end of its log. Messages in both directions pass through a real codec.
"""

from collections.abc import Callable, Mapping
from typing import Any

from towerhall_protocol import codec
from towerhall_protocol import messages as m
from towerhall_protocol.document import Document
from towerhall_protocol.level import JSON, LEVEL, MSGPACK
from towerhall_protocol.merge_patch import diff
from towerhall_protocol.wire import read_client, read_server

BASE = "uid.all.1.1"
ORIGIN = "b3JpZ2luMTE"


def pack(message: object, subprotocol: str) -> bytes:
    return codec.encode(message) if subprotocol == MSGPACK else codec.encode_json(message).encode()


def unpack(data: bytes, subprotocol: str, limits: codec.CodecLimits) -> object:
    assert subprotocol in (MSGPACK, JSON)
    decode: Callable[[bytes, codec.CodecLimits], object]
    decode = codec.decode if subprotocol == MSGPACK else codec.decode_json
    return decode(data, limits)


def from_server(data: bytes, subprotocol: str) -> m.ServerMessage:
    message = read_server(unpack(data, subprotocol, codec.FROM_SERVER))
    assert message is not None
    return message


def from_client(data: bytes, subprotocol: str) -> m.ClientMessage:
    return read_client(unpack(data, subprotocol, codec.FROM_CLIENT))


class ModelServer:
    """One room, and at most one connection to it."""

    def __init__(self) -> None:
        self.views: list[Document] = [{}]
        self.frames: list[m.ServerFrame] = []
        self.marks = ["start"]
        self.done: dict[int, int] = {}
        """Number of a command to the seq that it was done in."""
        self.outbox: list[m.ServerMessage] = []
        self.connected = False
        self.snapshots = False
        """Whether a client that could go on gets a whole view anyway."""
        self._marks_made = 0

    @property
    def seq(self) -> int:
        return len(self.frames)

    @property
    def view(self) -> Document:
        return self.views[-1]

    @property
    def cursor(self) -> m.Cursor:
        return m.Cursor(BASE, self.seq, self.marks[-1])

    def commit(self, view: Document, cause: tuple[Any, ...] = ()) -> m.ServerFrame:
        self._marks_made += 1
        mark = f"mark{self._marks_made}"
        patch = diff(self.view, view)
        frame = m.ServerFrame(self.seq + 1, mark, cause, (("seen", self.seq + 1),), patch)
        self.views.append(view)
        self.frames.append(frame)
        self.marks.append(mark)
        self._send(frame)
        if "game" in patch:
            self._send(m.ServerOffers(self.seq, mark, ()))
        return frame

    def lose(self, count: int) -> None:
        """The store forgets the newest commits."""
        count = min(count, self.seq)
        if count:
            del self.views[-count:], self.frames[-count:], self.marks[-count:]
            self.done = {n: seq for n, seq in self.done.items() if seq <= self.seq}
            self._send(m.ServerReset(self.cursor, self.view, count))

    def reset(self) -> None:
        self._send(m.ServerReset(self.cursor, self.view, 0))

    def disconnect(self) -> None:
        self.connected = False
        self.outbox.clear()

    def receive(self, message: m.ClientMessage) -> None:
        match message:
            case m.ClientHello(greeting):
                self.connected = True
                self._welcome(greeting.cursor)
            case m.ClientCommand(n, _, body, dry):
                self._command(n, body, dry=dry)
            case m.ClientHistory(first, last):
                self._send(m.ServerHistory(tuple(self.frames[first - 1 : last][:3]), last))
            case m.ClientPing(seq):
                self._send(m.ServerPong(seq, (0, 0)))

    def _welcome(self, cursor: m.Cursor | None) -> None:
        known = cursor is not None and cursor.mark in self.marks
        if cursor is None or not known or self.snapshots:
            lost = 0 if known or cursor is None else 1
            arrival = m.Arrival("you", "You", LEVEL, (0, 0), self.cursor, self.view, 0, lost)
            self._send(m.ServerWelcome(arrival))
            return
        self._send(m.ServerWelcome(m.Arrival("you", "You", LEVEL, (0, 0), cursor, seat=0)))
        for frame in self.frames[cursor.seq :]:
            self._send(frame)

    def _command(self, n: int, body: Mapping[str, Any], *, dry: bool) -> None:
        if n in self.done:
            self._send(m.ServerDuplicate(n, self.done[n]))
        elif n < max(self.done, default=0):
            # The tail that held it was lost, and a later command came first (P-42).
            self._send(m.ServerRejected(n, "stale", "P-42", {}, "stale"))
        elif body["command"] == "refuse":
            self._send(m.ServerRejected(n, "no", "P-0", {}, "no"))
        elif dry:
            self._send(m.ServerAccepted(n, {"n": n}))
        else:
            self.done[n] = self.seq + 1
            self.commit({**self.view, "last": n}, (0, ORIGIN, n))

    def _send(self, message: m.ServerMessage) -> None:
        if self.connected:
            self.outbox.append(message)
