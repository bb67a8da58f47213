"""Those who look at a room: who sits where, what each of them is shown, who is told of whom."""

import asyncio

import msgspec
import pytest

from tests.room.pure_rooms import (
    ADA,
    BEN,
    CYD,
    DORA,
    GAMES,
    HOST,
    SECRET_DUEL,
    SHARED_DUEL,
    ZOE,
    Looker,
    PureRoom,
    Stage,
    frames_of,
    read,
    whole_room,
)
from towerhall_protocol.codec import canonical
from towerhall_protocol.messages import (
    ServerFrame,
    ServerMessage,
    ServerOffers,
    ServerPaused,
    ServerPresence,
    ServerReset,
)
from towerhall_server.game import AnyGame, Seat
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.live import presence
from towerhall_server.live.guests import Guests
from towerhall_server.room.view import view, view_class

PRESENCE_SECONDS = 0.02
both_kinds = pytest.mark.parametrize("rules", [SHARED_DUEL, SECRET_DUEL], ids=lambda r: r.name)


@pytest.fixture(autouse=True)
def _presence_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "PRESENCE_SECONDS", PRESENCE_SECONDS)


def sees_what_is_there(stage: Stage, looker: Looker) -> None:
    """The view that was built from messages is the one that somebody gets who comes in now."""
    room = stage.replica.room
    assert looker.seat == room.table.seated.get(looker.person.id)
    name = view_class(room.rules, looker.seat)
    assert looker.cursor == stage.replica.place.cursor(name)
    assert canonical(looker.view) == canonical(view(room, name))


# what is shown


@pytest.mark.parametrize("name", GAMES)
async def test_everybody_sees_every_commit_as_it_is(name: str) -> None:
    stage = Stage(whole_room(name), 1)
    lookers = [stage.enter(person) for person in (ADA, BEN, ZOE, CYD, ZOE)]
    for seq in range(2, stage.pure.seq + 1):
        stage.follow(seq)
        for looker in lookers:
            if not looker.closed:
                sees_what_is_there(stage, looker)
    assert [looker.closed for looker in lookers] == [[], [], ["replaced"], [], []]


@pytest.mark.parametrize("name", GAMES)
async def test_frames_are_those_of_the_class(name: str) -> None:
    pure = whole_room(name)
    stage = Stage(pure, pure.seq - 12)
    lookers = [stage.enter(person) for person in (ADA, BEN, ZOE)]
    stage.follow()
    for looker in lookers:
        each = view_class(pure.room.rules, looker.seat)
        frames = [sent.binary for sent in looker.sent if isinstance(read(sent), ServerFrame)]
        assert frames == frames_of(pure, each)[-12:]


async def test_one_encoding_serves_all_of_a_class() -> None:
    pure = PureRoom(SECRET_DUEL).seat_people(ADA, BEN, sealed=False).deal().play_on(3)
    stage = Stage(pure, pure.seq - 1)
    seated = [stage.enter(person) for person in (ADA, BEN)]
    watching = [stage.enter(person) for person in (ZOE, CYD, DORA)]
    for looker in (*seated, *watching):
        looker.forget()
    stage.follow()
    frames = [looker.sent[0] for looker in (*seated, *watching)]
    assert all(isinstance(read(prepared), ServerFrame) for prepared in frames)
    assert frames[2] is frames[3] is frames[4]
    assert len({id(prepared) for prepared in frames}) == 3
    missed = stage.replica.missed("watch", pure.seq - 1)
    assert missed is not None
    assert missed[0].binary is frames[2].binary


async def test_one_encoding_serves_all_where_all_see_the_same() -> None:
    pure = PureRoom(FIVE_TOWERS).seat_people(ADA, BEN, sealed=False).deal()
    stage = Stage(pure, pure.seq - 1)
    lookers = [stage.enter(person) for person in (ADA, BEN, ZOE, CYD)]
    for looker in lookers:
        looker.forget()
    stage.follow()
    assert len({id(looker.sent[0]) for looker in lookers}) == 1
    stage.audience.fan_out.tell(ServerPaused(True))
    assert len({id(looker.sent[-1]) for looker in lookers}) == 1


