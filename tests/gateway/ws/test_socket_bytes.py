"""Any bytes at all, and very many of them, fed to one socket without a network."""

import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from websockets.frames import Close, Opcode

from tests.gateway.ws.socket_frames import FLOODS, masked
from tests.gateway.ws.socket_lone import Lone
from towerhall_server.gateway.ws.socket import MAX_FRAGMENTS

CLOSE = masked(Opcode.CLOSE, Close(1000, "").serialize())
OPCODES = st.sampled_from(list(Opcode))
FRAMES = st.one_of(
    st.builds(lambda data: masked(Opcode.BINARY, data), st.binary(max_size=9)),
    st.builds(lambda data: masked(Opcode.TEXT, data.encode()), st.text(max_size=9)),
    st.builds(lambda op, data, fin: masked(op, data, fin=fin), OPCODES, st.binary(), st.just(True)),
    st.builds(lambda fin: masked(Opcode.CONT, b"x", fin=fin), st.booleans()),
    st.just(masked(Opcode.TEXT, b"x", fin=False)),
    st.just(CLOSE),
    st.binary(max_size=30),
)


@given(st.lists(FRAMES, max_size=50), st.lists(st.integers(1, 300), max_size=30))
@example([masked(Opcode.PING), masked(Opcode.BINARY), CLOSE], [])
@example([masked(Opcode.TEXT, b"\xff"), masked(Opcode.PING), masked(Opcode.BINARY)], [])
def test_no_bytes_make_a_socket_raise_or_write_anything_after_its_close(
    frames: list[bytes], cuts: list[int]
) -> None:
    with Lone() as lone:
        stream = b"".join(frames)
        for cut in (*cuts, len(stream)):
            lone.feed(stream[:cut])
            stream = stream[cut:]
            assert len(lone.socket.frames) <= MAX_FRAGMENTS
            assert lone.socket.conn.writes == []
        lone.check_what_was_written()


@pytest.mark.parametrize("frame", [*FLOODS.values(), masked(Opcode.BINARY)], ids=[*FLOODS, "data"])
def test_one_read_full_of_tiny_frames_takes_little_memory(frame: bytes) -> None:
    flood = masked(Opcode.TEXT, fin=False) + frame * ((1 << 18) // len(frame))
    with Lone() as lone:
        tracemalloc.start()
        try:
            lone.feed(flood)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 1 << 20
