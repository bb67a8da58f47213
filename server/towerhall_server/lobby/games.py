"""Games as a lobby's form needs them: options, presets, numbers; texts as codes.

No text for people lives here: a code names each text, and the client has the words in its
languages.
"""

from collections.abc import Mapping, Sequence

import msgspec

from towerhall_protocol.level import LEVEL, OLDEST_LEVEL
from towerhall_server.game import AnyGame, option_fields
from towerhall_server.lobby.describing import commands_of, facts_of
from towerhall_server.room.sandbox import LOST, PAUSE_MS, SPEED


def describe_games(
    games: Mapping[str, AnyGame],
    limits: Mapping[str, int],
    turn_seconds: Sequence[range],
    bot_delay_ms: range,
) -> dict[str, object]:
    """Return all games, and the limits of their rooms."""
    return {
        "games": [describe_game(game) for game in games.values()],
        "level": {"oldest": OLDEST_LEVEL, "newest": LEVEL},
        "clocks": {
            "turn_seconds": [_span(each) for each in turn_seconds],
            "bot_delay_ms": [_span(bot_delay_ms)],
            "beat_ms": [_span(bot_delay_ms)],
        },
        "limits": limits,
    }


def describe_sandbox() -> dict[str, object]:
    """What a server tells that offers sandbox rooms."""
    spans = {"speed": SPEED, "pause_ms": PAUSE_MS, "commits": LOST}
    return {"sandbox": {name: _span(span) for name, span in spans.items()}}


def describe_game(game: AnyGame) -> dict[str, object]:
    options = {
        name: {
            "values": field.values,
            "default": field.default,
            "text": f"{game.name}.{name}",
            "texts": [f"{game.name}.{name}.{_spelt(value)}" for value in field.values],
        }
        for name, field in option_fields(game.options_type).items()
    }
    return {
        "name": game.name,
        "text": game.name,
        "version": game.version,
        "seats": _span(game.seats),
        "options": options,
        "presets": {name: msgspec.to_builtins(preset) for name, preset in game.presets.items()},
        "preset_texts": {name: f"{game.name}.preset.{name}" for name in game.presets},
        "levels": game.levels,
        "level_texts": {level: f"level.{level}" for level in game.levels},
        "reasons": {code: msgspec.to_builtins(reason) for code, reason in game.reasons.items()},
        "commands": commands_of(game),
        "facts": facts_of(game),
    }


def _span(numbers: range) -> tuple[int, int]:
    return numbers[0], numbers[-1]


def _spelt(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
