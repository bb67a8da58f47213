"""The view: small, whole, and shared between commits where nothing changed."""

from collections.abc import Iterator

import msgspec
import pytest

from tests.builders import (
    Step,
    act,
    bid,
    bot_game,
    build,
    call,
    new_game,
    pass_,
    random_game,
    shown,
    table,
)
from towerhall_protocol.codec import FROM_SERVER, canonical, decode, encode
from towerhall_protocol.merge_patch import apply, diff, same
from towerhall_server.game import Seat
from towerhall_server.games.five_towers import GAME
from towerhall_server.games.five_towers.events import BidMade, BidWithdrawn, Passed
from towerhall_server.games.five_towers.options import Options
from towerhall_server.games.five_towers.state import PASS, State

VIEW_BYTES_MAX = 700
CALL_BYTES_MAX = 45
FIVE = "sand:7 candy:14 tree:3 scrap:15 spooky:11"
TABLE = Options(bids="table")
PLAYERS = pytest.mark.parametrize(
    ("bot", "seeds", "options"),
    [
        ("random", 30, Options()),
        ("greedy", 30, Options()),
        ("planner", 3, Options()),
        ("random", 6, TABLE),
    ],
    ids=["random", "greedy", "planner", "random-table"],
)


def steps(bot: str, seeds: int, options: Options) -> Iterator[Step]:
    for seed in range(seeds):
        yield from bot_game(bot, 4, seed, options)


