"""Steps of a room: what they do, that every replica agrees on it, what is due when, and chance."""

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from typing import get_args

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.games import dice_duel as duel
from tests.games.dice_duel import GAME as DICE_DUEL
from tests.room.pure_rooms import (
    ADA,
    BEN,
    CYD,
    GAMES,
    HOST,
    SECRET,
    UID,
    PureRoom,
    classes,
    frames_of,
    histories,
    lived,
    nonce_of,
    open_nonce,
    sealed_nonce,
    whole_room,
)
from towerhall_protocol.fairness import NO_NONCE, commitment, game_seed
from towerhall_server.game import AnyGame, Rejected, Seat
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.room import core
from towerhall_server.room.commits import THE_ROOM, Cause, Commit, decode_commit, encode_commit
from towerhall_server.room.core import ABANDONED_MS, EMPTY_MS, IDLE_MS, KEPT_MS, OPEN_MS, Due
from towerhall_server.room.events import (
    PUBLIC_FIELDS,
    GameOver,
    RoomClosed,
    RoomCreated,
    SecretRevealed,
    TimedOut,
)
from towerhall_server.room.explaining import effect_of, explain
from towerhall_server.room.seats import Person
from towerhall_server.room.state import (
    MOST_PAIRS,
    Done,
    Overtaken,
    Room,
    entered,
    fold,
    happen,
    look_up,
)
from towerhall_server.room.table import Status
from towerhall_server.room.view import describe, summary, view

both_games = pytest.mark.parametrize("rules", [FIVE_TOWERS, DICE_DUEL], ids=lambda r: r.name)
any_history = settings(max_examples=examples(30, 60), suppress_health_check=[HealthCheck.too_slow])


# --- every replica agrees ---


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
    for pure in (lived(DICE_DUEL, seed, 80) for seed in range(200)):
        seen.update(room.table.status for room in pure.rooms)
        seen.update(answer.code for _, answer in pure.answers if isinstance(answer, Rejected))
        for entry in pure.entries:
            commit = decode_commit(entry.blob, DICE_DUEL)
            seen.update(type(event).__name__ for event in (*commit.room, *commit.end))
    assert seen >= {
        *get_args(Status),
        *(kind.__name__ for kind in PUBLIC_FIELDS),
        *("already_seated", "not_seated", "not_host", "not_waiting", "bad_command", "stale"),
        *("wrong_nonce", "already_open", "room_full", "seat_empty", "not_sealed", "seats_free"),
        *("not_ready", "not_playing", "no_such_seat", "seat_taken", "seat_reserved", "kicked"),
        *("own_seat", "bot_plays", "no_bot_plays", "resigned", "not_over", "rematch_made"),
        *("not_absent", "bad_options"),
    }


def test_what_is_decided_is_all_or_nothing() -> None:
    """A commit holds what the room, the game and the end bring, and the command that led to it."""
    pure = whole_room("dice_duel")
    last = decode_commit(pure.entries[-1].blob, DICE_DUEL)
    result = DICE_DUEL.result(pure.room.game)
    assert result is not None
    assert last.end == (GameOver(result.scores, result.places), SecretRevealed(SECRET))
    before = pure.rooms[-2]
    assert DICE_DUEL.decide(before.game, Seat(last.cause.seat), last.command) == last.game


def test_a_game_that_is_over_before_the_first_choice_ends_in_the_commit_that_deals_it() -> None:
    short = replace(DICE_DUEL, setup=lambda state: (duel.Ended(),))
    pure = PureRoom(short).seat_people(ADA, BEN, sealed=False)
    step = pure.say(HOST, "start")
    assert [type(event) for event in step.commit.end] == [GameOver, SecretRevealed]
    assert pure.room.table.status == "over"


def test_events_of_a_game_cannot_come_before_the_room() -> None:
    blob = next(
        entry.blob
        for entry in whole_room("dice_duel").entries
        if decode_commit(entry.blob, DICE_DUEL).game
    )
    with pytest.raises(ValueError, match="before the room"):
        decode_commit(blob, None)


