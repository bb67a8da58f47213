"""The client core, message by message."""

from collections.abc import Iterator

import pytest

from tests.protocol import messages as samples
from towerhall_protocol import messages as m
from towerhall_protocol import updates as u
from towerhall_protocol.commands import ROOM_COMMANDS, base64url
from towerhall_protocol.fairness import nonce_hash
from towerhall_protocol.level import LEVEL
from towerhall_protocol.offers import Offer
from towerhall_protocol.replay import MOST_UNANSWERED, Replay, UnansweredError

ORIGIN = "b3JpZ2luMTE"
UID = bytes(range(16))
CURSOR = m.Cursor("base", 4, "mark4")
OFFER = Offer("pass")


def counting() -> Iterator[int]:
    number = 0
    while True:
        number += 1
        yield number


def room(status: str = "waiting", nonce: str = "", **more: object) -> dict[str, object]:
    holder = {"name": "Ada", **({"nonce": nonce} if nonce else {})}
    return {"room": {"uid": base64url(UID), "status": status, "seats": {"0": holder}}, **more}


def arrival(**changes: object) -> m.ServerWelcome:
    fields: dict[str, object] = {"view": room(), "seat": 0, "cursor": CURSOR, **changes}
    return m.ServerWelcome(m.Arrival("cGVyc29uMDE", "Ada", LEVEL, (9, 5), **fields))  # type: ignore[arg-type]


def frame(seq: int, cause: tuple[object, ...] = (), **patch: object) -> m.ServerFrame:
    return m.ServerFrame(seq, f"mark{seq}", cause, (("seen", seq),), patch)


def fresh(*, keep_frames: bool = False) -> Replay:
    numbers = counting()
    return Replay(lambda size: bytes([next(numbers)]) * size, keep_frames=keep_frames)


def welcomed(*, keep_frames: bool = False, **changes: object) -> Replay:
    replay = fresh(keep_frames=keep_frames)
    replay.hello("token")
    replay.receive(arrival(**changes))
    return replay


def fault(updates: tuple[u.Update, ...]) -> str:
    assert len(updates) == 1
    assert isinstance(updates[0], u.Faulted)
    return updates[0].reason


def test_the_first_hello_asks_for_everything() -> None:
    replay = Replay(bytes, origin=ORIGIN)
    assert replay.hello("token", "key") == m.ClientHello(
        m.Greeting("token", LEVEL, ORIGIN, None, "key")
    )


def test_an_origin_is_drawn_if_none_is_given() -> None:
    assert fresh().origin == base64url(b"\1" * 8)


def test_a_welcome_with_a_view_replaces_everything() -> None:
    replay = fresh()
    replay.hello("token")
    updates = replay.receive(arrival(lost=2, online=(0, 1), watchers=3, paused=True))
    assert updates == (u.Synced(4, True, 2),)
    assert (replay.view, replay.cursor, replay.seq, replay.seat) == (room(), CURSOR, 4, 0)
    assert (replay.you, replay.name, replay.now) == ("cGVyc29uMDE", "Ada", (9, 5))
    assert (replay.online, replay.watchers, replay.paused) == ((0, 1), 3, True)
    assert replay.hello("token").greeting.cursor == CURSOR


def test_a_welcome_without_a_view_goes_on() -> None:
    replay = welcomed()
    replay.receive(frame(5, game={"turn": 1}))
    cursor = replay.cursor
    replay.hello("token")
    assert replay.receive(arrival(view=None, cursor=cursor)) == (u.Synced(5, False, 0),)
    assert replay.receive(frame(6, game={"turn": 2}))
    assert replay.view["game"] == {"turn": 2}


@pytest.mark.parametrize("cursor", [m.Cursor("base", 3, "mark3"), m.Cursor("other", 4, "mark4")])
def test_a_welcome_that_goes_on_from_elsewhere_is_a_fault(cursor: m.Cursor) -> None:
    replay = welcomed()
    replay.hello("token")
    assert "elsewhere" in fault(replay.receive(arrival(view=None, cursor=cursor)))


def test_a_welcome_without_a_view_for_a_client_without_one_is_a_fault() -> None:
    replay = fresh()
    replay.hello("token")
    assert fault(replay.receive(arrival(view=None)))


def test_a_frame_moves_view_and_cursor() -> None:
    replay = welcomed(view={"a": {"b": 1, "c": 2}})
    updates = replay.receive(frame(5, (1,), a={"b": None}, d=[1]))
    assert updates == (u.Moved(5, (1,), (("seen", 5),), None),)
    assert replay.view == {"a": {"c": 2}, "d": [1]}
    assert replay.cursor == m.Cursor("base", 5, "mark5")
    assert replay.ping() == m.ClientPing(5)


