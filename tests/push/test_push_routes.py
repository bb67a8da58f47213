"""What browsers and strangers get over HTTP, and that a person's devices go with the person."""

import json
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from tests.push.double import Device, PushService, bytes_of
from tests.regulars.served import Answer, Guest, Served, served

NETWORKS = {"TOWERHALL_PUSH_NETWORKS": "127.0.0.0/8"}
AT = "https://"
"""Before hosts that are no examples."""
PATH = "/v1/me/subscriptions"


@pytest.fixture
async def towers(engine_url: str, redis: Redis) -> AsyncIterator[Served]:
    async with served(engine_url, **NETWORKS) as running:
        yield running


async def remove(person: Guest, device: Device) -> Answer:
    body = {"endpoint": device.endpoint}
    return await person.served.ask("DELETE", PATH, body, token=person.token)


async def test_all_servers_have_the_same_key(towers: Served, engine_url: str) -> None:
    key = (await towers.ask("GET", "/v1/push")).document["key"]
    assert len(bytes_of(key)) == 65
    async with served(engine_url) as other:
        assert (await other.ask("GET", "/v1/push")).document == {"key": key}


async def test_a_device_comes_and_goes(towers: Served, service: PushService) -> None:
    phone, ada = Device(service), await towers.guest("Ada")
    for _ in range(2):
        kept = await ada.post(PATH, **phone.subscription, language="pt-BR")
        assert (kept.status, set(kept.document)) == (201, {"expires"})
    (shown,) = (await ada.get("/v1/me/export")).document["subscriptions"]
    assert (shown["endpoint"], shown["language"]) == (phone.endpoint, "pt-BR")
    ben = await towers.guest("Ben")
    assert (await remove(ben, phone)).status == 200
    assert "subscriptions" in (await ada.get("/v1/me/export")).document, "ben took nothing away"
    for _ in range(2):
        assert (await remove(ada, phone)).document == {"id": ada.id}
    assert "subscriptions" not in (await ada.get("/v1/me/export")).document


async def test_bad_subscriptions_are_refused(engine_url: str, service: PushService) -> None:
    async with served(engine_url) as strict:
        ada, good = await strict.guest("Ada"), Device(service).subscription
        bad = [
            {"endpoint": "http://push.example/"},
            {"endpoint": AT + "10.0.0.7/"},
            {"endpoint": good["endpoint"]},
            {"endpoint": "https://push.example/" + "x" * 1024},
            {"endpoint": "https://push.example/", "auth": good["auth"][:-3]},
            {"endpoint": "https://push.example/", "p256dh": good["p256dh"][:-4] + "AAAA"},
        ]
        for wrong in bad:
            refused = await ada.post(PATH, **(good | wrong))
            assert (refused.status, refused.code) == (400, "bad_subscription"), wrong
            assert wrong["endpoint"] not in refused.body.decode()
        for wrong in ({"language": "x" * 36}, {"language": "no tag"}, {"more": "1"}, {"auth": "1"}):
            refused = await ada.post(PATH, **{**good, **wrong})
            assert refused.code in ("bad_request", "bad_subscription"), wrong
        assert (await strict.ask("POST", PATH, good)).code == "unauthorized"
        assert "subscriptions" not in (await ada.get("/v1/me/export")).document


async def test_a_service_without_push_says_so(engine_url: str, service: PushService) -> None:
    async with served(engine_url, TOWERHALL_PUSH="no") as silent:
        ada = await silent.guest("Ada")
        assert (await silent.ask("GET", "/v1/push")).code == "no_push"
        assert (await ada.post(PATH, **Device(service).subscription)).code == "no_push"


async def test_erasure_takes_the_devices_along(
    towers: Served, service: PushService, redis: Redis
) -> None:
    ada = await towers.guest("Ada")
    await ada.post(PATH, **Device(service).subscription)
    assert len(await redis.keys("towerhall:*push:*")) == 3
    assert (await ada.post("/v1/me/erase", id=ada.id)).status == 200
    assert await redis.keys("towerhall:*push:*") == [b"towerhall:push:key"]


async def test_nothing_of_a_device_is_logged(
    towers: Served, service: PushService, caplog: pytest.LogCaptureFixture
) -> None:
    phone, ada = Device(service), await towers.guest("Ada")
    with caplog.at_level("DEBUG"):
        await ada.post(PATH, **phone.subscription)
        await ada.post(PATH, **{**phone.subscription, "auth": "x"})
        await remove(ada, phone)
    assert phone.path not in caplog.text
    assert json.dumps(phone.subscription["auth"]) not in caplog.text
