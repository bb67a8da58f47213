"""Asks a bot again for the move that a commit says it made.

A bot is a pure function of the view of its seat, its offers and its entropy, which follows from the
deal's seed. A bot that raised, or chose an illegal move, was replaced by the game's default, as in
`errands`: the same happens here. This may take long: a bot of Nikitin Towers searches.
"""

from collections.abc import Mapping
from typing import Any

from towerhall_protocol.codec import canonical
from towerhall_server.game import Rejected, Seat
from towerhall_server.room import steps
from towerhall_server.room.state import Room


def is_move_of_bot(room: Room, seat: Seat, command: Mapping[str, Any]) -> bool:
    """Whether the bot of that seat makes this move here, or fails and this is its default."""
    job = steps.bot_job(room, seat)
    rules, state = job.rules, job.state
    try:
        chosen = rules.bots[job.level](
            rules.view(state, seat), rules.offers(state, seat), job.entropy
        )
        if canonical(chosen) == canonical(command):
            # Deciding the commit shows whether the rules allow it.
            return True
        has_failed = chosen.get("command") in rules.clock_commands or isinstance(
            rules.decide(state, seat, chosen), Rejected
        )
    except Exception:  # noqa: BLE001 - as in `errands`, whatever it is
        has_failed = True
    return has_failed and canonical(command) == canonical(rules.timeout(state, seat))