def test_a_room_cannot_be_created_within_a_room() -> None:
    pure = PureRoom()
    created = decode_commit(pure.entries[0].blob, None).room
    with pytest.raises(ValueError, match="RoomCreated"):
        happen(pure.room, created, ())


# --- chance ---


def seed_by_hand(deal: int, nonces: Iterable[bytes]) -> bytes:
    """The recipe of P-84, written once more."""
    parts = tuple(nonces)
    text = b"towerhall/1/seed\0" + UID + deal.to_bytes(4, "big") + bytes([len(parts)])
    return hmac.new(SECRET, text + b"".join(parts), sha256).digest()


def test_the_secret_is_committed_to_before_anyone_can_sit() -> None:
    (created,) = decode_commit(PureRoom().entries[0].blob, None).room
    assert isinstance(created, RoomCreated)
    by_hand = sha256(b"towerhall/1/commit\0" + UID + SECRET).digest()
    assert created.commitment == commitment(UID, SECRET) == by_hand


@both_games
def test_the_seed_is_made_of_the_secret_and_of_everybodys_nonce(rules: AnyGame) -> None:
    pure = PureRoom(rules, 3).seat_people(BEN, ADA, CYD).deal()
    nonces = [nonce_of(person) for person in (BEN, ADA, CYD)]
    assert pure.room.game.seed == seed_by_hand(1, nonces) == game_seed(SECRET, UID, 1, nonces)


def test_bots_and_those_without_a_nonce_count_as_zero_bytes() -> None:
    pure = PureRoom(seats=4)
    pure.say(HOST, "sit", seat=3)
    pure.say(BEN, "sit", seat=1, nonce=sealed_nonce(BEN))
    pure.say(CYD, "sit", seat=2)
    pure.say(HOST, "add_bot")
    for person in (BEN, CYD):
        pure.say(person, "ready")
    pure.deal()
    zero = bytes(32)
    assert zero == NO_NONCE
    assert pure.room.game.seed == seed_by_hand(1, [zero, nonce_of(BEN), zero, zero])


def test_without_any_nonce_the_secret_alone_decides() -> None:
    pure = PureRoom().seat_people(ADA, BEN, sealed=False).deal()
    assert pure.room.game.seed == seed_by_hand(1, [bytes(32)] * 2)


def test_each_cancelled_deal_raises_the_number_of_the_deal_by_one() -> None:
    pure = PureRoom().seat_people(ADA, BEN)
    for deal in (1, 2, 3):
        pure.say(HOST, "start")
        assert pure.room.table.deal == deal
        pure.say(BEN, "open", nonce=open_nonce(BEN, deal))
        pure.wait()
        assert pure.room.table.deal == deal
        pure.say(ADA, "sit", nonce=sealed_nonce(ADA, deal + 1))
        pure.say(BEN, "ready", nonce=sealed_nonce(BEN, deal + 1))
    pure.deal()
    assert pure.room.table.deal == 4
    assert pure.room.game.seed == seed_by_hand(4, [nonce_of(ADA, 4), nonce_of(BEN, 4)])


def test_a_nonce_that_was_replaced_or_left_behind_has_no_say() -> None:
    pure = PureRoom()
    pure.say(BEN, "sit", nonce=sealed_nonce(BEN, 7))
    pure.say(BEN, "stand")
    pure.say(ADA, "sit", nonce=sealed_nonce(ADA, 8))
    pure.say(ADA, "ready", nonce=sealed_nonce(ADA))
    pure.say(BEN, "sit")
    pure.say(BEN, "ready")
    pure.deal()
    assert pure.room.game.seed == seed_by_hand(1, [nonce_of(ADA), bytes(32)])


# --- the secret ---


