"""Connections before anything is known of them: limited in time, in size and in number."""

import asyncio
import gc
import logging

import pytest

from tests.gateway.ws.request_server import LARGE, SECONDS, Stranger, Told, entrance
from tests.gateway.ws.socket_server import on_each_loop, until
from towerhall_server.access.arrivals import SPARE
from towerhall_server.gateway.ws import closing, request_socket
from towerhall_server.gateway.ws.request_socket import RequestSocket

HEALTH = b"GET /healthz HTTP/1.1\r\nhost: here\r\n\r\n"
LAST = b"GET /healthz HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n"
POST = b"POST /body HTTP/1.1\r\nhost: here\r\ncontent-type: application/json\r\n"
NOWHERE = POST.replace(b"/body", b"/nowhere")
CHUNKED = b"transfer-encoding: chunked\r\n\r\n"
SOCKET = (
    b"GET /socket HTTP/1.1\r\nhost: here\r\nconnection: Upgrade\r\nupgrade: websocket\r\n"
    b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
OTHER = "127.0.0.2"
SOON = 8 * SECONDS
"""Less than what is sent takes, and enough for a machine that has much else to do."""
PAUSE = SECONDS / 20

SLOW = {
    "headers by the byte": (b"", [bytes([byte]) for byte in HEALTH[:-1] * 10]),
    "headers without end": (b"GET /healthz HTTP/1.1\r\nhost: here\r\n", [b"x: y\r\n"] * 1000),
    "a body by the byte": (POST + b"content-length: 1000\r\n\r\n", [b" "] * 1000),
    "half a body": (POST + b"content-length: 2\r\n\r\n{", []),
    "chunks without end": (POST + CHUNKED, [b"1\r\n \r\n"] * 1000),
    "a chunk's size without end": (POST + CHUNKED, [b"0"] * 1000),
    "trailers without end": (POST + CHUNKED + b"0\r\n", [b"x: y\r\n"] * 1000),
    "half a handshake": (SOCKET[:-2], []),
    "a handshake by the byte": (b"", [bytes([byte]) for byte in SOCKET]),
    "empty lines": (b"", []),
}


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_socket, "LEAVE_SECONDS", 0.2)
    # No stranger answers the close frame of a server that stops.
    monkeypatch.setattr(closing, "CLOSE_SECONDS", 0.2)


@on_each_loop
async def test_a_request_is_complete_in_time_or_is_over() -> None:
    async with entrance() as made:

        async def told_to(kind: str) -> Told:
            first, then = SLOW[kind]
            stranger = await made.stranger()
            await stranger.send(first)
            sending = asyncio.create_task(stranger.send(*then, pause=PAUSE))
            told = await stranger.end()
            sending.cancel()
            return told

        # At the same time: each of them only waits.
        for kind, told in zip(SLOW, await asyncio.gather(*map(told_to, SLOW)), strict=True):
            assert SECONDS * 0.9 < told.seconds < SOON, kind
            if kind == "empty lines":
                assert told.data == b"", "there was no request"
            else:
                assert (told.status, told.code) == (408, "request_late"), kind
        await until(lambda: not made.arrivals.total)


@on_each_loop
async def test_a_body_that_goes_on_behind_its_answer_is_not_read_for_ever() -> None:
    async with entrance() as made:
        stranger = await made.stranger()
        await stranger.send(NOWHERE + CHUNKED)
        assert (await stranger.hear(b"}}")).startswith(b"HTTP/1.1 404")
        sending = asyncio.create_task(stranger.send(*[b"1\r\n \r\n"] * 1000, pause=PAUSE))
        told = await stranger.end()
        sending.cancel()
        assert told.data == b"", "a second answer belongs to nothing"
        assert told.seconds < SOON


@on_each_loop
async def test_each_further_request_has_as_much_time_and_no_more() -> None:
    async with entrance() as made:
        stranger = await made.stranger()
        for _ in range(6):
            await stranger.send(HEALTH[:-1])
            await asyncio.sleep(SECONDS / 2)
            await stranger.send(HEALTH[-1:])
            assert (await stranger.hear(b"ok")).startswith(b"HTTP/1.1 200")
        again = stranger.loop.time()
        await stranger.send(*(bytes([byte]) for byte in HEALTH[:-1] * 10), pause=PAUSE)
        told = await stranger.end()
        assert told.code == "request_late"
        assert stranger.loop.time() - again < 2 * SOON


@on_each_loop
async def test_requests_in_one_piece_are_answered_one_by_one() -> None:
    async with entrance() as made:
        stranger = await made.stranger()
        await stranger.send(HEALTH * 5 + LAST + HEALTH)
        told = await stranger.end()
        assert told.data.count(b"HTTP/1.1 200") == 6


