"""Offers: what they offer, how many, and that they survive the wire."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocol.documents import documents
from towerhall_protocol.codec import FROM_SERVER, canonical, decode, encode
from towerhall_protocol.offers import Choice, Offer, Range

ranges = st.builds(Range, st.integers(-3, 3), st.integers(-3, 5))
"""Some of them empty."""
choices = st.builds(Choice, documents, documents) | st.builds(Choice, documents)
offers = st.builds(
    Offer,
    st.sampled_from(["bid", "pass", "build"]),
    st.dictionaries(st.sampled_from(["number", "x", "y"]), ranges),
    st.none() | st.lists(choices, max_size=4).map(tuple),
    st.booleans(),
)


@given(offers)
def test_an_offer_counts_its_commands(offer: Offer) -> None:
    assert offer.count() == len(list(offer.commands()))


@given(offers)
def test_effects_stand_beside_the_same_commands(offer: Offer) -> None:
    pairs = list(offer.with_effects())
    assert [command for command, _ in pairs] == list(offer.commands())
    effects = [choice.effect for choice in offer.choices or ()]
    assert all(effect in effects or effect == {} for _, effect in pairs)


@given(offers)
def test_an_offer_survives_msgpack(offer: Offer) -> None:
    packed = msgspec.msgpack.encode(offer)
    again = msgspec.msgpack.decode(packed, type=Offer)
    assert msgspec.msgpack.encode(again) == packed
    assert list(map(canonical, again.commands())) == list(map(canonical, offer.commands()))


@given(offers)
def test_an_offer_survives_the_codec_as_a_plain_document(offer: Offer) -> None:
    document = msgspec.to_builtins(offer)
    received = decode(encode(document), FROM_SERVER)
    assert canonical(received) == canonical(document)
    again = msgspec.convert(received, type=Offer)
    assert canonical(msgspec.to_builtins(again)) == canonical(document)
    assert again.unsure == offer.unsure


def test_a_bare_offer_is_one_command() -> None:
    offer = Offer("pass")
    assert list(offer.with_effects()) == [({"command": "pass"}, {})]
    assert msgspec.to_builtins(offer) == {"command": "pass"}


def test_a_range_offers_both_its_ends() -> None:
    offer = Offer("bid", ranges={"number": Range(2, 4)})
    assert [command["number"] for command in offer.commands()] == [2, 3, 4]
    assert msgspec.to_builtins(offer) == {"command": "bid", "ranges": {"number": [2, 4]}}


def test_choices_keep_their_parameters_together() -> None:
    one = Choice({"cards": ["sand:7"], "demolish": "sand"}, {"score": 4})
    other = Choice({"cards": ["tree:2"]})
    offer = Offer("build", choices=(one, other))
    assert list(offer.with_effects()) == [
        ({"command": "build", "cards": ["sand:7"], "demolish": "sand"}, {"score": 4}),
        ({"command": "build", "cards": ["tree:2"]}, {}),
    ]


def test_ranges_and_choices_combine() -> None:
    sides = (Choice({"side": "up"}, {"height": 2}), Choice({"side": "flat"}))
    offer = Offer("place", {"x": Range(0, 1), "y": Range(5, 7)}, sides)
    commands = list(offer.with_effects())
    assert offer.count() == len(commands) == 12
    expected = [
        ({"command": "place", "side": side, "x": x, "y": y}, effect)
        for side, effect in (("up", {"height": 2}), ("flat", {}))
        for x in (0, 1)
        for y in (5, 6, 7)
    ]
    assert commands == expected


@pytest.mark.parametrize(
    "offer",
    [
        Offer("build", choices=()),
        Offer("bid", ranges={"number": Range(3, 2)}),
        Offer("bid", ranges={"number": Range(5, 1)}),
        Offer("place", ranges={"x": Range(2, 0), "y": Range(2, 0)}),
    ],
)
def test_without_choices_or_numbers_nothing_is_offered(offer: Offer) -> None:
    assert offer.count() == 0
    assert list(offer.commands()) == []


def test_each_command_is_a_map_of_its_own() -> None:
    offer = Offer("bid", ranges={"number": Range(0, 1)}, choices=(Choice({"a": 1}),))
    for command in offer.commands():
        command["a"] = 2
    assert [command["a"] for command in offer.commands()] == [1, 1]
