"""A connection to the lobby without input or output: every message in every state, and rates."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from towerhall_protocol.codec import FROM_CLIENT, encode, encode_json
from towerhall_protocol.errors import HINTS
from towerhall_protocol.lobby import (
    Filter,
    LobbyClientMessage,
    LobbyFilter,
    LobbyGreeting,
    LobbyHello,
)
from towerhall_protocol.messages import ClientPing, ServerError
from towerhall_server.access.rates import Limits, Rate
from towerhall_server.gateway.ws.lobby_session import LobbyIntention, LobbySession
from towerhall_server.gateway.ws.session import HangUp, Tell
from towerhall_server.gateway.ws.states import LOBBY, State

NOW = 1000.0
PATIENT = Limits(bad_messages=Rate(1, 1000))
HELLO = LobbyHello(LobbyGreeting("token", 1, Filter(free=1)))
FILTER = LobbyFilter(Filter(status="waiting"))
PING = ClientPing(3)
STATES: tuple[State, ...] = get_args(State)
OUTCOMES = {
    "greeting": {"hello": "passed", "filter": "hello_expected", "ping": "hello_expected"},
    "inside": {"hello": "hello_expected", "filter": "passed", "ping": "passed"},
    "over": {"hello": "nothing", "filter": "nothing", "ping": "nothing"},
}
SENT: dict[str, LobbyClientMessage] = {"hello": HELLO, "filter": FILTER, "ping": PING}


def session(
    state: State = "inside", limits: Limits = PATIENT, *, text: bool = False
) -> LobbySession:
    made = LobbySession(limits, FROM_CLIENT, text=text)
    made.state = state
    return made


def refused(intention: LobbyIntention) -> str:
    assert isinstance(intention, Tell)
    assert isinstance(intention.message, ServerError)
    assert intention.message.code in HINTS
    assert intention.message.hint
    return intention.message.code


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", SENT)
def test_what_is_understood_when(state: State, name: str, text: bool) -> None:
    made = session(state, text=text)
    message = SENT[name]
    intention = made.receive(encode_json(message) if text else encode(message), NOW)
    match OUTCOMES[state][name]:
        case "passed":
            assert intention == message
        case "nothing":
            assert intention is None
        case code:
            assert refused(intention) == code
    assert made.state == ("inside" if (state, name) == ("greeting", "hello") else state)


def test_the_table_has_every_message_and_every_state() -> None:
    tags = {str(each.__struct_config__.tag) for each in get_args(LobbyClientMessage)}
    assert tags == set(SENT)
    assert set(OUTCOMES) == set(STATES) == set(LOBBY)


def test_what_belongs_to_rooms_is_unknown_here() -> None:
    made = session()
    for message in (["command", 1, "", {"command": "sit"}], ["chat", "hi"], ["history", 1, 2]):
        assert refused(made.receive(encode(message), NOW)) == "unknown_message"


def test_a_greeting_with_a_wrong_filter_may_be_said_again() -> None:
    made = session("greeting")
    greeting = {"token": "t", "level": 1, "filter": {"gmae": "duel"}}
    assert refused(made.receive(encode(["hello", greeting]), NOW)) == "malformed_message"
    assert made.receive(encode(HELLO), NOW) == HELLO


@pytest.mark.parametrize(
    ("message", "limits"),
    [(PING, Limits(commands=Rate(2, 3))), (FILTER, Limits(history=Rate(2, 3)))],
)
def test_what_comes_too_often_is_refused_with_the_time_to_wait(
    message: LobbyClientMessage, limits: Limits
) -> None:
    made = session(limits=limits)
    for _ in range(3):
        assert made.receive(encode(message), NOW) == message
    intention = made.receive(encode(message), NOW)
    assert refused(intention) == "too_many"
    assert isinstance(intention, Tell)
    assert intention.message.params == {"retry_ms": 500}
    assert made.receive(encode(message), NOW + 0.5) == message


def test_too_much_nonsense_ends_the_connection() -> None:
    made = session("greeting", Limits(bad_messages=Rate(1, 3)))
    for _ in range(3):
        assert refused(made.receive(b"\xc1", NOW)) == "malformed_message"
    end = made.receive(b"\xc1", NOW)
    assert isinstance(end, HangUp)
    assert end.reason == "bad_message"
    assert made.state == "over"
    assert made.receive(encode(HELLO), NOW) is None


@given(st.binary(max_size=200) | st.text(max_size=200), st.sampled_from(STATES), st.booleans())
def test_whatever_comes_leads_to_an_intention(data: bytes | str, state: State, text: bool) -> None:
    made = session(state, text=text)
    intention = made.receive(data, NOW)
    assert intention is None or isinstance(intention, (Tell, *get_args(LobbyClientMessage)))
