"""Pages of the list of rooms under one filter: what belongs to them, their end, their patches."""

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from towerhall_protocol.lobby import Filter
from towerhall_protocol.merge_patch import apply
from towerhall_server.eventlog.keys import shard_of
from towerhall_server.lobby.index import RoomIndex
from towerhall_server.lobby.listing import Selection

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


def index_of(*rooms: dict[str, Any]) -> RoomIndex:
    index = RoomIndex()
    for each in rooms:
        index.put(each["code"], msgspec.json.encode(each))
    return index


def codes(wanted: Filter, index: RoomIndex, most: int = 9) -> list[str]:
    return [place[1:] for place in index.page(wanted, most)]


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
    assert bool(codes(wanted, index_of(room("AAAAAA", taken=1)))) is seen


def test_a_room_that_tells_nothing_of_its_seats_has_none_to_give() -> None:
    index = index_of({"code": "AAAAAA", "taken": 2}, {"code": "BBBBBB", "seats": "many", "game": 3})
    assert codes(Filter(), index) == ["AAAAAA", "BBBBBB"]
    assert codes(Filter(free=1), index) == codes(Filter(game="duel"), index) == []


def test_what_does_not_fit_is_counted_and_open_rooms_come_first() -> None:
    index = index_of(*(room(code, status="playing", taken=4) for code in CODES))
    selection = Selection(Filter(), index, 2)
    assert selection.shown == {
        "rooms": {code: room(code, status="playing", taken=4) for code in CODES[:2]},
        "more": 3,
        "next": "1BBBBBB",
    }
    opened = room("EEEEEE")
    patch = selection.follow(index.put("EEEEEE", msgspec.json.encode(opened)))
    assert patch == {"rooms": {"EEEEEE": opened, "BBBBBB": None}, "next": "1AAAAAA"}
    gone = [place for code in CODES[2:] for place in index.put(code, b"")]
    patch = selection.follow(gone)
    left = {"EEEEEE": None, "BBBBBB": room("BBBBBB", status="playing", taken=4)}
    assert patch == {"rooms": left, "more": None, "next": None}


def test_of_a_changed_room_only_the_change_is_told() -> None:
    index = index_of(*map(room, CODES))
    selection = Selection(Filter(), index)
    changed = msgspec.json.encode(room("AAAAAA", taken=1))
    patch = selection.follow(index.put("AAAAAA", changed))
    assert patch == {"rooms": {"AAAAAA": {"taken": 1, "names": ["name 0"]}}}
    assert index.put("AAAAAA", changed) == ()


def test_a_change_behind_a_page_touches_its_count_alone() -> None:
    index = index_of(*map(room, CODES))
    selection = Selection(Filter(limit=2), index)
    before = selection.shown["rooms"]
    assert selection.follow(index.put("EEEEEE", b"")) == {"more": 2}
    assert selection.shown["rooms"] is before


def test_pages_show_each_room_once() -> None:
    index = index_of(
        *(room(code, taken=4 * (number % 2)) for number, code in enumerate(CODES)), room("AAAAAB")
    )
    found, after, sizes = [], "", []
    for _ in CODES:
        page = Selection(Filter(after=after, limit=2), index, 3).shown
        found += page["rooms"]
        sizes.append((len(page["rooms"]), page.get("more", 0)))
        if "next" not in page:
            break
        after = page["next"]
    assert found == ["AAAAAA", "AAAAAB", "CCCCCC", "EEEEEE", "BBBBBB", "DDDDDD"]
    assert sizes == [(2, 4), (2, 2), (2, 0)]
    assert codes(Filter(after="~"), index) == []


def test_no_limit_is_above_that_of_the_server() -> None:
    assert len(Selection(Filter(limit=4), index_of(*map(room, CODES)), 3).shown["rooms"]) == 3


def steps_of(do: Callable[[], object]) -> int:
    """How many functions are called."""
    steps = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal steps
        steps += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        do()
    finally:
        sys.setprofile(None)
    return steps


def test_a_page_and_its_patches_cost_the_same_however_many_rooms_there_are() -> None:
    few, many = (
        index_of(*(room(f"R{number:05}", taken=number % 5) for number in range(rooms)))
        for rooms in (200, 4_000)
    )
    wanted = Filter(free=1, limit=20)

    def work(index: RoomIndex) -> None:
        selection = Selection(wanted, index)
        for taken in (1, 2):
            selection.follow(index.put("R00003", msgspec.json.encode(room("R00003", taken=taken))))

    costs = [steps_of(partial(work, index)) for index in (few, many)]
    assert costs[1] == costs[0]


def test_rooms_are_known_by_their_shards_until_they_go() -> None:
    index = index_of(room("AAAAAA"))
    index.put("BBBBBB", b"nonsense")
    index.put("BBBBBB", b"other nonsense")
    assert index.codes(shard_of("AAAAAA")) == {"AAAAAA"}
    assert index.codes(shard_of("BBBBBB")) == {"BBBBBB"}
    assert len(index) == 1
    for code in ("AAAAAA", "BBBBBB"):
        index.put(code, b"")
        assert not index.codes(shard_of(code))
    assert len(index) == 0


filters = st.builds(
    Filter,
    game=st.sampled_from(["", "duel", "chess", "go"]),
    status=st.sampled_from(["", "waiting", "sealed", "playing"]),
    free=st.integers(0, 4),
    after=st.sampled_from(["", "0BBBBBB", "1AAAAAA", "1DDDDDD"]),
    limit=st.integers(0, 3),
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


def place_of(each: dict[str, Any]) -> str:
    is_open = each["status"] == "waiting" and each["taken"] < each["seats"]
    return f"{0 if is_open else 1}{each['code']}"


def expected(wanted: Filter, rooms: dict[str, dict[str, Any]], most: int) -> dict[str, Any]:
    """The list, made in the plainest way."""
    found = [
        each
        for each in sorted(rooms.values(), key=place_of)
        if wanted.game in ("", each["game"])
        and wanted.status in ("", each["status"])
        and each["seats"] - each["taken"] >= wanted.free
        and place_of(each) > wanted.after
    ]
    most = min(most, wanted.limit or most)
    document: dict[str, Any] = {"rooms": {each["code"]: each for each in found[:most]}}
    if len(found) > most:
        document |= {"more": len(found) - most, "next": place_of(found[most - 1])}
    return document


@given(filters, changes, st.integers(0, 5), st.integers(1, 5))
def test_the_first_list_and_all_patches_lead_to_the_list_that_is_made_afresh(
    wanted: Filter, steps: list[dict[str, Any]], start: int, most: int
) -> None:
    rooms: dict[str, dict[str, Any]] = {code: room(code, taken=start % 5) for code in CODES[:start]}
    index = index_of(*rooms.values())
    selection = Selection(wanted, index, most)
    seen: dict[str, Any] = selection.shown
    assert seen == expected(wanted, rooms, most)
    for step in steps:
        changed: list[str] = []
        for code, now in step.items():
            changed += index.put(code, b"" if now is None else msgspec.json.encode(now))
            rooms.pop(code, None)
            if now is not None:
                rooms[code] = now
        seen = apply(seen, selection.follow(changed))
        assert seen == selection.shown == expected(wanted, rooms, most)
