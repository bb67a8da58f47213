"""What a room does by itself when it is due: the step, with a bot's thinking off the event loop."""

import asyncio
import logging
import os
from typing import Final

from towerhall_server.game import Rejected, Seat
from towerhall_server.room import core
from towerhall_server.room.core import Due, Step
from towerhall_server.room.state import Room

logger = logging.getLogger(__name__)

ENTROPY_BYTES: Final = 32


async def errand(room: Room, due: Due) -> Step:
    """The step that is due."""
    bot = core.bot_to_act(room)
    step: Step | Rejected
    if due.errand == "open":
        step = core.cancel_step(room)
    elif due.errand == "bot" and bot is not None:
        step = await _bot_step(room, bot)
    elif due.errand == "turn":
        step = core.timeout_step(room)
    else:
        step = core.close_step(room, "abandoned")
    if isinstance(step, Rejected):
        raise RuntimeError(f"the {due.errand} of {room.table.code} was refused: {step.code}")
    return step


async def _bot_step(room: Room, bot: Seat) -> Step | Rejected:
    """A bot's move, or the game's default for a bot that fails: the others shall play on."""
    code = room.table.code
    try:
        step = await asyncio.to_thread(core.bot_step, room, bot, os.urandom(ENTROPY_BYTES))
    except Exception:
        logger.exception("room %s: the bot of seat %d failed", code, bot)
    else:
        if not isinstance(step, Rejected):
            return step
        logger.error("room %s: the bot of seat %d chose what is %s", code, bot, step.code)
    return core.stand_in_step(room, bot)
