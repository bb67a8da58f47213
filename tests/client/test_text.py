"""Text for terminals, and a client that plays whole games with nothing but documents."""

import msgspec
import pytest

from towerhall_client.text import command_line, fact_line, find_command, offer_line, view_lines
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
        count = sum(offer.count() for offer in offers)
        command = find_command(f"#{1 + turns * 7 % count}", offers)
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
