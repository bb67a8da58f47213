"""Facts and commands of a game as data: names, types and a sentence, from the types of the game."""

from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

import msgspec

from towerhall_protocol.answers import CommandAnswer, FactAnswer, FieldAnswer
from towerhall_server.game import AnyGame, Seat

_WORDS: Final[Mapping[object, str]] = {
    Seat: "seat",
    bool: "boolean",
    int: "integer",
    str: "text",
}


def facts_of(game: AnyGame) -> dict[str, FactAnswer]:
    """The facts of a game, by name. Their fields have the order of the array."""
    texts = game.reference.fact_texts if game.reference is not None else {}
    return {
        name: FactAnswer(tuple(_fields(kind)), texts.get(name, ""))
        for name, kind in _by_name(get_args(game.event_type) or (game.event_type,))
    }


def commands_of(game: AnyGame) -> dict[str, CommandAnswer]:
    """The commands of a game, by name."""
    reference = game.reference
    if reference is None:
        return {}
    return {
        name: CommandAnswer(tuple(_fields(kind)), reference.command_texts[name])
        for name, kind in _by_name(reference.commands)
    }


def _by_name(kinds: tuple[type[msgspec.Struct], ...]) -> Iterator[tuple[str, type[msgspec.Struct]]]:
    return ((str(kind.__struct_config__.tag), kind) for kind in kinds)


def _fields(kind: type[msgspec.Struct]) -> Iterator[FieldAnswer]:
    is_array = kind.__struct_config__.array_like
    for field in msgspec.structs.fields(kind):
        may_be_left_out = not field.required and not is_array
        yield FieldAnswer(field.name, word_for(field.type), optional=may_be_left_out)


def word_for(kind: Any) -> str:
    """The type of a field in one word, or a few."""
    if kind in _WORDS:
        return _WORDS[kind]
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        return "text"
    if origin in (Union, UnionType):
        return next(word_for(part) for part in parts if part not in _LEFT_OUT)
    if hasattr(kind, "__metadata__"):
        return word_for(kind.__origin__)
    if origin in (tuple, list):
        return f"list of {word_for(parts[0])}"
    return "map"


_LEFT_OUT: Final = (type(None), msgspec.UnsetType)
