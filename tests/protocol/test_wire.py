"""Documents as messages: every message comes through, later ones are told apart from wrong ones."""

from collections.abc import Callable
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given

from tests.protocol import messages as samples
from tests.protocol.documents import values
from towerhall_protocol.codec import (
    FROM_CLIENT,
    FROM_SERVER,
    CodecError,
    decode,
    decode_json,
    encode,
    encode_json,
)
from towerhall_protocol.errors import HINTS, hint
from towerhall_protocol.events import EventsClientMessage
from towerhall_protocol.lobby import LobbyClientMessage, LobbyServerMessage
from towerhall_protocol.messages import (
    ClientCommand,
    ClientHello,
    ClientMessage,
    ServerFrame,
    ServerMessage,
    ServerOffers,
)
from towerhall_protocol.wire import (
    MAX_DETAIL,
    read_client,
    read_events_client,
    read_lobby_client,
    read_lobby_server,
    read_server,
)


def refusal(document: object) -> CodecError:
    with pytest.raises(CodecError) as caught:
        read_client(document)
    return caught.value


def test_there_is_a_sample_of_every_message() -> None:
    assert {type(message) for _, message in samples.FROM_CLIENT} == set(get_args(ClientMessage))
    assert {type(message) for _, message in samples.FROM_SERVER} == set(get_args(ServerMessage))


def test_there_is_a_sample_of_every_message_of_the_lobby() -> None:
    assert {type(message) for _, message in samples.TO_LOBBY} == set(get_args(LobbyClientMessage))
    assert {type(message) for _, message in samples.FROM_LOBBY} == set(get_args(LobbyServerMessage))


@pytest.mark.parametrize(("name", "message"), samples.TO_LOBBY)
def test_a_message_to_the_lobby_comes_through_both_codecs(
    name: str, message: LobbyClientMessage
) -> None:
    assert read_lobby_client(decode(encode(message), FROM_CLIENT)) == message
    assert read_lobby_client(decode_json(encode_json(message), FROM_CLIENT)) == message
    assert read_lobby_client([*msgspec.to_builtins(message), "later"]) == message


@pytest.mark.parametrize(("name", "message"), samples.TO_EVENTS)
def test_a_message_to_the_events_comes_through_both_codecs(
    name: str, message: EventsClientMessage
) -> None:
    assert read_events_client(decode(encode(message), FROM_CLIENT)) == message
    assert read_events_client(decode_json(encode_json(message), FROM_CLIENT)) == message
    assert read_events_client([*msgspec.to_builtins(message), "later"]) == message


def test_the_events_know_no_messages_of_the_lobby() -> None:
    assert {type(message) for _, message in samples.TO_EVENTS} == set(get_args(EventsClientMessage))
    with pytest.raises(CodecError) as refused:
        read_events_client(["filter", {}])
    assert refused.value.code == "unknown_message"


@pytest.mark.parametrize(("name", "message"), samples.FROM_LOBBY)
def test_a_message_from_the_lobby_comes_through_both_codecs(
    name: str, message: LobbyServerMessage
) -> None:
    assert read_lobby_server(decode(encode(message), FROM_SERVER)) == message
    assert read_lobby_server(decode_json(encode_json(message), FROM_SERVER)) == message
    assert read_lobby_server([*msgspec.to_builtins(message), "later"]) == message


def test_the_lobby_knows_no_messages_of_rooms() -> None:
    with pytest.raises(CodecError) as refused:
        read_lobby_client(["command", 1, "", {"command": "sit"}])
    assert refused.value.code == "unknown_message"
    assert read_lobby_server(["frame", 1]) is None
    assert refusal(["filter", {}]).code == "unknown_message"


@pytest.mark.parametrize(
    "wanted",
    [
        {"gmae": "five_towers"},
        {"game": 7},
        {"game": "a" * 41},
        {"status": "over"},
        {"free": -1},
        {"free": 65},
        {"free": "1"},
        {"free": True},
        [],
        "waiting",
    ],
)
def test_a_filter_that_is_none_is_refused(wanted: object) -> None:
    for document in (["filter", wanted], ["hello", {"token": "t", "level": 1, "filter": wanted}]):
        with pytest.raises(CodecError) as refused:
            read_lobby_client(document)
        assert refused.value.code == "malformed_message"


@pytest.mark.parametrize(("name", "message"), samples.FROM_CLIENT)
def test_a_clients_message_comes_through_both_codecs(name: str, message: ClientMessage) -> None:
    assert read_client(decode(encode(message), FROM_CLIENT)) == message
    assert read_client(decode_json(encode_json(message), FROM_CLIENT)) == message


@pytest.mark.parametrize(("name", "message"), samples.FROM_SERVER)
def test_a_servers_message_comes_through_both_codecs(name: str, message: ServerMessage) -> None:
    assert read_server(decode(encode(message), FROM_SERVER)) == message
    assert read_server(decode_json(encode_json(message), FROM_SERVER)) == message


