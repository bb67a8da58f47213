"""A connection without input or output: every message in every state, rates, and patience."""

import json
from collections.abc import Set
from typing import Any, get_args

import msgpack
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from towerhall_protocol.codec import FROM_CLIENT, encode, encode_json
from towerhall_protocol.errors import CLOSES, HINTS
from towerhall_protocol.messages import (
    ClientChat,
    ClientCommand,
    ClientEmote,
    ClientHello,
    ClientHistory,
    ClientMessage,
    ClientPing,
    ClientSandbox,
    ClientSign,
    Greeting,
    ServerError,
    ServerRejected,
)
from towerhall_server.access.rates import Limits, Rate
from towerhall_server.gateway.ws.session import (
    MOST_IN_HAND,
    MOST_UNANSWERED,
    HangUp,
    Intention,
    Session,
    Tell,
    error,
)
from towerhall_server.gateway.ws.states import ROOM, State

NOW = 1000.0
PATIENT = Limits(bad_messages=Rate(1, 1000))
BAD = ["dance"]

HELLO = ClientHello(Greeting("token", 1, "AAAAAAAAAAA"))
COMMAND = ClientCommand(1, "", {"command": "sit"})
HISTORY, CHAT, PING = ClientHistory(1, 2), ClientChat("hi"), ClientPing(3)
EMOTE = ClientEmote("wow")
SANDBOX = ClientSandbox("lose", 3)
MESSAGES: tuple[ClientMessage, ...] = (
    *(HELLO, COMMAND, HISTORY, CHAT, EMOTE, ClientSign(), PING),
    SANDBOX,
)
STATES: tuple[State, ...] = get_args(State)

# What comes of each message in each state: the message itself, a refusal, or nothing at all.
TABLE = """
           greeting        inside          over
hello      passed          hello_expected  nothing
command    hello_expected  passed          nothing
history    hello_expected  passed          nothing
chat       hello_expected  passed          nothing
emote      hello_expected  passed          nothing
ping       hello_expected  passed          nothing
sign       hello_expected  passed          nothing
sandbox    hello_expected  passed          nothing
nonsense   malformed       malformed       nothing
unknown    unknown         unknown         nothing
"""
AFTER: dict[tuple[State, str], State] = {("greeting", "hello"): "inside"}
"""Where a message leads; all others leave the state as it is."""
SENT: dict[str, object] = {
    **{str(type(message).__struct_config__.tag): message for message in MESSAGES},
    "nonsense": {"no": "message"},
    "unknown": BAD,
}


def session(state: State = "inside", limits: Limits = PATIENT, *, text: bool = False) -> Session:
    made = Session(limits, FROM_CLIENT, text=text)
    made.state = state
    return made


def give(
    made: Session, message: object, now: float = NOW, unanswered: Set[int] = frozenset()
) -> Intention:
    return whole(made.receive(encode(message), now, unanswered))


def whole(intention: Intention) -> Intention:
    """Commands that are read on the short way are of a type of their own."""
    if isinstance(intention, ClientCommand):
        return ClientCommand(*msgspec.structs.astuple(intention))
    return intention


def refused(intention: Intention) -> str:
    """The code of an error after which the connection goes on."""
    assert isinstance(intention, Tell)
    assert isinstance(intention.message, ServerError)
    assert intention.message.hint
    assert intention.message.code in HINTS
    return intention.message.code


def cells() -> list[tuple[State, str, str]]:
    head, *rows = [line.split() for line in TABLE.strip().splitlines()]
    return [
        (state, name, outcome)
        for name, *outcomes in rows
        for state in STATES
        for outcome in [outcomes[head.index(state)]]
    ]


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize(("state", "name", "outcome"), cells())
def test_what_is_understood_when(state: State, name: str, outcome: str, text: bool) -> None:
    made = session(state, text=text)
    sent = SENT[name]
    data = encode_json(sent) if text else encode(sent)
    intention = whole(made.receive(data, NOW, frozenset()))
    match outcome:
        case "passed":
            assert intention == sent
        case "nothing":
            assert intention is None
        case "malformed" | "unknown":
            assert refused(intention) == f"{outcome}_message"
        case _:
            assert refused(intention) == outcome
    assert made.state == AFTER.get((state, name), state)


