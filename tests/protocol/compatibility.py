"""Which changes of the contract break a program that was written for it.

A schema says what one side sends. The sender must not leave out, rename or change what the
receiver reads; the receiver must not refuse what the sender may say. A change of either kind needs
a new level. Additions that P-5 allows are no breaks.
"""

from collections.abc import Iterator
from typing import Any

Schema = dict[str, Any]


def breaks(old: Schema, new: Schema, where: str = "") -> Iterator[str]:
    """What a newer contract breaks, one line each. Works on messages, views and requests alike."""
    if "$ref" in old or "$ref" in new:
        if old.get("$ref") != new.get("$ref"):
            yield f"{where}: refers to {new.get('$ref')}, no longer to {old.get('$ref')}"
        return
    for key in ("type", "const"):
        if old.get(key) != new.get(key):
            yield f"{where}: its {key} was {old.get(key)} and is {new.get(key)}"
    if set(old.get("enum", ())) - set(new.get("enum", ())):
        yield f"{where}: values are gone: {sorted(set(old['enum']) - set(new.get('enum', ())))}"
    yield from _maps(old, new, where)
    yield from _arrays(old, new, where)
    yield from _unions(old, new, where)


def _maps(old: Schema, new: Schema, where: str) -> Iterator[str]:
    before, after = old.get("properties", {}), new.get("properties", {})
    for name in before:
        if name not in after:
            yield f"{where}: the key {name} is gone"
        else:
            yield from breaks(before[name], after[name], f"{where}.{name}")
    needed, is_needed = set(old.get("required", ())), set(new.get("required", ()))
    for name in sorted(needed - is_needed):
        if name in after:
            yield f"{where}: the key {name} may be missing now"
    # What only a server sends may get new keys that are always there. A request may not.
    if new.get("additionalProperties") is False:
        for name in sorted(is_needed - needed):
            yield f"{where}: the key {name} is required now"
    items, its = old.get("additionalProperties"), new.get("additionalProperties")
    if isinstance(items, dict) and isinstance(its, dict):
        yield from breaks(items, its, f"{where}.*")
    elif items != its and its is False:
        yield f"{where}: other keys are refused now"


def _arrays(old: Schema, new: Schema, where: str) -> Iterator[str]:
    before, after = old.get("prefixItems", []), new.get("prefixItems", [])
    if len(after) < len(before):
        yield f"{where}: has {len(after)} fields, and had {len(before)}"
    for place, (one, other) in enumerate(zip(before, after, strict=False)):
        yield from breaks(one, other, f"{where}[{place}]")
    if before and new.get("minItems", 0) != old.get("minItems", 0):
        yield f"{where}: {new.get('minItems')} fields are needed, and {old.get('minItems')} were"
    if isinstance(old.get("items"), dict) and isinstance(new.get("items"), dict):
        yield from breaks(old["items"], new["items"], f"{where}[]")


def _unions(old: Schema, new: Schema, where: str) -> Iterator[str]:
    for kind in ("anyOf", "oneOf"):
        lost = [each for each in old.get(kind, []) if each not in new.get(kind, [])]
        if lost:
            yield f"{where}: {len(lost)} of its forms are gone or changed"


def all_breaks(old: Schema, new: Schema) -> list[str]:
    """The breaks of a whole contract: see `schemas.contract`."""
    found: list[str] = []
    for part in ("messages", "room"):
        found += _in_defs(old[part]["$defs"], new[part]["$defs"], part)
    for name, schema in old["games"].items():
        # Rules of another version are another game: theirs may differ.
        if name in new["games"]:
            found += _in_defs(schema["$defs"], new["games"][name]["$defs"], name)
    one, other = (each["openapi"]["components"]["schemas"] for each in (old, new))
    found += _in_defs(one, other, "openapi")
    for path, methods in old["openapi"]["paths"].items():
        for method, operation in methods.items():
            there = new["openapi"]["paths"].get(path, {}).get(method)
            if there is None:
                found.append(f"{method} {path} is gone")
                continue
            for key in ("operationId", "requestBody", "security"):
                if operation.get(key) != there.get(key):
                    found.append(f"{method} {path}: another {key}")
            if not set(operation["responses"]) <= set(there["responses"]):
                found.append(f"{method} {path}: answers are gone")
    return found


def _in_defs(old: Schema, new: Schema, where: str) -> Iterator[str]:
    for name, schema in old.items():
        if name not in new:
            yield f"{where}: {name} is gone"
        else:
            yield from breaks(schema, new[name], f"{where}: {name}")
