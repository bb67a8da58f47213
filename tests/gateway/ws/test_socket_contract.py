"""What `RoomSocket` relies on inside uvicorn and websockets, neither of which promises it.

When this fails after an update: read the new `websockets_sansio_impl.py` of uvicorn beside
`gateway/socket.py` and `ending.py`, override by override; mend what moved; run `test_socket` and
`test_socket_hostile` on the new version; then extend `TESTED`.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
import uvicorn
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.datastructures import Headers
from websockets.frames import Opcode
from websockets.server import ServerProtocol

from tests.gateway.ws.socket_frames import masked
from tests.gateway.ws.socket_lone import CONFIG, Lone
from towerhall_server.gateway.ws.closing import EndingSocket
from towerhall_server.gateway.ws.socket import RoomSocket

ROOT = Path(__file__).resolve().parents[3]
TESTED = {"uvicorn": r"0\.54\.\d+", "websockets": r"17\.4(\.\d+)?"}
ADVICE = "not a version that room sockets were tested with: see the head of this file"

OVERRIDDEN = {
    "__init__": "(self, config, server_state, app_state, _loop=None)",
    "connection_made": "(self, transport)",
    "data_received": "(self, data)",
    "eof_received": "(self)",
    "handle_close": "(self, event)",
    "handle_cont": "(self, event)",
    "handle_ping": "(self)",
    "handle_pong": "(self, event)",
    "handle_parser_exception": "(self)",
    "send_receive_event_to_app": "(self)",
    "keepalive_timeout": "(self)",
    "run_asgi": "(self)",
    "shutdown": "(self)",
    "pause_writing": "(self)",
    "resume_writing": "(self)",
    "connection_lost": "(self, exc)",
}
CALLED = {
    "send_500_response": "(self)",
    "receive": "(self)",
    "send": "(self, message)",
}


@pytest.mark.parametrize("name", TESTED)
def test_the_installed_version_was_tested(name: str) -> None:
    assert re.fullmatch(TESTED[name], version(name)), f"{name} {version(name)} is {ADVICE}"


@pytest.mark.parametrize("name", TESTED)
def test_the_pinned_version_is_the_installed_one(name: str) -> None:
    pins = (ROOT / "constraints.txt").read_text().splitlines()
    assert f"{name}=={version(name)}" in pins


def own_names(kind: type) -> set[str]:
    return {name for name, value in vars(kind).items() if inspect.isfunction(value)}


def our_names() -> set[str]:
    return own_names(RoomSocket) | own_names(EndingSocket)


def plain(function: Callable[..., object]) -> str:
    """A signature without its types."""
    signature = inspect.signature(function)
    bare = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    return str(inspect.Signature(bare))


@pytest.mark.parametrize("name", [*OVERRIDDEN, *CALLED])
def test_the_base_class_has_what_is_overridden_or_called(name: str) -> None:
    expected = (OVERRIDDEN | CALLED)[name]
    assert plain(getattr(WebSocketsSansIOProtocol, name)) == expected


def test_every_override_is_listed_here() -> None:
    assert our_names() & own_names(WebSocketsSansIOProtocol) == set(OVERRIDDEN)


def test_no_name_of_ours_hides_one_of_theirs() -> None:
    with Lone() as lone:
        ours = our_names() - set(OVERRIDDEN)
        theirs = WebSocketsSansIOProtocol(CONFIG, ServerState(), {}, lone.loop)
        assert ours & set(dir(theirs)) == set()
        new = set(vars(lone.socket)) - set(vars(theirs))
        expected = {
            "ended",
            "_controls",
            "_late_bytes",
            "_ended_as",
        }
        assert new == expected
        slots = {*EndingSocket.__slots__, *RoomSocket.__slots__}
        assert slots & set(vars(theirs)) == set()


def test_the_base_class_keeps_the_state_that_is_read_and_set() -> None:
    with Lone() as lone:
        base = WebSocketsSansIOProtocol(CONFIG, ServerState(), {}, lone.loop)
        state: dict[str, object] = {
            "handshake_initiated": False,
            "handshake_complete": False,
            "close_sent": False,
            "disconnected": False,
            "read_paused": False,
            "close_timer": None,
            "frames": [],
            "curr_msg_data_type": "bytes",
        }
        assert {name: getattr(base, name) for name in state} == state
        assert base.close_timeout > 0
        assert base.queue.empty()
        assert isinstance(base.conn, ServerProtocol)


def callers(method: str) -> set[str]:
    """The methods of the base class that call or mention one of its methods."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(WebSocketsSansIOProtocol)))
    (body,) = tree.body
    assert isinstance(body, ast.ClassDef)
    return {
        function.name
        for function in body.body
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and node.attr == method
    }


def test_every_message_passes_the_one_place_where_listeners_come_in() -> None:
    senders = {"handle_cont", "handle_text", "handle_bytes"}
    assert callers("send_receive_event_to_app") == senders
    assert callers("frames") == senders | {"__init__", "send_receive_event_to_app"}


def test_nobody_else_reads_what_is_let_go_after_the_handshake() -> None:
    assert callers("request") == {"handle_connect"}
    assert callers("response") == {"handle_connect", "send"}
    assert callers("scope") == {"handle_connect", "run_asgi", "send"}


def test_nothing_is_closed_in_a_place_that_no_override_follows() -> None:
    # Whoever closes without a limit of time is either overridden or runs inside an override.
    inside = {"handle_connect", "send"}
    places = {place for place in callers("close") if place not in OVERRIDDEN}
    assert places == inside
    assert callers("handle_close") | callers("handle_connect") == {"handle_events"}
    assert callers("handle_events") == {"data_received"}


def test_websockets_says_whether_the_end_was_sent_and_what_it_will_write() -> None:
    with Lone() as lone:
        conn = lone.socket.conn
        assert (conn.eof_sent, conn.writes, conn.available_extensions) == (False, [], None)
        conn.fail(1009, "too large")
        assert conn.eof_sent
        assert conn.close_sent is not None
        assert conn.data_to_send()[-1] == b""
        conn.receive_data(masked(Opcode.PING))
        assert conn.data_to_send() == []


def test_headers_can_be_emptied() -> None:
    headers = Headers({"Host": "localhost"})
    headers.clear()
    assert list(headers.raw_items()) == []


def test_uvicorn_takes_the_class_as_it_is() -> None:
    config = uvicorn.Config(CONFIG.app, ws=RoomSocket, log_config=None)
    config.load()
    assert config.ws_protocol_class is RoomSocket


def test_keepalive_leaves_a_connection_alone_that_is_closing() -> None:
    with Lone() as lone:
        lone.socket.end(4400, "bad_message")
        written = lone.wire.written
        lone.socket.send_keepalive_ping()
        lone.socket.keepalive_timeout()
        assert lone.wire.written == written