def copied(state: State) -> State:
    """The state as another process would read it."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(state), type=GAME.state_type)


# --- size ---


@PLAYERS
def test_view_of_a_running_game_of_four_is_small(bot: str, seeds: int, options: Options) -> None:
    sizes = [len(encode(shown(step.before))) for step in steps(bot, seeds, options)]
    assert 400 < max(sizes) <= VIEW_BYTES_MAX


@PLAYERS
def test_view_changes_little_by_a_call(bot: str, seeds: int, options: Options) -> None:
    going_on: list[int] = []
    closing: list[int] = []
    forced: list[int] = []
    for step in steps(bot, seeds, options):
        same_round = step.before.round == step.after.round and step.after.phase != "over"
        if step.command["command"] == "build" or not same_round:
            continue
        size = len(encode(diff(shown(step.before), shown(step.after))))
        (closing if step.after.phase == "build" else going_on).append(size)
        if any(isinstance(e, BidMade | Passed) and e.forced for e in step.events):
            forced.append(size)
    for sizes in (going_on, closing) if options == TABLE else (going_on, closing, forced):
        assert len(sizes) > 20
        assert max(sizes) <= CALL_BYTES_MAX


def test_view_changes_little_when_a_bid_is_withdrawn() -> None:
    sizes = [
        len(encode(diff(shown(step.before), shown(step.after))))
        for step in steps("random", 6, TABLE)
        if any(isinstance(event, BidWithdrawn) for event in step.events)
        and step.before.round == step.after.round
        and step.after.phase == "auction"
    ]
    assert len(sizes) > 10
    assert max(sizes) <= CALL_BYTES_MAX


# --- contents ---


def test_view_shows_the_table() -> None:
    state = table(
        display="sand:7 sand:7+ tree:3",
        towers={0: {"sand": (12, 5)}, 2: {"tree": (9, 0)}},
        demolished={2: "scrap:5 scrap:5+ sand:1"},
        discard="candy:9 candy:1 spooky:3",
        seats=4,
        start_seat=2,
        calls=(1, PASS),
        pile="candy:4 candy:5",
        lap=2,
        round_number=30,
    )
    nothing: dict[str, object] = {"towers": {}, "demolished": {}, "score": 0}
    ruins = {"scrap": (5, 5), "sand": (1,)}
    assert shown(state) == {
        "options": {"bids": "strict", "eight": "base", "demolish_spire": False, "auto_pass": True},
        "round": 30,
        "lap": 2,
        "pile": 2,
        "phase": "auction",
        "start": 2,
        "turn": 0,
        "display": ("sand:7", "sand:7+", "tree:3"),
        "calls": {"2": 1, "3": -1},
        "seats": {
            "0": {"towers": {"sand": (12, 5)}, "demolished": {}, "score": 4},
            "1": nothing,
            "2": {"towers": {"tree": (9, 0)}, "demolished": ruins, "score": 0},
            "3": nothing,
        },
        "discard": {"candy": (1, 9), "spooky": (3,)},
    }


def test_view_shows_limits_only_while_a_bid_is_withdrawn() -> None:
    state = table(display=FIVE, towers={0: {"sand": (0,)}}, options=TABLE)
    assert "limits" not in shown(state)
    back = act(state, 0, bid(5))
    assert shown(back)["limits"] == {"0": 5}
    won = call(back, 1, PASS, PASS, PASS)
    assert shown(won)["limits"] == {"0": 5}
    assert "limits" not in shown(act(won, 0, build("tree:3")))


def test_view_of_the_end_shows_scores_and_no_turn() -> None:
    over = bot_game("random", 4, 0)[-1].after
    assert shown(over)["phase"] == "over"
    assert "turn" not in shown(over)
    assert shown(over)["scores"].keys() == {"0", "1", "2", "3"}
    assert (shown(over)["display"], shown(over)["calls"], shown(over)["pile"]) == ((), {}, 0)


# --- copies and sharing ---


@pytest.mark.parametrize("options", [Options(), TABLE, Options(eight="cap")])
@pytest.mark.parametrize("seats", [2, 5])
def test_view_of_a_stored_and_loaded_state_is_the_same(seats: int, options: Options) -> None:
    for step in bot_game("random", seats, 1, options):
        loaded = copied(step.after)
        assert loaded == step.after
        assert canonical(shown(loaded)) == canonical(shown(step.after))


def test_view_is_plain_data_and_survives_the_wire() -> None:
    for state in random_game(5, seed=2):
        assert same(decode(encode(shown(state)), FROM_SERVER), shown(state))


def test_view_is_reached_by_its_patches() -> None:
    document = shown(new_game(4, seed=7))
    for step in bot_game("random", 4, 7):
        document = apply(document, diff(shown(step.before), shown(step.after)))
        assert same(document, shown(step.after))


def test_view_parts_that_a_call_leaves_alone_are_the_same_objects() -> None:
    state = bot_game("random", 4, 3)[60].before
    while state.phase != "auction" or len(state.calls) > 2:
        state = act(state, state.turn, GAME.timeout(state, state.turn))
    after = act(state, state.turn, pass_() if state.calls else bid(0))
    old, new = shown(state), shown(after)
    for part in ("options", "display", "discard", "seats"):
        assert new[part] is old[part]


def test_view_parts_that_a_build_leaves_alone_are_the_same_objects() -> None:
    state = table(
        display=FIVE,
        towers={0: {"tree": (9, 5), "sand": (12,)}, 1: {"scrap": (4,)}, 2: {"scrap": (3,)}},
        demolished={0: "candy:3", 2: "candy:2"},
        discard="candy:1 tree:1",
        calls=(1, PASS, PASS, PASS),
        phase="build",
    )
    old, new = shown(state), shown(act(state, 0, build("sand:7")))
    assert new["options"] is old["options"]
    for seat in ("1", "2", "3"):
        assert new["seats"][seat] is old["seats"][seat]
    assert new["seats"]["0"]["towers"]["sand"] == (12, 7)


def test_view_parts_are_shared_through_whole_games() -> None:
    for step in bot_game("greedy", 5, 4):
        old, new = shown(step.before), shown(step.after)
        for seat in old["seats"]:
            if same(old["seats"][seat], new["seats"][seat]):
                assert new["seats"][seat] is old["seats"][seat]
        if same(old["discard"], new["discard"]):
            assert new["discard"] is old["discard"]


def test_view_is_the_same_for_every_viewer() -> None:
    state = bot_game("random", 3, 0)[20].after
    assert all(GAME.view(state, seat) == shown(state) for seat in (None, *map(Seat, range(3))))
