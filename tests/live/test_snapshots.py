"""Snapshots as values: what they hold, what they refuse, and how many of them are kept."""

import random
from base64 import urlsafe_b64encode
from dataclasses import replace

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.games.dice_duel import GAME as DICE_DUEL
from tests.live.long_rooms import toggled
from tests.room.pure_rooms import ADA, BEN, GAMES, SECRET, PureRoom, histories, whole_room
from towerhall_protocol.messages import Cursor
from towerhall_server.eventlog.entry import mark
from towerhall_server.game import AnyGame, discover
from towerhall_server.live import snapshots
from towerhall_server.live.marks import KEPT
from towerhall_server.live.replica import RECENT, TAIL, Replica
from towerhall_server.live.snapshots import (
    Snapshot,
    is_due,
    is_wanted,
    newest_due,
    outdated,
    pack,
    unpack,
)
from towerhall_server.room.state import MOST_ORIGINS, MOST_SENDERS, look_up
from towerhall_server.room.steps import Step
from towerhall_server.room.view import base_of

ALL: dict[str, AnyGame] = {**GAMES, **discover(), "dice_duel": DICE_DUEL}


def packed(pure: PureRoom, seq: int) -> bytes:
    """The snapshot after that commit."""
    data = pack(pure.rooms[seq - 1], pure.entries[seq - 1].point)
    assert data is not None
    return data


def opened(pure: PureRoom, seq: int) -> Snapshot:
    found = unpack(packed(pure, seq), ALL, SECRET)
    assert found is not None
    return found


def loaded(pure: PureRoom, start: int, end: int) -> Replica:
    """The log up to `end`, read from the snapshot of `start`; if that is 0, from its beginning."""
    if not start:
        return Replica.load(ALL, SECRET, pure.entries[:end])
    snapshot = opened(pure, start)
    replica = Replica(ALL, SECRET, snapshot.room, snapshot.point)
    replica.read(pure.entries[start:end])
    return replica


def check_same(pure: PureRoom, start: int, end: int) -> None:
    one, other = loaded(pure, start, end), loaded(pure, 0, end)
    assert one.room == other.room == pure.rooms[end - 1]
    assert list(one.room.commands) == list(other.room.commands)
    assert repr(one.room) == repr(other.room)
    assert one.point == other.point
    tail = min(TAIL, end - start)
    assert one.tail == (other.tail[-tail:] if tail else ())
    assert one.shared_with(other) == other.shared_with(one) == end
    base = base_of(one.room, "all")
    for entry in pure.entries[start:end]:
        assert one.knows(Cursor(base, entry.seq, mark(entry.chain)))
        assert one.holds(entry)


# loading


