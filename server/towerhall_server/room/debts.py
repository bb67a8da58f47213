"""The leaves that a room owes to the public log of its service (P-182).

A room that is opened owes one leaf. A room that ends or is removed owes two: the first one again,
because the public log must not close a room that it has not opened. `transparency` enters them.
A sandbox room owes nothing: it proves nothing (P-190).
"""

from typing import Any

import msgspec

from towerhall_protocol.commands import base64url
from towerhall_protocol.public_log import Dropped, Leaf, Opened, leaf_bytes, leaves_of
from towerhall_server.room.table import Table


class _Head(msgspec.Struct):
    settings: dict[str, Any]


def opened_of(table: Table) -> bytes:
    return b"" if table.settings.sandbox else _joined(_opened(table))


def dropped_of(table: Table) -> bytes:
    """The debt of a room that is removed before it had anything to prove."""
    if table.settings.sandbox:
        return b""
    return _joined(_opened(table), Dropped(base64url(table.uid)))


def ended_of(record: bytes) -> bytes:
    """The debt of a room that has this record."""
    opened, ended, _ = leaves_of(record)
    is_sandbox = msgspec.json.decode(record, type=_Head).settings.get("sandbox")
    return b"" if is_sandbox else _joined(opened, ended)


def _opened(table: Table) -> Opened:
    return Opened(base64url(table.uid), base64url(table.commitment))


def _joined(*leaves: Leaf) -> bytes:
    return b"\n".join(map(leaf_bytes, leaves))
