"""The list of rooms as one filter shows it: what belongs to it, its end, and its patches."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from towerhall_protocol.lobby import Filter
from towerhall_protocol.merge_patch import apply
from towerhall_server.lobby.listing import Selection, matches

CODES = ("AAAAAA", "BBBBBB", "CCCCCC", "DDDDDD", "EEEEEE")


def room(code: str, game: str = "duel", status: str = "waiting", taken: int = 0) -> dict[str, Any]:
    names = [f"name {number}" for number in range(taken)]
    return {
        "code": code,
        "game": game,
        "status": status,
        "seats": 4,
        "taken": taken,
        "names": names,
    }


@pytest.mark.parametrize(
    ("wanted", "seen"),
    [
        (Filter(), True),
        (Filter(game="duel"), True),
        (Filter(game="chess"), False),
        (Filter(status="waiting"), True),
        (Filter(status="playing"), False),
        (Filter(free=3), True),
        (Filter(free=4), False),
        (Filter("duel", "waiting", 3), True),
        (Filter("duel", "waiting", 4), False),
    ],
)
def test_a_filter_asks_for_game_status_and_free_seats(wanted: Filter, seen: bool) -> None:
    assert matches(wanted, room("AAAAAA", taken=1)) is seen


def test_a_room_that_tells_nothing_of_its_seats_has_none_to_give() -> None:
    assert matches(Filter(), {"code": "AAAAAA"})
    assert not matches(Filter(free=1), {"code": "AAAAAA", "seats": "many"})


def test_what_does_not_fit_is_counted_and_open_rooms_come_first() -> None:
    rooms = {code: room(code, status="playing", taken=4) for code in CODES}
    selection = Selection(Filter(), rooms, 2)
    assert set(selection.shown["rooms"]) == {"AAAAAA", "BBBBBB"}
    assert selection.shown["more"] == 3
    rooms["EEEEEE"] = room("EEEEEE")
    patch = selection.follow(rooms, ["EEEEEE"])
    assert patch == {"rooms": {"EEEEEE": rooms["EEEEEE"], "BBBBBB": None}}
    for code in ("CCCCCC", "DDDDDD", "EEEEEE"):
        del rooms[code]
    patch = selection.follow(rooms, ["CCCCCC", "DDDDDD", "EEEEEE"])
    assert patch == {"rooms": {"EEEEEE": None, "BBBBBB": rooms["BBBBBB"]}, "more": None}


def test_of_a_changed_room_only_the_change_is_told() -> None:
    rooms = {code: room(code) for code in CODES}
    selection = Selection(Filter(), rooms)
    rooms["AAAAAA"] = room("AAAAAA", taken=1)
    patch = selection.follow(rooms, ["AAAAAA"])
    assert patch == {"rooms": {"AAAAAA": {"taken": 1, "names": ["name 0"]}}}
    assert selection.follow(rooms, ["AAAAAA"]) == {}


filters = st.builds(
    Filter,
    game=st.sampled_from(["", "duel", "chess", "go"]),
    status=st.sampled_from(["", "waiting", "sealed", "playing"]),
    free=st.integers(0, 4),
)
rooms_of = {
    code: st.none()
    | st.builds(
        room,
        st.just(code),
        st.sampled_from(["duel", "chess"]),
        st.sampled_from(["waiting", "sealed", "playing"]),
        st.integers(0, 4),
    )
    for code in CODES
}
changes = st.lists(st.fixed_dictionaries({}, optional=rooms_of), max_size=12)


def expected(wanted: Filter, rooms: dict[str, dict[str, Any]], most: int) -> dict[str, Any]:
    """The list, made in the plainest way."""
    found = [each for each in rooms.values() if matches(wanted, each)]
    found.sort(key=lambda each: (each["status"] != "waiting" or each["taken"] == 4, each["code"]))
    document: dict[str, Any] = {"rooms": {each["code"]: each for each in found[:most]}}
    return document | ({"more": len(found) - most} if len(found) > most else {})


@given(filters, changes, st.integers(0, 5), st.integers(1, 5))
def test_the_first_list_and_all_patches_lead_to_the_list_that_is_made_afresh(
    wanted: Filter, steps: list[dict[str, Any]], start: int, most: int
) -> None:
    rooms: dict[str, dict[str, Any]] = {code: room(code, taken=start % 5) for code in CODES[:start]}
    selection = Selection(wanted, rooms, most)
    seen: dict[str, Any] = selection.shown
    assert seen == expected(wanted, rooms, most)
    for step in steps:
        rooms.update({code: now for code, now in step.items() if now is not None})
        for code, now in step.items():
            if now is None:
                rooms.pop(code, None)
        seen = apply(seen, selection.follow(rooms, step))
        assert seen == selection.shown == expected(wanted, rooms, most)
        assert seen == Selection(wanted, rooms, most).shown
