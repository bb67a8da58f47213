"""What tests of live rooms ask of a log and of those who play."""

from tests.live.live_rooms import (
    GAMES,
    FakeViewer,
    whole_log,
)
from towerhall_server.live.actor import RoomActor
from towerhall_server.live.record_store import make_record
from towerhall_server.record.verify import verify


async def rightful(url: str, actor: RoomActor, *, hurried: bool = False) -> bool:
    """Whether the rules lead from the first commit of a finished game to its last, in time. Where
    a test has hurried the room, its service clock went faster than time."""
    entries = await whole_log(url, actor.code)
    found = verify(make_record(GAMES, actor.follower.room.secret, entries), GAMES)
    return {finding.code for finding in found} == ({"clock"} if hurried else set())


def to_move(*viewers: FakeViewer) -> FakeViewer:
    """Whose turn it is. All are on the same node, which tells them together."""
    found = next((viewer for viewer in viewers if viewer.replay.offers), None)
    assert found is not None
    return found
