"""JSON Merge Patch (RFC 7396) between two documents: how a view gets from one seq to the next.

`diff` is strict about types (`0` is not `False`) and skips parts that are the same object, so a
view that shares its unchanged parts with the one before costs only what changed. Neither function
changes its arguments. Documents hold no nulls: a null could not be told from a removed key.
"""

from towerhall_protocol.document import Document, Patch

_ARRAYS = (tuple, list)


def diff(old: Document, new: Document) -> dict[str, object]:
    """The smallest patch with `apply(old, patch) == new`; empty if nothing changed."""
    patch: dict[str, object] = {}
    kept, look_up = len(new), old.get
    for key, value in new.items():
        before = look_up(key)
        if before is value:
            continue
        if before is None:
            kept -= 1
            patch[key] = value
            continue
        kind = type(value)
        if (kind is int or kind is str) and kind is type(before):  # `same`, without a call
            if before != value:
                patch[key] = value
        elif type(value) is dict and type(before) is dict:
            inner = diff(before, value)
            if inner:
                patch[key] = inner
        elif not same(before, value):
            patch[key] = value
    if kept < len(old):
        for key in old:
            if key not in new:
                patch[key] = None
    return patch


def apply(document: Document, patch: Patch) -> dict[str, object]:
    """The document after the patch. Parts that the patch does not touch are shared, not copied."""
    result = dict(document)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            before = result.get(key)
            result[key] = apply(before if isinstance(before, dict) else {}, value)
        else:
            result[key] = value
    return result


def same(one: object, other: object) -> bool:
    """Equality as the wire sees it: `0`, `False` and `0.0` differ, list and tuple do not."""
    if one is other:
        return True
    kind, other_kind = type(one), type(other)
    if kind is int or kind is str:
        return kind is other_kind and one == other
    if isinstance(one, _ARRAYS):
        return isinstance(other, _ARRAYS) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return (
            isinstance(other, dict)
            and one.keys() == other.keys()
            and all(same(value, other[key]) for key, value in one.items())
        )
    return kind is other_kind and one == other
