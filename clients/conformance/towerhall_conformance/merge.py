"""The merge of P-33 and the comparison of views, written anew.

The kit must not share a mistake with a client that is built on the protocol's own package.
"""

from typing import Any


def merged(view: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """The view after that patch."""
    result = dict(view)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            before = result.get(key)
            result[key] = merged(before if isinstance(before, dict) else {}, value)
        else:
            result[key] = value
    return result


def same(one: Any, other: Any) -> bool:
    """Whether two documents are equal; `0` and `false` are not (P-10)."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)