async def test_whoever_left_is_told_nothing_more() -> None:
    pure = whole_room("five_towers")
    stage = Stage(pure, 30)
    ada, zoe = stage.enter(ADA), stage.enter(ZOE)
    for looker in (ada, zoe):
        stage.audience.remove(looker)
        looker.forget()
    stage.follow()
    stage.audience.remove(ada)
    await asyncio.sleep(2 * PRESENCE_SECONDS)
    assert ada.sent == zoe.sent == []
    assert (
        len(stage.audience),
        stage.audience.presence.online,
        stage.audience.presence.watchers,
    ) == (0, (), 0)


# seats


@both_kinds
async def test_the_newest_connection_of_a_seat_wins(rules: AnyGame) -> None:
    stage = Stage(PureRoom(rules).seat_people(ADA, BEN, sealed=False))
    older, other = stage.enter(BEN), stage.enter(ADA)
    newer = stage.enter(BEN)
    assert (older.closed, newer.closed, other.closed) == (["replaced"], [], [])
    assert (older.seat, newer.seat) == (None, 1)
    assert list(stage.audience.presence.online) == [0, 1]
    assert len(stage.audience) == 2
    # Its connection ends a little later; that must not take the seat from the newer one.
    stage.audience.remove(older)
    assert list(stage.audience.presence.online) == [0, 1]
    stage.pure.deal()
    newer.forget()
    stage.follow()
    assert newer.names().count("frame") == 1
    sees_what_is_there(stage, newer)


@both_kinds
async def test_watchers_may_look_through_many_windows(rules: AnyGame) -> None:
    stage = Stage(PureRoom(rules).seat_people(ADA, BEN))
    windows = [stage.enter(ZOE) for _ in range(3)]
    assert [window.closed for window in windows] == [[]] * 3
    assert stage.audience.presence.watchers == 3


@both_kinds
async def test_of_many_windows_the_newest_keeps_the_seat_that_is_taken(rules: AnyGame) -> None:
    stage = Stage(PureRoom(rules))
    windows = [stage.enter(ZOE) for _ in range(3)]
    stage.pure.say(ZOE, "sit")
    stage.follow()
    assert [window.closed for window in windows] == [["replaced"], ["replaced"], []]
    assert stage.audience.presence.online == (0,)
    assert (len(stage.audience), stage.audience.presence.watchers) == (1, 0)
    sees_what_is_there(stage, windows[2])


@both_kinds
async def test_the_window_that_asked_for_the_seat_keeps_it(rules: AnyGame) -> None:
    stage = Stage(PureRoom(rules))
    windows = [stage.enter(ZOE, origin) for origin in ("one", "", "three")]
    stage.pure.say(ZOE, "sit")
    stage.follow()
    assert [window.closed for window in windows] == [["replaced"], [], ["replaced"]]
    assert windows[1].seats_told == [0]
    sees_what_is_there(stage, windows[1])


async def test_sitting_and_standing_is_told_to_whom_it_concerns_after_the_frame() -> None:
    stage = Stage(PureRoom(SHARED_DUEL))
    zoe, cyd = stage.enter(ZOE), stage.enter(CYD)
    stage.pure.say(ZOE, "sit", seat=1)
    zoe.forget()
    stage.follow()
    assert zoe.names() == ["frame", "seat"]
    assert (zoe.seats_told, zoe.seat) == ([1], 1)
    stage.pure.say(ZOE, "ready")
    stage.pure.say(ZOE, "stand")
    zoe.forget()
    stage.follow()
    assert zoe.names() == ["frame", "frame", "seat"]
    assert (zoe.seats_told, zoe.seat) == ([-1], None)
    assert cyd.seats_told == []
    assert (stage.audience.presence.online, stage.audience.presence.watchers) == ((), 2)


async def test_whoever_sees_with_other_eyes_gets_a_snapshot_without_loss() -> None:
    stage = Stage(PureRoom(SECRET_DUEL))
    zoe, cyd = stage.enter(ZOE), stage.enter(CYD)
    for looker in (zoe, cyd):
        looker.forget()
    stage.pure.say(ZOE, "sit", seat=1)
    stage.follow()
    assert zoe.names() == ["frame", "seat", "reset"]
    (reset,) = zoe.told(ServerReset)
    assert (reset.cursor, reset.lost) == (stage.replica.place.cursor("1"), 0)
    assert cyd.names() == ["frame"]
    stage.pure.say(ZOE, "stand")
    stage.follow()
    assert zoe.names()[3:] == ["frame", "seat", "reset"]
    sees_what_is_there(stage, zoe)