@pytest.mark.parametrize("seq", [3, 4, 6, 100, 0, -1])
def test_a_gap_or_a_repeat_is_a_fault_that_drops_the_cursor(seq: int) -> None:
    replay = welcomed()
    command = replay.command({"command": "sit"})
    view = replay.view
    assert fault(replay.receive(frame(seq, room=None)))
    assert replay.view == view
    assert replay.receive(frame(5)) == ()
    assert replay.hello("token").greeting.cursor is None
    assert replay.receive(arrival()) == (u.Synced(4, True, 0),)
    assert replay.resend() == (command,)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        sample
        for sample in samples.FROM_SERVER
        if not isinstance(sample[1], m.ServerWelcome | m.ServerError | m.ServerGo | m.ServerPong)
    ],
)
def test_before_the_welcome_there_is_nothing_else(name: str, message: m.ServerMessage) -> None:
    replay = welcomed()
    replay.hello("token")
    assert "before the welcome" in fault(replay.receive(message))


def test_an_error_may_come_instead_of_the_welcome() -> None:
    replay = fresh()
    replay.hello("token")
    error = m.ServerError("unauthorized", {"detail": "old"}, "get a token")
    assert replay.receive(error) == (u.ErrorCame("unauthorized", {"detail": "old"}, "get a token"),)


def test_a_second_welcome_is_a_fault() -> None:
    assert "second" in fault(welcomed().receive(arrival()))


def test_commands_are_numbered_and_carry_the_tag_of_the_offers() -> None:
    replay = welcomed()
    replay.receive(m.ServerOffers(4, "tag4", (OFFER,)))
    assert replay.command({"command": "bid"}) == m.ClientCommand(1, "tag4", {"command": "bid"})
    assert replay.command({"command": "bid"}, dry=True).n == 2
    for number, name in enumerate(ROOM_COMMANDS[:3], start=3):
        assert replay.command({"command": name}) == m.ClientCommand(number, "", {"command": name})


def test_a_command_does_not_change_with_the_map_that_it_was_made_from() -> None:
    replay = welcomed()
    body = {"command": "bid", "number": 3}
    replay.command(body)
    body["number"] = 4
    assert replay.resend()[0].body == {"command": "bid", "number": 3}


def test_eight_commands_may_be_unanswered() -> None:
    replay = welcomed()
    for _ in range(MOST_UNANSWERED):
        assert not replay.is_full
        replay.command({"command": "bid"})
    assert replay.is_full
    with pytest.raises(UnansweredError):
        replay.command({"command": "bid"})
    replay.receive(m.ServerDuplicate(3, 2))
    assert replay.command({"command": "bid"}).n == MOST_UNANSWERED + 1
    assert replay.unanswered == (1, 2, 4, 5, 6, 7, 8, 9)


def test_a_frame_answers_the_command_that_it_names() -> None:
    replay = welcomed()
    replay.command({"command": "bid"})
    moved, answered = replay.receive(frame(5, (0, replay.origin, 1)))
    assert moved == u.Moved(5, (0, replay.origin, 1), (("seen", 5),), 1)
    assert answered == u.Answered(1, 5)
    assert replay.unanswered == ()


@pytest.mark.parametrize("cause", [(), (0,), (0, "somebody", 1), (0, "somebody", 1, 2), (1, 2)])
def test_a_frame_of_somebody_else_answers_nothing(cause: tuple[object, ...]) -> None:
    replay = welcomed()
    replay.command({"command": "bid"})
    assert replay.receive(frame(5, cause)) == (u.Moved(5, cause, (("seen", 5),), None),)
    assert replay.unanswered == (1,)


def test_a_number_that_this_origin_has_used_is_not_used_again() -> None:
    replay = welcomed()
    replay.receive(frame(5, (0, replay.origin, 7)))
    assert replay.command({"command": "bid"}).n == 8


def test_rejections_duplicates_and_dry_answers_settle_a_command() -> None:
    replay = welcomed()
    for _ in range(4):
        replay.command({"command": "bid"})
    rejected = m.ServerRejected(1, "stale", "P-43", {}, "look")
    assert replay.receive(rejected) == (u.Rejected(1, "stale", "P-43", {}, "look"),)
    assert replay.receive(m.ServerDuplicate(2, 3)) == (u.Answered(2, 3),)
    assert replay.receive(m.ServerAccepted(3, {"score": 1})) == (u.DryAnswered(3, {"score": 1}),)
    assert replay.unanswered == (4,)
    assert replay.receive(m.ServerDuplicate(2, 3)) == (u.Answered(2, 3),)


