"""The way of each test, and what the loops of its rooms have done."""

import pytest

from tests.live.fast_path.ways import Way
from tests.live.live_rooms import (
    LiveNode,
)
from towerhall_server.live import presence
from towerhall_server.live.actor import RoomActor
from towerhall_server.live.items import Item


@pytest.fixture(autouse=True)
def _nobody_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes do not tell each other who is there: some are on both, and go on with what they do."""
    monkeypatch.setattr(presence, "PRESENCE_SECONDS", 60.0)


@pytest.fixture
def way(one: LiveNode, monkeypatch: pytest.MonkeyPatch) -> Way:
    """From the first node to its store."""
    found = Way(one.log)
    monkeypatch.setattr(one.log.appender, "ask", found.ask)
    return found


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> list[type[Item]]:
    """What the loops of all rooms have been given to do."""
    taken: list[type[Item]] = []
    handle = RoomActor._handle

    async def noted(self: RoomActor, item: Item) -> None:
        taken.append(type(item))
        await handle(self, item)

    monkeypatch.setattr(RoomActor, "_handle", noted)
    return taken
