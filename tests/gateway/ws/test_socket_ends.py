"""Whatever ends a connection here: its peer reads our word for it, the listener hears it once."""

import asyncio

import pytest
from starlette.websockets import WebSocket
from websockets.frames import Close, Frame, Opcode

from tests.gateway.ws.socket_frames import masked
from tests.gateway.ws.socket_server import MESSAGE_BYTES, Recorder, on_each_loop, serving, until
from towerhall_protocol.errors import CLOSES
from towerhall_server.gateway.ws.frame_faults import close_for
from towerhall_server.gateway.ws.socket import (
    CONTROLS_AT_ONCE,
    MAX_EARLY_MESSAGES,
    MAX_FRAGMENTS,
    socket_of,
)

HALF = bytes(MESSAGE_BYTES // 2 + 1)
WRONG = {
    "too large": ([masked(Opcode.BINARY, bytes(MESSAGE_BYTES + 1))], "message_too_large"),
    "far too large": ([masked(Opcode.BINARY, bytes(1 << 18))], "message_too_large"),
    "too large in pieces": (
        [masked(Opcode.BINARY, HALF, fin=False), masked(Opcode.CONT, HALF)],
        "message_too_large",
    ),
    "too many pieces": (
        [masked(Opcode.BINARY, fin=False), *[masked(Opcode.CONT, fin=False)] * MAX_FRAGMENTS],
        "message_too_large",
    ),
    "no utf-8": ([masked(Opcode.TEXT, b"\xff")], "malformed_message"),
    "not masked": ([Frame(Opcode.TEXT, b"a").serialize(mask=False)], "malformed_message"),
    "reserved bits": ([bytes((0xF2, 0x80, 0, 0, 0, 0))], "malformed_message"),
    "unknown opcode": ([bytes((0x83, 0x80, 0, 0, 0, 0))], "malformed_message"),
    "nothing to continue": ([masked(Opcode.CONT, b"a")], "malformed_message"),
    "a close of nonsense": ([masked(Opcode.CLOSE, b"\x00")], "malformed_message"),
    "pings": ([masked(Opcode.PING)] * (CONTROLS_AT_ONCE + 10), "too_many"),
    "pongs": ([masked(Opcode.PONG)] * (CONTROLS_AT_ONCE + 10), "too_many"),
}


@pytest.mark.parametrize(("frames", "name"), WRONG.values(), ids=WRONG)
@on_each_loop
async def test_a_bad_peer_reads_our_word_and_the_listener_hears_it(
    frames: list[bytes], name: str
) -> None:
    async with serving() as served, await served.peer() as peer:
        recorder = await served.recorder()
        await peer.send(*frames)
        *_, last = await peer.frames()
        assert Close.parse(last.data) == Close(CLOSES[name].code, name)
        assert recorder.ends == [name]
        peer.sock.close()
        await until(lambda: recorder.losses)
        assert recorder.ends == [name]


@on_each_loop
async def test_a_peer_that_misses_its_ping_is_told_of_too() -> None:
    pings = {"ws_ping_interval": 0.05, "ws_ping_timeout": 0.05}
    async with serving(**pings) as served, await served.peer() as peer:
        recorder = await served.recorder()
        *_, last = await peer.frames()
        assert Close.parse(last.data) == Close(1011, "server_fault")
        assert recorder.ends == ["server_fault"]


@on_each_loop
async def test_what_ended_a_connection_before_anybody_listened_is_told_then() -> None:
    recorders: list[Recorder] = []
    ready = asyncio.Event()

    async def late(websocket: WebSocket) -> None:
        await websocket.accept()
        await ready.wait()
        recorders.append(Recorder(socket_of(websocket.scope)))
        recorders[0].socket.attach(recorders[0])

    async with serving(late) as served, await served.peer() as peer:
        await peer.send(*[masked(Opcode.TEXT, b"a")] * (MAX_EARLY_MESSAGES + 1))
        *_, last = await peer.frames()
        assert Close.parse(last.data) == Close(4429, "too_many")
        ready.set()
        await until(lambda: recorders)
        assert recorders[0].ends == ["too_many"]


@on_each_loop
async def test_whoever_leaves_by_itself_was_ended_by_nobody() -> None:
    async with serving() as served, await served.peer() as peer:
        recorder = await served.recorder()
        await peer.leave()
        await until(lambda: recorder.losses)
        assert recorder.ends == []


def test_a_fault_of_the_parser_itself_is_ours() -> None:
    assert close_for(ZeroDivisionError()) == "server_fault"
