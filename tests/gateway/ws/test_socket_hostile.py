"""What one hostile peer can do to a server: be closed or cut off, and cost little until then."""

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator

import pytest
from starlette.websockets import WebSocket
from websockets.frames import Close, Opcode

from tests.gateway.ws.socket_frames import FLOODS, masked
from tests.gateway.ws.socket_server import (
    MESSAGE_BYTES,
    PATIENCE,
    Recorder,
    Served,
    on_each_loop,
    serving,
    until,
)
from towerhall_protocol.messages import ServerChat
from towerhall_server.frames import Prepared
from towerhall_server.gateway.ws import closing
from towerhall_server.gateway.ws import socket as socket_module
from towerhall_server.gateway.ws.closing import HIGH_WATER, LOW_WATER
from towerhall_server.gateway.ws.socket import (
    CONTROLS_AT_ONCE,
    LATE_BYTES,
    MAX_EARLY_MESSAGES,
    MAX_FRAGMENTS,
    RoomSocket,
)

FRAME = Prepared(ServerChat("", "", 0, "x" * 1000, 0)).binary
KERNEL_BYTES = 8 << 20
"""More than the kernel takes in on both sides of a loopback connection."""


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closing, "CLOSE_SECONDS", 0.2)


class Most:
    """The most that was held for a connection at any time."""

    backlog = 0
    pieces = 0


@contextlib.asynccontextmanager
async def watched(room_socket: RoomSocket) -> AsyncIterator[Most]:
    """Look at a connection whenever the loop comes round."""
    most = Most()

    async def watch() -> None:
        while not room_socket.disconnected:
            most.backlog = max(most.backlog, room_socket.backlog())
            pieces = len(room_socket.frames) + len(room_socket.conn.writes)
            most.pieces = max(most.pieces, pieces)
            await asyncio.sleep(0)

    task = asyncio.create_task(watch())
    yield most
    await task


def stuff(recorder: Recorder) -> None:
    """Write more than a peer takes that does not read."""
    for _ in range(10_000):
        recorder.socket.write_frame(FRAME)
        if recorder.socket.backlog() > HIGH_WATER:
            return
    raise AssertionError("it went somewhere, or nowhere")


@pytest.mark.parametrize("kind", FLOODS)
@on_each_loop
async def test_a_flood_from_a_peer_that_does_not_read_is_cut_off_and_costs_little(
    kind: str,
) -> None:
    async with serving() as served, await served.peer(small=True) as peer:
        recorder = await served.recorder()
        if "conti" in kind:
            await peer.send(masked(Opcode.TEXT, fin=False))
        async with watched(recorder.socket) as most:
            taken = await peer.flood(FLOODS[kind], 64 << 20)
        assert taken < LATE_BYTES + KERNEL_BYTES
        assert most.backlog <= HIGH_WATER
        assert most.pieces <= MAX_FRAGMENTS
        assert (recorder.messages, recorder.losses) == ([], 1)


@on_each_loop
async def test_a_peer_may_ping_a_little_but_not_a_lot() -> None:
    async with serving() as served, await served.peer() as peer:
        pings = [masked(Opcode.PING, b"%d" % number) for number in range(CONTROLS_AT_ONCE)]
        await peer.send(*pings)
        pongs = await peer.frames(len(pings))
        assert [bytes(pong.data) for pong in pongs] == [b"%d" % n for n in range(len(pings))]
        await peer.send(*pings)
        *_, last = await peer.frames()
        assert Close.parse(last.data) == Close(4429, "too_many")


@on_each_loop
async def test_pings_of_a_peer_that_does_not_read_get_no_answer() -> None:
    async with serving() as served, await served.peer(small=True) as peer:
        recorder = await served.recorder()
        stuff(recorder)
        before = recorder.socket.backlog()
        assert before > LOW_WATER
        await peer.send(*[masked(Opcode.PING, b"x" * 125)] * 5, masked(Opcode.TEXT, b"after"))
        await until(lambda: recorder.messages)
        assert recorder.socket.backlog() <= before


