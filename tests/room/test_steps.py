"""Steps of a room: all or nothing, and every replica agrees on what they do."""

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.games import tile_duel as duel
from tests.games.tile_duel import GAME as TILE_DUEL
from tests.room.pure_rooms import (
    ADA,
    BEN,
    HOST,
    SECRET,
    PureRoom,
    histories,
    lived,
    whole_room,
)
from towerhall_server.game import AnyGame, Rejected, Seat
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.room.commits import decode_commit, encode_commit
from towerhall_server.room.events import (
    PUBLIC_FIELDS,
    GameOver,
    RoomCreated,
    SecretRevealed,
    Settings,
)
from towerhall_server.room.state import (
    Room,
    fold,
    happen,
)
from towerhall_server.room.steps import Plan, found
from towerhall_server.room.table import Status, bot

both_games = pytest.mark.parametrize("rules", [FIVE_TOWERS, TILE_DUEL], ids=lambda r: r.name)
any_history = settings(max_examples=examples(30, 60), suppress_health_check=[HealthCheck.too_slow])


def same_in_every_field(one: Room, other: Room) -> None:
    for name in Room.__struct_fields__:
        assert getattr(one, name) == getattr(other, name), name
        # Equality takes 1 for True and has no eye for a list in place of a tuple.
        assert repr(getattr(one, name)) == repr(getattr(other, name)), name


@both_games
@any_history
@given(st.data())
def test_a_commit_read_back_leads_where_its_step_led(rules: AnyGame, data: st.DataObject) -> None:
    for room, answer in data.draw(histories(rules)).answers:
        if not isinstance(answer, Rejected):
            blob = encode_commit(answer.commit)
            again = decode_commit(blob, room.rules)
            assert again == answer.commit
            assert encode_commit(again) == blob
            same_in_every_field(fold(room, again), answer.after)


@both_games
@any_history
@given(st.data())
def test_a_refusal_leaves_no_trace(rules: AnyGame, data: st.DataObject) -> None:
    """`PureRoom.ask` sees to it that nothing inside the room changes either."""
    pure = data.draw(histories(rules))
    done = [step.commit for _, step in pure.answers if not isinstance(step, Rejected)]
    logged = [decode_commit(entry.blob, rules) for entry in pure.entries]
    asked = [commit for commit in logged if commit.cause.n or commit.cause.seat >= 0]
    assert [commit for commit in done if commit.cause.n or commit.cause.seat >= 0] == asked


def test_histories_come_to_every_status_every_event_and_most_refusals() -> None:
    """Else the two laws above would prove little."""
    seen: set[str] = set()
    for pure in (lived(TILE_DUEL, seed, 80) for seed in range(200)):
        seen.update(room.table.status for room in pure.rooms)
        seen.update(answer.code for _, answer in pure.answers if isinstance(answer, Rejected))
        for entry in pure.entries:
            commit = decode_commit(entry.blob, TILE_DUEL)
            seen.update(type(event).__name__ for event in (*commit.room, *commit.end))
    assert seen >= {
        *get_args(Status),
        *(kind.__name__ for kind in PUBLIC_FIELDS),
        *("already_seated", "not_seated", "not_host", "not_waiting", "bad_command", "stale"),
        *("wrong_nonce", "already_open", "room_full", "seat_empty", "not_sealed", "seats_free"),
        *("not_ready", "not_playing", "no_such_seat", "seat_taken", "seat_reserved", "kicked"),
        *("own_seat", "bot_plays", "no_bot_plays", "resigned", "not_over", "rematch_made"),
        *("not_absent", "bad_options", "no_bot_accounts", "already_invited"),
    }


def test_what_is_decided_is_all_or_nothing() -> None:
    """A commit holds what the room, the game and the end bring, and the command that led to it."""
    pure = whole_room("tile_duel")
    last = decode_commit(pure.entries[-1].blob, TILE_DUEL)
    result = TILE_DUEL.result(pure.room.game)
    assert result is not None
    assert last.end == (GameOver(result.scores, result.places), SecretRevealed(SECRET))
    before = pure.rooms[-2]
    assert TILE_DUEL.decide(before.game, Seat(last.cause.seat), last.command) == last.game


def test_a_game_that_is_over_before_the_first_choice_ends_in_the_commit_that_deals_it() -> None:
    short = replace(TILE_DUEL, setup=lambda state: (duel.Ended(),))
    pure = PureRoom(short).seat_people(ADA, BEN, sealed=False)
    step = pure.say(HOST, "start")
    assert [type(event) for event in step.commit.end] == [GameOver, SecretRevealed]
    assert pure.room.table.status == "over"


def test_events_of_a_game_cannot_come_before_the_room() -> None:
    blob = next(
        entry.blob
        for entry in whole_room("tile_duel").entries
        if decode_commit(entry.blob, TILE_DUEL).game
    )
    with pytest.raises(ValueError, match="before the room"):
        decode_commit(blob, None)


def test_a_room_cannot_be_created_within_a_room() -> None:
    pure = PureRoom()
    created = decode_commit(pure.entries[0].blob, None).room
    with pytest.raises(ValueError, match="RoomCreated"):
        happen(pure.room, created, ())


def test_a_room_is_created_with_every_field_of_its_plan() -> None:
    plan = Plan(
        rules=TILE_DUEL,
        options=TILE_DUEL.presets["standard"],
        seats=2,
        settings=Settings(turn_seconds=30),
        host=HOST.id,
        key_hash=b"key",
        reserved=(ADA.id, ""),
        bots=("", "easy"),
        quick=True,
        previous="ABCDEF",
        operator="acme",
        aliased=True,
    )
    step = found(plan, "GHJKLM", bytes(16), SECRET)
    (created,) = step.commit.room
    for told in (created, step.after.table):
        # The entropy of a sandbox room is its secret, which no event tells before the end.
        for name in set(Plan.__struct_fields__) - {"rules", "options", "seats", "bots", "entropy"}:
            assert getattr(told, name) == getattr(plan, name), name
        assert not hasattr(told, "entropy")
    assert isinstance(created, RoomCreated)
    assert (created.game, created.version) == (TILE_DUEL.name, TILE_DUEL.version)
    assert (created.seats, created.bots) == (plan.seats, plan.bots)
    assert step.after.table.seats == (None, bot("easy"))
