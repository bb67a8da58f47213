"""Steps that an operator or the service orders, done in turn with all other items."""

from collections.abc import Awaitable, Callable

from towerhall_server.eventlog.answers import Answer, Appended
from towerhall_server.live.follower import Follower
from towerhall_server.live.items import Order
from towerhall_server.room.steps import Step


async def obey(
    order: Order, follower: Follower, commit: Callable[[Step], Awaitable[Answer]]
) -> None:
    """Decide and append until nothing is left to do. Another node's commit may come first."""
    while (step := order.decide(follower.room)) is not None:
        if not isinstance(await commit(step), Appended):
            await follower.catch_up()
    if not order.done.done():
        order.done.set_result(None)
