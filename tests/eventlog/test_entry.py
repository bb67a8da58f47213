"""The chain: what it binds, and what it does not let pass."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from towerhall_server.eventlog.entry import START, Entry, Point, Stamps, link, mark

ENTRY = Entry(
    seq=1,
    commit_id=bytes(range(16)),
    chain=link(START, bytes(range(16)), b"blob"),
    blob=b"blob",
    stamps=Stamps(1000, 2000),
)


def test_an_entry_follows_what_it_was_made_after() -> None:
    assert ENTRY.follows(START)
    after = link(ENTRY.point, b"2" * 16, b"more")
    assert Entry(2, b"2" * 16, after, b"more", Stamps(1001, 2001)).follows(ENTRY.point)


@pytest.mark.parametrize(
    "changed",
    [
        {"seq": 2},
        {"commit_id": bytes(16)},
        {"chain": bytes(16)},
        {"blob": b"blab"},
        {"blob": b"blob\0"},
    ],
)
def test_whatever_was_changed_in_an_entry_shows(changed: dict[str, object]) -> None:
    assert not msgspec.structs.replace(ENTRY, **changed).follows(START)


@pytest.mark.parametrize("stamps", [Stamps(1, 0), Stamps(0, 1)])
def test_changed_stamps_show_in_the_next_entry(stamps: Stamps) -> None:
    assert not ENTRY.follows(Point(0, START.chain, stamps))


def test_another_past_shows() -> None:
    assert not ENTRY.follows(Point(0, b"x" * 16, START.stamps))


@given(st.binary(min_size=16, max_size=16))
def test_a_mark_is_eleven_safe_characters(chain: bytes) -> None:
    assert len(mark(chain)) == 11
    assert set(mark(chain)) <= set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    )


def test_the_recipe_is_pinned() -> None:
    chain = link(Point(3, bytes(range(16)), Stamps(5, 6)), b"i" * 16, b"commit")
    assert chain.hex() == "f78597d8db76aa82e212a67931d33a3d"
    assert mark(chain) == "94WX2Nt2qoI"
