"""A node that loses the store: rooms are shown as paused, and guests are sent where it may be."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.live.live_rooms import FakeViewer, LiveNode, live_node
from tests.proxy.store import Proxy
from tests.store.engines import KINDS, started
from towerhall_protocol.messages import ServerError, ServerGo, ServerPaused
from towerhall_server.eventlog import notifications
from towerhall_server.live import directory


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory, "BEAT_SECONDS", 0.1)
    monkeypatch.setattr(directory, "CUT_SECONDS", 2.0)
    monkeypatch.setattr(notifications, "DOUBT_SECONDS", 0.3)


@pytest.fixture
async def behind(proxy: Proxy) -> AsyncIterator[LiveNode]:
    """A node that has the store behind a proxy."""
    async with live_node(f"{proxy.url}?socket_timeout=0.9", "behind") as node:
        node.beat()
        yield node
        proxy.silent = False


async def test_who_is_cut_off_pauses_its_rooms_and_sends_guests_to_others(
    proxy: Proxy, behind: LiveNode, other: LiveNode
) -> None:
    other.beat()
    ann = await FakeViewer("ann").enter(await behind.found())
    await asyncio.sleep(0.5)
    assert not ann.of(ServerGo)
    proxy.silent = True
    await ann.until(lambda: ann.of(ServerGo))
    await ann.until(lambda: ann.of(ServerPaused))
    proxy.silent = False
    await ann.until(lambda: ServerPaused(False) in ann.of(ServerPaused))
    async with asyncio.timeout(10):
        while behind.directory.is_cut:  # noqa: ASYNC110 - nobody is told of this
            await asyncio.sleep(0.05)
    assert len(ann.of(ServerGo)) == 1


async def test_who_may_get_another_engine_keeps_guests_until_it_has_had_time(
    proxy: Proxy, behind: LiveNode, other: LiveNode
) -> None:
    other.beat()
    behind.log.fails_over = True
    ann = await FakeViewer("ann").enter(await behind.found())
    await asyncio.sleep(0.5)
    proxy.silent = True
    await ann.until(lambda: ann.of(ServerPaused))
    await asyncio.sleep(3.0)
    assert not ann.of(ServerGo)
    proxy.silent = False
    await ann.until(lambda: ServerPaused(False) in ann.of(ServerPaused))


async def test_who_is_alone_sends_nobody_away(proxy: Proxy, behind: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await behind.found())
    proxy.silent = True
    await ann.until(lambda: ann.of(ServerPaused))
    await asyncio.sleep(2.0)
    assert not ann.of(ServerGo)
    assert not behind.directory.is_cut


async def test_a_command_that_has_to_wait_is_kept_and_its_sender_is_told(
    proxy: Proxy, behind: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await behind.found())
    proxy.silent = True
    await ann.until(lambda: ann.of(ServerPaused))
    n = ann.ask("sit")
    await ann.until(lambda: ann.of(ServerError))
    assert [error.code for error in ann.of(ServerError)] == ["store_unavailable"]
    proxy.silent = False
    await ann.answer(n)
    assert ann.seat == 0


async def test_news_that_got_lost_one_by_one_are_found_soon(
    one: LiveNode, other: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory, "SURE_SECONDS", 0.2)
    # Silence is not what shall lead to reading here.
    monkeypatch.setattr(notifications, "DOUBT_SECONDS", 60.0)
    hear = other.directory._hear
    monkeypatch.setattr(
        other.directory,
        "_hear",
        lambda wake: None if isinstance(wake, notifications.Woken) else hear(wake),
    )
    one.beat()
    other.beat()
    ann = await FakeViewer("ann").enter(await one.found())
    bob = await other.enter(ann.code, "bob")
    for number in range(5):
        n = ann.ask("ready" if number else "sit")
        await ann.answer(n)
        await bob.until(lambda: bob.replay.seq == ann.replay.seq)


@pytest.mark.parametrize("kind", KINDS)
async def test_where_the_store_is_down_for_all_nobody_has_to_move(
    kind: str, tmp_path: Path
) -> None:
    async with AsyncExitStack() as nodes:
        async with started(kind, tmp_path) as url:
            one = await nodes.enter_async_context(live_node(url, "one"))
            other = await nodes.enter_async_context(live_node(url, "other"))
            one.beat()
            other.beat()
            ann = await FakeViewer("ann").enter(await one.found())
            await asyncio.sleep(0.5)
        await ann.until(lambda: ann.of(ServerPaused))
        await asyncio.sleep(1.5)
        assert not ann.of(ServerGo)
