"""Handshakes that go wrong, and endpoints that do: the peer is told, and nothing stays behind."""

import asyncio
import contextlib

import pytest
from starlette.responses import PlainTextResponse
from starlette.websockets import WebSocket
from websockets.frames import Close, Opcode

from tests.gateway.ws.socket_frames import masked
from tests.gateway.ws.socket_server import Recorder, on_each_loop, serving, until
from towerhall_server.gateway.ws import closing
from towerhall_server.gateway.ws.socket import socket_of


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closing, "CLOSE_SECONDS", 0.2)


async def refuse(websocket: WebSocket) -> None:
    await websocket.send_denial_response(PlainTextResponse("no", 403))


async def fail_before_accept(websocket: WebSocket) -> None:
    raise ValueError("broken endpoint")


async def attach_before_accept(websocket: WebSocket) -> None:
    room_socket = socket_of(websocket.scope)
    with pytest.raises(RuntimeError, match="after accept"):
        room_socket.attach(Recorder(room_socket))
    await refuse(websocket)


async def return_before_accept(websocket: WebSocket) -> None:
    pass


@on_each_loop
async def test_what_goes_wrong_before_accept_is_answered_over_http() -> None:
    expected = {
        refuse: 403,
        fail_before_accept: 500,
        attach_before_accept: 403,
        return_before_accept: 500,
    }
    async with serving(*expected) as served:
        peers = [await served.peer(endpoint=at) for at in range(len(expected))]
        assert [await peer.status() for peer in peers] == list(expected.values())
        await until(lambda: not served.server.server_state.connections)
        for peer in peers:
            peer.sock.close()


async def fail_after_accept(websocket: WebSocket) -> None:
    await websocket.accept()
    raise ValueError("broken endpoint")


async def fail_after_attach(websocket: WebSocket) -> None:
    await websocket.accept()
    room_socket = socket_of(websocket.scope)
    room_socket.attach(Recorder(room_socket))
    raise ValueError("broken endpoint")


async def attach_twice(websocket: WebSocket) -> None:
    await websocket.accept()
    room_socket = socket_of(websocket.scope)
    room_socket.attach(Recorder(room_socket))
    with pytest.raises(RuntimeError, match="once"):
        room_socket.attach(Recorder(room_socket))
    room_socket.end(4000, "refused")


async def receive_after_attach(websocket: WebSocket) -> None:
    await websocket.accept()
    room_socket = socket_of(websocket.scope)
    room_socket.attach(Recorder(room_socket))
    with pytest.raises(RuntimeError, match="listener"):
        await websocket.receive()
    room_socket.end(4000, "refused")


async def return_after_accept(websocket: WebSocket) -> None:
    await websocket.accept()


async def close_by_itself(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.close(4404, "room_gone")


@on_each_loop
async def test_what_an_endpoint_does_wrong_after_accept_is_said_in_a_close() -> None:
    expected = {
        fail_after_accept: Close(1011, "server_fault"),
        fail_after_attach: Close(1011, "server_fault"),
        attach_twice: Close(4000, "refused"),
        receive_after_attach: Close(4000, "refused"),
        return_after_accept: Close(1000, "done"),
        close_by_itself: Close(4404, "room_gone"),
    }
    async with serving(*expected) as served:
        peers = [await (await served.peer(endpoint=at)).opened() for at in range(len(expected))]
        frames = [(await peer.frames(1))[0] for peer in peers]
        assert {frame.opcode for frame in frames} == {Opcode.CLOSE}
        assert [Close.parse(frame.data) for frame in frames] == list(expected.values())
        # And nobody waits for ever for the answer to it.
        await until(lambda: not served.server.server_state.connections, 2)
        for peer in peers:
            peer.sock.close()


@on_each_loop
async def test_frames_before_the_handshake_is_answered_are_refused() -> None:
    go = asyncio.Event()

    async def slow(websocket: WebSocket) -> None:
        await go.wait()

    async with serving(slow) as served:
        peer = await served.peer()
        await until(lambda: served.server.server_state.tasks)
        await peer.send(masked(Opcode.PING, b"early"))
        await until(lambda: not served.server.server_state.connections)
        with contextlib.suppress(ConnectionError):
            assert await peer.status() == 0
        go.set()
        peer.sock.close()


@on_each_loop
async def test_a_request_that_makes_no_sense_does_not_stay() -> None:
    expected = {
        f"X-Long: {'x' * 10_000}\r\n": 431,
        "X-Many: x\r\n" * 200: 431,
        "Content-Length: 5\r\n": 0,
        "Sec-WebSocket-Version: 12\r\n": 400,
    }
    async with serving() as served:
        peers = [await served.peer(headers=headers) for headers in expected]
        assert [await peer.status() for peer in peers] == list(expected.values())
        await until(lambda: not served.server.server_state.connections, 2)
        for peer in peers:
            peer.sock.close()
