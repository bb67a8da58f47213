"""Faults of a document in plain words: hints must not name the libraries that found them.

`said` turns the error of a decoder or converter into one short text for people. An error that it
does not know becomes a general text: the text of the library never gets out. No error is raised or
judged here.
"""

import re
from collections.abc import Callable
from typing import Final

NOT_UTF8: Final = "a text is not UTF-8"
TOO_DEEP: Final = "there are too many levels"

_KINDS: Final = {
    "array": "a list",
    "bool": "true or false",
    "bytes": "bytes",
    "float": "a number with a fraction",
    "int": "a whole number",
    "null": "null",
    "object": "a map",
    "str": "a text",
}
_LENGTH: Final = re.compile(r"Expected `array` of (at least|at most)? ?length (\d+)")
_TYPE: Final = re.compile(r"Expected `([a-z]+)(?: \| null)?`, got `([a-z]+)`")
_BOUND: Final = re.compile(r"Expected `([a-z]+)` (?:of length )?(>=|<=|<|>) (-?\d+)")
_PATTERN: Final = re.compile(r"Expected `str` matching regex")
_MISSING: Final = re.compile(r"Object missing required field `(.+)`")
_UNKNOWN: Final = re.compile(r"Object contains unknown field `(.*)`")
_VALUE: Final = re.compile(r"Invalid (?:enum )?value (.+)", re.DOTALL)
_PLACE: Final = re.compile(r" - at `(?:key in )?\$(.*)`$")
_BOUNDS: Final = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}
_MOST: Final = re.compile(r"(\d+) exceeds max_(str|bin|array|map|ext)_len\((\d+)\)")
_UNITS: Final = {
    "str": "bytes of text",
    "array": "items",
    "map": "keys",
}

_SHAPES: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]] = (
    (_LENGTH, lambda found: f"a list has to have {found[1] or 'exactly'} {found[2]} items"),
    (_TYPE, lambda found: f"{_kind(found[1])} is expected, not {_kind(found[2])}"),
    (_BOUND, lambda found: f"{_kind(found[1])} of {_BOUNDS[found[2]]} {found[3]} is expected"),
    (_PATTERN, lambda found: "the text has another form"),
    (_MISSING, lambda found: f"{found[1]} is missing"),
    (_UNKNOWN, lambda found: f"there is no key {found[1]}"),
    (_VALUE, lambda found: f"{found[1]} is not one of the possible values"),
)


def said(error: BaseException) -> str:
    """The fault that an error of a decoder or converter tells, in plain words."""
    if isinstance(error, UnicodeError):
        return NOT_UTF8
    if isinstance(error, RecursionError):
        return TOO_DEEP
    text = str(error)
    return _shape(text) or _size(text) or _syntax(text)


def _shape(text: str) -> str:
    """A document of another shape than the one that is expected; empty if it is no such fault."""
    place = _PLACE.search(text)
    fault = text if place is None else text[: place.start()]
    for pattern, plain in _SHAPES:
        found = pattern.fullmatch(fault) or pattern.match(fault)
        if found is not None:
            where = place[1].lstrip(".") if place is not None else ""
            return f"{where}: {plain(found)}" if where else plain(found)
    return ""


def _size(text: str) -> str:
    """More than a limit allows; empty if it is no such fault."""
    found = _MOST.search(text)
    if found is None:
        return ""
    if found[2] not in _UNITS:
        return "bytes and extensions are not used here"
    return f"{found[1]} {_UNITS[found[2]]} are more than {found[3]}"


def _syntax(text: str) -> str:
    """The data is no document at all."""
    if "utf-8" in text.lower() or "surrogate" in text.lower():
        return NOT_UTF8
    if "map key" in text:
        return "a key is not a text"
    if "extra data" in text.lower() or "trailing" in text:
        return "there is something after the end"
    if "truncated" in text or "incomplete" in text or "Unterminated" in text:
        return "it is cut off"
    place = re.search(r"\(char (\d+)\)|\(byte (\d+)\)", text)
    at = f", at position {place[1] or place[2]}" if place else ""
    return f"it cannot be read{at}"


def _kind(name: str) -> str:
    return _KINDS.get(name, "another value")