@pytest.mark.parametrize("rules", ALL.values(), ids=lambda rules: str(rules.name))
@settings(max_examples=examples(15, 60), suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_a_room_read_from_any_snapshot_is_the_room_of_the_whole_log(
    rules: AnyGame, data: st.DataObject
) -> None:
    pure = data.draw(histories(rules))
    start = data.draw(st.integers(1, pure.seq))
    check_same(pure, start, data.draw(st.integers(start, pure.seq)))


@pytest.mark.parametrize("name", GAMES)
def test_every_place_of_a_whole_game_is_as_good_as_its_beginning(name: str) -> None:
    pure = whole_room(name)
    for start in range(1, pure.seq + 1):
        check_same(pure, start, pure.seq)


def test_what_was_done_before_a_snapshot_is_not_done_again_after_it() -> None:
    pure = toggled(60)
    room = opened(pure, 50).room
    for seq in range(40, 51):
        commit = loaded(pure, 0, seq - 1).follow(pure.entries[seq - 1]).commit
        found = look_up(room, commit.cause)
        assert found is not None, seq
        assert getattr(found, "seq", seq) == seq


def test_frames_that_were_missed_are_those_of_the_whole_log() -> None:
    pure = whole_room("five_towers", 4)
    start = pure.seq - RECENT
    one, other = loaded(pure, start, pure.seq), loaded(pure, 0, pure.seq)
    for seq in range(start, pure.seq + 1):
        ours, theirs = one.missed("all", seq), other.missed("all", seq)
        assert ours is not None
        assert theirs is not None
        assert [each.binary for each in ours] == [each.binary for each in theirs]


# what is refused


def test_damaged_bytes_are_no_snapshot() -> None:
    pure = whole_room("tile_duel")
    data = packed(pure, pure.seq)
    chance = random.Random(1)
    assert unpack(data, ALL, SECRET) is not None
    for at in range(len(data)):
        other = bytearray(data)
        other[at] ^= 1 << chance.randrange(8)
        assert unpack(bytes(other), ALL, SECRET) is None, at
        assert unpack(data[:at], ALL, SECRET) is None, at
    assert unpack(data + b"\0", ALL, SECRET) is None
    for size in (0, 1, 100, 10_000):
        assert unpack(chance.randbytes(size), ALL, SECRET) is None


def test_what_another_program_wrote_is_no_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    pure = whole_room("tile_duel")
    data, rules = packed(pure, 9), pure.room.rules

    class More(msgspec.Struct, frozen=True):
        """A state with other fields."""

        seed: bytes = b""

    assert unpack(data, {}, SECRET) is None
    assert unpack(data, {rules.name: replace(rules, version=2)}, SECRET) is None
    assert unpack(data, {rules.name: replace(rules, state_type=More)}, SECRET) is None
    assert unpack(data, {rules.name: rules}, SECRET) is not None
    snapshots._form_of.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(snapshots, "version", lambda name: "0.0.1")
        assert unpack(data, ALL, SECRET) is None
    snapshots._form_of.cache_clear()
    assert unpack(data, ALL, SECRET) is not None


def test_a_snapshot_that_is_too_large_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    pure = whole_room("five_towers")
    size = len(packed(pure, pure.seq))
    monkeypatch.setattr(snapshots, "MOST_BYTES", size - 1)
    assert pack(pure.room, pure.point) is None


@pytest.mark.parametrize("name", GAMES)
def test_the_secret_is_not_in_a_snapshot(name: str) -> None:
    pure = whole_room(name)
    forms = (SECRET, SECRET.hex().encode(), urlsafe_b64encode(SECRET).rstrip(b"="))
    for seq in range(1, pure.seq + 1):
        if not pure.rooms[seq - 1].table.revealed:
            assert not any(form in packed(pure, seq) for form in forms)


def test_the_salt_is_not_in_a_snapshot_and_comes_back_from_where_it_is_kept() -> None:
    pure, salt = whole_room("five_towers"), b"a salt of a room"
    room = msgspec.structs.replace(pure.rooms[40], salt=salt)
    data = pack(room, pure.entries[40].point)
    assert data is not None
    assert not any(form in data for form in (salt, urlsafe_b64encode(salt).rstrip(b"=")))
    found = unpack(data, ALL, SECRET + salt)
    assert found is not None
    assert found.room == room


# how many there are


def test_snapshots_are_due_now_and_then() -> None:
    due = [seq for seq in range(2_000) if is_due(seq)]
    assert due == list(range(256, 2_000, 64))
    assert [newest_due(seq) for seq in (0, 255, 256, 319, 320, 20_000)] == [
        0, 0, 256, 256, 320, 19_968,
    ]  # fmt: skip


def test_the_number_of_snapshots_grows_far_slower_than_the_log() -> None:
    kept: set[int] = set()
    counts = {}
    for seq in range(256, 64 * 40_000, 64):
        kept.add(seq)
        kept.discard(outdated(seq) or 0)
        counts[seq // 64] = len(kept)
        if seq % 6_400 == 0:
            assert kept == {each for each in range(256, seq + 1, 64) if is_wanted(each, seq)}
    assert counts[512] == 509, "at first all of them are kept"
    assert counts[39_999] < 2_500
    for back in (0, 10_000, 32_000, 100_000, 1_000_000, 2_000_000):
        place = 64 * 39_999 - back
        gap = place - max(seq for seq in kept if seq <= place)
        assert gap <= max(64, back // 200), back


# what a replica remembers


def test_what_a_replica_remembers_does_not_grow_with_its_log() -> None:
    pure = toggled(3 * KEPT)
    replica = loaded(pure, 0, pure.seq)
    marks = replica._marks
    assert KEPT <= marks.last - marks.first + 1 <= 2 * KEPT
    assert marks.last == pure.seq
    for entry in pure.entries:
        cursor = Cursor("base", entry.seq, mark(entry.chain))
        assert replica.knows(cursor) == replica.holds(entry) == (entry.seq >= marks.first)
        assert replica.has_forgotten(entry.seq) == (entry.seq < marks.first)
    for seq in (-1, 0, pure.seq + 1):
        assert not replica.has_forgotten(seq)
    assert not replica.knows(Cursor("base", 1, ""))


def test_logs_that_part_before_all_that_is_remembered_part_there_at_the_latest() -> None:
    pure, other = toggled(3 * KEPT), PureRoom(salt="other")
    old = loaded(pure, 0, pure.seq)
    assert old.shared_with(loaded(pure, 0, 40)) == 40, "the shorter one is a part of the longer one"
    assert old.shared_with(loaded(other, 0, 1)) == 1
    stranger = toggled(3 * KEPT)
    forged = [msgspec.structs.replace(each, chain=bytes(16)) for each in stranger.entries]
    stranger.entries[:] = forged
    first = old._marks.first
    assert old.shared_with(loaded(stranger, 0, stranger.seq)) == first - 1


def done_by(pure: PureRoom, identity: str, origin: str) -> None:
    """Once more what was done last, by that sender."""
    replica = loaded(pure, 0, pure.seq - 1)
    commit = replica.follow(pure.entries[-1]).commit
    cause = msgspec.structs.replace(commit.cause, identity=identity, origin=origin, n=1)
    pure.append(Step(msgspec.structs.replace(commit, cause=cause), pure.room))


def test_the_table_of_commands_does_not_grow_with_the_log() -> None:
    pure = PureRoom(seats=2)
    pure.say(BEN, "sit")
    pure.say(ADA, "sit")
    pure.say(ADA, "ready")
    for number in range(3 * MOST_ORIGINS):
        done_by(pure, ADA.id, f"{number:011}")
        assert pure.room.commands[f"{ADA.id}/{number:011}"]
    newest = {f"{ADA.id}/{number:011}" for number in range(2 * MOST_ORIGINS, 3 * MOST_ORIGINS)}
    assert newest | {f"{BEN.id}/origin of Ben"} == set(pure.room.commands)
    for number in range(2 * MOST_SENDERS):
        done_by(pure, f"person {number}", "origin")
    assert len(pure.room.commands) == MOST_SENDERS
    assert all(each.startswith("person") for each in pure.room.commands)
    check_same(pure, 20, pure.seq)
    assert list(loaded(pure, 0, pure.seq).room.commands) == list(pure.room.commands)
