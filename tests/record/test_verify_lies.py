"""Lies of a server that knows what it does: nothing is believed that the rules do not lead to.

The liar here is thorough: logs are relinked after a change, and `make_record` writes frames, draws
and proof to match what the changed log says.
"""

import dataclasses
import json
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from tests.games.tile_duel import GAME as TILE_DUEL
from tests.record.record_games import (
    GAMES,
    HOST,
    PEOPLE,
    STORIES,
    Tape,
    commits_of,
    deal,
    forged,
    new_tape,
    record_of_story,
    relinked,
    resealed,
    seat_everybody,
    told,
    written,
)
from towerhall_protocol.commands import base64url
from towerhall_server.eventlog.entry import Entry, Stamps
from towerhall_server.game import Seat
from towerhall_server.games.five_towers.events import BidMade, RoundStarted
from towerhall_server.live.record_store import make_record
from towerhall_server.record.findings import KINDS
from towerhall_server.record.verify import verify
from towerhall_server.room import steps
from towerhall_server.room.closing import abandon_step
from towerhall_server.room.commits import Cause, Commit, encode_commit
from towerhall_server.room.events import (
    DealCancelled,
    GameOver,
    NonceOpened,
    RoomClosed,
    SecretRevealed,
    TimedOut,
)

replace = msgspec.structs.replace
FIVE = STORIES[1]
"""Five Towers with persons, a bot and two cancelled deals."""
FOR_FOUR = dataclasses.replace(TILE_DUEL, seats=range(2, 5))
TIMED = STORIES[0]
"""Five Towers with a clock that ran out now and then."""


def codes(record: bytes) -> list[str]:
    found = [finding.code for finding in verify(record, GAMES)]
    assert len(set(found)) == len(found)
    assert set(found) <= set(KINDS)
    return found


def where(record: bytes, code: str) -> str:
    return next(finding.where for finding in verify(record, GAMES) if finding.code == code)


def plain(record: bytes) -> Any:
    return msgspec.json.decode(record)


def lie(tape: Tape, entries: Sequence[Entry]) -> bytes:
    """The record that a server would make which wrote this log."""
    return make_record(GAMES, tape.secret, entries)


def first(tape: Tape, wanted: Callable[[Commit], bool]) -> tuple[int, Commit]:
    """The first commit of a kind, and its seq."""
    return next((seq, one) for seq, one in enumerate(commits_of(tape), start=1) if wanted(one))


def has(kind: type[Any]) -> Callable[[Commit], bool]:
    return lambda commit: any(isinstance(one, kind) for one in (*commit.room, *commit.game))


def test_a_commit_left_out_swapped_or_put_twice_breaks_the_chain() -> None:
    record, entries = record_of_story(FIVE), told(FIVE).entries
    for changed in (
        [*entries[:40], *entries[41:]],
        [*entries[:40], entries[41], entries[40], *entries[42:]],
        [*entries[:40], entries[40], *entries[40:]],
    ):
        found = written(record, changed)
        assert "chain" in codes(found)
        assert where(found, "chain") == (
            "commit 42" if len(changed) > len(entries) else "commit 41"
        )


def test_commits_that_are_swapped_and_relinked_do_not_follow_by_the_rules() -> None:
    entries = told(FIVE).entries
    for seq in range(30, 60, 4):
        changed = relinked([*entries[:seq], entries[seq + 1], entries[seq], *entries[seq + 2 :]])
        found = codes(written(record_of_story(FIVE), changed))
        assert "chain" not in found
        assert {"undecided", "decision", "time", "early"} & set(found)


def test_a_record_without_its_end_is_unfinished() -> None:
    document = plain(record_of_story(FIVE))
    document["commits"].pop()
    document["frames"].pop()
    document["chain"] = document["commits"][-1][2]
    assert "unfinished" in codes(json.dumps(document).encode())
    found = written(record_of_story(FIVE), told(FIVE).entries[:-1])
    assert {"unfinished", "frame"} <= set(codes(found))
    assert where(found, "unfinished") == f"commit {len(told(FIVE).entries) - 1}"


