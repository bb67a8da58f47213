"""What `RequestSocket` relies on inside uvicorn and h11, neither of which promises it.

When this fails after an update: read the new `h11_impl.py` of uvicorn beside
`gateway/request_socket.py`, override by override; mend what moved; run `test_request_socket` on the
new version; then extend `TESTED`.
"""

import asyncio
import inspect
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import h11
import pytest
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

from tests.gateway.ws.test_socket_contract import own_names, plain
from towerhall_server.access.arrivals import Arrivals
from towerhall_server.access.rates import Limits
from towerhall_server.gateway.ws.request_parser import RequestParser
from towerhall_server.gateway.ws.request_socket import IDLE_SECONDS, RequestSocket, request_sockets
from towerhall_server.telemetry.meters import Meters

ROOT = Path(__file__).resolve().parents[3]
TESTED = {"uvicorn": r"0\.54\.\d+", "h11": r"0\.16\.\d+"}
ADVICE = "not a version that request sockets were tested with: see the head of this file"

OVERRIDDEN = {
    "__init__": "(self, config, server_state, app_state, _loop=None)",
    "connection_made": "(self, transport)",
    "data_received": "(self, data)",
    "on_response_complete": "(self)",
    "send_400_response": "(self, msg)",
    "pause_writing": "(self)",
    "resume_writing": "(self)",
    "timeout_keep_alive_handler": "(self)",
    "handle_websocket_upgrade": "(self, event)",
    "shutdown": "(self)",
    "connection_lost": "(self, exc)",
}
CALLED = {"_unset_keepalive_if_required": "(self)"}
SERVED = request_sockets(Arrivals(1, 1), Limits(), Meters())


async def _app(scope: Any, receive: Any, send: Any) -> None:
    raise AssertionError("no request comes")


def config(**more: Any) -> uvicorn.Config:
    made = uvicorn.Config(_app, log_config=None, lifespan="off", **more)
    made.load()
    return made


@pytest.mark.parametrize("name", TESTED)
def test_the_installed_version_was_tested(name: str) -> None:
    assert re.fullmatch(TESTED[name], version(name)), f"{name} {version(name)} is {ADVICE}"
    pins = (ROOT / "constraints.txt").read_text().splitlines()
    assert f"{name}=={version(name)}" in pins


@pytest.mark.parametrize("name", [*OVERRIDDEN, *CALLED])
def test_the_base_class_has_what_is_overridden_or_called(name: str) -> None:
    assert plain(getattr(H11Protocol, name)) == (OVERRIDDEN | CALLED)[name]


def test_every_override_is_listed_here() -> None:
    assert own_names(RequestSocket) & own_names(H11Protocol) == set(OVERRIDDEN)
    assert own_names(RequestParser) & own_names(h11.Connection) == {"__init__", "next_event"}


def test_no_name_of_ours_hides_one_of_theirs() -> None:
    loop = asyncio.new_event_loop()
    try:
        theirs = H11Protocol(config(), ServerState(), {}, loop)
        ours = SERVED(config(), ServerState(), {}, loop)
        assert (own_names(RequestSocket) - set(OVERRIDDEN)) & set(dir(theirs)) == set()
        own = {"parser", "_arrival", "_deadline", "_taking", "_is_over", "_late_bytes"}
        assert set(vars(ours)) - set(vars(theirs)) == own
        shared = {"arrivals", "complaints", "limits", "meters"}
        assert shared & set(dir(theirs)) == set()
    finally:
        loop.close()
    parser, plain_one = RequestParser(Limits()), h11.Connection(h11.SERVER)
    new = set(vars(parser)) - set(vars(plain_one))
    assert new == {"_limits", "_pieces", "_body_bytes", "is_spare", "problem"}


def test_uvicorn_takes_the_class_as_it_is() -> None:
    assert config(http=SERVED).http_protocol_class is SERVED
    assert config().timeout_keep_alive == IDLE_SECONDS


def test_whatever_the_parser_refuses_passes_the_one_place_where_it_is_answered() -> None:
    body = inspect.getsource(H11Protocol.handle_events)
    assert body.count("self.conn.next_event()") == 1
    assert body.count("except h11.RemoteProtocolError:") == 1
    assert body.count("self.send_400_response(msg)\n                return") == 1


def test_an_answer_can_be_given_up_and_a_connection_closed_after_it() -> None:
    source = inspect.getsource(RequestResponseCycle)
    for name in ("disconnected", "response_complete", "message_event", "keep_alive"):
        assert f"self.{name} = " in source
    assert "if self.disconnected:\n            return" in inspect.getsource(
        RequestResponseCycle.send
    )


def test_the_parser_refuses_a_head_without_end_and_says_how() -> None:
    parser = h11.Connection(h11.SERVER, 100)
    parser.receive_data(b"x" * 101)
    with pytest.raises(h11.RemoteProtocolError) as caught:
        parser.next_event()
    assert caught.value.error_status_hint == 431
    assert parser.trailing_data == (b"x" * 101, False)
