"""A room that is not there and one that is closed to whoever asks: the same questions to the store,
the same failures, the same time."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from towerhall_server.eventlog.answers import Gone
from towerhall_server.eventlog.log import EventLog
from towerhall_server.gateway import entering
from towerhall_server.gateway.entering import NOWHERE, REFUSED_SECONDS, room_for
from towerhall_server.live.directory import Directory
from towerhall_server.room.codes import is_code
from towerhall_server.room.gate import key_hash, may_enter
from towerhall_server.room.table import Table
from towerhall_server.store.errors import StoreError

CODE = "KXWMPA"
ASKED = 1000.0
PRIVATE = cast(Table, SimpleNamespace(key_hash=key_hash("the key")))
PUBLIC = cast(Table, SimpleNamespace(key_hash=b""))


class Clock:
    """Time that passes only while somebody works or waits."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = ASKED
        monkeypatch.setattr(entering, "monotonic", lambda: self.now)
        monkeypatch.setattr(entering, "asyncio", SimpleNamespace(sleep=self.sleep))

    async def sleep(self, seconds: float) -> None:
        self.now += max(seconds, 0)


class Rooms:
    """A directory and its store: what is asked of the store is noted."""

    def __init__(self, clock: Clock, table: Table | None, seconds: float, *, is_down: bool) -> None:
        self.clock, self.table, self.seconds, self.is_down = clock, table, seconds, is_down
        self.asked: list[str] = []
        self.node = SimpleNamespace(log=cast(EventLog, SimpleNamespace(read=self.read)))

    async def open(self, code: str) -> Any:
        """Takes that long, from memory or from the store."""
        self.clock.now += self.seconds
        if self.table is None:
            return None
        return SimpleNamespace(follower=SimpleNamespace(room=SimpleNamespace(table=self.table)))

    async def read(self, code: str) -> Gone:
        self.asked.append(code)
        if self.is_down:
            raise StoreError("no answer")
        self.clock.now += 0.0005
        return Gone()


Ask = Callable[..., Any]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Ask for a room; the answer, what the store was asked at last, and the seconds."""

    async def asking(
        table: Table | None,
        seconds: float,
        key: str = "",
        code: str = CODE,
        *,
        is_down: bool = False,
    ) -> tuple[Any, list[str], float]:
        clock = Clock(monkeypatch)
        rooms = Rooms(clock, table, seconds, is_down=is_down)
        directory = cast(Directory, rooms)
        found = await room_for(directory, code, lambda room: may_enter(room.table, key), ASKED)
        return found, rooms.asked, clock.now - ASKED

    return asking


SITUATIONS = {
    "absent": (None, 0.0008, "", CODE),
    "absent, with a key": (None, 0.0008, "the key", CODE),
    "no code at all": (None, 0.0, "", "x"),
    "forbidden, in memory": (PRIVATE, 0.0, "", CODE),
    "forbidden, with a wrong key": (PRIVATE, 0.0, "another key", CODE),
    "forbidden, asleep": (PRIVATE, 0.004, "", CODE),
    "forbidden, asleep and long": (PRIVATE, 0.09, "", CODE),
}


@pytest.mark.parametrize("situation", SITUATIONS.values(), ids=SITUATIONS)
async def test_every_refusal_asks_the_same_and_takes_the_same_time(
    ask: Ask, situation: tuple[Any, ...]
) -> None:
    found, asked, seconds = await ask(*situation)
    assert found is None
    assert asked == [NOWHERE]
    assert seconds == pytest.approx(REFUSED_SECONDS)


@pytest.mark.parametrize("situation", SITUATIONS.values(), ids=SITUATIONS)
async def test_a_store_that_is_down_fails_every_refusal_alike(
    ask: Ask, situation: tuple[Any, ...]
) -> None:
    with pytest.raises(StoreError):
        await ask(*situation, is_down=True)


@pytest.mark.parametrize(("table", "key"), [(PUBLIC, ""), (PUBLIC, "any"), (PRIVATE, "the key")])
async def test_who_may_look_waits_for_nothing(ask: Ask, table: Table, key: str) -> None:
    found, asked, seconds = await ask(table, 0.004, key)
    assert found.follower.room.table is table
    assert asked == []
    assert seconds == pytest.approx(0.004)


def test_no_room_is_ever_where_refusals_look() -> None:
    assert not is_code(NOWHERE)


async def test_time_that_is_over_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    before = asyncio.get_running_loop().time()
    rooms = SimpleNamespace(read=Rooms(Clock(monkeypatch), None, 0, is_down=False).read)
    await entering.refused(cast(EventLog, rooms), ASKED - 60)
    assert asyncio.get_running_loop().time() - before < REFUSED_SECONDS