def test_offers_stay_until_the_game_moves() -> None:
    replay = welcomed()
    assert replay.receive(m.ServerOffers(4, "tag4", (OFFER,))) == (u.OffersCame(4, (OFFER,)),)
    replay.receive(frame(5, room={"watched": True}))
    assert (replay.offers, replay.tag) == ((OFFER,), "tag4")
    replay.receive(frame(6, game={"turn": 1}))
    assert (replay.offers, replay.tag) == ((), "")


def test_offers_of_an_earlier_decision_are_ignored() -> None:
    replay = welcomed()
    replay.receive(frame(5, game={"turn": 1}))
    assert replay.receive(m.ServerOffers(4, "tag4", (OFFER,))) == ()
    assert replay.tag == ""
    assert replay.receive(m.ServerOffers(5, "tag5", (OFFER,)))
    assert replay.tag == "tag5"


@pytest.mark.parametrize(
    "message", [m.ServerReset(CURSOR, {}, 0), m.ServerSeat(-1), m.ServerSeat(2)]
)
def test_offers_end_with_the_view_and_with_the_seat(message: m.ServerMessage) -> None:
    replay = welcomed()
    replay.receive(m.ServerOffers(4, "tag4", (OFFER,)))
    replay.receive(message)
    assert (replay.offers, replay.tag) == ((), "")


def test_offers_are_sent_anew_after_a_welcome() -> None:
    replay = welcomed()
    replay.receive(m.ServerOffers(4, "tag4", (OFFER,)))
    replay.hello("token")
    assert replay.tag == "tag4", "what is chosen while away is for this decision"
    replay.receive(arrival(view=None))
    assert replay.tag == ""


def test_a_reset_replaces_the_view_and_keeps_what_is_unanswered() -> None:
    replay = welcomed()
    command = replay.command({"command": "bid"})
    cursor = m.Cursor("other", 2, "mark2")
    assert replay.receive(m.ServerReset(cursor, {"a": 1}, 2)) == (u.Reset(2, 2),)
    assert (replay.cursor, replay.view) == (cursor, {"a": 1})
    assert replay.resend() == (command,)
    assert replay.receive(frame(3, (0, replay.origin, 1)))[1] == u.Answered(1, 3)


def test_the_rest_is_told_and_remembered() -> None:
    replay = welcomed()
    for number, seat in ((2, 2), (0, 0), (-1, None)):
        assert replay.receive(m.ServerSeat(number)) == (u.SeatChanged(seat),)
        assert replay.seat == seat
    assert replay.receive(m.ServerPresence((1,), 2)) == (u.PresenceChanged((1,), 2),)
    assert (replay.online, replay.watchers) == ((1,), 2)
    assert replay.receive(m.ServerPaused(True)) == (u.Paused(True),)
    assert replay.paused
    assert replay.receive(m.ServerGo(50)) == (u.MustGo(50),)
    assert replay.receive(m.ServerPong(4, (10, 6))) == (u.PongCame(4, (10, 6)),)
    assert replay.now == (10, 6)
    said = m.ServerChat("1-0", "Ada", -1, "hello", 3)
    assert replay.receive(said) == (u.ChatSaid("1-0", "Ada", None, "hello", 3),)
    history = m.ServerHistory((frame(1),), 4)
    assert replay.receive(history) == (u.HistoryCame((frame(1),), 4),)
    assert replay.cursor == CURSOR


def test_without_kept_frames_there_is_no_way_back() -> None:
    replay = welcomed()
    assert replay.missing() is None
    assert replay.view_at(4) is None
    assert replay.frames(1, 4) == ()


def test_kept_frames_lead_back_to_any_seq() -> None:
    replay = welcomed(keep_frames=True, view={"n": 4})
    replay.receive(frame(5, n=5))
    assert replay.missing() == (1, 4)
    assert [replay.view_at(seq) for seq in (3, 4, 5)] == [None, {"n": 4}, {"n": 5}]
    replay.receive(m.ServerHistory((frame(1, n=1), frame(2, n=2)), 4))
    assert replay.missing() == (3, 4)
    replay.receive(m.ServerHistory((frame(3, n=3), frame(4, n=4)), 4))
    assert replay.missing() is None
    assert [replay.view_at(seq) for seq in range(6)] == [{}, *({"n": n} for n in range(1, 6))]
    assert [each.seq for each in replay.frames(2, 4)] == [2, 3, 4]


@pytest.mark.parametrize(
    ("cursor", "lost", "kept"),
    [
        (m.Cursor("base", 9, "mark9"), 0, {"n": 5}),
        (m.Cursor("base", 9, "mark9"), 1, None),
        (m.Cursor("other", 9, "mark9"), 0, None),
    ],
)
def test_frames_of_another_course_or_viewer_are_forgotten(
    cursor: m.Cursor, lost: int, kept: object
) -> None:
    replay = welcomed(keep_frames=True, view={"n": 4})
    replay.receive(frame(5, n=5))
    replay.receive(m.ServerReset(cursor, {"n": 9}, lost))
    assert replay.view_at(5) == kept
    assert replay.view_at(9) == {"n": 9}


