"""Chat rates: per person and room, and one more for all watchers of a room together."""

from towerhall_server.access.chat_rates import ChatRates
from towerhall_server.access.rates import Limits, Rate

ROOM, OTHER_ROOM = "AAAAAA", "BBBBBB"
LIMITS = Limits(chat=Rate(1, 5), watcher_chat=Rate(0.5, 3), watcher_chat_per_room=Rate(2, 10))


def said(rates: ChatRates, person: str, *, watches: bool, room: str = ROOM, now: float = 0) -> int:
    """How many of 100 lines are let through at one moment."""
    return sum(rates.take(room, person, now, watches=watches) == 0 for _ in range(100))


def test_a_player_has_a_higher_rate_than_a_watcher() -> None:
    rates = ChatRates(LIMITS)
    assert said(rates, "ada", watches=False) == 5
    assert said(rates, "zoe", watches=True) == 3
    assert said(rates, "ada", watches=False, now=4) == 4
    assert said(rates, "zoe", watches=True, now=4) == 2


def test_persons_and_rooms_have_buckets_of_their_own() -> None:
    rates = ChatRates(LIMITS)
    for person in ("ada", "ben"):
        for room in (ROOM, OTHER_ROOM):
            assert said(rates, person, watches=False, room=room) == 5


def test_all_watchers_of_a_room_together_have_one_more_rate() -> None:
    rates = ChatRates(LIMITS)
    crowd = [f"watcher {number}" for number in range(190)]
    assert sum(said(rates, person, watches=True) for person in crowd) == 10
    assert sum(said(rates, person, watches=True, now=1) for person in crowd) == 2
    assert said(rates, "zoe", watches=True, room=OTHER_ROOM, now=1) == 3


def test_players_are_heard_however_much_watchers_say() -> None:
    rates = ChatRates(LIMITS)
    for number in range(190):
        said(rates, f"watcher {number}", watches=True)
    assert said(rates, "ada", watches=False) == 5


def test_players_do_not_use_up_what_watchers_may_say() -> None:
    rates = ChatRates(LIMITS)
    for person in ("ada", "ben", "cyd"):
        said(rates, person, watches=False)
    assert said(rates, "zoe", watches=True) == 3


def test_a_refusal_by_the_room_takes_nothing_from_the_person() -> None:
    rates = ChatRates(LIMITS)
    for number in range(4):
        said(rates, f"watcher {number}", watches=True)
    assert rates.take(ROOM, "zoe", 0, watches=True) == 500
    assert said(rates, "zoe", watches=True, now=5) == 3


def test_who_waits_as_long_as_told_is_let_through() -> None:
    rates = ChatRates(LIMITS)
    assert said(rates, "zoe", watches=True) == 3
    wait_ms = rates.take(ROOM, "zoe", 0, watches=True)
    assert wait_ms == 2000
    assert rates.take(ROOM, "zoe", wait_ms / 1000, watches=True) == 0
