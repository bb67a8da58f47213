"""The audit log: acts on people, rooms, tokens and keys, in streams of the store.

Each source has its own stream: the service and its staff, the players, and each operator of another
lobby. No source evicts entries of another one. Entries are appended and never changed. A stream
drops entries older than `KEPT_DAYS`, and the oldest ones beyond `MOST_ENTRIES`.

An entry holds ids, names of operators, codes of rooms and reasons. It holds no token, key, address,
external id or chat. It is written after the act, asynchronously: if the store fails, the act
stands, and the loss is logged and counted.
"""

import asyncio
import logging
from collections.abc import Mapping
from functools import partial
from importlib.resources import files
from typing import Any, Final, Literal

import msgspec

from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.scripts import run_call
from towerhall_server.store.batch import Call
from towerhall_server.store.resp import Argument, packed, script
from towerhall_server.telemetry.meters import Meters

logger = logging.getLogger(__name__)

SERVICE: Final = "service"
"""The source of acts of servers and of the command line."""
PEOPLE: Final = "people"
MOST_ENTRIES: Final = 100_000
"""Entries per source, about 20 MB. Streams are cut in whole nodes, so a few more stay."""
KEPT_DAYS: Final = 400
DAY_MS: Final = 24 * 3_600_000
PAGE: Final = 1000
TAG: Final = "towerhall:{audit}"
SOURCES: Final = f"{TAG}:sources"
_NOTE: Final = script((files("towerhall_server.access") / "lua" / "audit.lua").read_text())

Act = Literal[
    "started",
    "room_opened",
    "room_closed",
    "token_issued",
    "link_made",
    "link_used",
    "tokens_revoked",
    "keys_revoked",
    "banned",
    "ban_lifted",
    "person_erased",
    "person_reported",
    "report_settled",
    "account_made",
    "passkey_added",
    "passkey_removed",
    "signed_in",
    "recovered",
    "device_logged_out",
]


class AuditEntry(msgspec.Struct, frozen=True):
    """One act."""

    time: int
    """In ms since 1970, by the store's clock."""
    source: str
    act: str
    about: Mapping[str, Any]


class _Kept(msgspec.Struct, frozen=True, array_like=True):
    act: str
    about: dict[str, Any]


def source_of(operator: str) -> str:
    """The source of an operator's acts."""
    return f"operator {operator}"


class Audit:
    """The audit log of one store."""

    def __init__(self, log: EventLog, meters: Meters | None = None) -> None:
        self._log = log
        self._meters = meters if meters is not None else Meters()

    def note(self, source: str, act: Act, **about: object) -> None:
        """Write an entry in the background. The act neither waits for it nor fails by it."""
        data = msgspec.json.encode(_Kept(act, about), enc_hook=str)
        limits = (MOST_ENTRIES, KEPT_DAYS * DAY_MS)
        call = run_call(_NOTE, (_stream(source), SOURCES), source, data, *limits)
        self._log.call(call).add_done_callback(partial(self._written, source, act))

    def _written(self, source: str, act: Act, written: "asyncio.Future[bytes]") -> None:
        if written.cancelled() or written.exception() is not None:
            self._meters.audit_lost += 1
            logger.warning("the audit log lacks an entry: %s by %s", act, source)

    async def read(self, since_ms: int = 0) -> list[AuditEntry]:
        """Return all entries from that time on, oldest first. Raises `StoreError`."""
        found: list[AuditEntry] = []
        for source in sorted(await self._ask("HKEYS", SOURCES)):
            found += await self._of(source.decode(), since_ms)
        return sorted(found, key=lambda entry: entry.time)

    async def _of(self, source: str, since_ms: int) -> list[AuditEntry]:
        found: list[AuditEntry] = []
        start = str(max(since_ms, 0))
        while page := await self._ask("XRANGE", _stream(source), start, "+", "COUNT", PAGE):
            for name, (_, data) in page:
                kept = msgspec.json.decode(data, type=_Kept)
                found.append(AuditEntry(_time_of(name), source, kept.act, kept.about))
            start = f"({page[-1][0].decode()}"
        return found

    def _ask(self, *command: Argument) -> "asyncio.Future[Any]":
        return self._log.call(Call(packed(*command)))


def _stream(source: str) -> str:
    return f"{TAG}:of:{source}"


def _time_of(name: bytes) -> int:
    return int(name.partition(b"-")[0])
