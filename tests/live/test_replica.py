"""A room at a place in its log: read or followed, asked for its past, compared with cursors."""

from dataclasses import replace

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.games.tile_duel import GAME as TILE_DUEL
from tests.room.pure_rooms import (
    ADA,
    BEN,
    GAMES,
    SECRET,
    PureRoom,
    Stage,
    classes,
    frames_of,
    histories,
    whole_room,
)
from towerhall_protocol.messages import Cursor
from towerhall_server.eventlog.entry import mark
from towerhall_server.frames import Prepared
from towerhall_server.game import AnyGame, UnknownRulesError
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.live.replica import RECENT, TAIL, Replica
from towerhall_server.room.view import base_of

LONG = 4
"""With so many seats a game of Five Towers has more commits than a replica keeps at hand."""


def loaded(pure: PureRoom, seq: int | None = None) -> Replica:
    return Replica.load(GAMES, SECRET, pure.entries[:seq])


def bytes_of(frames: list[Prepared] | None) -> list[bytes] | None:
    return None if frames is None else [frame.binary for frame in frames]


def same(one: Replica, other: Replica) -> None:
    assert one.room == other.room
    assert repr(one.room) == repr(other.room)
    assert one.point == other.point
    assert one.tail == other.tail
    assert one.shared_with(other) == one.point.seq


# reading and following


