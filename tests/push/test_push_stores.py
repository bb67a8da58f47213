"""The same behind sentinels and on a cluster as on one engine."""

from typing import Any

from tests.eventlog.several.conftest import engine_url, group, redis
from tests.live.live_rooms import begin
from tests.push.away import away_node
from tests.push.double import Device, PushService
from tests.push.test_telling import until_it_is_ben
from tests.room.pure_rooms import id_of

__all__ = ["engine_url", "group", "redis"]


async def test_a_turn_is_told_once_and_erased_on_stores_of_several_engines(
    engine_url: str, redis: Any, service: PushService
) -> None:
    phone = Device(service)
    async with away_node(engine_url) as node:
        await node.subscribe("ben", phone)
        actor, people = await node.room_of("ann", "ben")
        await begin(*people)
        await until_it_is_ben(actor, people)
        people[-1].leave()
        await node.rest()
        await node.visit("ben", actor)
        await node.pushes.store.forget(id_of("ben"))
        assert await node.pushes.store.told(id_of("ben"), actor.code) is None
    assert len(phone.got) == 1
    assert not [key for key in await redis.keys("towerhall:*push:*") if b"key" not in key]
