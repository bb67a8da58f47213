"""Room sockets on a real server: messages come in whole and in order, frames go out, and every
connection ends once. What hostile peers do stands in `test_socket_hostile`."""

import asyncio
import socket

import pytest
from starlette.websockets import WebSocket
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.frames import Close, Opcode
from websockets.http11 import Request

from tests.gateway.ws.socket_frames import masked
from tests.gateway.ws.socket_server import Recorder, on_each_loop, serving, until
from towerhall_protocol.messages import ServerChat
from towerhall_server.frames import Prepared
from towerhall_server.gateway.ws import closing
from towerhall_server.gateway.ws import socket as socket_module
from towerhall_server.gateway.ws.closing import HIGH_WATER, LOW_WATER
from towerhall_server.gateway.ws.socket import SEND_BUFFER, socket_of

FRAME = Prepared(ServerChat("", "", 0, "x" * 1000, 0)).binary


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closing, "CLOSE_SECONDS", 0.2)


@on_each_loop
async def test_messages_reach_the_listener_in_order_as_bytes_or_text() -> None:
    async with serving() as served, connect(served.url) as client:
        expected: list[bytes | str] = []
        for number in range(300):
            expected += [f"text {number} 塔", b"bytes %d" % number, "", b""]
        for message in expected:
            await client.send(message)
        recorder = await served.recorder()
        await until(lambda: len(recorder.messages) >= len(expected))
        assert recorder.messages == expected
        assert recorder.losses == 0


@on_each_loop
async def test_a_message_in_fragments_arrives_whole_with_controls_between_them() -> None:
    async with serving() as served, await served.peer() as peer:
        word = "Türme 塔".encode()
        pieces = [word[at : at + 1] for at in range(len(word))]
        await peer.send(masked(Opcode.TEXT, fin=False))
        for piece in pieces:
            await peer.send(masked(Opcode.PING), masked(Opcode.CONT, piece, fin=False))
        await peer.send(masked(Opcode.CONT), masked(Opcode.BINARY, b"next"))
        recorder = await served.recorder()
        await until(lambda: len(recorder.messages) == 2)
        assert recorder.messages == ["Türme 塔", b"next"]


@on_each_loop
async def test_messages_that_came_before_the_listener_are_handed_over_first() -> None:
    recorders: list[Recorder] = []
    go = asyncio.Event()

    async def late(websocket: WebSocket) -> None:
        await websocket.accept()
        await go.wait()
        recorders.append(Recorder(socket_of(websocket.scope)))
        recorders[0].socket.attach(recorders[0])
        # Not one of them waits for the loop.
        assert recorders[0].messages[:3] == ["0", b"1", "2"]

    async with serving(late) as served, await served.peer() as peer:
        early = (masked(Opcode.TEXT, b"0"), masked(Opcode.BINARY, b"1"), masked(Opcode.TEXT, b"2"))
        await peer.send(*early)
        await asyncio.sleep(0.05)
        # More than would be kept: what is not read yet waits where it is.
        for number in range(3, 100):
            await peer.send(masked(Opcode.BINARY, b"%d" % number))
        await asyncio.sleep(0.05)
        go.set()
        await until(lambda: recorders and len(recorders[0].messages) == 100)
        assert recorders[0].messages == ["0", b"1", "2", *(b"%d" % n for n in range(3, 100))]


@on_each_loop
async def test_an_attached_connection_needs_no_task_and_no_request() -> None:
    seen: list[Request] = []

    async def endpoint(websocket: WebSocket) -> None:
        await websocket.accept()
        room_socket = socket_of(websocket.scope)
        seen.append(room_socket.request)
        room_socket.attach(Recorder(room_socket))

    async with serving(endpoint) as served, await served.peer():
        await until(lambda: seen and not served.server.server_state.tasks)
        (room_socket,) = served.server.server_state.connections
        assert not {"scope", "request", "response"} & set(vars(room_socket))
        assert list(seen[0].headers.raw_items()) == []


@on_each_loop
async def test_an_endpoint_may_also_wait_until_the_connection_is_over() -> None:
    over: list[Recorder] = []

    async def waiting(websocket: WebSocket) -> None:
        await websocket.accept()
        recorder = Recorder(socket_of(websocket.scope))
        recorder.socket.attach(recorder)
        recorder.socket.end(4404, "room_gone")
        await recorder.socket.ended
        over.append(recorder)

    async with serving(waiting) as served, await served.peer() as peer:
        assert await peer.closed() == Close(4404, "room_gone")
        peer.sock.close()
        await until(lambda: over and not served.server.server_state.tasks)
        assert over[0].losses == 1
        assert over[0].socket.close_timer is None


@on_each_loop
async def test_prepared_frames_of_all_sizes_arrive_whole() -> None:
    sizes = [0, 100, 125, 126, 1000, 65_000, 65_536, 300_000] * 5
    async with serving() as served, connect(served.url, max_size=None) as client:
        recorder = await served.recorder()
        for number, size in enumerate(sizes):
            prepared = Prepared(ServerChat(str(number), "", 0, "x" * size, 0))
            recorder.socket.write_frame(prepared.text() if number % 2 else prepared.binary)
        for number, size in enumerate(sizes):
            message = await client.recv()
            assert isinstance(message, str) == bool(number % 2)
            assert len(message) >= size
        await client.ping()
        assert recorder.socket.backlog() == 0


