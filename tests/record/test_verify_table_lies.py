"""Lies about what happens around a game: nobody left, nobody passed on, nobody resigned like that.

The liar links the log anew after each change, so that only the rules can tell.
"""

import random
from functools import cache

import msgspec
import pytest

from tests.record.record_games import (
    GAMES,
    PEOPLE,
    Tape,
    commits_of,
    forged,
    relinked,
    written,
)
from towerhall_server.eventlog.entry import Entry
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.record.narrate import make_record
from towerhall_server.record.verify import verify
from towerhall_server.room import steps
from towerhall_server.room.commits import THE_ROOM, Cause, Commit, encode_commit
from towerhall_server.room.events import (
    BotStoodIn,
    EndWanted,
    GameOver,
    HostPassed,
    OptionsChanged,
    RematchMade,
    RoomClosed,
    RoomCreated,
    RoomEvent,
    SeatKicked,
    SeatLeft,
    SeatResigned,
    SeatTakenBack,
    SeatWoke,
    SecretRevealed,
    Settings,
    TimedOut,
)
from towerhall_server.room.steps import Plan
from towerhall_server.room.view import shown_cause

ADA, BEN, CYD = PEOPLE[:3]
replace = msgspec.structs.replace


@cache
def eventful() -> Tape:
    """A room with all of it, up to its end; nobody changes it."""
    settings = Settings(turn_seconds=20, bot_delay_ms=300)
    reserved = ("", BEN.id, "")
    plan = Plan(
        FIVE_TOWERS, FIVE_TOWERS.presets["standard"], 3, settings, CYD.id,
        reserved=reserved, bots=("", "", "easy"), previous="PREVUS",
    )  # fmt: skip
    tape = Tape(plan, random.Random(5))
    tape.say(BEN, "sit")
    tape.append(steps.pass_host_step(tape.room, 1))
    tape.say(CYD, "sit")
    tape.say(BEN, "kick", seat=0)
    tape.say(ADA, "sit")
    tape.say(BEN, "set_options", turn_seconds=30)
    tape.say(ADA, "ready")
    tape.say(BEN, "start")
    while not any(isinstance(one, SeatWoke) for c in commits_of(tape) for one in c.room):
        acting = tape.room.to_act()[0]
        wait = steps.bot_to_act(tape.room) is not None or not _timeouts(tape, acting)
        tape.wait() if wait else tape.play_on(1)
    tape.say(ADA, "leave", level="hard")
    for _ in range(3):
        tape.wait()
    tape.say(ADA, "take_back")
    tape.say(ADA, "want_end")
    tape.say(ADA, "want_end", wanted=False)
    while not _stand_in(tape, 1):
        acting = tape.room.to_act()[0]
        tape.wait() if acting != 0 else tape.move(ADA)
    tape.say(ADA, "resign")
    tape.play_on()
    return tape


def _timeouts(tape: Tape, seat: int) -> int:
    holder = tape.room.table.seats[seat]
    return 0 if holder is None else holder.timeouts


def _stand_in(tape: Tape, seat: int) -> str:
    holder = tape.room.table.seats[seat]
    return "" if holder is None else holder.stand_in


def findings(entries: list[Entry]) -> set[str]:
    record = written(eventful().record(), entries)
    return {finding.code for finding in verify(record, GAMES)}


def place_of(kind: type[RoomEvent]) -> int:
    """The seq of the first commit with such an event."""
    return next(
        seq
        for seq, commit in enumerate(commits_of(eventful()), start=1)
        if any(isinstance(one, kind) for one in (*commit.room, *commit.end))
    )


def changed(kind: type[RoomEvent], **fields: object) -> list[Entry]:
    """The log with other fields in the first event of a kind."""
    seq = place_of(kind)
    commit = commits_of(eventful())[seq - 1]

    def other(event: RoomEvent) -> RoomEvent:
        return replace(event, **fields) if isinstance(event, kind) else event

    told = replace(commit, room=tuple(map(other, commit.room)), end=tuple(map(other, commit.end)))
    return forged(eventful(), {seq: told})


def put_in(seq: int, commit: Commit) -> list[Entry]:
    """The log with one more commit at that place."""
    entries = eventful().entries
    made = replace(entries[seq - 1], blob=encode_commit(commit))
    return relinked([*entries[: seq - 1], made, *entries[seq - 1 :]])


