"""What whoever runs the service wants of a room, done in its turn like everything else."""

from collections.abc import Awaitable, Callable

from towerhall_server.eventlog.log import Answer, Appended
from towerhall_server.room.core import Step
from towerhall_server.room.follower import Follower
from towerhall_server.room.inbox import Order


async def obey(
    order: Order, follower: Follower, commit: Callable[[Step], Awaitable[Answer]]
) -> None:
    """Decide and append until there is nothing left to do: others may have been first."""
    while (step := order.decide(follower.room)) is not None:
        if not isinstance(await commit(step), Appended):
            await follower.catch_up()
    if not order.done.done():
        order.done.set_result(None)