async def test_whoever_is_unseated_by_a_cancelled_deal_is_told() -> None:
    stage = Stage(PureRoom(SECRET_DUEL).seat_people(ADA, BEN))
    ada, ben = stage.enter(ADA), stage.enter(BEN)
    stage.pure.say(HOST, "start")
    stage.pure.wait()
    stage.follow()
    assert ada.seats_told == ben.seats_told == [-1]
    assert stage.audience.presence.online == ()
    for looker in (ada, ben):
        sees_what_is_there(stage, looker)


# offers


async def test_offers_go_to_the_seat_that_acts_and_to_nobody_else() -> None:
    pure = PureRoom().seat_people(ADA, BEN, sealed=False).deal()
    stage = Stage(pure, 1)
    old = stage.enter(ADA)
    stage.follow(pure.seq - 1)
    lookers = [stage.enter(person) for person in (ADA, BEN, ZOE)]
    for looker in (old, *lookers):
        looker.forget()
    stage.follow()
    for _ in range(12):
        room = stage.replica.room
        (seat,) = room.to_act()
        told = [looker.told(ServerOffers) for looker in lookers]
        expected = ServerOffers(pure.seq, room.tag, FIVE_TOWERS.offers(room.game, seat))
        assert told == [[expected] if looker.seat == seat else [] for looker in lookers]
        acting = lookers[seat]
        assert [name for name in acting.names() if name != "chain"][-2:] == ["frame", "offers"]
        for looker in lookers:
            looker.forget()
        pure.play_on(1)
        stage.follow()
    assert old.sent == []


async def test_offers_are_not_sent_again_for_the_same_decision() -> None:
    stage = Stage(PureRoom().seat_people(ADA, BEN, sealed=False).deal())
    lookers = [stage.enter(person) for person in (ADA, BEN)]
    for looker in lookers:
        looker.forget()
    stage.pure.mutter()
    stage.follow()
    assert [looker.names() for looker in lookers] == [["frame"], ["frame"]]


async def test_a_bot_that_acts_is_offered_nothing_and_nobody_hears_of_it() -> None:
    pure = PureRoom().seat_people(ADA, sealed=False).deal()
    stage = Stage(pure, 1)
    ada = stage.enter(ADA)
    stage.follow()
    for _ in range(10):
        pure.play_on(1)
        ada.forget()
        stage.follow()
        assert ("offers" in ada.names()) == (stage.replica.room.to_act() == (0,))


async def test_an_offer_to_an_empty_seat_is_sent_to_nobody() -> None:
    stage = Stage(PureRoom().seat_people(ADA, BEN, sealed=False).deal())
    zoe = stage.enter(ZOE)
    zoe.forget()
    for seat in (0, 1):
        stage.audience.fan_out.offer(stage.replica.room, stage.replica.point.seq, Seat(seat))
    assert zoe.sent == []


async def test_a_snapshot_brings_the_offers_again() -> None:
    stage = Stage(PureRoom().seat_people(ADA, BEN, sealed=False).deal())
    seat = stage.replica.room.to_act()[0]
    people = (ADA, BEN)
    acting, waiting = stage.enter(people[seat]), stage.enter(people[1 - seat])
    assert (acting.names(), waiting.names()) == (["reset", "offers"], ["reset"])


# presence


async def test_a_crowd_is_told_once_of_all_that_changed() -> None:
    stage = Stage(PureRoom().seat_people(ADA, BEN))
    ada = stage.enter(ADA)
    watchers = [stage.enter(ZOE) for _ in range(20)]
    ben = stage.enter(BEN)
    for watcher in watchers[:5]:
        stage.audience.remove(watcher)
    assert ada.told(ServerPresence) == []
    await asyncio.sleep(3 * PRESENCE_SECONDS)
    expected = ServerPresence((0, 1), 15)
    for looker in (ada, ben, *watchers[5:]):
        assert presences(looker) == [expected]
    assert watchers[0].told(ServerPresence) == []
    stage.audience.remove(ben)
    await asyncio.sleep(3 * PRESENCE_SECONDS)
    assert presences(ada) == [expected, ServerPresence((0,), 15)]