@pytest.mark.parametrize(("name", "message"), samples.FROM_CLIENT + samples.FROM_SERVER)
def test_items_of_a_later_level_are_ignored(name: str, message: Any) -> None:
    read: Any = read_client if isinstance(message, get_args(ClientMessage)) else read_server
    document = [*_whole(message), "later", {"still": ["later"]}]
    assert read(document) == message


def _whole(message: Any) -> list[Any]:
    document: list[Any] = msgspec.to_builtins(message)
    if isinstance(message, ClientCommand) and len(document) == 4:
        return [*document, False]
    return document


def test_keys_of_a_later_level_are_ignored() -> None:
    message = read_client(["hello", {"token": "t", "level": 9, "origin": "o", "later": [1]}])
    assert isinstance(message, ClientHello)
    assert message.greeting.level == 9
    offers = read_server(["offers", 1, "t", [{"command": "a", "later": 1}]])
    assert isinstance(offers, ServerOffers)
    assert offers.offers[0].command == "a"


def test_a_message_of_a_later_server_is_nothing() -> None:
    assert read_server(["confetti", 1, {}]) is None


@pytest.mark.parametrize("name", ["bid", "", "Hello", "welcome", "frame"])
def test_a_client_is_told_which_message_is_unknown(name: str) -> None:
    error = refusal([name, 1])
    assert error.code == "unknown_message"
    assert error.params == {"name": name}


def test_what_a_stranger_sent_is_repeated_only_in_part() -> None:
    assert refusal(["x" * 500]).params == {"name": "x" * MAX_DETAIL}
    long = refusal(["command", 1, "", {"k" * 500: 1}, "y" * 500])
    assert long.code == "malformed_message"
    assert len(long.detail) <= MAX_DETAIL


@pytest.mark.parametrize(
    "document",
    [
        None,
        1,
        "hello",
        [],
        {},
        {"command": "bid"},
        [1, "hello"],
        [["hello"]],
        ["hello"],
        ["hello", []],
        ["hello", {}],
        ["hello", {"token": "t", "level": "1", "origin": "o"}],
        ["hello", {"token": "t", "level": 1, "origin": "o", "cursor": ["b", 1]}],
        ["hello", {"token": "t", "level": 1, "origin": "o", "key": [None]}],
        ["command"],
        ["command", 1, ""],
        ["command", True, "", {}],
        ["command", "1", "", {}],
        ["command", 1, None, {}],
        ["command", 1, "", []],
        ["command", 1, "", {}, 1],
        ["history", 1],
        ["history", 1, "2"],
        ["chat", 1],
        ["chat"],
        ["ping"],
        ["ping", None],
    ],
)
def test_a_wrong_shape_is_malformed(document: object) -> None:
    error = refusal(document)
    assert error.code == "malformed_message"
    assert error.params == {"detail": error.detail}


def verdict(read: Callable[[object], object], document: object) -> str:
    """The name of the message's class, or the code of the refusal."""
    try:
        return type(read(decode(encode(document), FROM_SERVER))).__name__
    except CodecError as error:
        return error.code


@given(values)
def test_any_document_is_a_message_or_a_codec_error(document: object) -> None:
    names = {shape.__name__ for shape in get_args(ClientMessage)}
    for candidate in (document, ["hello", document], ["command", 1, "", document], ["x", document]):
        found = verdict(read_client, candidate)
        assert found in {"malformed_message", "unknown_message", *names}


@given(values)
def test_any_document_of_a_server_is_a_message_or_nothing_or_a_codec_error(doc: object) -> None:
    names = {shape.__name__ for shape in get_args(ServerMessage)}
    for candidate in (doc, ["frame", 1, "m", doc, doc, doc], ["welcome", doc], ["offers", 1, doc]):
        assert verdict(read_server, candidate) in {"malformed_message", "NoneType", *names}


def test_the_hints_of_all_refusals_can_be_filled_in() -> None:
    errors = [refusal(["x"]), refusal([]), refusal(["ping"])]
    for data in (b"x" * 5000, b"\x91" * 20 + b"\x90", encode(1 << 60), b"\xc1"):
        with pytest.raises(CodecError) as caught:
            decode(data)
        errors.append(caught.value)
    for error in errors:
        assert error.code in HINTS
        assert "?" not in hint(error.code, error.params)


def test_a_frame_may_hold_anything_in_its_facts_and_patch() -> None:
    message = read_server(["frame", 1, "m", [], [["a", None, [1, {"b": []}]]], {"a": None}])
    assert isinstance(message, ServerFrame)
    assert message.facts == (("a", None, [1, {"b": []}]),)
    assert message.patch == {"a": None}
