"""WebSocket frames as a client sees and makes them, by a library that is not ours."""

from collections.abc import Iterable

from websockets.client import ClientProtocol
from websockets.frames import Close, Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri


def frames_in(data: bytes) -> list[Frame]:
    """The frames that a server wrote; all of them are whole."""
    client = ClientProtocol(parse_uri("ws://localhost"), state=State.OPEN, max_size=None)
    client.receive_data(data)
    assert client.parser_exc is None
    assert not client.reader.buffer
    frames = client.events_received()
    assert all(isinstance(frame, Frame) for frame in frames)
    return [frame for frame in frames if isinstance(frame, Frame)]


def payloads_in(data: bytes) -> list[bytes]:
    return [bytes(frame.data) for frame in frames_in(data)]


def close_in(frames: Iterable[Frame]) -> Close:
    """The close among these frames; there is one, and it is the last."""
    *before, last = frames
    assert last.opcode is Opcode.CLOSE
    assert all(frame.opcode is not Opcode.CLOSE for frame in before)
    return Close.parse(last.data)


def masked(opcode: Opcode, data: bytes = b"", *, fin: bool = True) -> bytes:
    """A frame as a client writes it."""
    return Frame(opcode, data, fin).serialize(mask=True)


FLOODS = {
    "pings": masked(Opcode.PING, b"x" * 125),
    "empty pings": masked(Opcode.PING),
    "pongs": masked(Opcode.PONG, b"x" * 125),
    "continuations": masked(Opcode.CONT, fin=False),
    "continued text": masked(Opcode.CONT, b"x", fin=False),
}
"""Frames that cost their sender next to nothing."""