def test_the_table_has_every_message_and_every_state() -> None:
    assert {name for _, name, _ in cells()} == set(SENT)
    assert {str(each.__struct_config__.tag) for each in get_args(ClientMessage)} < set(SENT)
    assert {state for state, _, _ in cells()} == set(STATES) == set(ROOM)


def test_a_session_begins_with_greeting_and_is_inside_after_one_hello() -> None:
    made = Session(PATIENT, FROM_CLIENT, text=False)
    assert made.state == "greeting"
    assert give(made, HELLO) == HELLO
    assert refused(give(made, HELLO)) == "hello_expected"
    assert give(made, PING) == PING


@pytest.mark.parametrize(("text", "wanted"), [(False, "binary"), (True, "text")])
def test_the_other_kind_of_websocket_message_is_refused(text: bool, wanted: str) -> None:
    made = session(text=text)
    intention = made.receive(encode(PING) if text else encode_json(PING), NOW, frozenset())
    assert refused(intention) == "wrong_frame_type"
    assert isinstance(intention, Tell)
    assert intention.message.params == {"wanted": wanted}


# Commands


@pytest.mark.parametrize("n", [0, -1, -(2**53) + 1])
def test_a_number_below_one_is_an_error(n: int) -> None:
    assert refused(give(session(), ["command", n, "", {"command": "sit"}])) == "bad_number"


@pytest.mark.parametrize("body", [{}, {"command": 1}, {"command": None}, {"name": "sit"}])
def test_a_command_without_a_name_is_rejected_by_its_number(body: dict[str, Any]) -> None:
    intention = give(session(), ["command", 7, "", body])
    assert isinstance(intention, Tell)
    assert isinstance(intention.message, ServerRejected)
    assert (intention.message.n, intention.message.code) == (7, "bad_command")
    assert intention.message.rule == "P-41"


def test_p44_commands_that_frames_have_answered_do_not_count() -> None:
    made = session()
    in_hand, ninth = frozenset(range(1, 9)), encode(["command", 9, "", {"command": "sit"}])
    assert refused(made.receive(ninth, NOW, in_hand)) == "too_many_unanswered"
    assert made.receive(ninth, NOW, in_hand, {3}.__contains__) is not None


def test_commands_in_hand_are_bounded_though_frames_have_answered_them() -> None:
    made = session()
    for count, passes in ((MOST_IN_HAND - 1, True), (MOST_IN_HAND, False)):
        data = encode(["command", 99, "", {"command": "sit"}])
        intention = made.receive(data, NOW, frozenset(range(count)), lambda n: True)
        assert isinstance(intention, ClientCommand) == passes


def test_one_unanswered_command_too_many_is_an_error_and_never_rejected() -> None:
    made = session()
    under_way = frozenset(range(1, MOST_UNANSWERED + 1))
    some = frozenset(range(1, MOST_UNANSWERED))
    assert give(made, ["command", 20, "", {"command": "sit"}], unanswered=some) is not None
    # Whatever is wrong with it besides: nobody may think that an earlier copy was refused.
    for body in ({"command": "sit"}, {}):
        for dry in (False, True):
            intention = give(made, ["command", 9, "", body, dry], unanswered=under_way)
            assert refused(intention) == "too_many_unanswered"


def test_a_command_that_is_under_way_is_passed_over_however_often_it_comes() -> None:
    made = session(limits=Limits(bad_messages=Rate(1, 1)))
    for under_way in (frozenset({1}), frozenset(range(1, MOST_UNANSWERED + 1))):
        for _ in range(50):
            assert give(made, COMMAND, unanswered=under_way) is None
    assert give(made, COMMAND) == COMMAND


# Rates


