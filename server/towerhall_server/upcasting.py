"""Reading events in forms that nobody writes any more.

Stored events are arrays, a name and then the fields, and nothing that is stored is ever rewritten:
the chain holds its bytes. An event whose form changes is stored under a new name from then on, and
an upcaster says what an old one is today. Old names are looked for only where something cannot be
read as it is, so whoever has none of them pays nothing.

What events mean is no business of this file.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec

Upcaster: TypeAlias = Callable[[list[Any]], list[Any]]
"""From the fields of an old event to the event that says the same: a name, then its fields."""
Upcasters: TypeAlias = Mapping[str, Upcaster]
"""By the old name."""


def upcast(stored: bytes | msgspec.Raw, upcasters: Upcasters) -> msgspec.Raw:
    """Stored events, in the form of today as far as old names are known."""
    events: list[Any] = msgspec.msgpack.decode(stored, type=list[Any])
    try:
        today = [_upcast(event, upcasters) for event in events]
    except Exception as error:
        # A stranger's record may hold anything under an old name.
        raise msgspec.ValidationError(f"an old event cannot be read: {error!r}") from error
    return msgspec.Raw(msgspec.msgpack.encode(today))


def _upcast(event: Any, upcasters: Upcasters) -> Any:
    for _ in upcasters:  # from form to form, and through each of them once at most
        match event:
            case [str(name), *fields] if name in upcasters:
                event = upcasters[name](fields)
            case _:
                break
    return event