@on_each_loop
async def test_an_idle_connection_is_kept_for_a_while_though_no_request_came() -> None:
    """A browser opens some ahead of time."""
    async with entrance() as made:
        stranger = await made.stranger()
        await asyncio.sleep(SECONDS / 2)
        await stranger.send(LAST)
        assert (await stranger.end()).status == 200


SIZES = {
    "path": (b"GET /%b HTTP/1.1\r\nhost: here\r\n\r\n", 1000, 414, "path_too_long"),
    "query": (b"GET /healthz?%b HTTP/1.1\r\nhost: here\r\n\r\n", 1000, 414, "path_too_long"),
    "header": (b"GET / HTTP/1.1\r\nhost: here\r\nx: %b\r\n\r\n", 4000, 431, "headers_too_large"),
    "socket": (SOCKET.replace(b"/socket", b"/%b"), 1000, 414, "path_too_long"),
}


@pytest.mark.parametrize("size", [1.01, 10.0, 100.0])
@pytest.mark.parametrize("kind", SIZES)
@on_each_loop
async def test_what_is_too_large_is_told_so(kind: str, size: float) -> None:
    form, most, status, code = SIZES[kind]
    request = form % (b"x" * round(most * size))
    async with entrance(path_bytes=1000, header_bytes=4000) as made:
        told = await made.asked(request)
        assert (told.status, told.code) == (status, code)
        stranger = await made.stranger()
        await stranger.send(request[:900], request[900:], pause=0.01)
        told = await stranger.end()
        assert (told.status, told.code) == (status, code)


@on_each_loop
async def test_what_is_just_small_enough_is_not() -> None:
    async with entrance(path_bytes=1000, header_bytes=4000) as made:
        assert (
            await made.asked(
                b"GET /healthz?%b HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n" % (b"x" * 990)
            )
        ).status == 200
        assert (await made.asked(LAST[:-2] + b"x: %b\r\n\r\n" % (b"x" * 3900))).status == 200


@on_each_loop
async def test_a_body_of_many_pieces_ends_the_connection() -> None:
    async with entrance() as made:
        told = await made.asked(POST + CHUNKED + b"1\r\n \r\n" * 5000)
        assert (told.status, told.code) == (413, "message_too_large")
        assert told.seconds < SOON


@on_each_loop
async def test_an_answer_that_is_not_taken_ends_the_connection() -> None:
    async with entrance() as made:
        stranger = await made.stranger(small=True)
        await stranger.send(b"GET /large HTTP/1.1\r\nhost: here\r\n\r\n")
        await asyncio.sleep(SECONDS / 4)
        assert made.arrivals.total == 1
        await until(lambda: not made.arrivals.total, 3 * SOON)
        assert len((await stranger.end()).data) < len(LARGE)


@on_each_loop
async def test_an_answer_that_is_taken_slowly_is_taken_to_its_end() -> None:
    async with entrance() as made:
        stranger = await made.stranger()
        await stranger.send(b"GET /large HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n")
        heard = 0
        while data := await stranger.loop.sock_recv(stranger.sock, 1 << 20):
            heard += len(data)
            await asyncio.sleep(SECONDS / 10)
        assert heard > len(LARGE)
        assert stranger.loop.time() - stranger.opened > 2 * SECONDS


@on_each_loop
async def test_an_address_has_so_many_connections_and_others_have_theirs() -> None:
    async with entrance(connections_per_ip=5) as made:
        held = [await made.stranger() for _ in range(5)]
        await until(lambda: made.arrivals.total == 5)
        told = await made.asked(b"")
        assert (told.status, told.code) == (429, "too_many")
        assert told.seconds < SOON
        assert (await made.asked(LAST, OTHER)).status == 200
        held.pop().close()
        await until(lambda: made.arrivals.total == 4)
        assert (await made.asked(LAST)).status == 200


@on_each_loop
async def test_a_websocket_counts_as_long_as_it_lasts() -> None:
    async with entrance(connections_per_ip=2) as made:
        held: list[Stranger] = []
        for _ in range(2):
            held.append(await made.stranger())
            await held[-1].send(SOCKET)
            await held[-1].hear(b"\r\n\r\n")
        await asyncio.sleep(2 * SECONDS)
        assert (await made.asked(LAST)).status == 429
        held.pop().close()
        await until(lambda: made.arrivals.total == 1)
        assert (await made.asked(LAST)).status == 200


