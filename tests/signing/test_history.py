"""P-180: which keys are published, since when, and until when."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from redis.asyncio import Redis

from tests.eventlog.logs import copy_of, go_back
from towerhall_protocol.commands import base64url
from towerhall_protocol.statements import key_id
from towerhall_server.eventlog.log import EventLog
from towerhall_server.signing.history import KEYS, KeyHistory, Life, at_start

ONE, OTHER = bytes([1]) * 32, bytes([2]) * 32
lives = st.dictionaries(
    st.sampled_from("abcd"),
    st.builds(Life, st.integers(0, 100), st.none() | st.integers(100, 200)),
)


@given(lives, st.sets(st.sampled_from("abcdef"), min_size=1))
def test_no_key_is_ever_taken_off_the_list(found: dict[str, Life], own: set[str]) -> None:
    after = at_start(found, sorted(own), 300)
    assert after.keys() == found.keys() | own
    for public, life in after.items():
        assert life.since_ms == (found[public].since_ms if public in found else 300)
        assert (life.until_ms is None) == (public in own)
        if public in found and found[public].until_ms is not None and public not in own:
            assert life == found[public]


async def opened(log: EventLog, *public: bytes) -> KeyHistory:
    history = KeyHistory(log, public)
    await history.open()
    return history


async def test_a_key_is_published_with_its_beginning(log: EventLog) -> None:
    (key,) = (await opened(log, ONE)).published
    assert (key.key, key.public, key.until_ms) == (key_id(ONE), base64url(ONE), None)
    assert (await opened(log, ONE)).published == (key,)


async def test_a_key_that_left_the_settings_ends_and_stays_published(log: EventLog) -> None:
    (first,) = (await opened(log, ONE)).published
    both = (await opened(log, OTHER, ONE)).published
    assert [key.public for key in both] == [base64url(OTHER), base64url(ONE)]
    assert [key.until_ms for key in both] == [None, None]
    later = (await opened(log, OTHER)).published
    assert [key.public for key in later] == [base64url(OTHER), base64url(ONE)]
    assert later[1].since_ms == first.since_ms
    assert later[1].until_ms is not None
    assert later[1].until_ms >= later[0].since_ms


async def test_a_server_hears_of_the_keys_of_others(log: EventLog) -> None:
    one = await opened(log, ONE)
    await opened(log, OTHER, ONE)
    assert len(one.published) == 1
    await one.look()
    assert {key.public for key in one.published} == {base64url(ONE), base64url(OTHER)}


async def test_a_store_that_went_back_gets_lost_keys_again(log: EventLog, redis: Redis) -> None:
    await opened(log, ONE)
    copy = await copy_of(redis)
    history = await opened(log, OTHER, ONE)
    published = history.published
    await go_back(redis, copy)
    await history.look()
    assert history.published == published
    found: Any = await redis.hkeys(KEYS)
    assert {name.decode() for name in found} == {base64url(ONE), base64url(OTHER)}