def test_another_secret_does_not_give_the_commitment() -> None:
    document = plain(record_of_story(FIVE))
    document["proof"]["secret"] = base64url(bytes(32))
    assert "commitment" in codes(json.dumps(document).encode())


def test_a_secret_that_is_exchanged_everywhere_is_not_what_was_committed_to() -> None:
    tape = told(FIVE)
    found = codes(make_record(GAMES, bytes(32), tape.entries))
    assert "commitment" in found


def test_another_commitment_than_that_of_the_first_commit_is_seen_even_with_its_secret() -> None:
    document, other = plain(record_of_story(FIVE)), new_tape(seed=99)
    document["proof"]["secret"] = base64url(other.secret)
    document["proof"]["commitment"] = base64url(other.room.table.commitment)
    document["uid"] = base64url(other.room.table.uid)
    found = json.dumps(document).encode()
    assert where(found, "commitment") == "commit 1"


def test_another_nonce_is_not_the_sealed_one() -> None:
    tape = told(FIVE)
    seq, commit = first(tape, has(NonceOpened))
    (event,) = commit.room
    assert isinstance(event, NonceOpened)
    other = bytes(32)
    body = {**commit.command, "nonce": base64url(other)}
    changed = replace(commit, room=(replace(event, nonce=other),), command=body)
    found = lie(tape, forged(tape, {seq: changed}))
    assert {"nonce", "undecided"} <= set(codes(found))
    assert where(found, "nonce") == "deal 1, seat 0"


def test_a_changed_card_is_seen() -> None:
    tape = told(FIVE)
    rounds = [seq for seq, one in enumerate(commits_of(tape), start=1) if has(RoundStarted)(one)]
    for seq in (rounds[0], rounds[-1]):
        commit = commits_of(tape)[seq - 1]
        events = tuple(
            replace(event, display=event.display[::-1])
            if isinstance(event, RoundStarted)
            else event
            for event in commit.game
        )
        found = lie(tape, forged(tape, {seq: replace(commit, game=events)}))
        assert codes(found)[0] == "decision"
        assert where(found, "decision") == f"commit {seq}"


def test_a_bid_by_the_wrong_seat_is_seen() -> None:
    tape = told(FIVE)
    seq, commit = first(tape, lambda one: one.command.get("command") == "bid" and one.cause.n > 0)
    (event, *rest) = commit.game
    assert isinstance(event, BidMade)
    other = Seat(1 - event.seat)
    game = (replace(event, seat=other), *rest)
    ada, ben = PEOPLE[:2]
    sender = ben if other == 1 else ada
    for cause in (
        commit.cause,
        replace(commit.cause, seat=other),
        Cause(other, sender.id, f"o-{sender.name}", 99),
    ):
        found = codes(lie(tape, forged(tape, {seq: replace(commit, cause=cause, game=game)})))
        assert {"decision", "undecided"} & set(found), cause


def test_a_bid_that_is_shown_as_somebody_elses_is_seen() -> None:
    tape = told(FIVE)
    seq, commit = first(tape, lambda one: one.command.get("command") == "bid" and one.cause.n > 0)
    changed = replace(commit, cause=replace(commit.cause, seat=1 - commit.cause.seat))
    found = lie(tape, forged(tape, {seq: changed}))
    assert where(found, "decision") == f"commit {seq}"
    assert where(found, "frame") == f"frame {seq}"


def test_a_changed_command_is_seen() -> None:
    tape = told(FIVE)
    seq, commit = first(tape, lambda one: one.command.get("command") == "bid")
    number = commit.command["number"]
    changed = replace(commit, command={"command": "bid", "number": number + 1})
    found = codes(lie(tape, forged(tape, {seq: changed})))
    assert {"decision", "undecided"} & set(found)


def test_a_move_that_the_service_made_for_a_person_is_seen() -> None:
    tape = told(FIVE)
    seq, commit = first(tape, lambda one: one.command.get("command") == "bid" and one.cause.n > 0)
    changed = replace(commit, cause=Cause(commit.cause.seat))
    assert "undecided" in codes(lie(tape, forged(tape, {seq: changed})))