async def test_sitting_down_changes_who_is_there() -> None:
    stage = Stage(PureRoom(SECRET_DUEL))
    zoe = stage.enter(ZOE)
    await asyncio.sleep(3 * PRESENCE_SECONDS)
    stage.pure.say(ZOE, "sit", seat=1)
    stage.follow()
    await asyncio.sleep(3 * PRESENCE_SECONDS)
    assert presences(zoe) == [ServerPresence((), 1), ServerPresence((1,), 0)]


async def test_a_room_that_is_closed_sends_everybody_away_and_says_no_more() -> None:
    stage = Stage(PureRoom().seat_people(ADA, BEN))
    lookers = [stage.enter(person) for person in (ADA, BEN, ZOE)]
    for looker in lookers:
        looker.forget()
    stage.audience.close("restart")
    await asyncio.sleep(3 * PRESENCE_SECONDS)
    assert [looker.closed for looker in lookers] == [["restart"]] * 3
    assert [looker.sent for looker in lookers] == [[]] * 3


# another past


def another_past(stage: Stage, pure: PureRoom) -> None:
    """The store has come back with another log."""
    lost = stage.replica.point.seq
    new = Stage(pure).replica
    lost -= stage.replica.shared_with(new)
    stage.pure, stage.replica = pure, new
    stage.audience.reset(new.place, lost)


@both_kinds
async def test_a_lost_past_is_replaced_and_the_loss_is_told(rules: AnyGame) -> None:
    long = PureRoom(rules).seat_people(ADA, BEN, sealed=False).deal().play_on(3)
    short = PureRoom(rules).seat_people(ADA, BEN, sealed=False)
    stage = Stage(long)
    lookers = [stage.enter(person) for person in (ADA, BEN, ZOE)]
    for looker in lookers:
        looker.forget()
    another_past(stage, short)
    for looker in lookers:
        assert [reset.lost for reset in looker.told(ServerReset)] == [4]
        sees_what_is_there(stage, looker)
    short.deal().play_on(2)
    stage.follow()
    for looker in lookers:
        sees_what_is_there(stage, looker)


async def test_whoever_lags_is_sent_away_to_be_told_of_the_loss_later() -> None:
    stage = Stage(PureRoom().seat_people(ADA, BEN, sealed=False).deal())
    ada, ben = stage.enter(ADA), stage.enter(BEN)
    ada.lags = True
    for looker in (ada, ben):
        looker.forget()
    another_past(stage, PureRoom().seat_people(ADA, BEN, sealed=False))
    assert (ada.closed, ada.told(ServerReset)) == (["too_slow"], [])
    assert (ben.closed, ben.names()) == ([], ["reset"])


@both_kinds
async def test_whoever_lost_the_seat_with_the_past_is_told(rules: AnyGame) -> None:
    stage = Stage(PureRoom(rules).seat_people(ADA, BEN))
    ada, ben = stage.enter(ADA), stage.enter(BEN)
    short = PureRoom(rules)
    short.say(ADA, "sit")
    another_past(stage, short)
    assert (ada.seats_told, ben.seats_told) == ([], [-1])
    assert stage.audience.presence.online == (0,)
    for looker in (ada, ben):
        sees_what_is_there(stage, looker)


async def test_nobody_sees_through_the_eyes_of_whoever_has_the_seat_now() -> None:
    stage = Stage(PureRoom(SECRET_DUEL).seat_people(ADA, BEN, sealed=False).deal().play_on(4))
    ben = stage.enter(BEN)
    ben.forget()
    another_past(stage, PureRoom(SECRET_DUEL).seat_people(ADA, ZOE, sealed=False).deal().play_on(6))
    for reset in ben.told(ServerReset):
        game = reset.view["game"]
        assert isinstance(game, dict)
        assert game["columns"] == {}
    assert ben.told(ServerOffers) == []


@both_kinds
async def test_two_who_have_changed_places_both_stay(rules: AnyGame) -> None:
    stage = Stage(PureRoom(rules).seat_people(ADA, BEN))
    lookers = [stage.enter(person) for person in (ADA, BEN)]
    another_past(stage, PureRoom(rules, salt="other").seat_people(BEN, ADA))
    assert [looker.closed for looker in lookers] == [[], []]
    assert [looker.seats_told for looker in lookers] == [[1], [0]]
    assert stage.audience.presence.online == (0, 1)
    for looker in lookers:
        sees_what_is_there(stage, looker)


