"""Reads stored events in forms that are no longer written.

Stored events are arrays, a name and then the fields. They are never rewritten: the chain covers
their bytes. A changed form gets a new name, and an upcaster turns the old form into the new one.
Old names are tried only if an event cannot be read as it is, so current events cost nothing extra.

The meaning of events is unknown here.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec

Upcaster: TypeAlias = Callable[[list[Any]], list[Any]]
"""Turns the fields of an old event into the equivalent event: a name, then its fields."""
Upcasters: TypeAlias = Mapping[str, Upcaster]
"""Upcasters by the old name."""


def upcast(stored: bytes | msgspec.Raw, upcasters: Upcasters) -> msgspec.Raw:
    """Upcast stored events with known old names."""
    events: list[Any] = msgspec.msgpack.decode(stored, type=list[Any])
    try:
        today = [_upcast(event, upcasters) for event in events]
    except Exception as error:
        # A foreign record may hold anything under an old name.
        raise msgspec.ValidationError(f"an old event cannot be read: {error!r}") from error
    return msgspec.Raw(msgspec.msgpack.encode(today))


def _upcast(event: Any, upcasters: Upcasters) -> Any:
    for _ in upcasters:  # each upcaster at most once
        match event:
            case [str(name), *fields] if name in upcasters:
                event = upcasters[name](fields)
            case _:
                break
    return event