@pytest.mark.parametrize(
    ("message", "limits"),
    [
        (PING, Limits(commands=Rate(2, 3))),
        (HISTORY, Limits(history=Rate(2, 3))),
    ],
)
def test_what_is_no_command_is_refused_beyond_its_rate(
    message: ClientMessage, limits: Limits
) -> None:
    made = session(limits=limits)
    for _ in range(3):
        assert give(made, message) == message
    for _ in range(100):
        intention = give(made, message)
        assert refused(intention) == "too_many"
        assert isinstance(intention, Tell)
        assert intention.message.params == {"retry_ms": 500}
    assert refused(give(made, message, NOW + 0.499)) == "too_many"
    assert give(made, message, NOW + 0.5) == message
    assert refused(give(made, message, NOW + 0.5)) == "too_many"
    # In the end it is all there again, and no more than that.
    for _ in range(3):
        assert give(made, message, NOW + 60) == message
    assert refused(give(made, message, NOW + 60)) == "too_many"
    assert made.state == "inside"


def test_history_and_commands_do_not_share_a_rate_but_commands_and_ping_do() -> None:
    one = Rate(1, 1)
    made = session(limits=Limits(commands=one, history=one))
    for message in (HISTORY, PING):
        assert give(made, message) == message
        assert refused(give(made, message)) == "too_many"
    assert made.wait_ms(NOW) == 1000
    assert made.wait_ms(NOW + 1) == 0
    assert refused(give(made, PING, NOW + 1)) == "too_many"


def test_commands_are_never_refused_for_their_rate_but_told_how_long_to_wait() -> None:
    made = session(limits=Limits(commands=Rate(8, 2)))
    for n in range(1, 50):
        message = ClientCommand(n, "", {"command": "sit"})
        assert give(made, message) == message
    assert [made.wait_ms(NOW) for _ in range(4)] == [0, 0, 125, 125]
    assert made.wait_ms(NOW + 0.125) == 0
    assert made.wait_ms(NOW + 0.125) == 125


def test_what_is_too_fast_costs_no_patience() -> None:
    made = session(limits=Limits(history=Rate(1, 1), bad_messages=Rate(1, 1)))
    give(made, HISTORY)
    for _ in range(50):
        assert refused(give(made, HISTORY)) == "too_many"
    assert made.state == "inside"


# Patience


@pytest.mark.parametrize("state", ["greeting", "inside"])
def test_one_piece_of_nonsense_too_many_ends_the_connection(state: State) -> None:
    made = session(state, Limits(bad_messages=Rate(1, 3)))
    for _ in range(3):
        assert refused(give(made, BAD)) == "unknown_message"
    last = give(made, BAD)
    assert last == HangUp("bad_message", error("unknown_message", name="dance"))
    assert last.reason in CLOSES
    assert made.state == "over"
    for message in (*MESSAGES, BAD):
        assert give(made, message, NOW + 1000) is None


def test_patience_comes_back_with_time() -> None:
    made = session(limits=Limits(bad_messages=Rate(1, 3)))
    for second in range(1000):
        assert refused(give(made, BAD, NOW + second)) == "unknown_message"
    for _ in range(2):
        assert refused(give(made, BAD, NOW + 999)) == "unknown_message"
    assert isinstance(give(made, BAD, NOW + 999), HangUp)


@pytest.mark.parametrize(
    ("message", "unanswered"),
    [
        (BAD, 0),
        ({}, 0),
        (["ping", 2**60], 0),
        (["ping", 1, [[[[[[[[[]]]]]]]]]], 0),
        (HELLO, 0),
        (["command", 0, "", {"command": "sit"}], 0),
        (["command", 99, "", {"command": "sit"}], MOST_UNANSWERED),
    ],
)
def test_every_kind_of_nonsense_costs_patience(message: object, unanswered: int) -> None:
    made = session(limits=Limits(bad_messages=Rate(1, 1)))
    under_way = frozenset(range(1, unanswered + 1))
    refused(give(made, message, unanswered=under_way))
    assert isinstance(give(made, message, unanswered=under_way), HangUp)


