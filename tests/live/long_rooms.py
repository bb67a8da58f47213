"""Rooms with long logs: made in memory, and put into a store as servers would have."""

from collections.abc import Sequence

from tests.eventlog.logs import written
from tests.room.pure_rooms import ADA, BEN, CODE, SECRET, PureRoom
from towerhall_server.eventlog.entry import START, Entry, Point
from towerhall_server.eventlog.log import EventLog
from towerhall_server.game import AnyGame
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.live.follower import TTL_MS


def toggled(commits: int, rules: AnyGame = FIVE_TOWERS) -> PureRoom:
    """A room of two in which one person cannot decide whether to end the game."""
    pure = PureRoom(rules).seat_people(ADA, BEN).deal().play_on(3)
    while pure.seq < commits:
        pure.say(ADA, "want_end", wanted=pure.seq % 2 == 0)
    return pure


async def put_into(
    log: EventLog, entries: Sequence[Entry], after: Point = START, code: str = CODE
) -> Point:
    """Append the commits of a log that was made without a store. They get the time of now, and so
    the chain is another one."""
    if after == START:
        await log.keep_secret(code, SECRET, TTL_MS)
    for entry in entries:
        times = {"ttl_ms": TTL_MS, "due_at_ms": TTL_MS}
        new = await written(log, code, after, entry.commit_id, entry.blob, **times)
        after = new.point
    return after
