"""`towerhall projections` and `towerhall reports` on a store."""

import json
from argparse import Namespace

import pytest
from redis.asyncio import Redis

from tests.regulars.games import Table, end, projections
from towerhall_server.cli import projections as on_projections
from towerhall_server.cli import reports as on_reports
from towerhall_server.cli.on_store import NotDoneError
from towerhall_server.eventlog.log import EventLog
from towerhall_server.regulars.reports import ChatLine, Report, Reports


async def test_a_rebuild_by_the_command_line_leaves_the_same(
    log: EventLog, redis: Redis, capsys: pytest.CaptureFixture[str]
) -> None:
    table = Table(log)
    await table.play(end(1, "ada", "ben"), end(2, "ben", "ada", "cyd"))
    wanted = await projections(redis, table.people)
    await on_projections._rebuild(log, Namespace())
    assert await projections(redis, table.people) == wanted
    assert (await table.journal.place()).generation == 1
    assert capsys.readouterr().out == "2 slips are applied\n"
    await table.journal.order_rebuild()
    await on_projections._show(log, Namespace(json=True))
    shown = json.loads(capsys.readouterr().out)
    assert shown == {"slips": 2, "applied": 2, "rebuilding": True}


async def test_reports_are_listed_without_control_characters_and_settled(
    log: EventLog, redis: Redis, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (ChatLine("1-0", 1, "rude \x1b[2J"),)
    report = Report("ABCDEF", "a" * 11, "b" * 11, "Ben", "chat", "look", lines)
    await Reports(log).add("", report)
    await on_reports._list(log, Namespace(operator="", json=False))
    told = capsys.readouterr().out
    assert "b" * 11 in told
    assert "rude ?[2J" in told
    assert "\x1b" not in told
    await on_reports._list(log, Namespace(operator="acme", json=True))
    assert capsys.readouterr().out == ""
    (kept,) = await Reports(log).page("")
    settling = Namespace(operator="", number=kept.number)
    await on_reports._settle(log, settling)
    with pytest.raises(NotDoneError, match=f"no report {kept.number}"):
        await on_reports._settle(log, settling)