# Anything at all

documents = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=12,
)
names = st.sampled_from([*SENT, "welcome", ""])
messages = st.builds(lambda name, rest: [name, *rest], names, st.lists(documents, max_size=5))


@given(st.binary(max_size=200) | st.text(max_size=200) | messages | documents, st.booleans())
def test_whatever_comes_leads_to_an_intention_and_never_to_an_exception(
    sent: object, text: bool
) -> None:
    made = session("greeting", text=text)
    if not isinstance(sent, bytes | str):
        sent = json.dumps(sent) if text else msgpack.packb(sent)
    for state in STATES:
        made.state = state
        intention = made.receive(sent, NOW, frozenset({1}))
        if state == "over":
            assert intention is None
        elif isinstance(intention, Tell | HangUp):
            assert intention.message is not None
            assert intention.message.code in HINTS
            # It can be answered in both subprotocols.
            assert msgspec.json.decode(encode_json(intention.message))
            assert msgpack.unpackb(encode(intention.message))
        else:
            assert intention is None or type(intention) in ROOM[state]


def test_a_session_passes_on_all_chat_because_the_rates_belong_to_persons_and_rooms() -> None:
    made = session(limits=Limits(chat=Rate(1, 1), watcher_chat=Rate(1, 1)))
    for _ in range(50):
        assert give(made, CHAT) == CHAT
        assert give(made, EMOTE) == EMOTE


def test_an_emote_that_does_not_exist_is_refused_and_shown_in_short() -> None:
    answer = give(session(), ClientEmote("<b>" + "x" * 500))
    assert refused(answer) == "bad_emote"
    assert isinstance(answer, Tell)
    assert answer.message.params == {"name": "<b>" + "x" * 37}


BROKEN: list[tuple[object, str]] = [
    (["command", 7, "", "no map"], "malformed_message"),
    (["command", 7, "", {"command": "bid", "number": 1.5}], "malformed_message"),
    (["command", 7, "", {"command": "bid", "number": 1 << 60}], "number_out_of_range"),
    (["command", 7, "", {"command": "bid", "deep": [[[[[[[[]]]]]]]]}], "nested_too_deep"),
    (["command", 7, "", {"command": "x" * 1201}], "malformed_message"),
    (["command", 7], "malformed_message"),
]


@pytest.mark.parametrize(("message", "code"), BROKEN)
@pytest.mark.parametrize("text", [False, True])
def test_p41_a_broken_command_is_rejected_by_its_number(
    message: object, code: str, text: bool
) -> None:
    made = session(text=text)
    data = json.dumps(message) if text else msgpack.packb(message)
    if message == ["command", 7] and text:
        data = '["command", 7, '
        code = "malformed_message"
    answer = made.receive(data, NOW, frozenset())
    assert isinstance(answer, Tell)
    assert isinstance(answer.message, ServerRejected)
    assert (answer.message.n, answer.message.code) == (7, code)
    assert answer.message.rule.startswith("P-")
    under_way = made.receive(data, NOW, {7})
    assert refused(under_way) == code


def test_p41_a_broken_command_without_a_readable_number_is_an_error_and_all_cost_patience() -> None:
    numbers: tuple[object, ...] = (0, -1, "7", 1.0, 1 << 53, None, [])
    for n in numbers:
        message = ["command", n, "", "no map"]
        assert refused(session().receive(msgpack.packb(message), NOW, frozenset())) != ""
        assert refused(session(text=True).receive(json.dumps(message), NOW, frozenset())) != ""
    assert refused(session("greeting").receive(msgpack.packb(BROKEN[0][0]), NOW, frozenset()))
    made = session(limits=Limits(bad_messages=Rate(1, 2)))
    data = msgpack.packb(BROKEN[0][0])
    answers = [made.receive(data, NOW, frozenset()) for _ in range(4)]
    assert [type(answer) for answer in answers] == [Tell, Tell, HangUp, type(None)]