def test_a_move_that_a_nobody_made_for_a_bot_is_seen() -> None:
    tape = told(FIVE)
    seq, commit = first(tape, lambda one: not one.cause.n and one.cause.seat == 2)
    nobody = Cause(2, "", "o-nobody", 1)
    found = lie(tape, forged(tape, {seq: replace(commit, cause=nobody)}))
    assert where(found, "undecided") == f"commit {seq}"


def test_a_command_that_is_done_twice_is_seen() -> None:
    tape = told(FIVE)
    causes = [
        (seq, one) for seq, one in enumerate(commits_of(tape), start=1) if one.cause.seat == 0
    ]
    (_, early), (seq, late) = causes[3], causes[4]
    for n in (early.cause.n, early.cause.n - 1, -5):
        changed = replace(late, cause=replace(late.cause, n=n))
        found = lie(tape, forged(tape, {seq: changed}))
        assert where(found, "undecided") == f"commit {seq}"


def test_commands_are_counted_from_one_on() -> None:
    tape = told(FIVE)
    commit = commits_of(tape)[1]
    changed = replace(commit, cause=replace(commit.cause, n=-1))
    assert where(lie(tape, forged(tape, {2: changed})), "undecided") == "commit 2"


def test_a_command_that_no_client_could_have_sent_is_seen() -> None:
    tape = new_tape()
    tape.say(HOST, "sit")
    tape.wait()
    commit = commits_of(tape)[1]
    changed = replace(commit, command={"command": "sit", "ballast": "x" * 5000})
    assert where(lie(tape, forged(tape, {2: changed})), "undecided") == "commit 2"


def test_a_move_for_another_bot_than_the_one_to_act_is_seen() -> None:
    tape = told(STORIES[3])
    seq, commit = first(tape, lambda one: one.cause.n == 0 and one.cause.seat == 2)
    changed = replace(commit, cause=Cause(3))
    assert where(lie(tape, forged(tape, {seq: changed})), "decision") == f"commit {seq}"


def test_somebody_whose_time_was_not_up_is_not_timed_out() -> None:
    tape = told(TIMED)
    seq, _ = first(tape, has(TimedOut))
    before = tape.entries[seq - 2].stamps.served_ms
    entries = list(tape.entries)
    early = Stamps(entries[seq - 1].stamps.wall_ms, before + 1000)
    entries[seq - 1] = replace(entries[seq - 1], stamps=early)
    found = lie(tape, relinked(entries))
    assert codes(found) == ["clock", "early"], "after it, all that was taken comes at once"
    assert where(found, "early") == f"commit {seq}"


def test_a_default_that_is_not_the_games_own_is_seen() -> None:
    tape = told(TIMED)
    seq, commit = first(tape, has(TimedOut))
    other = {"command": "bid", "number": 1}
    assert commit.command != other
    assert "decision" in codes(lie(tape, forged(tape, {seq: replace(commit, command=other)})))


def test_a_time_that_was_up_where_there_is_no_clock_is_seen() -> None:
    tape = told(STORIES[4])
    seq, commit = first(tape, lambda one: one.command.get("command") == "pass")
    seat = commit.cause.seat
    changed = replace(commit, cause=Cause(seat), room=(TimedOut(seat),))
    assert "undecided" in codes(lie(tape, forged(tape, {seq: changed})))


def test_a_deal_that_was_cancelled_before_time_is_seen() -> None:
    tape = told(FIVE)
    seq, _ = first(tape, has(DealCancelled))
    entries = list(tape.entries)
    for later in range(seq - 1, len(entries)):
        stamps = entries[later].stamps
        shifted = Stamps(stamps.wall_ms, stamps.served_ms - 2_000)
        entries[later] = replace(entries[later], stamps=shifted)
    assert codes(lie(tape, relinked(entries))) == ["early"]


