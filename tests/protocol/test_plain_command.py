"""The short way in for commands: whatever it finds, the long one would find the same."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgpack
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocol.documents import scalars, values
from towerhall_protocol.codec import FROM_CLIENT, MAX_INTEGER, CodecError, decode, encode
from towerhall_protocol.messages import ClientCommand
from towerhall_protocol.wire import plain_command, read_client
from towerhall_server.game import discover

GAMES = discover()
TAG = "k3J9x_Pq0aE"


def read(data: bytes) -> object:
    """The long way: the message as plain data, or the code of the refusal."""
    try:
        message = read_client(decode(data, FROM_CLIENT))
    except CodecError as error:
        return error.code
    return type(message).__name__, msgspec.to_builtins(message)


def agrees(data: bytes) -> bool:
    """Whether the short way was enough; if so, it has led to the same."""
    found = plain_command(data)
    if found is None:
        return False
    assert isinstance(found, ClientCommand)
    assert read(data) == (ClientCommand.__name__, msgspec.to_builtins(found))
    return True


def written(pairs: Iterable[tuple[object, object]], *more: object) -> bytes:
    """A command with a map of these pairs, as a stranger may write it."""
    packer = msgpack.Packer(autoreset=False)
    pairs = list(pairs)
    packer.pack_array_header(4 + len(more))
    for item in ("command", 7, TAG):
        packer.pack(item)
    packer.pack_map_header(len(pairs))
    for key, value in pairs:
        packer.pack(key)
        packer.pack(value)
    for last in more:
        packer.pack(last)
    return packer.bytes()


@pytest.mark.parametrize(
    "body",
    [
        {"command": "bid", "number": 5},
        {"command": "pass"},
        {"command": "build", "cards": ["sand:7", "tree:12+"], "demolish": "candy"},
        {"command": "build", "cards": []},
        {"command": "sit", "seat": 2, "nonce_hash": "A" * 43},
        {"command": "ready", "ready": True},
        {"command": "x", "least": -MAX_INTEGER, "most": MAX_INTEGER},
    ],
)
def test_what_players_send_takes_the_short_way(body: Mapping[str, Any]) -> None:
    assert agrees(written(body.items()))
    assert agrees(written(body.items(), False)), "as both clients of this project send it"
    assert agrees(encode(ClientCommand(7, TAG, dict(body), dry=True)))


@pytest.mark.parametrize("more", [(0,), (None,), (False, False), (b"",)])
def test_a_command_with_other_last_items_takes_the_long_way(more: tuple[object, ...]) -> None:
    assert not agrees(written({"command": "pass"}.items(), *more))


@pytest.mark.parametrize("name", sorted(GAMES))
def test_every_command_that_a_game_offers_at_first_takes_the_short_way(name: str) -> None:
    game = GAMES[name]
    state = game.start(game.presets["standard"], game.seats[0], bytes(32))
    state = game.play(state, game.setup(state))
    for seat in game.to_act(state):
        for offer in game.offers(state, seat):
            for command in offer.commands():
                assert agrees(written(command.items()))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        encode(["ping", 1]),
        encode(["command", 1, TAG]),
        encode(["command", 1, TAG, {"command": "pass"}, False, "later"]),
        encode(["command", True, TAG, {"command": "pass"}]),
        encode(["command", MAX_INTEGER + 1, TAG, {"command": "pass"}]),
        encode(["command", 1, TAG, {"a": MAX_INTEGER + 1}]),
        encode(["command", 1, TAG, {"a": 1.0}]),
        encode(["command", 1, TAG, {"a": b"1"}]),
        encode(["command", 1, TAG, {"a": {}}]),
        encode(["command", 1, TAG, {"a": [1]}]),
        encode(["command", 1, TAG, {"a": [""] * 65}]),
        encode(["command", 1, TAG, {str(n): n for n in range(33)}]),
        encode(["command", 1, TAG, {1: 2}]),
        encode(["command", 1, TAG, {"a": 1}]) + b"\x00",
        encode(["command", 1, TAG, {"a": 1}])[:-1],
        encode(["command", 1, TAG, {"a": "?"}]).replace(b"?", b"\xff"),
        encode(["command", 1, TAG, {"a": 1}]).replace(
            b"\x94\xa7command\x01", b"\x94\xa7command\xcc\x01"
        ),
    ],
)
def test_whatever_else_comes_has_to_take_the_long_way(data: bytes) -> None:
    assert plain_command(data) is None


def test_a_key_that_comes_twice_is_never_plain() -> None:
    # The last of these ends with the very bytes of the map that is left when a key has won.
    for first in (1, "x", None, 0x81, [0x81]):
        data = written([("a", first), ("a", 5)])
        assert plain_command(data) is None
        assert read(data) == "malformed_message"


@given(st.lists(st.tuples(st.text("ab", max_size=1) | scalars, values), max_size=4))
def test_any_map_leads_to_the_same_on_both_ways(pairs: list[tuple[object, object]]) -> None:
    agrees(written(pairs))


@given(
    st.sampled_from(
        [
            written([("command", "bid"), ("number", 3)]),
            written([("command", "build"), ("cards", ["sand:7", "sand:9"])]),
        ]
    ),
    st.data(),
)
def test_any_changed_byte_leads_to_the_same_on_both_ways(data: bytes, draw: st.DataObject) -> None:
    at = draw.draw(st.integers(0, len(data) - 1))
    byte = draw.draw(st.binary(max_size=2))
    agrees(data[:at] + byte + data[at + 1 :])
