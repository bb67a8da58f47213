"""Entering a room: the frames that were missed, a snapshot, or the door."""

from collections.abc import Callable
from typing import cast

import msgspec
import pytest

from tests.room.pure_rooms import (
    ADA,
    BEN,
    GAMES,
    HOST,
    SECRET,
    SECRET_DUEL,
    UID,
    ZOE,
    Looker,
    PureRoom,
    frames_of,
    whole_room,
)
from towerhall_protocol.codec import canonical
from towerhall_protocol.commands import base64url
from towerhall_protocol.level import LEVEL
from towerhall_protocol.messages import (
    Arrival,
    Cursor,
    ServerOffers,
    ServerPaused,
    ServerPresence,
    ServerReset,
    ServerWelcome,
)
from towerhall_server.eventlog.answers import (
    Behind,
    Following,
    Forked,
    Reading,
)
from towerhall_server.eventlog.entry import START, Entry, Point, mark
from towerhall_server.eventlog.log import EventLog
from towerhall_server.frames import Prepared
from towerhall_server.live.follower import Follower
from towerhall_server.live.node import Node, ServiceClock
from towerhall_server.live.replica import RECENT, Replica
from towerhall_server.live.welcome import resync, welcome
from towerhall_server.room.seats import Person
from towerhall_server.room.view import base_of, view, view_class

LONG = 4


class Shelf:
    """A log that can only be read."""

    def __init__(self, pure: PureRoom) -> None:
        self.pure = pure
        self.readings = self.lookups = 0
        self.before_reading: Callable[[], None] = lambda: None

    async def secret(self, room: str) -> bytes:
        return SECRET

    async def snapshots(self, room: str) -> tuple[int, ...]:
        return ()

    async def entry(self, room: str, seq: int) -> Entry | None:
        self.lookups += 1
        return self.pure.entries[seq - 1] if seq <= len(self.pure.entries) else None

    async def read(self, room: str, place: Point = START, **_: object) -> Reading:
        self.readings += 1
        self.before_reading()
        entries = self.pure.entries
        if place.seq > len(entries):
            return Behind(entries[-1])
        if place.seq and entries[place.seq - 1].point != place:
            return Forked(place.seq)
        return Following(tuple(entries[place.seq :]), more=False)


def following(pure: PureRoom, seq: int | None = None) -> tuple[Follower, Shelf]:
    """Somebody who has read the log up to that seq."""
    shelf = Shelf(pure)
    replica = Replica.load(GAMES, SECRET, pure.entries[:seq])
    node = Node("node", cast(EventLog, shelf), ServiceClock(), GAMES)
    return Follower(node, replica), shelf


def cursor_at(pure: PureRoom, seq: int, name: str = "all") -> Cursor:
    return Cursor(base_of(pure.room, name), seq, mark(pure.entries[seq - 1].chain))


def back(pure: PureRoom, person: Person, seq: int, name: str = "all") -> Looker:
    """Somebody who was there up to that seq."""
    looker = Looker(person)
    looker.cursor = cursor_at(pure, seq, name)
    looker.view = view(pure.rooms[seq - 1], name)
    return looker


def arrival(looker: Looker) -> Arrival:
    (message,) = looker.told(ServerWelcome)
    assert looker.sent[0].message is message
    return message.arrival


def is_level(follower: Follower, looker: Looker) -> None:
    """The looker has what somebody gets who comes in now."""
    name = view_class(follower.room.rules, looker.seat)
    assert looker.cursor == follower.replica.place.cursor(name)
    assert canonical(looker.view) == canonical(view(follower.room, name))


# coming for the first time


async def test_whoever_comes_without_a_cursor_gets_everything() -> None:
    pure = PureRoom(turn_seconds=20).seat_people(ADA, BEN).deal()
    follower, shelf = following(pure)
    await welcome(follower, Looker(ADA), None)
    zoe = Looker(ZOE)
    await welcome(follower, zoe, None)
    told = arrival(zoe)
    assert zoe.names() == ["welcome"]
    assert (told.you, told.name, told.level) == (ZOE.id, "Zoe", LEVEL)
    assert (told.seat, told.lost, told.paused) == (None, 0, False)
    assert (told.online, told.watchers) == ((0,), 1)
    assert [type(clock) for clock in told.now] == [int, int]
    assert told.cursor == cursor_at(pure, pure.seq)
    is_level(follower, zoe)
    assert shelf.readings == 0


