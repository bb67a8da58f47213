"""The game that all peers play: it keeps the laws of games, and has the size that is told."""

from importlib.resources import files
from typing import Any

import pytest

from tests.games.laws import LAWS, Law, check_common_parts, check_reasons_cite_rules
from tests.games.plays import Play, play
from tests.programs.bench.games.bid import GAME, Options, State, decide, start, view
from towerhall_protocol.merge_patch import diff
from towerhall_server.game import Seat, discover

LEAVES = 91
CHANGED = 6


def leaves(document: Any) -> int:
    """Fields that hold no other ones."""
    if isinstance(document, dict):
        return sum(map(leaves, document.values()))
    return sum(map(leaves, document)) if isinstance(document, tuple) else 1


def after(state: State, seat: int, number: int) -> State:
    events = decide(state, Seat(seat), {"command": "bid", "number": number})
    assert isinstance(events, tuple)
    return GAME.play(state, events)


@pytest.fixture(scope="module")
def played() -> list[Play]:
    """Games of two and of four, with all kinds of numbers."""
    picks = ([7, 0, 7, 7_000_013, 19], [999_999, 3, 44_444])
    return [
        play(GAME, Options(), seats, bytes(32), some)
        for seats, some in zip((2, 4), picks, strict=True)
    ]


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_the_bid_game_keeps_the_law(law: Law, played: list[Play]) -> None:
    for whole in played:
        law(whole)


def test_the_bid_game_has_the_parts_that_all_games_share() -> None:
    check_common_parts(GAME)
    rules = files("tests.programs.bench.games.bid") / "RULES.md"
    check_reasons_cite_rules(GAME, rules.read_text())


def test_a_bid_changes_six_of_91_leaf_fields() -> None:
    state = start(Options(), 4, bytes(32))
    assert leaves(view(state, None)) == LEAVES
    changes = diff(view(state, None), view(after(state, 0, 345), None))
    # A merge patch replaces arrays as a whole: of the towers one number changes.
    assert leaves(changes) == CHANGED - 1 + 4
    assert changes["players"] == {"0": {"coins": 445, "bid": 345, "towers": (0, 1, 0, 0)}}


def test_no_server_finds_the_bid_game_by_itself() -> None:
    assert GAME.name not in discover()


def test_a_bid_changes_the_slot_with_its_remainder() -> None:
    state = start(Options(), 4, bytes(32))
    assert after(state, 0, 27).display[7].value == 1