def test_the_truth_is_believed_and_holds_every_event_of_a_table() -> None:
    assert findings(list(eventful().entries)) == set()
    told = {type(one) for c in commits_of(eventful()) for one in (*c.room, *c.end)}
    assert told >= {
        *(HostPassed, SeatKicked, OptionsChanged, TimedOut, SeatWoke, BotStoodIn, SeatTakenBack),
        *(SeatResigned, EndWanted),
    }


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (RoomCreated, {"bots": ("", "easy")}),
        (RoomCreated, {"bots": ("", "", "best")}),
        (RoomCreated, {"reserved": ("", "")}),
        (HostPassed, {"seat": 0}),
        (HostPassed, {"seat": 2}),
        (HostPassed, {"seat": 7}),
        (HostPassed, {"seat": -1}),
        (SeatKicked, {"seat": 2}),
        (OptionsChanged, {"settings": Settings(turn_seconds=60)}),
        (OptionsChanged, {"settings": Settings(turn_seconds=30, bot_delay_ms=9)}),
        (BotStoodIn, {"level": "easy"}),
        (BotStoodIn, {"seat": 1}),
        (SeatTakenBack, {"seat": 1}),
        (SeatResigned, {"seat": 1}),
        (SeatResigned, {"level": "hard"}),
        (EndWanted, {"wanted": False}),
        (SeatWoke, {"seat": 2}),
    ],
)
def test_an_event_with_other_fields_is_found(
    kind: type[RoomEvent], fields: dict[str, object]
) -> None:
    assert findings(changed(kind, **fields)) & {"undecided", "decision"}


def test_a_resigned_seat_that_is_ranked_first_is_found() -> None:
    places = eventful().room.table.result
    assert places is not None
    assert places.places[0] == 3
    assert "decision" in findings(changed(GameOver, places=(1, 2, 3)))


PLAYING = place_of(SeatTakenBack) + 1
"""A moment at which nobody stands in, and nobody has resigned."""


@pytest.mark.parametrize(
    "commit",
    [
        Commit(Cause(0), (BotStoodIn(0, "medium"),)),
        Commit(THE_ROOM, (BotStoodIn(0, "medium"),)),
        Commit(Cause(0), (TimedOut(0), BotStoodIn(0, "medium"))),
        Commit(
            Cause(1, BEN.id, "o-Ben", 99), (BotStoodIn(0, "medium"),), command={"command": "leave"}
        ),
        Commit(
            Cause(1, BEN.id, "o-Ben", 99),
            (BotStoodIn(0, "medium"),),
            command={"command": "call_bot", "seat": 0},
        ),
        Commit(Cause(0), (SeatResigned(0, "medium"),)),
        Commit(THE_ROOM, (SeatTakenBack(0),)),
        Commit(THE_ROOM, (SeatLeft(0),)),
        Commit(THE_ROOM, (HostPassed(0),)),
        Commit(THE_ROOM, (EndWanted(0, True),)),
        Commit(THE_ROOM, (RematchMade("ABCDEF"),)),
        Commit(
            Cause(1, BEN.id, "o-Ben", 99),
            (EndWanted(1, True), RoomClosed("agreed"), SecretRevealed(eventful().secret)),
            command={"command": "want_end"},
        ),
    ],
    ids=lambda commit: f"{shown_cause(commit.cause)}-{commit.room[-1]!r}"[:60],
)
def test_what_nobody_asked_for_and_no_clock_brought_is_found(commit: Commit) -> None:
    assert findings(put_in(PLAYING, commit)) & {"undecided", "decision"}


def test_a_host_is_not_passed_to_whoever_is_host() -> None:
    seq = place_of(HostPassed) + 1
    assert "undecided" in findings(put_in(seq, Commit(THE_ROOM, (HostPassed(1),))))


def test_what_comes_after_the_end_is_no_part_of_a_record() -> None:
    tape = eventful()
    ended = len(tape.entries)
    asked = Cause(0, ADA.id, "o-Ada", 99)
    again = Commit(asked, (RematchMade("ABCDEF"),), command={"command": "rematch"})
    last = replace(tape.entries[-1], commit_id=b"again" + bytes(11), blob=encode_commit(again))
    entries = relinked([*tape.entries, last])
    longer = make_record(GAMES, tape.secret, entries)
    assert len(msgspec.json.decode(longer)["commits"]) == ended
    assert findings(entries) == {"undecided"}


def test_a_kicked_person_who_sits_again_is_found() -> None:
    seq = place_of(SeatKicked) + 1
    tape = eventful()
    sat = next(c for c in commits_of(tape) if c.cause.identity == CYD.id)
    again = replace(sat, cause=replace(sat.cause, n=99))
    assert "undecided" in findings(put_in(seq, again))