async def test_whoever_has_a_seat_is_told_which() -> None:
    follower, _ = following(PureRoom(SECRET_DUEL).seat_people(ADA, BEN))
    ben = Looker(BEN)
    await welcome(follower, ben, None)
    assert (arrival(ben).seat, ben.seat, arrival(ben).online) == (1, 1, (1,))
    assert ben.seats_told == []
    is_level(follower, ben)


async def test_whoever_is_to_act_gets_offers_after_all_else() -> None:
    pure = PureRoom().seat_people(ADA, BEN, sealed=False).deal().play_on(4)
    follower, _ = following(pure)
    acting = pure.room.to_act()[0]
    for seat, person in enumerate((ADA, BEN)):
        looker = back(pure, person, pure.seq - 1)
        await welcome(follower, looker, looker.cursor)
        expected = ["welcome", "frame"] + ["offers"] * (seat == acting)
        assert looker.names() == expected
        if seat == acting:
            offers = pure.room.rules.offers(pure.room.game, acting)
            assert looker.told(ServerOffers) == [ServerOffers(pure.seq, pure.room.tag, offers)]


async def test_a_newer_window_takes_the_seat_over() -> None:
    follower, _ = following(PureRoom().seat_people(ADA, BEN))
    older, newer = Looker(BEN), Looker(BEN)
    await welcome(follower, older, None)
    await welcome(follower, newer, None)
    assert (older.closed, newer.closed) == (["replaced"], [])
    assert arrival(newer).online == (1,)


async def test_a_room_whose_store_does_not_answer_says_so() -> None:
    follower, _ = following(PureRoom())
    follower.paused = True
    zoe = Looker(ZOE)
    await welcome(follower, zoe, None)
    assert arrival(zoe).paused


# coming back


@pytest.mark.parametrize(
    ("name", "person", "enough"), [("five_towers", ZOE, 2), ("secret_duel", BEN, 15)]
)
@pytest.mark.parametrize("seen_by_replica", ["nothing", "some", "all"])
async def test_whoever_comes_back_gets_exactly_the_missed_frames_or_a_snapshot(
    name: str, person: Person, enough: int, seen_by_replica: str
) -> None:
    pure = whole_room(name)
    held = view_class(pure.room.rules, pure.room.table.seated.get(person.id))
    frames = frames_of(pure, held)
    went_on = 0
    for seq in range(pure.seq - 24, pure.seq + 1):
        read = {"nothing": None, "some": max(1, seq - 1), "all": 1}[seen_by_replica]
        follower, _ = following(pure, read)
        follower.audience.fan_out.view_of(follower.room, held)
        await follower.catch_up()
        looker = back(pure, person, seq, held)
        await welcome(follower, looker, looker.cursor)
        is_level(follower, looker)
        told = arrival(looker)
        assert told.lost == 0
        if told.view is None:
            went_on += 1
            assert told.cursor == cursor_at(pure, seq, held)
            assert [sent.binary for sent in looker.sent[1:]] == frames[seq:]
        else:
            assert looker.names() == ["welcome"]
    assert went_on >= enough


async def test_whoever_missed_nothing_gets_nothing() -> None:
    pure = whole_room("five_towers")
    follower, _ = following(pure)
    looker = back(pure, ZOE, pure.seq)
    await welcome(follower, looker, looker.cursor)
    assert looker.names() == ["welcome"]
    assert arrival(looker).view is None
    is_level(follower, looker)


async def test_the_shorter_of_frames_and_snapshot_is_sent() -> None:
    pure = whole_room("five_towers")
    follower, _ = following(pure)
    fresh = Looker(ZOE)
    await welcome(follower, fresh, None)
    went_on = []
    for seq in range(pure.seq - RECENT, pure.seq + 1):
        looker = back(pure, ZOE, seq)
        await welcome(follower, looker, looker.cursor)
        told = arrival(looker)
        greeting = msgspec.structs.replace(told, view=None, cursor=cursor_at(pure, seq))
        missed = follower.replica.missed("all", seq)
        assert missed is not None
        frames = Prepared(ServerWelcome(greeting)).size + sum(frame.size for frame in missed)
        snapshot = msgspec.structs.replace(
            told, view=view(pure.room, "all"), cursor=cursor_at(pure, pure.seq)
        )
        assert (told.view is None) == (frames <= Prepared(ServerWelcome(snapshot)).size)
        went_on.append(told.view is None)
    assert went_on == sorted(went_on)
    assert set(went_on) == {True, False}


