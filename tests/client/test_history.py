"""Old frames over real sockets: a page is taken only by whom it fits, whatever else comes first."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.client.fake_server import PLAYING, Visit, fake_server, joined
from towerhall_client.errors import ServiceError
from towerhall_client.retry import Retry
from towerhall_protocol import messages as m


def frames(first: int, last: int) -> tuple[m.ServerFrame, ...]:
    return tuple(m.ServerFrame(n, f"mark{n}", (), (), {"n": n}) for n in range(first, last + 1))


async def test_history_comes_in_pages_over_breaks_and_limits() -> None:
    async def first(visit: Visit) -> None:
        await visit.welcome(PLAYING, 9)
        assert await visit.receive() == m.ClientHistory(1, 9)
        await visit.send(m.ServerHistory(frames(1, 3), 9))
        assert await visit.receive() == m.ClientHistory(4, 9)
        await visit.send(m.ServerError("too_many", {"retry_ms": 100}, "later"))
        assert await visit.receive() == m.ClientHistory(4, 9)
        await visit.drop()

    async def second(visit: Visit) -> None:
        await visit.welcome_back()
        assert await visit.receive() == m.ClientHistory(4, 9)
        await visit.send(m.ServerHistory(frames(4, 9), 9))
        await visit.stay()

    async with fake_server(first, second) as server, joined(server, keep_frames=True) as table:
        assert table.replay.missing() == (1, 9)
        assert await table.history() == frames(1, 9)
        assert table.replay.missing() is None
        assert table.replay.view_at(5) == {"n": 5}


async def test_a_range_that_is_not_there_raises() -> None:
    async def strict(visit: Visit) -> None:
        await visit.welcome()
        await visit.receive()
        await visit.send(m.ServerError("bad_range", {"last": 1}, "ask for less"))
        await visit.stay()

    async with fake_server(strict) as server, joined(server) as table:
        with pytest.raises(ServiceError, match="bad_range: ask for less"):
            await table.history(5, 9)


async def test_an_empty_page_ends_the_history() -> None:
    async def forgetful(visit: Visit) -> None:
        await visit.welcome(PLAYING, 9)
        await visit.receive()
        await visit.send(m.ServerHistory((), 9))
        await visit.stay()

    async with fake_server(forgetful) as server, joined(server) as table:
        assert await table.history() == ()


async def asked(visit: Visit) -> m.ClientHistory:
    message = await visit.receive()
    assert isinstance(message, m.ClientHistory)
    return message


async def answer(visit: Visit, request: m.ClientHistory, most: int = 10) -> None:
    """One page, of not more than so many frames."""
    last = min(request.first + most - 1, request.last)
    await visit.send(m.ServerHistory(frames(request.first, last), request.last))


async def answering(visit: Visit) -> None:
    while True:
        await answer(visit, await asked(visit))


async def given_up(waiting: asyncio.Task[tuple[m.ServerFrame, ...]], heard: asyncio.Event) -> None:
    """Cancel a request that the server has got."""
    await heard.wait()
    waiting.cancel()
    await asyncio.wait((waiting,))


async def never(seconds: float) -> None:
    await asyncio.Event().wait()


def late(
    heard: asyncio.Event, answer_late: Callable[[Visit, m.ClientHistory], Awaitable[None]]
) -> Callable[[Visit], Awaitable[None]]:
    """A server that answers the first request only when the second one has come."""

    async def talk(visit: Visit) -> None:
        await visit.welcome(PLAYING, 30)
        first = await asked(visit)
        heard.set()
        second = await asked(visit)
        await answer_late(visit, first)
        await answer(visit, second)
        await answering(visit)

    return talk


@pytest.mark.parametrize(
    ("old", "new"),
    [((1, 30), (20, 25)), ((1, 30), (1, 5)), ((1, 5), (1, 30)), ((3, 9), (3, 9))],
)
async def test_a_late_page_is_no_answer_to_another_request(
    old: tuple[int, int], new: tuple[int, int]
) -> None:
    heard = asyncio.Event()
    async with fake_server(late(heard, answer)) as server, joined(server) as table:
        await given_up(asyncio.create_task(table.history(*old)), heard)
        assert await table.history(*new) == frames(*new)
        assert await table.history(2, 4) == frames(2, 4)


async def test_a_late_empty_page_of_another_range_ends_nothing() -> None:
    heard = asyncio.Event()

    async def nothing(visit: Visit, request: m.ClientHistory) -> None:
        await visit.send(m.ServerHistory((), request.last))

    async with fake_server(late(heard, nothing)) as server, joined(server) as table:
        await given_up(asyncio.create_task(table.history(1, 30)), heard)
        assert await table.history(20, 25) == frames(20, 25)


@pytest.mark.parametrize("code", ["too_many", "store_unavailable"])
async def test_an_error_of_another_message_leads_to_no_frame_twice(code: str) -> None:
    async def busy(visit: Visit) -> None:
        await visit.welcome(PLAYING, 20)
        first = await asked(visit)
        await visit.send(m.ServerError(code, {}, "meant for a line of chat"))
        second = await asked(visit)
        await answer(visit, first)
        third = await asked(visit)
        await answer(visit, second)
        await answer(visit, third)
        await answering(visit)

    async with fake_server(busy) as server, joined(server) as table:
        assert await table.history(1, 20) == frames(1, 20)


async def test_a_page_that_comes_after_all_is_not_waited_for_any_longer() -> None:
    async def slow(visit: Visit) -> None:
        await visit.welcome(PLAYING, 9)
        request = await asked(visit)
        await visit.send(m.ServerError("store_unavailable", {}, "meant for a command"))
        await answer(visit, request)
        await visit.stay()

    async with fake_server(slow) as server, joined(server, retry=Retry(sleep=never)) as table:
        assert await asyncio.wait_for(table.history(), 5) == frames(1, 9)


async def test_a_page_that_was_left_out_for_a_slow_reader_is_asked_for_again() -> None:
    async def impatient(visit: Visit) -> None:
        await visit.welcome(PLAYING, 9)
        await asked(visit)
        await visit.send(m.ServerReset(m.Cursor("base", 9, "mark9"), PLAYING, 0))
        await answering(visit)

    async with fake_server(impatient) as server, joined(server) as table:
        assert await asyncio.wait_for(table.history(), 5) == frames(1, 9)


async def test_a_refusal_of_another_range_ends_nothing() -> None:
    heard = asyncio.Event()

    async def strict(visit: Visit) -> None:
        await visit.welcome(PLAYING, 9)
        await asked(visit)
        heard.set()
        request = await asked(visit)
        await visit.send(m.ServerError("bad_range", {"last": 9}, "ask for less"))
        await answer(visit, request)
        await visit.stay()

    async with fake_server(strict) as server, joined(server) as table:
        await given_up(asyncio.create_task(table.history(50, 60)), heard)
        assert await table.history() == frames(1, 9)


async def test_a_range_that_goes_on_beyond_the_log_ends_with_it() -> None:
    async def strict(visit: Visit) -> None:
        await visit.welcome(PLAYING, 9)
        assert await asked(visit) == m.ClientHistory(1, 99)
        await visit.send(m.ServerHistory(frames(1, 9), 9))
        assert await asked(visit) == m.ClientHistory(10, 99)
        await visit.send(m.ServerError("bad_range", {"last": 9}, "ask for less"))
        await visit.stay()

    async with fake_server(strict) as server, joined(server) as table:
        assert await table.history(1, 99) == frames(1, 9)


async def test_a_log_that_became_shorter_is_told() -> None:
    async def forgetful(visit: Visit) -> None:
        await visit.welcome(PLAYING, 9)
        await asked(visit)
        await visit.send(m.ServerHistory(frames(1, 8), 9))
        await asked(visit)
        await visit.send(m.ServerError("bad_range", {"last": 5}, "ask for less"))
        await visit.stay()

    async with fake_server(forgetful) as server, joined(server) as table:
        with pytest.raises(ServiceError, match="bad_range"):
            await table.history()


async def test_a_range_that_cannot_be_asked_for_is_refused_where_it_is_made() -> None:
    async def whole(visit: Visit) -> None:
        await visit.welcome(PLAYING, 9)
        await answering(visit)

    async with fake_server(whole) as server, joined(server) as table:
        with pytest.raises(ValueError, match="number_out_of_range"):
            await table.history(1, 1 << 60)
        assert await table.history() == frames(1, 9)
