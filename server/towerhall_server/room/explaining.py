"""The answer to a person about a command: its known effect, or the reason of its refusal."""

from collections.abc import Mapping
from typing import Any

from towerhall_protocol.errors import hint
from towerhall_server.game import AnyGame, Rejected, Seat
from towerhall_server.room.state import Room


def effect_of(room: Room, seat: Seat, body: Mapping[str, Any]) -> Mapping[str, object]:
    """The effect of a command as its offer states it.

    Its events stay hidden: they may turn over hidden cards.
    """
    for offer in room.rules.offers(room.game, seat) if room.playing and seat >= 0 else ():
        if offer.command == body.get("command"):
            for command, effect in offer.with_effects():
                if command == body:
                    return effect
    return {}


def explain(rules: AnyGame, refusal: Rejected) -> str:
    """A refusal in words: the game's if it rests on its rules, else the protocol's."""
    reason = rules.reasons.get(refusal.code)
    if reason is None or refusal.rule.startswith("P-"):
        return hint(refusal.code, refusal.params)
    return hint(refusal.code, refusal.params, {refusal.code: reason.hint})
