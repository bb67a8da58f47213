"""Text for terminals, and a client that plays whole games with nothing but documents."""

import msgspec
import pytest

from towerhall_client.text import (
    command_line,
    fact_line,
    find_command,
    listing,
    offer_line,
    turn_line,
    view_lines,
)
from towerhall_protocol.codec import FROM_SERVER, canonical, decode, encode
from towerhall_protocol.merge_patch import apply, diff
from towerhall_protocol.offers import Choice, Offer, Range
from towerhall_server.cli.arena import match_seed, opening
from towerhall_server.game import AnyGame, Rejected, discover

OFFERS = (
    Offer("bid", ranges={"number": Range(2, 4)}),
    Offer("pass"),
    Offer(
        "build",
        choices=(
            Choice({"cards": ["sand:7"]}, {"score": 3}),
            Choice({"cards": ["sand:7"], "demolish": "sand"}, {"score": 1}),
        ),
    ),
    Offer("give_back", unsure=True),
)


def test_an_offer_says_what_may_be_chosen() -> None:
    assert [offer_line(offer) for offer in OFFERS] == [
        "bid number 2..4",
        "pass",
        "build (2 choices)",
        "give_back (may be refused)",
    ]


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("bid 3", {"command": "bid", "number": 3}),
        ("  bid   number 3 ", {"command": "bid", "number": 3}),
        ("pass", {"command": "pass"}),
        ("build sand:7 sand", {"command": "build", "cards": ["sand:7"], "demolish": "sand"}),
        ("#1", {"command": "bid", "number": 2}),
        ("#7", {"command": "give_back"}),
    ],
)
def test_a_typed_line_finds_the_offered_command(line: str, command: dict[str, object]) -> None:
    assert find_command(line, OFFERS) == command


@pytest.mark.parametrize("line", ["", "bid", "bid 5", "bid x", "#0", "#8", "#", "##1", "sing"])
def test_a_line_that_means_no_offer_finds_nothing(line: str) -> None:
    assert find_command(line, OFFERS) is None


BLOCKS = (
    Offer(
        "place",
        {"x": Range(0, 2), "y": Range(-1, 1)},
        tuple(Choice({"shape": f"D4.{number}"}) for number in (1, 3, 7)),
    ),
    Offer("place", {"x": Range(2, 2), "y": Range(-2, 2)}, (Choice({"shape": "D4.2"}),)),
    Offer("place", {"x": Range(-2, 2), "y": Range(5, 9)}, (Choice({"shape": "D4.2"}),)),
    Offer("place", {"x": Range(7, 7), "y": Range(7, 7)}, (Choice({"shape": "D4.2"}),)),
    Offer("take", choices=tuple(Choice({"card": f"c{n}"}, {"score": n}) for n in range(100))),
    Offer("give_back", unsure=True),
)
"""What makes hundreds of commands."""


@pytest.mark.parametrize(
    "line",
    ["place D4.3 1 -1", "place shape D4.3 x 1 y -1", "place D4.3@1,-1", "place D4.3 @ 1, -1"],
)
def test_a_place_is_found_by_its_values_or_by_its_notation(line: str) -> None:
    assert find_command(line, BLOCKS) == {"command": "place", "shape": "D4.3", "x": 1, "y": -1}


@pytest.mark.parametrize("line", ["place D4.3@1", "place D4.3@1,-2", "place D4.4@1,-1", "@", "@1"])
def test_a_notation_that_is_not_offered_finds_nothing(line: str) -> None:
    assert find_command(line, BLOCKS) is None


def test_a_value_may_hold_what_joins_values_elsewhere() -> None:
    offers = (Offer("send", choices=(Choice({"to": "ann@here,now"}), Choice({"to": "ann"}))),)
    assert find_command("send ann@here,now", offers) == {"command": "send", "to": "ann@here,now"}


def test_few_commands_are_listed_one_by_one_with_what_they_lead_to() -> None:
    assert list(listing(OFFERS)) == [
        "#1 bid number 2",
        "#2 bid number 3",
        "#3 bid number 4",
        "#4 pass",
        "#5 build cards sand:7 -> score 3",
        "#6 build cards sand:7 demolish sand -> score 1",
        "#7 give_back",
    ]


