"""Messages as whole frames: the right bytes, made once."""

from collections.abc import Mapping

import msgpack
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Opcode

from tests.gateway.ws.socket_frames import frames_in
from towerhall_protocol.messages import (
    Arrival,
    Cursor,
    ServerAccepted,
    ServerChain,
    ServerChat,
    ServerDuplicate,
    ServerEmote,
    ServerError,
    ServerFrame,
    ServerGo,
    ServerHistory,
    ServerMessage,
    ServerOffers,
    ServerPaused,
    ServerPong,
    ServerPresence,
    ServerRejected,
    ServerReset,
    ServerSearching,
    ServerSeat,
    ServerWelcome,
)
from towerhall_protocol.offers import Choice, Offer, Range
from towerhall_server.frames import Prepared

CURSOR = Cursor("base", 7, "mark")
FRAME = ServerFrame(
    7, "mark", (1, "origin", 3), (("bid_made", 1, 12),), {"game": {"bids": {"1": 12}, "high": None}}
)

MESSAGES: list[tuple[ServerMessage, list[object]]] = [
    (
        ServerWelcome(Arrival("id", "Ada", 1, (5, 6), CURSOR)),
        [
            "welcome",
            {"you": "id", "name": "Ada", "level": 1, "now": [5, 6], "cursor": ["base", 7, "mark"]},
        ],
    ),
    (
        ServerWelcome(Arrival("id", "Ada", 1, (5, 6), CURSOR, {"room": {}}, 0, online=(0, 2))),
        [
            "welcome",
            {
                "you": "id",
                "name": "Ada",
                "level": 1,
                "now": [5, 6],
                "cursor": ["base", 7, "mark"],
                "view": {"room": {}},
                "seat": 0,
                "online": [0, 2],
            },
        ],
    ),
    (
        FRAME,
        [
            "frame",
            7,
            "mark",
            [1, "origin", 3],
            [["bid_made", 1, 12]],
            {"game": {"bids": {"1": 12}, "high": None}},
        ],
    ),
    (ServerFrame(8, "mark", (), (), {}), ["frame", 8, "mark", [], [], {}]),
    (
        ServerOffers(
            7,
            "tag",
            (Offer("bid", {"price": Range(1, 3)}), Offer("build", choices=(Choice({"at": 1}),))),
        ),
        [
            "offers",
            7,
            "tag",
            [
                {"command": "bid", "ranges": {"price": [1, 3]}},
                {"command": "build", "choices": [[{"at": 1}, {}]]},
            ],
        ],
    ),
    (
        ServerRejected(3, "stale", "", {"n": 3}, "late"),
        ["rejected", 3, "stale", "", {"n": 3}, "late"],
    ),
    (ServerDuplicate(3, 7), ["duplicate", 3, 7]),
    (ServerAccepted(3, {"score": (1, 2)}), ["accepted", 3, {"score": [1, 2]}]),
    (ServerSearching(3, 2), ["searching", 3, 2]),
    (
        ServerHistory((FRAME,), 7),
        [
            "history",
            [
                [
                    "frame",
                    7,
                    "mark",
                    [1, "origin", 3],
                    [["bid_made", 1, 12]],
                    {"game": {"bids": {"1": 12}, "high": None}},
                ]
            ],
            7,
        ],
    ),
    (
        ServerReset(CURSOR, {"room": {"seats": {}}}, 2),
        ["reset", ["base", 7, "mark"], {"room": {"seats": {}}}, 2],
    ),
    (ServerSeat(-1), ["seat", -1]),
    (ServerPresence((0, 1), 4, (0, 0)), ["presence", [0, 1], 4, [0, 0]]),
    (
        ServerChat("id", "Ada", 0, "grüß dich 塔", 5, "who"),
        ["chat", "id", "Ada", 0, "grüß dich 塔", 5, "who"],
    ),
    (ServerEmote("Ada", 0, "wow", "who"), ["emote", "Ada", 0, "wow", "who"]),
    (ServerChain(16, "chain"), ["chain", 16, "chain", "", ""]),
    (ServerChain(17, "chain", "key", "sig"), ["chain", 17, "chain", "key", "sig"]),
    (ServerPaused(True), ["paused", True]),
    (ServerGo(5000), ["go", 5000]),
    (ServerPong(7, (5, 6)), ["pong", 7, [5, 6]]),
    (
        ServerError("busy", {"retry_ms": 9}, "wait", "P-73"),
        ["error", "busy", {"retry_ms": 9}, "wait", "P-73"],
    ),
]


def test_every_server_message_is_listed_here() -> None:
    assert {type(message) for message, _ in MESSAGES} == set(ServerMessage.__args__)


@pytest.mark.parametrize(("message", "document"), MESSAGES)
def test_a_message_is_one_frame_in_each_subprotocol(
    message: ServerMessage, document: list[object]
) -> None:
    prepared = Prepared(message)
    (binary,) = frames_in(prepared.binary)
    (text,) = frames_in(prepared.text())
    assert (binary.opcode, binary.fin) == (Opcode.BINARY, True)
    assert (text.opcode, text.fin) == (Opcode.TEXT, True)
    assert msgpack.unpackb(bytes(binary.data)) == document
    assert msgspec.json.decode(bytes(text.data)) == document
    assert prepared.size == len(binary.data)


def chat_of_size(size: int) -> Prepared:
    """A message whose msgpack form has exactly that size."""
    empty = Prepared(ServerChat("", "", 0, "", 0)).size
    for head in (0, 1, 2, 4):  # how many more bytes msgpack needs for the length of the text
        prepared = Prepared(ServerChat("", "", 0, "x" * (size - empty - head), 0))
        if prepared.size == size:
            return prepared
    raise AssertionError(f"no text makes {size} bytes")


@pytest.mark.parametrize("size", [124, 125, 126, 127, 65534, 65535, 65536, 65537, 300_000])
def test_lengths_take_the_shortest_of_three_forms(size: int) -> None:
    prepared = chat_of_size(size)
    data = prepared.binary
    (frame,) = frames_in(data)
    assert len(frame.data) == size
    # The library writes the same bytes, and RFC 6455, 5.2 allows no others.
    assert data == frame.serialize(mask=False)


@given(st.dictionaries(st.text(), st.none() | st.integers(-(2**53), 2**53) | st.booleans()))
def test_patches_arrive_as_they_are(patch: Mapping[str, object]) -> None:
    prepared = Prepared(ServerFrame(1, "", (), (), {"game": patch, "room": None}))
    for data, decode in (
        (prepared.binary, msgpack.unpackb),
        (prepared.text(), msgspec.json.decode),
    ):
        (frame,) = frames_in(data)
        assert decode(bytes(frame.data))[-1] == {"game": patch, "room": None}


def test_bytes_are_made_once() -> None:
    prepared = Prepared(ServerSeat(1))
    assert prepared.text() is prepared.text()