@pytest.mark.parametrize("ended", ["by a close", "by its side of the wire"])
@on_each_loop
async def test_a_peer_that_has_ended_is_sent_only_what_waited_for_it(ended: str) -> None:
    async with serving() as served, await served.peer(small=True) as peer:
        recorder = await served.recorder()
        stuff(recorder)
        room_socket = recorder.socket
        assert room_socket.backlog() > LOW_WATER
        if ended == "by a close":
            await peer.send(masked(Opcode.CLOSE, Close(1000, "").serialize()))
        else:
            peer.sock.shutdown(socket.SHUT_WR)
        await until(room_socket.transport.is_closing)
        left = room_socket.backlog()
        room_socket.write_frame(FRAME)
        assert 0 < left == room_socket.backlog()


@pytest.mark.parametrize("fragments", [MAX_FRAGMENTS, MAX_FRAGMENTS + 1])
@on_each_loop
async def test_the_fragments_of_a_message_are_counted(fragments: int) -> None:
    async with serving() as served, await served.peer() as peer:
        recorder = await served.recorder()
        await peer.send(masked(Opcode.BINARY, b"a", fin=False))
        await peer.send(*[masked(Opcode.CONT, b"b", fin=False)] * (fragments - 2))
        await peer.send(masked(Opcode.CONT, b"c"))
        if fragments <= MAX_FRAGMENTS:
            await until(lambda: recorder.messages)
            assert recorder.messages == [b"a" + b"b" * (fragments - 2) + b"c"]
        else:
            assert await peer.closed() == Close(1009, "message_too_large")
            assert recorder.messages == []


