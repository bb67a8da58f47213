"""Reports of people: queues for operators, with the lines of chat in question.

A report about a person in a room of another lobby waits for the operator of that lobby, all others
for this service. Nothing is decided here: operators ban people by the id in the report.
"""

from typing import Any, Final

import msgspec

from towerhall_server.eventlog.log import EventLog
from towerhall_server.regulars.keys import REPORT_OPERATORS, reports_key
from towerhall_server.store.batch import Call
from towerhall_server.store.resp import Argument, packed

MOST_REPORTS: Final = 10_000
"""Reports in a queue; the oldest is dropped first."""
MOST_LINES: Final = 20
PAGE: Final = 100


class ChatLine(msgspec.Struct, frozen=True):
    """A line of chat."""

    id: str
    time: int
    text: str


class Report(msgspec.Struct, frozen=True, omit_defaults=True):
    """One report."""

    room: str
    """Empty for a report of a person by handle."""
    by: str
    """Id of the person who reports."""
    person: str
    """Id of the person in question."""
    name: str
    reason: str
    text: str = ""
    lines: tuple[ChatLine, ...] = ()
    number: str = ""
    """Names the report in its queue; the store gives it."""
    time: int = 0
    """In ms since 1970."""


_report: Final = msgspec.json.Decoder(Report).decode


class Reports:
    """The queues in the store."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    async def add(self, operator: str, report: Report) -> None:
        await self._ask("SADD", REPORT_OPERATORS, operator)
        data = msgspec.json.encode(report)
        await self._ask("XADD", reports_key(operator), "MAXLEN", "~", MOST_REPORTS, "*", "r", data)

    async def page(self, operator: str, after: str = "", most: int = PAGE) -> list[Report]:
        """Return the oldest reports of a queue after that number."""
        first = f"({after}" if after else "-"
        found = await self._ask("XRANGE", reports_key(operator), first, "+", "COUNT", most)
        return [_numbered(name, fields[1]) for name, fields in found]

    async def settle(self, operator: str, number: str) -> bool:
        """Remove a report that is dealt with. Returns whether it was there."""
        return bool(await self._ask("XDEL", reports_key(operator), number))

    async def operators(self) -> list[str]:
        """Return the operators who ever had a report; the empty name is the service."""
        return sorted(name.decode() for name in await self._ask("SMEMBERS", REPORT_OPERATORS))

    async def of(self, identity: str) -> list[tuple[str, Report]]:
        """Return the reports by a person and about a person, with their queues."""
        found: list[tuple[str, Report]] = []
        for operator in await self.operators():
            after = ""
            while page := await self.page(operator, after):
                after = page[-1].number
                found += [(operator, each) for each in page if identity in (each.by, each.person)]
        return found

    async def _ask(self, *command: Argument) -> Any:
        return await self._log.call(Call(packed(*command)))


def _numbered(name: bytes, data: bytes) -> Report:
    number = name.decode()
    time = int(number.partition("-")[0])
    return msgspec.structs.replace(_report(data), number=number, time=time)
