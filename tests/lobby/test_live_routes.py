"""Games at play over HTTP: the list, the featured game, and what a watcher sees."""

import json
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from redis.asyncio import Redis

from tests.regulars.served import Guest, Served, served
from tests.regulars.test_clients import fits, joined
from towerhall_client.errors import ServiceError
from towerhall_client.http import Service
from towerhall_protocol import answers as a
from towerhall_server.lobby.caller import ask
from towerhall_server.room.seats import Person
from towerhall_server.room.view import view


@pytest.fixture
async def service(engine_url: str, redis: Redis) -> AsyncIterator[Served]:
    async with served(engine_url) as running:
        yield running


async def playing(service: Served, guest: Guest, *, begun: bool = True, **room: Any) -> Any:
    """A room in which a guest plays against a slow bot."""
    made = (
        await guest.post("/v1/rooms", game="five_towers", seats=2, bot_delay_ms=10_000, **room)
    ).document
    actor = await service.running.directory.open(made["code"])
    assert actor is not None
    commands = [{"command": "sit"}, {"command": "add_bot", "level": "easy"}, {"command": "start"}]
    for body in commands if begun else commands[:1]:
        assert await ask(actor, Person(guest.id, "Ada"), body) is None
    assert actor.follower.room.table.status == ("playing" if begun else "waiting")
    return made


async def test_public_games_at_play_are_listed_by_pages_and_one_is_featured(
    service: Served,
) -> None:
    client: Service = joined(Service("http://towers.example"), service)
    nothing = await service.ask("GET", "/v1/live")
    assert nothing.document == {"rooms": []}
    ada = await service.guest("Ada")
    codes = sorted([(await playing(service, ada))["code"] for _ in range(3)])
    await playing(service, ada, private=True)
    await playing(service, ada, begun=False)
    await service.running.board.ready()
    found = (await service.ask("GET", "/v1/live")).document
    fits(found, a.LiveAnswer)
    assert [room["code"] for room in found["rooms"]] == codes
    assert {room["status"] for room in found["rooms"]} == {"playing"}
    pages, after = [], ""
    while True:
        page = await client.live(after=after, limit=1)
        pages += [room["code"] for room in page.rooms]
        assert page.more == len(codes) - len(pages)
        if not page.next:
            break
        after = page.next
    assert pages == codes
    assert (await client.live(game="nikitin_towers")).rooms == []
    refused = await service.ask("GET", "/v1/live", query={"limit": "many"})
    assert refused.code == "bad_request"
    ignored = await service.ask("GET", "/v1/live", query={"status": "waiting", "free": "x"})
    assert len(ignored.document["rooms"]) == 3, "the list is always of games at play"


async def test_a_server_without_rooms_in_memory_features_the_first_of_the_list(
    service: Served, engine_url: str
) -> None:
    made = await playing(service, await service.guest("Ada"))
    async with served(engine_url) as other:
        found = (await other.ask("GET", "/v1/live")).document
        assert found["featured"]["code"] == made["code"]
        assert "watchers" not in found["featured"], "this server does not know them"
        assert len(other.running.directory) == 0
    own = (await service.ask("GET", "/v1/live")).document
    assert own["featured"]["code"] == made["code"]
    assert own["featured"]["watchers"] == 0


async def test_a_look_is_the_view_of_a_watcher_and_is_sent_once(service: Served) -> None:
    client: Service = joined(Service("http://towers.example"), service)
    code = (await playing(service, await service.guest("Ada")))["code"]
    answer = await service.ask("GET", f"/v1/rooms/{code}/view")
    fits(answer.document, a.LookAnswer)
    actor = service.running.directory.at_hand(code)
    assert actor is not None
    look = await client.look(code)
    seen = json.loads(msgspec.json.encode(view(actor.follower.room, "watch")))
    assert look.view == seen == answer.document["view"]
    assert look.seq == actor.follower.replica.point.seq
    again = await service.ask(
        "GET", f"/v1/rooms/{code}/view", headers={"if-none-match": answer.headers["etag"]}
    )
    assert (again.status, again.body) == (304, b"")
    assert "no-cache" in answer.headers["cache-control"]


async def test_a_private_room_is_shown_with_its_key_only_and_looks_like_none_without(
    service: Served,
) -> None:
    made = await playing(service, await service.guest("Ada"), private=True)
    path = f"/v1/rooms/{made['code']}/view"
    nowhere = await service.ask("GET", "/v1/rooms/QQQQQQ/view")
    for _ in range(2):  # also when an answer with the key is kept
        for key in ("", "wrong"):
            refused = await service.ask("GET", path, headers={"towerhall-key": key})
            assert (refused.status, refused.code) == (404, "room_gone")
            assert refused.body == nowhere.body
        shown = await service.ask("GET", path, headers={"towerhall-key": made["key"]})
        assert shown.document["view"]["room"]["code"] == made["code"]
        tagged = await service.ask("GET", path, headers={"if-none-match": shown.headers["etag"]})
        assert tagged.code == "room_gone"
    with pytest.raises(ServiceError, match="room_gone"):
        await joined(Service("http://towers.example"), service).look("small")
