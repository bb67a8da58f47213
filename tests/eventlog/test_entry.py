"""The chain: what it binds, and what it does not let pass."""

from hashlib import sha256
from struct import pack

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from towerhall_server.eventlog.entry import START, Point, Stamps, entry_after, link, mark

ENTRY = entry_after(START, Stamps(1000, 2000), bytes(range(16)), b"blob")


def test_an_entry_follows_what_it_was_made_after() -> None:
    assert ENTRY.follows(START)
    after = entry_after(ENTRY.point, Stamps(1001, 2001), b"2" * 16, b"more")
    assert after.seq == 2
    assert after.follows(ENTRY.point)


@pytest.mark.parametrize(
    "changed",
    [
        {"seq": 2},
        {"commit_id": bytes(16)},
        {"chain": bytes(32)},
        {"stamps": Stamps(1001, 2000)},
        {"stamps": Stamps(1000, 2001)},
        {"blob": b"blab"},
        {"blob": b"blob\0"},
    ],
)
def test_whatever_was_changed_in_an_entry_shows(changed: dict[str, object]) -> None:
    assert not msgspec.structs.replace(ENTRY, **changed).follows(START)


def test_another_past_shows() -> None:
    assert not ENTRY.follows(Point(0, b"x" * 32, START.stamps))


@given(st.binary(min_size=32, max_size=32))
def test_a_mark_is_eleven_safe_characters(chain: bytes) -> None:
    assert len(mark(chain)) == 11
    assert set(mark(chain)) <= set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    )


def test_the_recipe_is_pinned() -> None:
    chain = link(bytes(range(32)), Stamps(5, 6), b"i" * 16, b"commit")
    hashed = b"towerhall/1/chain\0" + bytes(range(32)) + pack(">QQ", 5, 6) + b"i" * 16 + b"commit"
    assert chain == sha256(hashed).digest()
    assert chain.hex() == "af937589d8c5a23a55ef04b9c31cc1a8e0f11be7215da9fafa46a9b059269276"
    assert mark(chain) == "r5N1idjFojo"
