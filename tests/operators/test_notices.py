"""A room as its operator sees it. No store is needed: it follows from the room."""

from typing import Any

from tests.room.pure_rooms import ADA, BEN, PureRoom
from towerhall_server.operators.notices import state_of


def seats(pure: PureRoom) -> Any:
    return state_of(pure.room, pure.seq, (0, 0), {})["seats"]


def test_p165_a_stand_in_is_shown_as_long_as_it_plays() -> None:
    pure = PureRoom().seat_people(ADA, BEN).deal()
    assert all("stand_in" not in seat for seat in seats(pure))
    pure.say(BEN, "leave")
    assert [seat.get("stand_in") for seat in seats(pure)] == [None, "medium"]
    assert seats(pure)[1]["name"] == BEN.name
    pure.say(BEN, "take_back")
    assert all("stand_in" not in seat for seat in seats(pure))
