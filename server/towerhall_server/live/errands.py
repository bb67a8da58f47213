"""The step that is due in a room. Bots choose their moves off the event loop."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from towerhall_server.game import Rejected, Seat
from towerhall_server.live.follower import RoomGoneError
from towerhall_server.room import steps
from towerhall_server.room.closing import abandon_step
from towerhall_server.room.search import JobAnswer
from towerhall_server.room.state import Room
from towerhall_server.room.steps import Due, Step

logger = logging.getLogger(__name__)

Choose = Callable[[Room, Seat], Awaitable[JobAnswer | None]]
"""Chooses a bot's move in another process. Returns `None` if the room has changed meanwhile."""


async def errand(room: Room, due: Due, choose: Choose) -> Step | None:
    """The step that is due; `None` if the room has changed while a bot was thinking."""
    bot = steps.bot_to_act(room)
    step: Step | Rejected | None
    if due.errand == "open":
        step = steps.cancel_step(room)
    elif due.errand == "bot" and bot is not None:
        step = await _bot_step(room, bot, choose)
    elif due.errand == "turn":
        step = steps.timeout_step(room)
    else:
        step = abandon_step(room)
    if isinstance(step, Rejected):
        raise RuntimeError(f"the {due.errand} of {room.table.code} was refused: {step.code}")
    return step


async def _bot_step(room: Room, bot: Seat, choose: Choose) -> Step | Rejected | None:
    """A bot's move, or the game's default if the bot fails: the game goes on."""
    code = room.table.code
    try:
        if not room.rules.slow_bots:
            step = await asyncio.to_thread(steps.bot_step, room, bot)
        else:
            chosen = await choose(room, bot)
            if chosen is None:
                return None
            step = steps.chosen_step(room, bot, chosen)
    except RoomGoneError:
        raise
    except Exception:
        logger.exception("room %s: the bot of seat %d failed", code, bot)
    else:
        if not isinstance(step, Rejected):
            return step
        logger.error("room %s: the bot of seat %d chose what is %s", code, bot, step.code)
    return steps.stand_in_step(room, bot)