@on_each_loop
async def test_a_websocket_keeps_nothing_of_its_request() -> None:
    async with entrance() as made:
        gc.disable()
        try:
            stranger = await made.stranger()
            await stranger.send(SOCKET)
            await stranger.hear(b"\r\n\r\n")
            await until(lambda: made.recorders)
            left = [each for each in gc.get_objects() if isinstance(each, RequestSocket)]
        finally:
            gc.enable()
        assert left == []


@on_each_loop
async def test_a_trusted_proxy_speaks_for_many() -> None:
    async with entrance(connections_per_ip=2, trusted=("127.0.0.0/31",)) as made:
        for _ in range(4):
            await made.stranger()
        await until(lambda: made.arrivals.total == 4)
        assert (await made.asked(LAST)).status == 200


@on_each_loop
async def test_where_there_is_no_room_left_health_is_answered_all_the_same() -> None:
    async with entrance(room=3) as made:
        held = [await made.stranger() for _ in range(3)]
        await until(lambda: made.arrivals.total == 3)
        for source in (OTHER, "127.0.0.3"):
            assert (await made.asked(HEALTH, source)).status == 200, "and the connection is closed"
            told = await made.asked(LAST.replace(b"/healthz", b"/large"), source)
            assert (told.status, told.code) == (503, "server_full")
            assert (await made.asked(SOCKET, source)).code == "server_full"
        held.pop().close()
        await until(lambda: made.arrivals.total == 2)
        assert (
            await made.asked(POST + b"connection: close\r\ncontent-length: 2\r\n\r\n{}")
        ).status == 200


@on_each_loop
async def test_beyond_that_no_connection_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_socket, "SPARE_SECONDS", SECONDS / 2)
    async with entrance(room=3, request_seconds=10 * SECONDS) as made:
        for number in range(3 + SPARE):
            await made.stranger(f"127.0.1.{number + 1}")
        await until(lambda: made.arrivals.total == 3 + SPARE)
        assert (await made.asked(HEALTH)).code == "too_many"
        await until(lambda: made.arrivals.total == 3, SOON)


@on_each_loop
async def test_nonsense_is_answered_and_logged_now_and_then_with_its_address(
    caplog: pytest.LogCaptureFixture,
) -> None:
    secret = b"aW52aXRl"
    async with entrance() as made:
        for _ in range(20):
            told = await made.asked(b"\1" + secret + b"\r\n\r\n", OTHER)
            assert (told.status, told.code) == (400, "bad_request")
        assert secret not in told.data
    # asyncio's debug mode also tells of each slow callback.
    served = [each for each in caplog.records if each.name != "asyncio"]
    lines = [each.getMessage() for each in served if each.levelno >= logging.WARNING]
    assert lines == [f"refused {OTHER}: bad_request"] * 5


@on_each_loop
async def test_an_unknown_upgrade_is_an_ordinary_request(caplog: pytest.LogCaptureFixture) -> None:
    async with entrance() as made:
        asked = LAST.replace(b"connection: close", b"connection: upgrade\r\nupgrade: h2c")
        stranger = await made.stranger()
        await stranger.send(asked)
        assert (await stranger.hear(b"ok")).startswith(b"HTTP/1.1 200")
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@on_each_loop
async def test_the_server_stops_though_nothing_is_complete() -> None:
    async with entrance(request_seconds=60.0) as made:
        for begun in (b"", HEALTH[:-2], b"\1\r\n\r\n", HEALTH, SOCKET, SOCKET[:-2]):
            await (await made.stranger()).send(begun)
        await until(lambda: made.arrivals.total >= 5)
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("kind", ["nonsense", "path", "late", "away"])
async def test_what_is_refused_leaves_no_garbage(kind: str) -> None:
    async with entrance(path_bytes=100) as made:

        async def once() -> None:
            stranger = await made.stranger()
            request = {
                "nonsense": b"\1\r\n\r\n",
                "path": b"GET /%b HTTP/1.1\r\n\r\n" % (b"x" * 200),
                "late": HEALTH[:-2],
                "away": HEALTH[:-2],
            }[kind]
            await stranger.send(request)
            if kind != "away":
                await stranger.end()
            stranger.close()
            made.strangers.remove(stranger)
            await until(lambda: not made.arrivals.total)

        await once()
        gc.collect()
        gc.disable()
        try:
            for _ in range(3):
                await once()
            gc.set_debug(gc.DEBUG_SAVEALL)
            gc.collect()
            left = [type(each).__name__ for each in gc.garbage]
        finally:
            gc.set_debug(0)
            gc.garbage.clear()
            gc.enable()
    ours = {"RequestSocket", "ServedSocket", "RequestParser", "RemoteProtocolError", "Timer"}
    assert not ours & set(left)