async def test_what_was_missed_too_long_ago_is_a_snapshot() -> None:
    pure = whole_room("five_towers", LONG)
    follower, _ = following(pure)
    looker = back(pure, ZOE, 2)
    await welcome(follower, looker, looker.cursor)
    assert looker.names() == ["welcome"]
    assert arrival(looker).view is not None
    assert arrival(looker).lost == 0
    is_level(follower, looker)


async def test_the_next_frame_follows_whatever_came_before() -> None:
    pure = PureRoom().seat_people(ADA, BEN, sealed=False).deal().play_on(20)
    follower, _ = following(pure)
    lookers = [Looker(ZOE), *(back(pure, ZOE, seq) for seq in (2, pure.seq - 2, pure.seq))]
    for looker in lookers:
        await welcome(follower, looker, looker.cursor)
    pure.play_on(3)
    await follower.catch_up()
    for looker in lookers:
        is_level(follower, looker)


# cursors of something else


@pytest.mark.parametrize("held", ["watch", "0", "all", "2", "nonsense"])
async def test_whoever_saw_with_other_eyes_gets_a_snapshot(held: str) -> None:
    pure = PureRoom(SECRET_DUEL).seat_people(ADA, BEN, sealed=False).deal()
    follower, _ = following(pure)
    ben = Looker(BEN)
    await welcome(follower, ben, cursor_at(pure, pure.seq, held))
    assert arrival(ben).view is not None
    assert (arrival(ben).lost, arrival(ben).cursor) == (0, follower.replica.place.cursor("1"))
    is_level(follower, ben)


@pytest.mark.parametrize("versions", ["1.1", "2.2", "0.2", "1", "", "1.2.1"])
async def test_a_view_of_another_version_is_replaced(versions: str) -> None:
    pure = PureRoom()
    follower, _ = following(pure)
    zoe = Looker(ZOE)
    base = f"{base64url(UID)}.all.{versions}"
    assert base != base_of(pure.room, "all")
    await welcome(follower, zoe, Cursor(base, 1, mark(pure.point.chain)))
    assert arrival(zoe).view is not None
    assert arrival(zoe).lost == 0


@pytest.mark.parametrize("base", ["", ".", "AAAAAAAAAAAAAAAAAAAAAA.all.1.1", "all.1.1", "\x00"])
async def test_a_cursor_of_another_room_is_shown_the_door(base: str) -> None:
    pure = PureRoom().seat_people(ADA, BEN)
    follower, _ = following(pure)
    ben = Looker(BEN)
    await welcome(follower, ben, Cursor(base, pure.seq, mark(pure.point.chain)))
    assert (ben.closed, ben.names()) == (["room_gone"], ["error"])
    assert (len(follower.audience), follower.audience.presence.online) == (0, ())


@pytest.mark.parametrize("seq", [-5, 0, 1, 4, 6])
async def test_a_place_that_this_log_does_not_know_is_a_loss(seq: int) -> None:
    pure = PureRoom().seat_people(ADA, BEN)
    follower, _ = following(pure)
    zoe = Looker(ZOE)
    await welcome(follower, zoe, Cursor(base_of(pure.room, "all"), seq, "AAAAAAAAAAA"))
    assert arrival(zoe).view is not None
    assert arrival(zoe).lost == 1
    is_level(follower, zoe)


async def test_whoever_knows_more_than_the_log_hears_how_much_is_lost() -> None:
    pure = PureRoom().seat_people(ADA, BEN)
    follower, shelf = following(pure)
    zoe = Looker(ZOE)
    await welcome(follower, zoe, Cursor(base_of(pure.room, "all"), pure.seq + 3, "AAAAAAAAAAA"))
    assert shelf.readings == 1
    assert arrival(zoe).lost == 3
    is_level(follower, zoe)