@pytest.mark.parametrize("rules", [FIVE_TOWERS, TILE_DUEL], ids=lambda rules: rules.name)
@settings(max_examples=examples(20, 40), suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_reading_some_and_following_the_rest_is_reading_all(
    rules: AnyGame, data: st.DataObject
) -> None:
    pure = data.draw(histories(rules))
    replica = loaded(pure, data.draw(st.integers(1, pure.seq)))
    for entry in pure.entries[replica.point.seq :]:
        before = replica.room
        change = replica.follow(entry)
        assert change.before is before
        assert change.after is replica.room
        assert (change.seq, change.mark) == (entry.seq, mark(entry.chain))
    same(replica, loaded(pure))
    assert replica.room == pure.room


def test_a_log_of_any_length_is_read_as_if_followed_entry_by_entry() -> None:
    pure = whole_room("five_towers", LONG)
    followed = loaded(pure, 1)
    for length, entry in enumerate(pure.entries[1:], start=2):
        followed.follow(entry)
        same(followed, loaded(pure, length))
        assert followed.room == loaded(pure, length).room == pure.rooms[length - 1]


def test_of_what_is_skipped_the_outcome_is_the_same() -> None:
    pure = whole_room("tile_duel")
    for length in range(1, pure.seq + 1):
        replica = loaded(pure, 1)
        replica.skip(pure.entries[1:length])
        assert replica.room == pure.rooms[length - 1]


def test_whoever_took_the_step_itself_is_where_the_others_are() -> None:
    pure = whole_room("five_towers")
    own = loaded(pure, 1)
    for entry, room in zip(pure.entries[1:], pure.rooms[1:], strict=True):
        own.take(entry, room)
    same(own, loaded(pure))


def test_a_log_of_rules_that_are_not_installed_is_not_guessed_at() -> None:
    pure = PureRoom()
    newer = replace(FIVE_TOWERS, version=FIVE_TOWERS.version + 1)
    for games in ({}, {"tile_duel": TILE_DUEL}, {"five_towers": newer}):
        with pytest.raises(UnknownRulesError, match="five_towers, rules 1"):
            Replica.load(games, SECRET, pure.entries)


def test_a_log_begins_with_the_creation_of_its_room() -> None:
    pure = PureRoom()
    pure.say(BEN, "sit")
    with pytest.raises(ValueError, match="first event"):
        Replica.load(GAMES, SECRET, pure.entries[1:])


def test_the_newest_entries_are_kept_and_no_more() -> None:
    pure = whole_room("five_towers", LONG)
    assert pure.seq > RECENT + 10
    assert list(loaded(pure).tail) == pure.entries[-TAIL:]
    assert list(loaded(pure, 10).tail) == pure.entries[:10]


# the frames that somebody missed


@pytest.mark.parametrize("name", GAMES)
def test_missed_frames_are_those_that_were_shown(name: str) -> None:
    """Whether nobody was there (cold), somebody was all the time (warm), or some of it."""
    pure = whole_room(name)
    for read in (pure.seq, 1, 12, pure.seq - 3):
        stage = Stage(pure, read)
        for each in classes(pure.room):
            stage.audience.fan_out.view_of(stage.replica.room, each)
        stage.follow()
        for each in classes(pure.room):
            expected = frames_of(pure, each)
            for seq in range(max(0, pure.seq - RECENT), pure.seq + 1):
                found = bytes_of(stage.replica.missed(each, seq))
                assert found == expected[seq:], f"{each} from {seq}, read up to {read}"


def test_frames_are_at_hand_for_those_who_come_back_though_nobody_looked() -> None:
    """A room of which all are one class is shown to that class even without anybody in it."""
    pure = whole_room("five_towers")
    stage = Stage(pure, 10)
    stage.follow()
    since = pure.seq - RECENT
    assert bytes_of(stage.replica.missed("all", since)) == frames_of(pure, "all")[since:]


def test_frames_of_a_class_that_nobody_was_in_are_not_made_up() -> None:
    pure = whole_room("secret_duel")
    stage = Stage(pure, 10)
    stage.follow()
    assert stage.replica.missed("0", 5) is None
    assert stage.replica.missed("0", pure.seq) == []
    assert bytes_of(stage.replica.missed("watch", 5)) == frames_of(pure, "watch")[5:]


def test_what_was_too_long_ago_is_not_at_hand() -> None:
    pure = whole_room("five_towers", LONG)
    cold, warm = Stage(pure), Stage(pure, 1)
    warm.follow()
    expected = frames_of(pure, "all")
    for stage in (cold, warm):
        oldest = pure.seq - RECENT
        assert bytes_of(stage.replica.missed("all", oldest)) == expected[oldest:]
        assert stage.replica.missed("all", oldest - 1) is None
        assert stage.replica.missed("all", 0) is None
        assert stage.replica.missed("all", pure.seq) == []


@pytest.mark.parametrize("read", [1, 30, 50, 80])
def test_frames_that_are_kept_stay_bounded_whenever_they_are_asked_for(read: int) -> None:
    pure = whole_room("five_towers", LONG)
    stage = Stage(pure, read)
    for entry in pure.entries[read:]:
        stage.follow(entry.seq)
        for back in (1, 20, RECENT, TAIL, 2 * RECENT):
            stage.replica.missed("all", max(0, entry.seq - back))
        held = stage.replica._frames["all"]
        assert len(held) <= 2 * RECENT
    assert len(held) >= RECENT
    nothing_cold = not stage.replica._cold[1]
    assert nothing_cold == (read + RECENT <= pure.seq)


def test_frames_are_made_once_for_all_who_missed_them() -> None:
    replica = loaded(whole_room("five_towers"))
    first = replica.missed("all", 70)
    assert replica.missed("all", 0) is None
    second = replica.missed("all", 70)
    assert first is not None
    assert second is not None
    assert all(a.binary is b.binary for a, b in zip(first, second, strict=True))


# cursors


def test_every_place_of_its_own_log_is_known() -> None:
    pure = whole_room("five_towers", LONG)
    replica = loaded(pure)
    base = base_of(replica.room, "all")
    for entry in pure.entries:
        assert replica.knows(Cursor(base, entry.seq, mark(entry.chain)))
    assert replica.place.cursor("all") == Cursor(base, pure.seq, mark(pure.point.chain))
    assert replica.knows(replica.place.cursor("all"))


def test_places_of_other_logs_are_not_known() -> None:
    pure = whole_room("five_towers")
    replica, marks = loaded(pure), [mark(entry.chain) for entry in pure.entries]
    wrong = [
        (0, marks[0]), (0, ""), (-1, marks[-1]), (-1, marks[-2]), (-pure.seq, marks[0]),
        (pure.seq + 1, marks[-1]), (1 << 53, marks[-1]), (5, marks[5]), (5, marks[3]), (5, ""),
        (5, marks[4][:-1]), (5, marks[4] + "A"), (5, marks[4].swapcase()),
    ]  # fmt: skip
    for seq, short in wrong:
        assert not replica.knows(Cursor("base", seq, short)), (seq, short)


def test_a_replica_holds_the_entries_of_its_own_past_and_no_others() -> None:
    pure, other = PureRoom().seat_people(ADA, BEN), PureRoom(salt="other").seat_people(ADA, BEN)
    replica = loaded(pure, pure.seq - 1)
    assert all(replica.holds(entry) for entry in pure.entries[:-1])
    assert not replica.holds(pure.entries[-1])
    assert not any(replica.holds(entry) for entry in other.entries)


def test_two_logs_share_the_past_up_to_where_they_part() -> None:
    one, other = (PureRoom().seat_people(ADA, BEN, sealed=False) for _ in range(2))
    shared = one.seq
    assert loaded(one).shared_with(loaded(other)) == shared
    one.deal().play_on(5)
    assert loaded(one).shared_with(loaded(other)) == shared
    assert loaded(other).shared_with(loaded(one)) == shared
    other.say(BEN, "ready", ready=False)
    other.say(BEN, "ready")
    other.deal().play_on(2)
    assert loaded(one).shared_with(loaded(other)) == shared
    stranger = PureRoom(salt="other").seat_people(ADA, BEN, sealed=False)
    assert loaded(one).shared_with(loaded(stranger)) == 0


def test_logs_that_meet_again_have_not_the_same_past() -> None:
    """The shared part ends at the first difference, whatever comes after it."""
    one, other = PureRoom().seat_people(ADA, BEN), PureRoom().seat_people(ADA, BEN)
    forged = msgspec.structs.replace(other.entries[2], chain=bytes(16))
    entries = [*other.entries[:2], forged, *other.entries[3:]]
    replica = Replica.load(GAMES, SECRET, entries)
    assert loaded(one).shared_with(replica) == 2