def test_a_fault_forgets_the_frames() -> None:
    replay = welcomed(keep_frames=True)
    replay.receive(frame(7))
    assert replay.view_at(4) is None


# Nonces. The first random bytes are the origin, so the first nonce is made of twos.


def sealed(number: int) -> str:
    return base64url(nonce_hash(UID, bytes([number]) * 32))


def opened(number: int) -> dict[str, object]:
    return {"command": "open", "nonce": base64url(bytes([number]) * 32)}


def seal(replay: Replay, seq: int) -> None:
    replay.receive(frame(seq, room={"status": "sealed", "seats": {"0": {"nonce": "sealed"}}}))


def test_who_sits_down_shows_a_hash_and_opens_it_when_the_deal_is_sealed() -> None:
    replay = welcomed()
    command = replay.sit(0)
    assert command.body == {"command": "sit", "seat": 0, "nonce": sealed(2)}
    replay.receive(frame(5, (-1, replay.origin, 1), room={"seats": {"0": {"nonce": "sealed"}}}))
    assert replay.opening() is None
    seal(replay, 6)
    opening = replay.opening()
    assert opening == m.ClientCommand(2, "", opened(2))
    assert replay.opening() is None
    assert replay.resend() == (opening,)


def test_a_nonce_is_kept_over_getting_ready_and_replaced_after_a_cancelled_deal() -> None:
    replay = welcomed()
    replay.sit()
    replay.receive(frame(5, (-1, replay.origin, 1), room={"seats": {"0": {"nonce": "sealed"}}}))
    assert replay.ready().body == {"command": "ready"}
    assert replay.ready(is_ready=False).body == {"command": "ready", "ready": False}
    replay.receive(frame(6, room={"seats": {"0": {"nonce": None}}}))
    again = replay.ready()
    assert again.body == {"command": "ready", "nonce": sealed(3)}
    replay.receive(frame(7, (0, replay.origin, again.n)))
    seal(replay, 8)
    opening = replay.opening()
    assert opening is not None
    assert opening.body == opened(3)


def test_a_hash_that_was_refused_does_not_count() -> None:
    replay = welcomed()
    replay.sit(0)
    replay.sit(0)
    replay.receive(frame(5, (-1, replay.origin, 1)))
    replay.receive(m.ServerRejected(2, "already_seated", "P-51", {"seat": 0}, ""))
    seal(replay, 6)
    opening = replay.opening()
    assert opening is not None
    assert opening.body == opened(2)


def test_a_nonce_sealed_by_another_client_of_the_same_person_is_not_ours_to_open() -> None:
    replay = welcomed(view=room("sealed", "sealed"))
    assert replay.opening() is None
    replay = welcomed(view=room("waiting", "sealed"))
    assert replay.ready().body["nonce"] == sealed(2), "but getting ready here seals our own"


def test_whoever_stood_up_has_nothing_to_open() -> None:
    replay = welcomed()
    replay.sit(0)
    replay.receive(frame(5, (-1, replay.origin, 1)))
    stand = replay.command({"command": "stand"})
    replay.receive(frame(6, (0, replay.origin, stand.n)))
    seal(replay, 7)
    assert replay.opening() is None


def test_a_refused_opening_is_tried_again_only_when_something_has_changed() -> None:
    replay = welcomed()
    replay.sit(0)
    replay.receive(frame(5, (-1, replay.origin, 1)))
    seal(replay, 6)
    first = replay.opening()
    assert first is not None
    replay.receive(m.ServerRejected(first.n, "too_many", "P-0", {}, ""))
    assert replay.opening() is None
    replay.receive(frame(7))
    assert replay.opening() == m.ClientCommand(first.n + 1, "", opened(2))


def test_an_opening_waits_for_room_and_for_the_welcome() -> None:
    replay = welcomed()
    replay.sit(0)
    replay.receive(frame(5, (-1, replay.origin, 1)))
    for _ in range(MOST_UNANSWERED):
        replay.command({"command": "bid"})
    seal(replay, 6)
    assert replay.opening() is None
    replay.receive(m.ServerDuplicate(2, 2))
    replay.hello("token")
    assert replay.opening() is None
    replay.receive(arrival(view=None, cursor=replay.cursor))
    assert replay.opening() is not None


@pytest.mark.parametrize("uid", ["", "AAAA", "x", 7, None])
def test_where_the_room_has_no_uid_one_sits_without_a_nonce(uid: object) -> None:
    replay = welcomed(view={"room": {"uid": uid}} if uid is not None else {})
    assert replay.sit().body == {"command": "sit"}
