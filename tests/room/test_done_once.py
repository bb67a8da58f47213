"""What has been done need not be done again."""

from struct import pack

import msgspec

from tests.room.pure_rooms import (
    BEN,
    CYD,
    PureRoom,
    whole_room,
)
from towerhall_protocol.messages import ClientCommand
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.room.commits import THE_ROOM, Cause, Commit, decode_commit
from towerhall_server.room.state import (
    MOST_REMEMBERED,
    NUMBER_REUSED,
    ORIGIN_TAKEN,
    STALE,
    Done,
    Room,
    entered,
    hash_of,
    look_up,
    sender_of,
)

SIT: dict[str, object] = {"command": "sit"}
BID: dict[str, object] = {"command": "bid", "number": 3}


def done(room: Room, cause: Cause, seq: int, body: dict[str, object] = SIT) -> Room:
    """The room after a commit of that command."""
    return entered(room, room, Commit(cause, command=body), seq, "mark", 0)


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
    assert MOST_REMEMBERED == 16
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
    counted: dict[str, list[bytes]] = {}
    for before, entry in zip(pure.rooms, pure.entries[1:], strict=False):
        commit = decode_commit(entry.blob, FIVE_TOWERS)
        if commit.cause.n:
            one = pack(">QQ", commit.cause.n, entry.seq) + hash_of(commit.command, before.tag)
            counted.setdefault(sender_of(commit.cause), []).append(one)
    assert pure.room.commands == {who: b"".join(every[-16:]) for who, every in counted.items()}


def asked(body: dict[str, object], tag: str = "", *, dry: bool = False) -> ClientCommand:
    return ClientCommand(1, tag, body, dry)


def test_p42_a_number_that_is_used_again_for_another_command_is_told_so() -> None:
    room = done(PureRoom().room, ben(1), 5)
    assert look_up(room, ben(1), asked(SIT)) == Done(5)
    assert look_up(room, ben(1), asked({"command": "sit", "seat": 1})) == NUMBER_REUSED
    assert look_up(room, ben(1), asked(BID)) == NUMBER_REUSED
    assert look_up(done(room, ben(3), 6), ben(2), asked(BID)) == STALE


def test_p42_documents_are_compared_and_tags_of_game_commands() -> None:
    body: dict[str, object] = {"command": "bid", "number": 3, "more": [1, {"b": 1, "a": 2}]}
    room = msgspec.structs.replace(PureRoom().room, tag="tag")
    room = done(done(room, ben(1), 5, body), ben(2), 6)
    turned = dict(reversed(body.items())) | {"more": [1, {"a": 2, "b": 1}]}
    assert look_up(room, ben(1), asked(turned, "tag")) == Done(5)
    assert look_up(room, ben(1), asked(turned, "another")) == NUMBER_REUSED
    assert look_up(room, ben(1), asked(body | {"number": True}, "tag")) == NUMBER_REUSED
    assert look_up(room, ben(2), asked(SIT, "which does not matter")) == Done(6)


def test_p47_a_dry_run_is_decided_with_any_number() -> None:
    room = done(done(PureRoom().room, ben(1), 5), ben(9), 6)
    for n in (1, 5, 9, 10):
        assert look_up(room, ben(n), asked(SIT, dry=True)) is None
    assert look_up(room, Cause(0, CYD.id, "one", 1), asked(SIT, dry=True)) == ORIGIN_TAKEN