def forms(secret: bytes) -> Iterator[bytes]:
    """How it might be written: as it is, in hex, as base64 at any place of a longer text."""
    yield secret
    yield secret.hex().encode()
    yield secret.hex().upper().encode()
    for shift in range(3):
        whole = urlsafe_b64encode(bytes(shift) + secret)
        inner = whole[4 if shift else 0 : len(whole) // 4 * 4 - 4]
        yield inner
        yield inner.translate(bytes.maketrans(b"-_", b"+/"))


def gives_away(data: bytes, *secrets: bytes) -> bool:
    return any(form in data for secret in secrets for form in forms(secret))


def told_up_to(pure: PureRoom, seq: int) -> Iterator[bytes]:
    """Everything that leaves the server, or is written where others read, up to a commit."""
    frames = {name: frames_of(pure, name) for name in classes(pure.room)}
    for number, (entry, room) in enumerate(zip(pure.entries[:seq], pure.rooms, strict=False)):
        yield entry.blob
        yield summary(room.table)
        yield summary(msgspec.structs.replace(room.table, key_hash=b""))
        yield msgspec.json.encode(describe(room.table))
        yield room.tag.encode()
        for name in classes(room):
            yield msgspec.msgpack.encode(view(room, name))
            yield frames[name][number]
        for seat in room.to_act():
            yield msgspec.msgpack.encode(room.rules.offers(room.game, seat))
    for _, answer in pure.answers:
        if isinstance(answer, Rejected):
            yield msgspec.msgpack.encode(answer)


@pytest.mark.parametrize("name", GAMES)
def test_nothing_gives_the_secret_away_before_the_end(name: str) -> None:
    pure = whole_room(name)
    seed = pure.room.game.seed
    before = list(told_up_to(pure, pure.seq - 1))
    assert not any(gives_away(data, SECRET, seed) for data in before)
    assert [gives_away(data, SECRET) for data in (pure.entries[-1].blob,)] == [True]
    for each in classes(pure.room):
        assert gives_away(frames_of(pure, each)[-1], SECRET)
        assert gives_away(msgspec.msgpack.encode(view(pure.room, each)), SECRET)


@pytest.mark.parametrize("data", [b"x%by", b'{"a":"%b"}', b"%b"])
@pytest.mark.parametrize("shift", [0, 1, 2])
def test_a_secret_is_found_however_it_is_written(data: bytes, shift: int) -> None:
    assert gives_away(data % SECRET, SECRET)
    assert gives_away(data % SECRET.hex().encode(), SECRET)
    assert gives_away(data % urlsafe_b64encode(b"ab"[:shift] + SECRET), SECRET)
    assert not gives_away(data % sha256(SECRET).digest(), SECRET)


def test_the_end_of_the_game_reveals_the_secret() -> None:
    pure = whole_room("five_towers")
    assert [room.table.revealed for room in pure.rooms[-2:]] == [b"", SECRET]
    assert commitment(UID, pure.room.table.revealed) == pure.room.table.commitment


@pytest.mark.parametrize("stage", ["waiting", "sealed", "playing"])
def test_a_room_that_closes_reveals_the_secret(stage: str) -> None:
    pure = PureRoom().seat_people(ADA, BEN)
    if stage != "waiting":
        pure.say(HOST, "start")
    if stage == "playing":
        pure.say(ADA, "open", nonce=open_nonce(ADA))
        pure.say(BEN, "open", nonce=open_nonce(BEN))
    step = core.close_step(pure.room, "abandoned")
    assert step.commit == Commit(THE_ROOM, (RoomClosed("abandoned"), SecretRevealed(SECRET)))
    assert step.after.table.status == "over"
    assert step.after.table.revealed == SECRET
    assert step.after.to_act() == ()


# --- what has been done need not be done again ---


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
    assert look_up(room, ben(1)) == Overtaken()
    assert look_up(room, ben(3)) == Overtaken()


def test_the_last_sixteen_are_remembered_and_older_ones_are_overtaken() -> None:
    room = PureRoom().room
    for n in range(1, 21):
        room = done(room, ben(n), 100 + n)
    assert MOST_PAIRS == 16
    found = [look_up(room, ben(n)) for n in range(1, 22)]
    assert found == [Overtaken()] * 4 + [Done(100 + n) for n in range(5, 21)] + [None]


def test_every_origin_has_its_own_numbers() -> None:
    room = done(done(PureRoom().room, ben(7), 5), ben(3, "two"), 6)
    assert look_up(room, ben(7)) == Done(5)
    assert look_up(room, ben(3)) == Overtaken()
    assert look_up(room, ben(3, "two")) == Done(6)
    assert look_up(room, ben(7, "two")) is None
    assert look_up(room, ben(1, "three")) is None


def test_every_person_has_own_numbers_even_with_the_same_origin() -> None:
    room = done(PureRoom().room, ben(7), 5)
    assert look_up(room, Cause(0, CYD.id, "one", 7)) is None
    assert look_up(room, Cause(0, CYD.id, "one", 1)) is None


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
    assert pure.room.commands == {who: tuple(done[-32:]) for who, done in counted.items()}


# --- what is due, and when ---


def playing(*people: Person, turn_seconds: int = 0, bot_delay_ms: int = 600) -> PureRoom:
    """A game of two without nonces; bots take the seats that are left."""
    pure = PureRoom(turn_seconds=turn_seconds, bot_delay_ms=bot_delay_ms)
    return pure.seat_people(*people, sealed=False).deal()


def test_an_empty_room_goes_after_ten_minutes() -> None:
    pure = PureRoom()
    assert core.due(pure.room) == Due("remove", EMPTY_MS, "commit")
    assert core.deadline_ms(pure.room) == pure.now_ms + 10 * 60_000


def test_a_room_in_which_nobody_does_anything_is_closed_after_a_day() -> None:
    pure = PureRoom()
    pure.say(BEN, "sit")
    assert core.due(pure.room) == Due("close", IDLE_MS, "commit")
    pure.now_ms += 3_600_000
    pure.say(BEN, "ready")
    assert core.deadline_ms(pure.room) == pure.now_ms + 24 * 3_600_000


def test_a_room_that_everybody_left_is_empty_again() -> None:
    pure = PureRoom()
    pure.say(BEN, "sit")
    pure.say(BEN, "stand")
    assert core.due(pure.room).errand == "remove"


def test_ten_seconds_count_from_the_sealing_whatever_others_open() -> None:
    pure = PureRoom(seats=3).seat_people(ADA, BEN, CYD)
    pure.say(HOST, "start")
    sealed_ms = pure.now_ms
    assert core.due(pure.room) == Due("open", OPEN_MS, "decision")
    for person in (BEN, CYD):
        pure.now_ms += 3_000
        pure.say(person, "open", nonce=open_nonce(person))
        assert core.deadline_ms(pure.room) == sealed_ms + 10_000


def test_every_sealing_has_ten_seconds_of_its_own() -> None:
    pure = PureRoom().seat_people(ADA, BEN)
    pure.say(HOST, "start")
    pure.say(BEN, "open", nonce=open_nonce(BEN))
    pure.wait()
    pure.say(ADA, "sit", nonce=sealed_nonce(ADA, 2))
    pure.say(BEN, "ready")
    pure.say(HOST, "start")
    assert core.deadline_ms(pure.room) == pure.now_ms + 10_000


def test_a_bot_acts_after_its_delay_with_a_clock_or_without() -> None:
    for clock in (0, 30):
        pure = playing(turn_seconds=clock, bot_delay_ms=250)
        assert core.due(pure.room) == Due("bot", 250, "decision")
        assert core.deadline_ms(pure.room) == pure.now_ms + 250
        assert core.bot_to_act(pure.room) == pure.room.to_act()[0]


def test_only_a_bot_whose_turn_it_is_acts() -> None:
    pure = playing(ADA, turn_seconds=30)
    errands = set()
    for before, after in pairwise(pure.play_on(30).rooms):
        if before.playing and after.playing:
            (seat,) = before.to_act()
            errands.add((seat, core.due(before).errand))
    assert errands == {(0, "turn"), (1, "bot")}


def test_a_persons_clock_counts_from_the_decision_and_not_from_other_commits() -> None:
    pure = playing(ADA, BEN, turn_seconds=30)
    began_ms = pure.now_ms
    assert core.due(pure.room) == Due("turn", 30_000, "decision")
    tag = pure.room.tag
    pure.mutter(after_ms=5_000)
    assert pure.room.served_ms == began_ms + 5_000
    assert core.deadline_ms(pure.room) == began_ms + 30_000
    assert pure.room.tag == tag
    pure.play_on(1)
    assert pure.room.tag != tag
    assert core.deadline_ms(pure.room) == pure.now_ms + 30_000


def test_a_game_without_a_clock_is_abandoned_after_thirty_days_without_a_commit() -> None:
    pure = playing(ADA, BEN)
    assert core.due(pure.room) == Due("close", ABANDONED_MS, "commit")
    pure.play_on(3)
    assert core.deadline_ms(pure.room) == pure.now_ms + 30 * 24 * 3_600_000


def test_a_room_that_is_over_is_kept_for_a_day() -> None:
    won, closed = whole_room("five_towers"), playing(ADA, BEN)
    closed.append(core.close_step(closed.room, "abandoned"))
    for pure in (won, closed):
        assert core.due(pure.room) == Due("remove", KEPT_MS, "commit")
        assert core.deadline_ms(pure.room) == pure.now_ms + 24 * 3_600_000


# --- moves ---


def test_a_bot_moves_by_what_its_seat_sees_and_by_entropy() -> None:
    pure = playing()
    seat = core.bot_to_act(pure.room)
    assert seat is not None
    step = core.bot_step(pure.room, seat, bytes(32))
    again = core.bot_step(pure.room, seat, bytes(32))
    assert step == again
    assert not isinstance(step, Rejected)
    assert step.commit.cause.shown() == (seat,)
    choose = FIVE_TOWERS.bots["easy"]
    seen = FIVE_TOWERS.view(pure.room.game, seat)
    offers = FIVE_TOWERS.offers(pure.room.game, seat)
    assert step.commit.command == choose(seen, offers, bytes(32))


def test_a_seat_whose_time_is_up_plays_the_games_default() -> None:
    pure = playing(ADA, BEN, turn_seconds=30)
    (seat,) = pure.room.to_act()
    before = pure.room
    step = pure.wait()
    assert step.commit.room == (TimedOut(seat),)
    assert step.commit.cause.shown() == (seat,)
    assert step.commit.command == FIVE_TOWERS.timeout(before.game, seat)
    assert pure.now_ms == before.began_ms + 30_000


def test_a_command_for_another_decision_is_stale() -> None:
    pure = playing(ADA, BEN)
    tag = pure.room.tag
    (seat,) = pure.room.to_act()
    body = pure.offered(seat, 0)
    person = pure.holder(seat)
    assert not isinstance(pure.ask(person, body, tag), Rejected)
    pure.play_on(1)
    assert pure.ask(person, body, tag) == Rejected("stale", "P-43")
    assert pure.ask(person, body, "") == Rejected("stale", "P-43")


@both_games
def test_the_effect_of_a_command_is_what_its_offer_says(rules: AnyGame) -> None:
    pure = PureRoom(rules, 2).seat_people(ADA, BEN, sealed=False).deal().play_on(6)
    told = 0
    for room in pure.rooms:
        for seat in room.to_act():
            for offer in room.rules.offers(room.game, seat):
                for command, effect in offer.with_effects():
                    told += bool(effect)
                    assert effect_of(room, seat, command) == effect
            assert effect_of(room, seat, {"command": "nonsense"}) == {}
    assert told


def test_a_refusal_is_explained_by_the_page_that_it_cites() -> None:
    of_game = explain(DICE_DUEL, Rejected("no_such_tile", "3", {"size": 2}))
    assert of_game == "Choose a tile of size 2."
    of_room = explain(DICE_DUEL, Rejected("seat_taken", "P-51", {"seat": 1}))
    assert of_room == "seat 1 is taken"
    # Both have a code of that name.
    texts = {
        explain(DICE_DUEL, Rejected("bad_command", rule, {"detail": "so"}))
        for rule in ("2", "P-41")
    }
    assert texts == {
        "Not a command: so.",
        "a command is a map with its name under `command`: so",
    }


@pytest.mark.parametrize("command", ["ready", "stand", "open"])
def test_a_command_to_the_room_has_no_effect_that_could_be_told_beforehand(command: str) -> None:
    pure = PureRoom().seat_people(ADA, BEN)
    assert effect_of(pure.room, Seat(0), {"command": command}) == {}
