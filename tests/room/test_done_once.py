"""What has been done need not be done again."""

from struct import pack

from tests.room.pure_rooms import (
    BEN,
    CYD,
    PureRoom,
    whole_room,
)
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.room.commits import THE_ROOM, Cause, decode_commit
from towerhall_server.room.state import (
    MOST_PAIRS,
    ORIGIN_TAKEN,
    STALE,
    Done,
    Room,
    entered,
    look_up,
)


def done(room: Room, cause: Cause, seq: int) -> Room:
    """The room after a commit of that command."""
    return entered(room, room, cause, seq, "mark", 0)


def ben(n: int, origin: str = "one") -> Cause:
    return Cause(0, BEN.id, origin, n)


def test_a_command_that_was_done_is_found_with_its_seq() -> None:
    room = done(done(PureRoom().room, ben(1), 5), ben(4), 9)
    assert look_up(room, ben(1)) == Done(5)
    assert look_up(room, ben(4)) == Done(9)
    assert look_up(room, ben(5)) is None


def test_a_command_that_a_later_one_has_overtaken_is_never_new() -> None:
    room = done(done(PureRoom().room, ben(2), 5), ben(4), 9)
    assert look_up(room, ben(1)) == STALE
    assert look_up(room, ben(3)) == STALE


def test_the_last_sixteen_are_remembered_and_older_ones_are_overtaken() -> None:
    room = PureRoom().room
    for n in range(1, 21):
        room = done(room, ben(n), 100 + n)
    assert MOST_PAIRS == 16
    found = [look_up(room, ben(n)) for n in range(1, 22)]
    assert found == [STALE] * 4 + [Done(100 + n) for n in range(5, 21)] + [None]


def test_every_origin_has_its_own_numbers() -> None:
    room = done(done(PureRoom().room, ben(7), 5), ben(3, "two"), 6)
    assert look_up(room, ben(7)) == Done(5)
    assert look_up(room, ben(3)) == STALE
    assert look_up(room, ben(3, "two")) == Done(6)
    assert look_up(room, ben(7, "two")) is None
    assert look_up(room, ben(1, "three")) is None


def test_p42_nobody_gives_commands_under_the_origin_of_another_person() -> None:
    room = done(PureRoom().room, ben(7), 5)
    assert look_up(room, Cause(0, CYD.id, "one", 7)) == ORIGIN_TAKEN
    assert look_up(room, Cause(0, CYD.id, "one", 8)) == ORIGIN_TAKEN
    assert look_up(room, Cause(0, CYD.id, "another one", 1)) is None
    assert look_up(room, ben(8)) is None


def test_numbers_belong_to_a_person_whatever_the_seat() -> None:
    room = done(PureRoom().room, Cause(-1, BEN.id, "one", 1), 5)
    assert look_up(room, Cause(1, BEN.id, "one", 1)) == Done(5)


def test_what_the_room_does_by_itself_is_not_remembered_as_a_command() -> None:
    room = PureRoom().room
    for cause in (THE_ROOM, Cause(1)):
        room = done(room, cause, 5)
    assert room.commands == {}
    assert look_up(room, THE_ROOM) is None


def test_a_room_that_is_read_from_its_log_remembers_the_same_commands() -> None:
    pure = whole_room("five_towers")
    counted: dict[str, list[int]] = {}
    for entry in pure.entries:
        cause = decode_commit(entry.blob, FIVE_TOWERS).cause
        if cause.n:
            done = counted.setdefault(f"{cause.identity}/{cause.origin}", [])
            done += [cause.n, entry.seq]
    assert pure.room.commands == {
        who: pack(f">{len(done[-32:])}Q", *done[-32:]) for who, done in counted.items()
    }