def test_an_offer_of_many_commands_is_one_line() -> None:
    lines = list(listing(BLOCKS))
    assert lines[:4] == [
        "#1..#27 place D4.1|D4.3|D4.7 x 0..2 y -1..1",
        "#28..#32 place D4.2 x 2 y -2..2",
        "#33..#57 place D4.2 x -2..2 y 5..9",
        "#58 place shape D4.2 x 7 y 7",
    ]
    assert lines[4] == "#59 take card c0 -> score 0"
    assert lines[-3:] == ["#118 take card c59 -> score 59", "and so on to #158", "#159 give_back"]


def test_a_listing_may_be_of_commands_that_begin_with_certain_words() -> None:
    assert list(listing(BLOCKS, ["place", "D4.3", "2"])) == [
        "#16 place shape D4.3 x 2 y -1",
        "#17 place shape D4.3 x 2 y 0",
        "#18 place shape D4.3 x 2 y 1",
    ]
    assert list(listing(BLOCKS, ["give_back"])) == ["#159 give_back"]
    assert list(listing(BLOCKS, ["sing"])) == []
    assert len(list(listing(BLOCKS, ["place", "shape"]))) == 58
    assert len(list(listing(BLOCKS[:1] * 3, ["place", "shape"]))) == 3


def test_each_listed_number_gives_the_command_that_stands_beside_it() -> None:
    for line in (*listing(OFFERS), *listing(BLOCKS, ["place", "D4.3"])):
        number, _, text = line.partition(" ")
        assert find_command(number, OFFERS if "D4" not in line else BLOCKS) == find_command(
            text.partition(" ->")[0], OFFERS if "D4" not in line else BLOCKS
        )


def test_many_choices_of_one_offer_are_cut_in_its_line() -> None:
    choices = tuple(Choice({"shape": f"s{number}"}) for number in range(300))
    (line,) = listing((Offer("place", {"x": Range(0, 2)}, choices, unsure=True),))
    assert line.endswith("|s38|s39|... (300 in all) x 0..2 (may be refused)")


def test_a_turn_with_many_offers_of_one_command_is_told_in_one_short_line() -> None:
    assert (
        turn_line(OFFERS)
        == "bid number 2..4 | pass | build (2 choices) | give_back (may be refused)"
    )
    assert turn_line(BLOCKS) == (
        "place (58 ways; type: offers place) | take (100 choices) | give_back (may be refused)"
    )


def test_a_command_reads_as_one_would_say_it() -> None:
    command, effect = list(OFFERS[2].with_effects())[1]
    assert command_line(command, effect) == "build cards sand:7 demolish sand -> score 1"


def test_a_fact_is_its_name_and_fields() -> None:
    assert fact_line(("bid_made", 2, 3, False)) == "bid_made 2 3 false"


def test_a_view_is_an_outline() -> None:
    view = {"seats": {"0": {"towers": {"sand": (12, 7)}}}, "round": 3}
    assert list(view_lines(view)) == [
        "round: 3",
        "seats:",
        "  0:",
        '    towers: {"sand":[12,7]}',
    ]


@pytest.mark.parametrize("game", discover().values(), ids=lambda game: game.name)
def test_a_client_without_rules_plays_a_whole_game_from_documents(game: AnyGame) -> None:
    """It sees bytes only: one snapshot, then patches; it answers with lines of text."""
    state = opening(game, game.presets["standard"], game.seats[0], match_seed(5, 0))
    view = decode(encode(game.view(state, None)), FROM_SERVER)
    turns = 0
    while seats := game.to_act(state):
        offers = msgspec.msgpack.decode(
            msgspec.msgpack.encode(game.offers(state, seats[0])), type=tuple[Offer, ...]
        )
        unsure = [offer.unsure for offer in offers for _ in offer.commands()]
        numbers = [number for number, is_unsure in enumerate(unsure, start=1) if not is_unsure]
        command = find_command(f"#{numbers[turns * 7 % len(numbers)]}", offers)
        events = game.decide(state, seats[0], decode(encode(command)))
        assert not isinstance(events, Rejected)
        after = game.play(state, events)
        patch = decode(encode(diff(game.view(state, None), game.view(after, None))), FROM_SERVER)
        assert isinstance(view, dict)
        assert isinstance(patch, dict)
        view = apply(view, patch)
        assert canonical(view) == canonical(game.view(after, None))
        state, turns = after, turns + 1
    assert game.result(state) is not None