@on_each_loop
async def test_the_listener_hears_when_a_large_backlog_was_read() -> None:
    async with serving() as served, await served.peer(small=True) as peer:
        recorder = await served.recorder()
        recorder.socket.write_frame(FRAME)
        await peer.frames(1)
        assert recorder.writables == 0
        written = 0
        while recorder.socket.backlog() <= HIGH_WATER:
            recorder.socket.write_frame(FRAME)
            written += 1
        await asyncio.sleep(0.05)
        assert recorder.writables == 0
        assert len(await peer.frames(written)) == written
        assert recorder.writables == 1


@on_each_loop
async def test_small_buffers_and_no_delay_are_set() -> None:
    async with serving() as served, await served.peer():
        recorder = await served.recorder()
        wire = recorder.socket.transport.get_extra_info("socket")
        assert wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
        # Linux doubles what it is asked for.
        assert wire.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) <= 2 * SEND_BUFFER
        limits = recorder.socket.transport.get_write_buffer_limits()
        assert limits == (LOW_WATER, HIGH_WATER)


@on_each_loop
async def test_no_compression_is_agreed_on_though_it_is_uvicorns_default() -> None:
    async with serving() as served, connect(served.url, compression="deflate") as client:
        assert client.protocol.extensions == []


@on_each_loop
async def test_an_end_is_heard_once_and_nothing_after_it() -> None:
    async with serving() as served, await served.peer() as peer:
        recorder = await served.recorder()
        recorder.socket.end(4409, "replaced")
        recorder.socket.end(1011, "again")
        recorder.socket.write_frame(FRAME)
        await peer.send(masked(Opcode.TEXT, b"unheard"))
        assert await peer.closed() == Close(4409, "replaced")
        await peer.leave()
        await recorder.socket.ended
        recorder.socket.write_frame(b"")
        recorder.socket.end(1000, "")
        assert (recorder.messages, recorder.losses) == ([], 1)


@on_each_loop
async def test_an_end_with_a_long_reason_is_cut_between_characters() -> None:
    async with serving() as served, await served.peer() as peer:
        (await served.recorder()).socket.end(4400, "塔" * 100)
        assert await peer.closed() == Close(4400, "塔" * 41)


@on_each_loop
async def test_ordinary_clients_see_an_end_as_a_close_that_went_well() -> None:
    async with serving() as served, connect(served.url) as client:
        (await served.recorder()).socket.end(1012, "restart")
        with pytest.raises(ConnectionClosed) as caught:
            await client.recv()
        assert (caught.value.rcvd, caught.value.sent) == (Close(1012, "restart"),) * 2


@on_each_loop
async def test_a_close_of_the_peer_is_answered_and_ends_the_connection() -> None:
    async with serving() as served:
        async with connect(served.url) as client:
            recorder = await served.recorder()
            await client.close(1000, "bye")
            assert client.close_code == 1000
        await recorder.socket.ended
        assert recorder.losses == 1


@pytest.mark.parametrize("how", ["reset", "end of file", "reset during writes"])
@on_each_loop
async def test_a_connection_that_breaks_off_is_lost_once(how: str) -> None:
    async with serving() as served, await served.peer(small=True) as peer:
        recorder = await served.recorder()
        if how == "reset during writes":
            for _ in range(100):
                recorder.socket.write_frame(FRAME)
        if how == "end of file":
            peer.sock.shutdown(socket.SHUT_WR)
        else:
            peer.vanish()
        await recorder.socket.ended
        for _ in range(10):
            recorder.socket.write_frame(FRAME)
        await asyncio.sleep(0.05)
        assert recorder.losses == 1


@on_each_loop
async def test_who_attaches_to_a_connection_that_is_over_hears_that() -> None:
    recorders: list[Recorder] = []

    async def late(websocket: WebSocket) -> None:
        await websocket.accept()
        room_socket = socket_of(websocket.scope)
        await room_socket.ended
        recorders.append(Recorder(room_socket))
        room_socket.attach(recorders[0])

    async with serving(late) as served:
        (await (await served.peer()).opened()).vanish()
        await until(lambda: recorders)
        assert (recorders[0].messages, recorders[0].losses) == ([], 1)


class Faulty(Recorder):
    """Fails at everything."""

    def received(self, data: bytes | str) -> None:
        super().received(data)
        raise ValueError("cannot take it")

    def writable(self) -> None:
        super().writable()
        raise ValueError("cannot write")

    def lost(self) -> None:
        super().lost()
        raise ValueError("cannot lose")


@on_each_loop
async def test_a_listener_that_fails_is_logged_and_closed_and_hurts_nobody_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    recorders: list[Recorder] = []

    async def endpoint(websocket: WebSocket) -> None:
        await websocket.accept()
        kind = Recorder if recorders else Faulty
        recorders.append(kind(socket_of(websocket.scope)))
        recorders[-1].socket.attach(recorders[-1])

    async with serving(endpoint) as served, await served.peer() as bad, await served.peer() as good:
        await bad.send(*[masked(Opcode.TEXT, b"boom")] * 5)
        assert await bad.closed() == Close(1011, "server_fault")
        await bad.leave()
        await recorders[0].socket.ended
        await good.send(masked(Opcode.TEXT, b"still here"))
        await until(lambda: recorders[1].messages)
        assert (recorders[0].messages, recorders[0].losses) == (["boom"], 1)
        # One for the message, one for the loss.
        faults = [record for record in caplog.records if record.name == socket_module.__name__]
        assert len(faults) == 2
