"""What decides the shuffle, and that nobody knows it before the end."""

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256

import msgspec
import pytest

from tests.games.tile_duel import GAME as TILE_DUEL
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
    nonce_of,
    open_nonce,
    sealed_nonce,
    whole_room,
)
from towerhall_protocol.fairness import NO_NONCE, commitment, game_seed
from towerhall_server.game import AnyGame, Rejected
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.room.closing import abandon_step
from towerhall_server.room.commits import THE_ROOM, Commit, decode_commit
from towerhall_server.room.events import (
    RoomClosed,
    RoomCreated,
    SecretRevealed,
)
from towerhall_server.room.view import describe, summary, view

both_games = pytest.mark.parametrize("rules", [FIVE_TOWERS, TILE_DUEL], ids=lambda r: r.name)


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
    step = abandon_step(pure.room)
    assert step.commit == Commit(THE_ROOM, (RoomClosed("abandoned"), SecretRevealed(SECRET)))
    assert step.after.table.status == "over"
    assert step.after.table.revealed == SECRET
    assert step.after.to_act() == ()


@both_games
def test_what_is_printed_of_a_room_does_not_hold_the_secret(rules: AnyGame) -> None:
    room = PureRoom(rules).seat_people(ADA, BEN, sealed=False).deal().room
    assert repr(room) == f"<room {room.table.code}, playing>"
    for hidden in (SECRET, seed_by_hand(1, (NO_NONCE, NO_NONCE))):
        assert repr(hidden) not in repr((room, {"before": room}))
