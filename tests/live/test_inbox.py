"""The inbox of a room: one reader, which rests while somebody else does something in its place."""

import asyncio

from towerhall_server.live.inbox import Inbox
from towerhall_server.live.items import Doubt, HostAway, Item, TimeIsUp


def is_idle(inbox: Inbox) -> bool:
    """A call, for mypy takes a property to be what it was when it was looked at before."""
    return inbox.idle


class Reader:
    """Takes from an inbox for ever."""

    def __init__(self, inbox: Inbox) -> None:
        self.taken: list[Item] = []
        self._task = asyncio.create_task(self._take(inbox))

    async def _take(self, inbox: Inbox) -> None:
        while True:
            self.taken.append(await inbox.take())

    async def rest(self) -> list[Item]:
        """All that it has taken, once it takes no more."""
        for _ in range(5):
            await asyncio.sleep(0)
        return self.taken

    async def end(self) -> None:
        self._task.cancel()
        await asyncio.wait((self._task,))


async def test_an_inbox_is_idle_while_its_reader_waits() -> None:
    inbox = Inbox()
    assert not is_idle(inbox), "nobody reads yet"
    reader = Reader(inbox)
    await reader.rest()
    assert is_idle(inbox)
    inbox.put(Doubt())
    assert not is_idle(inbox), "there is something to be done"
    assert await reader.rest() == [Doubt()]
    assert is_idle(inbox)
    await reader.end()


async def test_an_inbox_is_not_idle_while_its_reader_is_busy() -> None:
    inbox = Inbox()
    inbox.put(Doubt())
    assert await inbox.take() == Doubt()
    assert not is_idle(inbox)
    assert len(inbox) == 0


async def test_a_held_inbox_gives_nothing_and_what_it_gets_comes_afterwards_in_order() -> None:
    inbox = Inbox()
    reader = Reader(inbox)
    await reader.rest()
    inbox.hold()
    assert not is_idle(inbox)
    inbox.put(Doubt())
    inbox.put(TimeIsUp())
    assert await reader.rest() == []
    assert inbox.holds(Doubt)
    inbox.release()
    assert not is_idle(inbox)
    assert await reader.rest() == [Doubt(), TimeIsUp()]
    assert is_idle(inbox)
    await reader.end()


async def test_what_is_given_back_comes_before_all_that_waits() -> None:
    inbox = Inbox()
    reader = Reader(inbox)
    await reader.rest()
    inbox.hold()
    inbox.put(Doubt())
    inbox.release(HostAway())
    inbox.put(TimeIsUp())
    assert await reader.rest() == [HostAway(), Doubt(), TimeIsUp()]
    await reader.end()


async def test_an_inbox_that_was_held_for_nothing_is_idle_again_at_once() -> None:
    inbox = Inbox()
    reader = Reader(inbox)
    await reader.rest()
    for _ in range(3):
        inbox.hold()
        inbox.release()
        assert is_idle(inbox)
    inbox.put(Doubt())
    assert await reader.rest() == [Doubt()]
    await reader.end()


async def test_whoever_begins_to_read_a_held_inbox_waits_too() -> None:
    inbox = Inbox()
    inbox.put(Doubt())
    inbox.hold()
    reader = Reader(inbox)
    assert await reader.rest() == []
    assert not is_idle(inbox)
    inbox.release()
    assert await reader.rest() == [Doubt()]
    await reader.end()


async def test_what_is_done_in_place_of_the_reader_counts_as_one_that_waits() -> None:
    inbox = Inbox()
    assert len(inbox) == 0
    inbox.hold()
    assert len(inbox) == 1
    inbox.put(Doubt())
    inbox.put(TimeIsUp())
    assert len(inbox) == 3
    assert inbox.empty() == (Doubt(), TimeIsUp())
    assert len(inbox) == 1, "it is still on its way"
    inbox.release(HostAway())
    assert len(inbox) == 1
    assert inbox.empty() == (HostAway(),)
    assert len(inbox) == 0