def test_a_cancelled_deal_cannot_be_kept_silent() -> None:
    tape = told(FIVE)
    commits = commits_of(tape)
    seals = [
        seq for seq, one in enumerate(commits, start=1) if one.command.get("command") == "start"
    ]
    shorter = [*tape.entries[: seals[0] - 1], *tape.entries[seals[1] - 1 :]]
    found = codes(lie(tape, relinked(shorter)))
    assert {"decision", "undecided"} & set(found)
    document = plain(record_of_story(FIVE))
    del document["proof"]["deals"][0]
    assert codes(resealed(document)) == ["deal"]


def test_another_result_is_seen_wherever_it_is_changed() -> None:
    tape = told(FIVE)
    seq, commit = len(tape.entries), commits_of(tape)[-1]
    over, revealed = commit.end
    assert isinstance(over, GameOver)
    better = replace(over, scores=(99, *over.scores[1:]), places=(1, 2, 3))
    found = codes(lie(tape, forged(tape, {seq: replace(commit, end=(better, revealed))})))
    assert found[0] == "decision"
    assert "result" in found
    document = plain(record_of_story(FIVE))
    document["result"]["scores"][0] += 1
    assert codes(resealed(document)) == ["result"]
    assert codes(json.dumps(document).encode()) == ["chain", "result"]


def test_an_end_that_keeps_the_secret_is_seen() -> None:
    tape = told(FIVE)
    seq, commit = len(tape.entries), commits_of(tape)[-1]
    for end in (commit.end[:1], (commit.end[0], SecretRevealed(bytes(32)))):
        assert "decision" in codes(lie(tape, forged(tape, {seq: replace(commit, end=end)})))


def test_frames_and_draws_that_do_not_match_are_named_by_their_place() -> None:
    document = plain(record_of_story(FIVE))
    document["frames"][41][5] = {}
    document["frames"][50][5] = {}
    document["draws"][2][4].reverse()
    found = resealed(document)
    assert sorted(codes(found)) == ["draw", "frame"]
    assert where(found, "frame") == "frame 42"
    assert where(found, "draw") == "draw 3"


@pytest.mark.parametrize("clock", ["wall_ms", "served_ms"])
def test_times_that_run_backwards_are_seen(clock: str) -> None:
    tape = told(STORIES[4])
    before, entry = tape.entries[29:31]
    stamps = replace(entry.stamps, **{clock: getattr(before.stamps, clock) - 1})
    entries = [*tape.entries[:30], replace(entry, stamps=stamps), *tape.entries[31:]]
    found = lie(tape, relinked(entries))
    assert codes(found) == ["time"]
    assert where(found, "time") == "commit 31"


@pytest.mark.parametrize("seq", [1, 40, 0])
@pytest.mark.parametrize("stamp", [4, 5])
def test_a_changed_time_breaks_the_chain_even_at_the_end(seq: int, stamp: int) -> None:
    document = plain(record_of_story(FIVE))
    document["commits"][seq - 1][stamp] += 1
    found = json.dumps(document).encode()
    assert "chain" in codes(found)
    assert where(found, "chain") == f"commit {seq or len(document['commits'])}"


def test_a_game_with_more_players_than_it_is_for_is_seen() -> None:
    tape = new_tape(TILE_DUEL, 4)
    deal(tape, seat_everybody(tape, 1))
    tape.play_on()
    assert codes(make_record({"tile_duel": FOR_FOUR}, tape.secret, tape.entries)) == ["undecided"]


# Rooms that end otherwise


def test_a_room_is_not_called_abandoned_before_it_was() -> None:
    tape = new_tape()
    people = seat_everybody(tape, 2)
    deal(tape, people)
    tape.append(abandon_step(tape.room))
    assert codes(tape.record()) == ["undecided" if steps.bot_to_act(tape.room) else "early"]


def test_nothing_happens_to_a_room_that_is_over() -> None:
    tape = told(FIVE)
    closing = Commit(Cause(), (RoomClosed("maintenance"), SecretRevealed(tape.secret)))
    last = tape.entries[-1]
    more = replace(last, seq=last.seq + 1, blob=encode_commit(closing))
    found = written(record_of_story(FIVE), relinked([*tape.entries, more]))
    assert where(found, "undecided") == f"commit {more.seq}"
