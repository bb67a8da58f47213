"""The quick way in takes only what the library would take, and says where a read ends."""

from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode

from towerhall_server.gateway.ws.socket import SMALL_BYTES, small_messages

SIZES = st.sampled_from((0, 1, 2, 124, 125, 126, 127, 300, SMALL_BYTES, SMALL_BYTES + 1, 70_000))


def packed(opcode: Opcode, payload: bytes, *, fin: bool = True, masked: bool = True) -> bytes:
    return Frame(opcode, payload, fin).serialize(mask=masked)


def test_small_whole_messages_come_out_as_they_are() -> None:
    read = packed(Opcode.BINARY, b"\x00\xff") + packed(Opcode.TEXT, "grün".encode())
    assert small_messages(read) == ([("bytes", b"\x00\xff"), ("text", "grün".encode())], True)


@given(sizes=st.lists(SIZES, max_size=4), cut=st.integers(1, 200))
def test_a_read_that_ends_inside_a_frame_is_left_to_the_library(sizes: list[int], cut: int) -> None:
    frames = [packed(Opcode.BINARY, bytes(size)) for size in sizes]
    messages, aligned = small_messages(b"".join(frames))
    assert aligned
    if all(size <= SMALL_BYTES for size in sizes):
        assert messages == [("bytes", bytes(size)) for size in sizes]
    else:
        assert messages is None
    if frames and cut < len(frames[-1]):
        assert small_messages(b"".join(frames)[:-cut]) == (None, False)


def test_what_is_not_a_small_whole_message_is_left_to_the_library() -> None:
    small = packed(Opcode.BINARY, b"small")
    for other in (
        packed(Opcode.PING, b"x"),
        packed(Opcode.CLOSE, b""),
        packed(Opcode.BINARY, b"half", fin=False),
        packed(Opcode.CONT, b"rest"),
        packed(Opcode.BINARY, b"bare and long enough", masked=False),
        bytes([0xC2]) + small[1:],
    ):
        assert small_messages(other) == (None, True), other
        assert small_messages(small + other) == (None, True), other


@given(data=st.binary(max_size=60))
def test_no_bytes_make_it_fail(data: bytes) -> None:
    messages, aligned = small_messages(data)
    assert aligned or messages is None
