"""The calls of the Python client, answered by the routes, in the shapes of the schema."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

import msgspec
import pytest
from redis.asyncio import Redis

from tests.push.test_subscriptions import AUTH, P256DH
from tests.regulars.games import end
from tests.regulars.served import ACME_KEY, Served, served
from towerhall_client.errors import ServiceError
from towerhall_client.http import Service
from towerhall_client.operator import Operator, Player
from towerhall_protocol import people_answers as p
from towerhall_server.regulars.reports import Report


def joined(client: Any, running: Served) -> Any:
    """Let the client ask the routes of this process."""

    async def ask(
        method: str,
        path: str,
        body: object = None,
        *,
        token: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        path, _, query = path.partition("?")
        found = await running.ask(
            method, path, body, token=token, headers=headers, query=dict(parse_qsl(query))
        )
        if found.status >= 400:
            raise ServiceError(found.code, "", found.status)
        return found.body

    client.ask = ask
    return client


def fits(document: object, shape: Any) -> None:
    """The document has the shape, and no key that the shape does not know."""
    kept = msgspec.json.encode(msgspec.convert(document, shape))
    assert msgspec.json.decode(kept) == document


async def test_people_use_all_of_it_by_the_client(engine_url: str, redis: Redis) -> None:
    async with served(engine_url) as running:
        service: Service = joined(Service("http://towers.example"), running)
        ada, ben = await service.guest("Ada"), await service.guest("Ben")
        await running.play(*(end(n, ada.id, ben.id, bot="easy" * (n % 2)) for n in range(1, 12)))
        fits(await service.my_profile(ada.token), p.OwnProfileAnswer)
        handle = (await service.my_profile(ben.token))["handle"]
        fits(await service.profile(ada.token, handle), p.ProfileAnswer)
        page = await service.past_games(ada.token, seats=3, most=2)
        assert len(page.games) == 2
        assert page.before is not None
        next_page = await service.past_games(ada.token, handle, before=page.before, most=50)
        fits({"games": next_page.games}, p.PastGamesAnswer)
        fits(await service.leaderboard("five_towers"), p.LeaderboardAnswer)
        fits(await service.people(ada.token), p.PeopleAnswer)
        assert (await service.befriend(ada.token, handle))["asked"]
        assert not (await service.befriend(ada.token, handle, remove=True))["asked"]
        assert (await service.block(ada.token, handle))["blocked"]
        assert (await service.choose(ben.token, hidden=True, chat=False))["hidden"]
        await service.subscribe(ada.token, "https://push.example/a", P256DH, AUTH, "en")
        fits(await service.export(ada.token), p.ExportAnswer)
        await service.unsubscribe(ada.token, "https://push.example/a")
        assert "subscriptions" not in await service.export(ada.token)
        assert len(await service.push_key()) == 87
        with pytest.raises(ServiceError) as refused:
            await service.report(ada.token, "QQQQQQ", "chat", seat=1)
        assert refused.value.code == "room_gone"
        await service.erase(ben.token, ben.id)
        with pytest.raises(ServiceError):
            await service.my_profile(ben.token)


async def test_operators_use_all_of_it_by_the_client(engine_url: str, redis: Redis) -> None:
    async with served(engine_url) as running:
        operator: Operator = joined(Operator("http://towers.example", ACME_KEY), running)
        ada = await operator.token(Player("account 1", "Ada"))
        await running.play(end(1, ada.id, "ben"), end(2, ada.id, "ben"))
        fits(await operator.person("account 1"), p.OperatorProfileAnswer)
        assert len((await operator.past_games("account 1", most=1)).games) == 1
        reports = running.running.hall.regulars.reports
        await reports.add("acme", Report("ABCDEF", "x" * 11, "y" * 11, "Ben", "chat"))
        (report,) = await operator.reports()
        fits(report, p.ReportAnswer)
        assert await operator.reports(report["number"]) == []
        await operator.settle_report(report["number"])
        assert await operator.reports() == []
