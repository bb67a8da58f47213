"""Finds one object in each folder of a package, and checks its fields.

A wrong field stops the server at startup, not in the middle of a game. An error names the folder
and the field. This module knows no game.
"""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

Found = TypeVar("Found")

WORDS: Mapping[object, str] = {
    Callable: "a function",
    Mapping: "a mapping",
    int: "an int",
    type: "a class",
    type(None): "None",
}
SHOWN_LENGTH = 80
"""Characters of a wrong value that an error shows."""


class BadFolderError(ValueError):
    """A folder cannot be used. The message names the folder and the mistake in it."""


def find_all(package: str, name: str, kind: type[Found]) -> Iterator[tuple[str, Found]]:
    """Return for each folder of the package its object of this name and kind."""
    for module in iter_modules(import_module(package).__path__):
        yield module.name, _find(f"{package}.{module.name}", module.name, name, kind)


def _find(module: str, folder: str, name: str, kind: type[Found]) -> Found:
    try:
        found = getattr(import_module(module), name, None)
    except TypeError as error:
        _, is_ours, problem = str(error).partition(f"{kind.__name__}.__init__() ")
        if not is_ours:
            raise
        raise BadFolderError(f"{folder}: {kind.__name__}() {problem}") from error
    if found is None:
        raise BadFolderError(f"{folder}: its __init__.py has no {name}")
    if not isinstance(found, kind):
        raise BadFolderError(f"{folder}: {name} must be a {kind.__name__}, not {_shown(found)}")
    return found


def check_fields(folder: str, found: object) -> None:
    """Raise `BadFolderError` if a field, or a value in a field's mapping, has a wrong type."""
    for name, kind in get_type_hints(type(found)).items():
        value = getattr(found, name)
        _check(f"{folder}: the field {name}", value, kind)
        if get_origin(kind) is Mapping:
            for key, inner in value.items():
                _check(f"{folder}: the entry {key!r} of the field {name}", inner, get_args(kind)[1])


def _check(what: str, value: object, kind: Any) -> None:
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    types = [get_origin(each) or each for each in kinds]
    if not any(each is Any or isinstance(value, each) for each in types):
        words = " or ".join(WORDS.get(each, f"a {each.__name__}") for each in types)
        raise BadFolderError(f"{what} must be {words}, not {_shown(value)}")


def _shown(value: object) -> str:
    return repr(value)[:SHOWN_LENGTH]