async def test_no_frames_of_the_lost_past_are_given_to_those_who_come_back() -> None:
    stage = Stage(PureRoom().seat_people(ADA, BEN, sealed=False).deal().play_on(5))
    stage.enter(ADA)
    short = PureRoom().seat_people(ADA, BEN, sealed=False)
    another_past(stage, short)
    short.say(ADA, "stand")
    stage.follow()
    frames = stage.replica.missed("all", short.seq - 1)
    assert frames is not None
    assert [frame.binary for frame in frames] == frames_of(short, "all")[-1:]


# other nodes


def presences(looker: Looker) -> list[ServerMessage]:
    """Without the time of absences."""
    found = [message for message in map(read, looker.sent) if isinstance(message, ServerPresence)]
    return [msgspec.structs.replace(message, away_ms=()) for message in found]


async def test_presence_counts_other_nodes_and_forgets_those_that_have_gone() -> None:
    stage = Stage(whole_room("five_towers"), 20)
    ada, zoe = stage.enter(ADA), stage.enter(ZOE)
    hall = stage.audience
    hall.hear_of("there", Guests({Seat(1): 1}, 3))
    hall.hear_of("elsewhere", Guests({}, 2))
    assert (hall.presence.online, hall.presence.watchers) == ((0, 1), 6)
    await asyncio.sleep(2 * PRESENCE_SECONDS)
    for looker in (ada, zoe):
        assert presences(looker)[-1] == ServerPresence((0, 1), 6)
    hall.presence.forget(["there"])
    await asyncio.sleep(2 * PRESENCE_SECONDS)
    assert presences(ada)[-1] == ServerPresence((0,), 3)


async def test_a_newer_connection_on_another_node_has_the_seat() -> None:
    stage = Stage(whole_room("five_towers"), 20)
    ada, ben = stage.enter(ADA), stage.enter(BEN)
    stage.audience.hear_of("there", Guests({Seat(0): ada.claim + 100}, 0))
    assert (ada.closed, ben.closed) == (["replaced"], [])
    online = [stage.audience.presence.online]
    stage.audience.hear_of("there", Guests())
    assert [*online, stage.audience.presence.online] == [(0, 1), (1,)]


async def test_an_older_connection_on_another_node_is_told_of_the_newer_one() -> None:
    told: list[Guests] = []
    stage = Stage(whole_room("five_towers"), 20, tell_others=told.append)
    ada = stage.enter(ADA)
    await asyncio.sleep(2 * PRESENCE_SECONDS)
    assert told == [Guests({Seat(0): ada.claim}, 0, asks=True, host=True)]
    stage.audience.hear_of("there", Guests({Seat(0): ada.claim - 1}, 0))
    await asyncio.sleep(2 * PRESENCE_SECONDS)
    assert ada.closed == []
    assert told[1:] == [Guests({Seat(0): ada.claim}, 0, host=True)]


async def test_of_two_equal_claims_on_two_nodes_one_stays() -> None:
    closed = []
    for node in ("elsewhere", "there"):
        stage = Stage(whole_room("five_towers"), 20)
        ada = stage.enter(ADA)
        stage.audience.hear_of(node, Guests({Seat(0): ada.claim}, 0))
        closed.append(ada.closed)
    assert closed == [[], ["replaced"]], "the name of this node is between the two"


async def test_a_new_connection_wins_though_the_clock_of_the_store_went_back() -> None:
    told: list[Guests] = []
    stage = Stage(whole_room("five_towers"), 20, tell_others=told.append)
    ahead = 10_000_000
    stage.audience.hear_of("there", Guests({Seat(0): ahead}, 0))
    ada = stage.enter(ADA)
    await asyncio.sleep(2 * PRESENCE_SECONDS)
    assert told[-1].claims[Seat(0)] > ahead
    stage.audience.hear_of("there", Guests({Seat(0): ahead}, 0))
    assert ada.closed == []
    again = stage.enter(ADA)
    assert ada.closed == ["replaced"]
    assert again.claim > ada.claim > ahead


async def test_a_node_that_yielded_lets_the_next_connection_win() -> None:
    stage = Stage(whole_room("five_towers"), 20)
    ada = stage.enter(ADA)
    ahead = ada.claim + 10_000_000
    stage.audience.hear_of("there", Guests({Seat(0): ahead}, 0))
    assert ada.closed == ["replaced"]
    again = stage.enter(ADA)
    stage.audience.hear_of("there", Guests({Seat(0): ahead}, 0))
    assert again.closed == []