@on_each_loop
async def test_a_message_too_large_is_closed_so_that_the_peer_can_read_why() -> None:
    async with serving() as served, await served.peer() as peer, await served.peer() as other:
        # All of it is sent before the close is read: had the server stopped reading, the kernel
        # would answer with a reset that overtakes the close.
        await peer.send(masked(Opcode.BINARY, bytes(LATE_BYTES // 2)))
        assert await peer.closed() == Close(1009, "message_too_large")
        half = bytes(MESSAGE_BYTES // 2 + 1)
        await other.send(masked(Opcode.BINARY, half, fin=False), masked(Opcode.CONT, half))
        assert await other.closed() == Close(1009, "message_too_large")
        assert [recorder.messages for recorder in served.recorders] == [[], []]


@on_each_loop
async def test_text_that_is_not_utf8_is_closed_without_a_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with serving() as served, await served.peer() as peer:
        recorder = await served.recorder()
        await peer.send(masked(Opcode.TEXT, b"good"), masked(Opcode.TEXT, b"bad \xff"))
        assert await peer.closed() == Close(1007, "malformed_message")
        assert recorder.messages == ["good"]
        assert [record for record in caplog.records if record.exc_info] == []


@on_each_loop
async def test_many_messages_at_once_before_anybody_listens_are_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(closing, "CLOSE_SECONDS", 60)
    sockets: list[RoomSocket] = []

    async def deaf(websocket: WebSocket) -> None:
        await websocket.accept()
        sockets.append(socket_module.socket_of(websocket.scope))
        await sockets[0].ended

    async with serving(deaf) as served, await served.peer() as peer:
        await peer.send(*[masked(Opcode.BINARY)] * (MAX_EARLY_MESSAGES + 1))
        assert await peer.closed() == Close(4429, "too_many")
        assert sockets[0].queue.qsize() <= MAX_EARLY_MESSAGES
        # Reading, which had paused for the messages, goes on so that the leaving is seen.
        peer.sock.close()
        await until(lambda: sockets[0].disconnected, 2)


@on_each_loop
async def test_what_a_peer_still_sends_after_an_end_is_dropped_and_then_cut_off() -> None:
    async with serving() as served, await served.peer() as peer:
        recorder = await served.recorder()
        recorder.socket.end(4400, "bad_message")
        taken = await peer.flood(masked(Opcode.BINARY, b"x"), 64 << 20)
        assert taken < LATE_BYTES + KERNEL_BYTES
        await recorder.socket.ended
        assert (recorder.messages, recorder.losses) == ([], 1)


IN_TIME_SECONDS = 5
"""Much more than it takes, and much less than for ever."""
ENDINGS = ["says nothing", "ends its side", "closes"]


@pytest.mark.parametrize("ending", ENDINGS)
@on_each_loop
async def test_a_peer_that_does_not_read_is_not_waited_for(ending: str) -> None:
    async with serving(ws_ping_interval=0.3, ws_ping_timeout=0.3) as served:
        peer = await (await served.peer(small=True)).opened()
        recorder = await served.recorder()
        stuff(recorder)
        if ending == "closes":
            await peer.send(masked(Opcode.CLOSE, Close(1000, "").serialize()))
        if ending == "ends its side":
            peer.sock.shutdown(socket.SHUT_WR)
        await asyncio.wait_for(recorder.socket.ended, PATIENCE)
        assert recorder.losses == 1
        peer.sock.close()


@on_each_loop
async def test_a_peer_that_reads_but_does_not_answer_pings_is_told_so() -> None:
    impatient = serving(ws_ping_interval=0.1, ws_ping_timeout=0.1)
    async with impatient as served, await served.peer() as peer:
        recorder = await served.recorder()
        assert await peer.closed() == Close(1011, "server_fault")
        await until(lambda: recorder.losses)


@on_each_loop
async def test_an_end_behind_a_large_backlog_cuts_off_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(closing, "CLOSE_SECONDS", 60)
    async with serving() as served, await served.peer(small=True):
        recorder = await served.recorder()
        stuff(recorder)
        recorder.socket.end(4413, "too_slow")
        await until(lambda: recorder.losses)


@pytest.mark.parametrize("stays", [False, True])
@on_each_loop
async def test_a_peer_that_does_not_read_keeps_no_endpoint_that_closes_by_itself(
    stays: bool,
) -> None:
    closed: list[RoomSocket] = []

    async def closing(websocket: WebSocket) -> None:
        await websocket.accept()
        room_socket = socket_module.socket_of(websocket.scope)
        while not room_socket.backlog():
            room_socket.write_frame(FRAME)
        await websocket.close(4404, "room_gone")
        closed.append(room_socket)
        if stays:
            await room_socket.ended

    async with serving(closing) as served:
        peer = await (await served.peer(small=True)).opened()
        await until(lambda: closed)
        if not stays:
            await until(lambda: closed[0].disconnected, 2)
        begin = time.monotonic()
    assert time.monotonic() - begin < IN_TIME_SECONDS
    peer.sock.close()


async def crowd(served: Served) -> list[socket.socket]:
    """One peer for each way of not being ready for a server that stops."""
    peers = [await (await served.peer(small=True)).opened() for _ in range(6)]
    await until(lambda: len(served.recorders) == len(peers))
    silent, stuffed, half_closed, closed, ended, vanished = peers
    for recorder in served.recorders[1:4]:
        stuff(recorder)
    half_closed.sock.shutdown(socket.SHUT_WR)
    await closed.send(masked(Opcode.CLOSE, Close(1000, "").serialize()))
    served.recorders[4].socket.end(4400, "bad_message")
    await asyncio.sleep(0.05)
    vanished.vanish()
    return [peer.sock for peer in (silent, stuffed, half_closed, closed, ended)]


@on_each_loop
async def test_a_server_stops_in_time_whatever_its_peers_do() -> None:
    async with serving() as served:
        sockets = await crowd(served)
        begin = time.monotonic()
    assert time.monotonic() - begin < IN_TIME_SECONDS
    assert [recorder.losses for recorder in served.recorders] == [1] * 6
    for sock in sockets:
        sock.close()
