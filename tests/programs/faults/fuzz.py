"""Frames that no client of ours would send: nearly right, wrong, and nonsense. Pure.

`messages` are whole WebSocket frames whose content is bad, so that a connection can carry many of
them; `breaks` break the WebSocket protocol itself, so that each ends its connection.
"""

from collections.abc import Callable
from random import Random
from typing import Any, Final

import msgpack
from websockets.frames import Opcode

from tests.gateway.ws.socket_frames import masked

MOST_BYTES: Final = 4096
ODD: Final[tuple[Any, ...]] = (
    None,
    True,
    -1,
    0,
    1 << 53,
    (1 << 64) - 1,
    -(1 << 63),
    0.5,
    float("nan"),
    "",
    "x" * 600,
    "\u202e\u0000\ud7ff",
    b"",
    b"\xff" * 40,
    [],
    {},
    [[]] * 70,
    {str(n): n for n in range(40)},
    msgpack.ExtType(5, b"x"),
    msgpack.Timestamp(1 << 40, 1),
)
SEEDS: Final[tuple[Any, ...]] = (
    ["hello", {"token": "x", "level": 1, "origin": "AAAAAAAAAAA"}],
    ["command", 1, "", {"command": "sit", "seat": 0}],
    ["command", 2, "AAAAAAAAAAA", {"command": "bid", "count": 3, "value": 9}],
    ["command", 3, "", {"command": "start"}, True],
    ["history", 1, 10],
    ["chat", "a line"],
    ["ping", 3],
)


def messages(chance: Random, count: int) -> list[bytes]:
    """So many frames, ready to be written."""
    makers = (_flipped, _cut, _odd, _odd, _noise, _deep, _text, _large)
    return [makers[chance.randrange(len(makers))](chance) for _ in range(count)]


def _packed(document: object) -> bytes:
    data: bytes = msgpack.packb(document, unicode_errors="surrogatepass")
    return data


def _frame(data: bytes) -> bytes:
    return masked(Opcode.BINARY, data[:MOST_BYTES])


def _flipped(chance: Random) -> bytes:
    data = bytearray(_packed(chance.choice(SEEDS)))
    for _ in range(1 + chance.randrange(4)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return _frame(bytes(data))


def _cut(chance: Random) -> bytes:
    data = _packed(chance.choice(SEEDS))
    return _frame(data[: chance.randrange(len(data))] + data[: chance.randrange(3)])


def _odd(chance: Random) -> bytes:
    """A message with something else in one of its places."""
    message = list(chance.choice(SEEDS))
    place = chance.randrange(len(message))
    inside = message[place]
    if isinstance(inside, dict) and chance.random() < 0.7:
        message[place] = {**inside, chance.choice([*inside, "more"]): chance.choice(ODD)}
    else:
        message[place] = chance.choice(ODD)
    return _frame(_packed(message))


def _noise(chance: Random) -> bytes:
    return _frame(chance.randbytes(chance.randrange(200)))


def _deep(chance: Random) -> bytes:
    return _frame(chance.choice((b"\x91", b"\x81\xa1x")) * chance.randrange(1, 1000))


def _text(chance: Random) -> bytes:
    text = chance.choice(('["ping", 3]', "[" * 500, "{}", '["chat", "\\ud800"]', "nonsense"))
    return masked(Opcode.TEXT, text.encode())


def _large(chance: Random) -> bytes:
    return _frame(_packed(["chat", "x" * chance.randrange(300, 3000)]))


def breaks() -> dict[str, Callable[[], bytes]]:
    """One frame each, after which a server has to end the connection."""
    return {
        "reserved opcode": lambda: b"\x8b\x80\0\0\0\0",
        "reserved bit": lambda: b"\xc2\x80\0\0\0\0",
        "not masked": lambda: b"\x82\x03abc",
        "endless": lambda: b"\x82\xff\x7f" + b"\xff" * 7 + b"\0" * 4,
        "too large": lambda: masked(Opcode.BINARY, b"x" * (MOST_BYTES + 1)),
        "bad UTF-8": lambda: masked(Opcode.TEXT, b"\xff\xfe"),
        "continues nothing": lambda: masked(Opcode.CONT, b"x"),
        "long control": lambda: b"\x89\xfe\x00\xff" + bytes(4 + 255),
        "bad close": lambda: masked(Opcode.CLOSE, b"\x00"),
        "no WebSocket": lambda: b"GET / HTTP/1.1\r\n\r\n" * 20,
    }
