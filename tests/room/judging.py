"""What tests of live rooms ask of a log and of those who play."""

from tests.room.live_rooms import (
    GAMES,
    FakeViewer,
    whole_log,
)
from towerhall_server.room.actor import RoomActor
from towerhall_server.room.record import make_record
from towerhall_server.room.verify import verify


async def rightful(url: str, actor: RoomActor) -> bool:
    """Whether the rules lead from the first commit of a finished game to its last, in time."""
    entries = await whole_log(url, actor.code)
    return verify(make_record(GAMES, actor.follower.room.secret, entries), GAMES) == ()


def to_move(*viewers: FakeViewer) -> FakeViewer:
    """Whose turn it is. All are on the same node, which tells them together."""
    found = next((viewer for viewer in viewers if viewer.replay.offers), None)
    assert found is not None
    return found