async def test_who_asks_is_answered_and_who_only_tells_is_not() -> None:
    told: list[Guests] = []
    stage = Stage(whole_room("five_towers"), 20, tell_others=told.append)
    stage.enter(ZOE)
    await asyncio.sleep(2 * PRESENCE_SECONDS)
    told.clear()
    stage.audience.hear_of("there", Guests({}, 1))
    await asyncio.sleep(2 * PRESENCE_SECONDS)
    assert told == []
    stage.audience.hear_of("there", Guests({}, 1, asks=True))
    await asyncio.sleep(2 * PRESENCE_SECONDS)
    assert told == [Guests({}, 1)]
    stage.audience.presence.ask_around()
    await asyncio.sleep(2 * PRESENCE_SECONDS)
    assert told[1:] == [Guests({}, 1, asks=True)]


# Those for whom a bot plays


async def test_whoever_leaves_is_offered_nothing_until_the_seat_is_taken_back() -> None:
    pure = PureRoom().seat_people(ADA, BEN, sealed=False).deal()
    seat = pure.room.to_act()[0]
    person = pure.holder(seat)
    stage = Stage(pure)
    looker = stage.enter(person)
    assert looker.told(ServerOffers)[-1].offers
    looker.forget()
    pure.say(person, "leave")
    stage.follow()
    assert looker.names() == ["frame", "offers"]
    assert looker.told(ServerOffers)[-1].offers == ()
    again = stage.enter(person)
    assert again.told(ServerOffers)[-1].offers == ()
    again.forget()
    pure.say(person, "take_back")
    stage.follow()
    assert again.names() == ["frame", "offers"]
    told = again.told(ServerOffers)[-1]
    assert told.offers == pure.room.rules.offers(pure.room.game, seat)
    assert told.tag == pure.room.tag


async def test_the_moves_of_a_stand_in_bring_no_offers_to_the_person() -> None:
    pure = PureRoom().seat_people(ADA, BEN, sealed=False).deal()
    pure.say(ADA, "leave")
    pure.say(BEN, "leave")
    stage = Stage(pure)
    ada = stage.enter(ADA)
    ada.forget()
    pure.play_on(6)
    stage.follow()
    assert ada.names() == ["frame"] * 6


async def test_a_new_host_is_told_to_other_nodes() -> None:
    told: list[Guests] = []
    pure = PureRoom(seats=3)
    pure.say(ADA, "sit")
    pure.say(BEN, "sit")
    stage = Stage(pure, tell_others=told.append)
    stage.enter(BEN)
    await asyncio.sleep(2 * PRESENCE_SECONDS)
    seen = [stage.audience.presence.has_host]
    pure.say(ADA, "stand")
    stage.follow()
    seen.append(stage.audience.presence.has_host)
    assert seen == [False, True]
    await asyncio.sleep(2 * PRESENCE_SECONDS)
    assert [guests.host for guests in told] == [False, True]


async def test_an_absence_lasts_while_others_come_and_go(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(presence, "monotonic", lambda: now)
    stage = Stage(whole_room("five_towers"))
    ada, ben = stage.enter(ADA), stage.enter(BEN)
    await asyncio.sleep(2 * PRESENCE_SECONDS)
    stage.audience.remove(ben)
    await asyncio.sleep(2 * PRESENCE_SECONDS)
    for person in (ZOE, CYD):
        now += 50.0
        watcher = stage.enter(person)
        await asyncio.sleep(2 * PRESENCE_SECONDS)
        stage.audience.remove(watcher)
        await asyncio.sleep(2 * PRESENCE_SECONDS)
    assert stage.audience.presence.absent_seconds(Seat(1)) == 100.0
    assert stage.audience.presence.absent_seconds(Seat(0)) == 0.0
    # A newcomer is told how long it has lasted; no message comes only because it goes on.
    now += 7.0
    told = len(presences(ada))
    newcomer = stage.enter(ZOE)
    await asyncio.sleep(2 * PRESENCE_SECONDS)
    last = read(newcomer.sent[-1])
    assert isinstance(last, ServerPresence)
    assert (last.away_ms[0], last.away_ms[1]) == (0, 107_000)
    assert len(presences(ada)) == told + 1
    assert not ada.closed