async def test_whoever_lost_a_seat_with_the_end_of_the_log_hears_of_both() -> None:
    pure = PureRoom(SECRET_DUEL)
    follower, _ = following(pure)
    ben = Looker(BEN)
    seated = Cursor(base_of(pure.room, "1"), pure.seq + 2, "AAAAAAAAAAA")
    await welcome(follower, ben, seated)
    assert arrival(ben).cursor == follower.replica.place.cursor("watch")
    assert arrival(ben).lost == 2
    is_level(follower, ben)


# being behind


async def test_whoever_knows_more_than_the_replica_makes_it_read_first() -> None:
    pure = whole_room("five_towers")
    follower, shelf = following(pure, 30)
    watcher = Looker(ZOE)
    await welcome(follower, watcher, None)
    assert shelf.readings == 0
    looker = back(pure, ADA, 60)
    await welcome(follower, looker, looker.cursor)
    assert follower.replica.point == pure.point
    assert arrival(looker).lost == 0
    is_level(follower, looker)
    is_level(follower, watcher)


async def test_nobody_makes_a_replica_read_with_a_cursor_that_it_has_reached() -> None:
    pure = whole_room("five_towers")
    follower, shelf = following(pure, 30)
    for seq in (29, 30):
        looker = back(pure, ADA, seq)
        await welcome(follower, looker, looker.cursor)
    assert shelf.readings == 0
    assert follower.replica.point.seq == 30


@pytest.mark.parametrize("ahead", [-1, 0, 1])
async def test_a_cursor_is_judged_by_the_newest_past_and_not_by_the_one_before(ahead: int) -> None:
    old = PureRoom().seat_people(ADA, BEN, sealed=False).deal().play_on(3)
    new = PureRoom().seat_people(ADA, BEN, sealed=False)
    new.say(BEN, "ready", ready=False)
    new.say(BEN, "ready")
    new.deal().play_on(6)
    follower, shelf = following(old)
    shelf.pure = new
    looker = back(new, ZOE, old.seq + ahead)
    await welcome(follower, looker, looker.cursor)
    assert arrival(looker).lost == 0
    assert follower.replica.point == new.point
    is_level(follower, looker)


# starting anew


async def test_whoever_was_too_slow_gets_everything_again() -> None:
    pure = PureRoom().seat_people(ADA, BEN, sealed=False).deal().play_on(5)
    follower, _ = following(pure)
    acting = pure.room.to_act()[0]
    slow, zoe = Looker(pure.holder(acting)), Looker(ZOE)
    for looker in (slow, zoe):
        await welcome(follower, looker, None)
        looker.forget()
        follower.paused = True
        resync(follower, looker)
        is_level(follower, looker)
        assert [reset.lost for reset in looker.told(ServerReset)] == [0]
        assert looker.seats_told == [-1 if looker.seat is None else looker.seat]
        assert looker.told(ServerPaused) == [ServerPaused(True)]
        (presence,) = looker.told(ServerPresence)
        assert presence.online == (acting,)
    # `seat` makes offers void (P-39), so they come last.
    assert slow.names() == ["reset", "seat", "paused", "presence", "offers"]
    assert "offers" not in zoe.names()


# whoever is not there any more


@pytest.mark.parametrize("cursor", [None, Cursor("", 1, ""), Cursor("", 99, "")])
async def test_whoever_has_gone_is_not_let_in(cursor: Cursor | None) -> None:
    follower, _ = following(PureRoom().seat_people(ADA, BEN))
    there, gone = Looker(BEN), Looker(BEN)
    await welcome(follower, there, None)
    gone.alive = False
    await welcome(follower, gone, cursor)
    assert (gone.sent, gone.closed, there.closed) == ([], [], [])
    assert len(follower.audience) == 1


async def test_whoever_goes_while_the_log_is_read_is_not_let_in() -> None:
    pure = whole_room("five_towers")
    follower, shelf = following(pure, 30)
    looker = back(pure, ADA, 60)
    shelf.before_reading = lambda: setattr(looker, "alive", False)
    await welcome(follower, looker, looker.cursor)
    assert looker.sent == []
    assert len(follower.audience) == 0


async def test_a_host_without_a_seat_is_a_watcher() -> None:
    follower, _ = following(PureRoom())
    host = Looker(HOST)
    await welcome(follower, host, None)
    assert (arrival(host).seat, arrival(host).watchers) == (None, 1)
