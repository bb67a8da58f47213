"""What people, strangers and operators get over HTTP, and what they do not."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from redis.asyncio import Redis

from tests.regulars.games import end
from tests.regulars.served import ACME_KEY, OTHER_KEY, Guest, Served, served
from towerhall_server.access.audit import TAG
from towerhall_server.access.revocations import AFTER, NEWS
from towerhall_server.eventlog.keys import MEMORY, room_keys
from towerhall_server.live.actor import RoomActor
from towerhall_server.live.chat import _encode, _Said
from towerhall_server.live.items import Order
from towerhall_server.regulars.keys import JOURNAL, PLACE, person_keys
from towerhall_server.regulars.reports import Report
from towerhall_server.room.commits import Cause
from towerhall_server.room.decision import manage
from towerhall_server.room.seats import Person as Seated
from towerhall_server.room.seats import guest_of
from towerhall_server.room.state import Room
from towerhall_server.room.steps import Step


@pytest.fixture
async def service(engine_url: str, redis: Redis) -> AsyncIterator[Served]:
    async with served(engine_url) as running:
        yield running


async def two(service: Served) -> tuple[Guest, Guest]:
    return await service.guest("Ada"), await service.guest("Ben")


async def test_a_person_without_games_leaves_nothing_in_the_store(
    service: Served, redis: Redis
) -> None:
    ada = await service.guest("Ada")
    profile = (await ada.get("/v1/me/profile")).document
    assert profile == {
        "id": ada.id,
        "name": "Ada",
        "statistics": [],
        "ratings": [],
        "hidden": False,
        "chat": True,
    }
    assert (await ada.get("/v1/me/games")).document == {"games": []}
    assert (await ada.get("/v1/me/export")).document == profile
    assert not await redis.keys("towerhall:{p:*")


async def test_profile_history_and_statistics_of_finished_games(service: Served) -> None:
    ada, ben = await two(service)
    await service.play(
        end(1, ada.id, ben.id),
        end(2, ben.id, ada.id, bot="easy", game="nikitin_towers"),
        end(3, ada.id, ben.id, private=True),
    )
    profile = (await ben.get(f"/v1/people/{await ada.handle()}")).document
    assert profile["statistics"] == [
        {"game": "five_towers", "seats": 2, "games": 2, "places": [2, 0], "best": 49, "sum": 98},
        {
            "game": "nikitin_towers",
            "seats": 3,
            "games": 1,
            "places": [0, 1, 0],
            "best": 48,
            "sum": 48,
        },
    ]
    (rating,) = profile["ratings"]
    assert rating["game"] == "five_towers"
    assert rating["games"] == 2
    assert rating["provisional"] is True
    assert "id" not in profile
    own = (await ada.get("/v1/me/games")).document
    assert [game["number"] for game in own["games"]] == [3, 2, 1]
    assert own["games"][1]["seats"][2] == {"place": 3, "score": 47, "bot": "easy"}
    assert own["games"][2]["replay"] == f"/#/r/{own['games'][2]['code']}"
    shown = (await ben.get(f"/v1/people/{await ada.handle()}/games")).document
    assert [game["number"] for game in shown["games"]] == [2, 1], "a private game is nobody's else"


async def test_pages_and_filters_of_a_history(service: Served) -> None:
    ada, ben = await two(service)
    games = [end(n, ada.id, ben.id, **({"bot": "easy"} if n % 2 else {})) for n in range(1, 8)]  # type: ignore[arg-type]
    await service.play(*games)
    found: list[int] = []
    query: dict[str, Any] = {"most": 2, "seats": 3}
    while True:
        page = (await ada.get("/v1/me/games", **query)).document
        assert 0 < len(page["games"]) <= 2
        found += [game["number"] for game in page["games"]]
        if "before" not in page:
            break
        query["before"] = page["before"]
    assert found == [7, 5, 3, 1]
    assert (await ada.get("/v1/me/games", game="nikitin_towers")).document == {"games": []}


async def test_a_page_is_the_same_however_many_games_are_looked_through_first(
    service: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, ben = await two(service)
    games = [end(n, ada.id, ben.id, private=n in (2, 6, 7, 8)) for n in range(1, 10)]
    await service.play(*games)
    path = f"/v1/people/{await ada.handle()}/games"
    for first_look in (1, 2, 3, 5, 8, 100):
        monkeypatch.setattr("towerhall_server.regulars.profiles.FIRST_LOOK", first_look)
        for query, numbers, before in (
            ({"most": 3}, [9, 5, 4], 4),
            ({"most": 3, "before": 4}, [3, 1], None),
            ({"most": 5}, [9, 5, 4, 3, 1], None),
            ({"most": 1, "before": 9}, [5], 5),
            ({"most": 1, "before": 2}, [1], None),
            ({"most": 2, "seats": 5}, [], None),
        ):
            page = (await ben.get(path, **query)).document
            assert [game["number"] for game in page["games"]] == numbers, (first_look, query)
            assert page.get("before") == before, (first_look, query)


async def test_the_leaderboard_has_pages_and_leaves_out_who_hides(
    service: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("towerhall_server.regulars.slips.PLACED_GAMES", 1)
    people = [await service.guest(f"P{n}") for n in range(5)]
    await service.play(end(1, *(each.id for each in people)))
    first = (await service.ask("GET", "/v1/leaderboards/five_towers", query={"most": 2})).document
    assert [row["rank"] for row in first["people"]] == [1, 2]
    assert [row["handle"] for row in first["people"]] == [
        await each.handle() for each in people[:2]
    ]
    assert (first["total"], first["next"]) == (5, 3)
    last = await service.ask("GET", "/v1/leaderboards/five_towers", query={"first": 5})
    assert "next" not in last.document
    assert (await people[1].post("/v1/me/profile", hidden=True)).document["hidden"] is True
    rows = (await service.ask("GET", "/v1/leaderboards/five_towers")).document["people"]
    assert [row["rank"] for row in rows] == [1, 3, 4, 5]
    assert (await service.ask("GET", "/v1/leaderboards/chess")).code == "unknown_game"


async def test_a_hidden_person_looks_like_nobody(service: Served) -> None:
    ada, ben = await two(service)
    await service.play(end(1, ada.id, ben.id), end(2, "cyd", ben.id))
    handle = await ada.handle()
    await ada.post("/v1/me/profile", hidden=True)
    nobody = await ben.get("/v1/people/AAAAAAAAAAA")
    for path in (f"/v1/people/{handle}", f"/v1/people/{handle}/games"):
        answer = await ben.get(path)
        assert (answer.status, answer.code) == (404, "not_found")
        assert answer.body == nobody.body
    own = (await ben.get("/v1/me/games", before=2)).document["games"][0]["seats"][0]
    assert "name" in own, "who was at the table saw the name"
    assert "handle" not in own
    cyd = await service.guest("Cyd")
    seen = await cyd.get(f"/v1/people/{await ben.handle()}/games", before=2)
    assert "name" not in seen.document["games"][0]["seats"][0]
    assert (await ada.get(f"/v1/people/{handle}")).status == 200


async def test_friends_are_mutual_and_blocked_people_notice_nothing(service: Served) -> None:
    ada, ben = await two(service)
    await service.play(end(1, ada.id, ben.id))
    to_ben, to_ada = {"handle": await ben.handle()}, {"handle": await ada.handle()}
    assert (await ada.get("/v1/me/people")).document["met"][0]["handle"] == await ben.handle()
    asked = (await ada.post("/v1/me/friends", **to_ben)).document
    assert [each["handle"] for each in asked["asked"]] == [await ben.handle()]
    lists = (await ben.get("/v1/me/people")).document
    assert [each["handle"] for each in lists["asking"]] == [await ada.handle()]
    assert (await ben.post("/v1/me/friends", **to_ada)).document["friends"]
    assert (await ada.get("/v1/me/people")).document["friends"]
    blocked = (await ben.post("/v1/me/blocks", **to_ada)).document
    assert (blocked["friends"], blocked["met"]) == ([], [])
    again = await ada.post("/v1/me/friends", **to_ben)
    assert again.status == 200
    assert (await ben.get("/v1/me/people")).document["asking"] == []
    assert (await ada.get(f"/v1/people/{await ben.handle()}")).code == "not_found"
    await ben.post("/v1/me/blocks", **to_ada, remove=True)
    assert (await ada.get(f"/v1/people/{await ben.handle()}")).status == 200
    assert (await ben.get("/v1/me/people")).document["asking"] == [], "what was asked is forgotten"


async def sit(actor: RoomActor, guest: Guest, name: str) -> None:
    seated = guest_of(actor.follower.room, Seated(guest.id, name))
    done = False

    def once(room: Room) -> Step | None:
        nonlocal done
        if done:
            return None
        done = True
        step = manage(room, seated, Cause(0, seated.id, f"o-{name}", 1), {"command": "sit"})
        assert isinstance(step, Step)
        return step

    order = Order(once, asyncio.get_running_loop().create_future())
    actor.put(order)
    await order.done


async def test_a_report_reaches_the_operator_with_the_lines_in_question(
    service: Served, redis: Redis
) -> None:
    ada, ben = await two(service)
    made = (await ada.post("/v1/rooms", game="five_towers", seats=2)).document
    directory = service.running.directory
    actor = await directory.open(made["code"])
    assert actor is not None
    for guest, name in ((ada, "Ada"), (ben, "Ben")):
        await sit(actor, guest, name)
    for guest, name, text in ((ben, "Ben", "rude"), (ada, "Ada", "please"), (ben, "Ben", "ruder")):
        alias = actor.follower.room.alias_of(guest.id)
        said = _encode(_Said(name, 1, text, who=alias))
        await directory.node.log.say(made["code"], said, 60_000)
    told = {"room": made["code"], "reason": "chat", "seat": 1, "text": "look"}
    answer = await ada.post("/v1/me/reports", **told)
    assert (answer.status, answer.document) == (201, {"lines": 2})
    reports = service.running.hall.regulars.reports
    (report,) = await reports.page("")
    assert [line.text for line in report.lines] == ["rude", "ruder"]
    assert (report.by, report.person, report.name) == (ada.id, ben.id, "Ben")
    one = await ada.post("/v1/me/reports", **told, lines=[report.lines[1].id])
    assert one.document == {"lines": 1}
    stranger = await service.guest("Cyd")
    for wrong in (
        {**told, "seat": 0},
        {**told, "seat": 9},
        {**told, "seat": None},
        {**told, "seat": None, "id": "AAAAAAAAAAA"},
        {**told, "reason": "boring"},
        {**told, "lines": ["x"]},
        {**told, "text": "x" * 501},
        {**told, "room": "QQQQQQ"},
    ):
        refused = await ada.post("/v1/me/reports", **wrong)
        assert refused.status in (400, 404), wrong
    assert len(await reports.page("")) == 2
    assert (await stranger.post("/v1/me/friends", room=made["code"], seat=0)).status == 200
    assert await redis.exists("towerhall:{reports:}:queue")


async def a_room(service: Served, *guests: Guest, **options: object) -> tuple[str, RoomActor]:
    """A room of the first guest, in which all of them sit."""
    made = (await guests[0].post("/v1/rooms", game="five_towers", seats=3, **options)).document
    actor = await service.running.directory.open(made["code"])
    assert actor is not None
    for number, guest in enumerate(guests):
        await sit(actor, guest, f"Guest {number}")
    return made["code"], actor


async def test_a_seat_leads_to_the_profile_of_its_person(service: Served) -> None:
    ada, ben = await two(service)
    code, _ = await a_room(service, ada, ben)
    assert (await ada.get("/v1/people", room=code, seat=1)).code == "not_found", "nothing is kept"
    await service.play(end(1, ada.id, ben.id))
    found = (await ada.get("/v1/people", room=code, seat=1)).document
    assert found == (await ada.get(f"/v1/people/{await ben.handle()}")).document
    for seat in (2, 3):
        assert (await ada.get("/v1/people", room=code, seat=seat)).code == "not_found"
    await ben.post("/v1/me/blocks", handle=await ada.handle())
    assert (await ada.get("/v1/people", room=code, seat=1)).code == "not_found"
    secret, _ = await a_room(service, ben, private=True)
    assert (await ada.get("/v1/people", room=secret, seat=0)).code == "room_gone"
    assert (await ada.get("/v1/people", room=code)).code == "bad_request"


async def test_blocked_people_are_told_by_their_ids_in_the_room(service: Served) -> None:
    ada, ben = await two(service)
    code, actor = await a_room(service, ada, ben)
    assert (await ada.get("/v1/me/blocks", room=code)).document == {"ids": []}
    await ada.post("/v1/me/blocks", room=code, seat=1)
    alias = actor.follower.room.alias_of(ben.id)
    assert (await ada.get("/v1/me/blocks", room=code)).document == {"ids": [alias]}
    assert (await ben.get("/v1/me/blocks", room=code)).document == {"ids": []}
    bonds = service.running.hall.regulars.bonds
    assert await bonds.shunned(ada.id) == {ben.id}
    assert await bonds.shunned(ben.id) == {ada.id}, "a match is not made from either side"
    assert (await bonds.shuns(ada.id, ben.id), await bonds.shuns(ben.id, ada.id)) == (True, False)
    await ada.post("/v1/me/blocks", room=code, seat=1, remove=True)
    assert await bonds.shunned(ada.id) == await bonds.shunned(ben.id) == frozenset()


async def test_a_quick_match_and_an_invitation_keep_blocked_people_apart(service: Served) -> None:
    ada, ben = await two(service)
    wish = {"game": "five_towers", "seats": 2, "turn_seconds": 60}
    there = (await ada.post("/v1/quickplay", **wish)).document["code"]
    code, _ = await a_room(service, ada, ben)
    await ben.post("/v1/me/blocks", room=code, seat=0)
    elsewhere = (await ben.post("/v1/quickplay", **wish)).document["code"]
    assert elsewhere != there
    assert (await ada.post("/v1/quickplay", **wish)).document["code"] == there
    feed = service.running.events.enter(ben.id)
    await feed.ready()
    hidden, _ = await a_room(service, ada, private=True)
    for _ in range(2):
        told = await ada.post(f"/v1/rooms/{hidden}/invitations", id=ben.id)
        feed.look_at = 0.0
        await service.running.events.look()
        rooms: Any = feed.shown["rooms"]
        assert hidden not in rooms
    assert told.code == "already_invited", "the first one looked to the host as always"


async def test_a_person_is_reported_by_handle(service: Served) -> None:
    ada, ben = await two(service)
    await service.play(end(1, ada.id, ben.id))
    told = {"handle": await ben.handle(), "reason": "name"}
    answer = await ada.post("/v1/me/reports", **told, text="rude")
    assert (answer.status, answer.document) == (201, {"lines": 0})
    (report,) = await service.running.hall.regulars.reports.page("")
    assert (report.room, report.person, report.name) == ("", ben.id, ben.id.capitalize())
    exported = await ada.get("/v1/me/export")
    assert exported.document["reports"][0]["room"] == ""
    # Ids of people are for themselves and their operators.
    assert ben.id.encode() not in exported.body
    for wrong, code in (
        ({**told, "room": "QQQQQQ"}, "bad_request"),
        ({**told, "lines": ["1-0"]}, "bad_request"),
        ({**told, "handle": await ada.handle()}, "bad_request"),
        ({**told, "handle": "AAAAAAAAAAA"}, "not_found"),
        ({"reason": "name"}, "bad_request"),
    ):
        assert (await ada.post("/v1/me/reports", **wrong)).code == code, wrong


async def test_a_rating_tells_what_the_newest_game_changed(service: Served) -> None:
    ada, ben = await two(service)
    await service.play(end(1, ada.id, ben.id))
    (first,) = (await ada.get("/v1/me/profile")).document["ratings"]
    assert first["points"] == 1000 + first["change"]
    await service.play(end(2, ben.id, ada.id), end(3, ben.id, ada.id, rated=False))
    (second,) = (await ada.get("/v1/me/profile")).document["ratings"]
    assert second["change"] == second["points"] - first["points"] < 0


async def test_operators_read_their_own_people_and_nobody_else(service: Served) -> None:
    token = {"external_id": "account 1", "name": "Ada"}
    found = await service.ask("POST", "/v1/operator/tokens", token, token=ACME_KEY)
    ada = found.document["id"]
    await service.play(end(1, ada, "ben"))
    who = await service.ask(
        "GET", "/v1/operator/people", token=ACME_KEY, query={"external_id": "account 1"}
    )
    assert (who.document["id"], who.document["external_id"]) == (ada, "account 1")
    games = await service.ask(
        "GET",
        "/v1/operator/people/games",
        token=ACME_KEY,
        query={"external_id": "account 1", "most": 1},
    )
    assert len(games.document["games"]) == 1
    for path in ("/v1/operator/people", "/v1/operator/people/games"):
        other = await service.ask("GET", path, token=OTHER_KEY, query={"external_id": "account 1"})
        assert other.code == "not_found"
        assert (await service.ask("GET", path, token=ACME_KEY)).code == "bad_request"
        guest = await service.guest("Eve")
        assert (await guest.get(path, external_id="account 1")).code == "forbidden"


async def test_an_operator_settles_the_reports_of_its_own_rooms_only(service: Served) -> None:
    reports = service.running.hall.regulars.reports
    await reports.add("acme", Report("ABCDEF", "x" * 11, "y" * 11, "Ben", "chat"))
    (report,) = (await service.ask("GET", "/v1/operator/reports", token=ACME_KEY)).document[
        "reports"
    ]
    at = f"/v1/operator/reports/{report['number']}"
    later = await service.ask(
        "GET", "/v1/operator/reports", token=ACME_KEY, query={"after": report["number"]}
    )
    assert later.document == {"reports": []}
    assert (await service.ask("DELETE", at, token=OTHER_KEY)).code == "not_found"
    assert (await service.ask("DELETE", at, token=ACME_KEY)).status == 200
    assert (await service.ask("DELETE", at, token=ACME_KEY)).code == "not_found"


async def everything(redis: Any) -> dict[str, str]:
    """All keys and values of the store, as text."""
    found: dict[str, str] = {}
    for key in await redis.keys("*"):
        kind = (await redis.type(key)).decode()
        value: Any = {
            "string": redis.get,
            "hash": redis.hgetall,
            "set": redis.smembers,
            "list": lambda key: redis.lrange(key, 0, -1),
            "zset": lambda key: redis.zrange(key, 0, -1, withscores=True),
            "stream": redis.xrange,
            "none": redis.get,  # it has just expired
        }[kind](key)
        found[key.decode(errors="replace")] = repr(await value)
    return found


def allowed(handle: str, code: str) -> set[str]:
    """Keys that may still name an erased person; `docs/operate.md` lists them."""
    keys = room_keys(code)
    return {
        # What signatures cover, and a line that the person said in a room without a place there.
        *(keys.log, keys.chat, keys.shard.lobby),
        # Numbers under a handle that leads to no one.
        *(JOURNAL, PLACE, person_keys(handle).sums),
        # Tokens must end, so their end is kept under the id, as is who did what.
        *(AFTER, NEWS, MEMORY, f"{TAG}:of:people"),
    }


async def test_after_an_erasure_nothing_leads_to_the_person(
    service: Served, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("towerhall_server.regulars.slips.PLACED_GAMES", 1)
    ada, ben = await service.guest("Adalbert"), await service.guest("Ben")
    cyd, dan = await service.guest("Cyd"), await service.guest("Dan")
    await service.play(end(1, ada.id, ben.id), *(end(n, cyd.id, dan.id) for n in (3, 4)))
    handle = await ada.handle()
    hall, directory = service.running.hall, service.running.directory
    # All that names a person: choices, lists of both directions, reports, rooms, notes, chat.
    await ada.post("/v1/me/profile", hidden=False)
    await ben.post("/v1/me/friends", handle=handle)
    await ada.post("/v1/me/friends", handle=await dan.handle())
    await ada.post("/v1/me/blocks", handle=await cyd.handle())
    await dan.post("/v1/me/blocks", handle=handle)
    await ada.post("/v1/me/reports", handle=await cyd.handle(), reason="name")
    await dan.post("/v1/me/reports", handle=handle, reason="name")
    code, actor = await a_room(service, ben, ada)
    alias = actor.follower.room.alias_of(ada.id)
    for who, text in ((alias, "my secret"), ("AAAAAAAAAAA", "not mine")):
        await directory.node.log.say(code, _encode(_Said("Adalbert", 1, text, who=who)), 60_000)
    hall.store.remember(ada.id, code)
    hall.store.invite(ada.id, code)
    finished = json.dumps({"code": end(1).code, "names": ["Adalbert", "Ben"]}).encode()
    for each in (ada, ben):
        hall.store.note_over(each.id, finished, 60_000)
    export = (await ada.get("/v1/me/export")).document
    assert export["id"] == ada.id
    assert len(export["games"]) == 1
    assert export["people"]["asking"][0]["handle"] == await ben.handle()
    assert (await ada.post("/v1/me/erase", id=ben.id)).code == "bad_request"
    assert handle in repr(await everything(redis))
    assert (await ada.post("/v1/me/erase", id=ada.id)).document == {"id": ada.id}
    assert (await ada.get("/v1/me/profile")).status == 401, "all tokens have ended"
    kept = await everything(redis)
    for key, value in kept.items():
        for text in ("Adalbert", ada.id.capitalize(), "my secret", ada.id, handle):
            is_told = text in key or text in value
            assert not is_told or key in allowed(handle, code), (key, text)
    assert "my secret" not in kept[room_keys(code).chat]
    assert "not mine" in kept[room_keys(code).chat]
    assert [json.loads(note)["names"] for note in await hall.store.past(ben.id)] == [["", "Ben"]]
    for each in (ben, cyd, dan):
        lists = (await each.get("/v1/me/people")).document
        assert handle not in repr(lists)
    assert (await ben.get(f"/v1/people/{handle}")).code == "not_found"
    own = (await ben.get("/v1/me/games")).document["games"][0]
    assert own["seats"][0] == {"place": 1, "score": 49}
    assert (await ben.get("/v1/me/people")).document["asked"] == []
    rows = (await service.ask("GET", "/v1/leaderboards/five_towers")).document
    assert {row["handle"] for row in rows["people"]} == {await g.handle() for g in (ben, cyd, dan)}
    assert rows["total"] == 3
    # A game that ended before, but is read later, brings nobody back; nor does a rebuild.
    await service.play(end(2, ada.id, ben.id))
    await service.table.journal.order_rebuild()
    await service.table.consumer().finish()
    kept = await everything(redis)
    names = ("Adalbert", ada.id.capitalize())
    told = [key for key in kept if any(name in kept[key] for name in names)]
    assert not set(told) - allowed(handle, code)
    assert (await ben.get("/v1/me/people")).document["met"] == []
    assert not await redis.zscore(person_keys(await ben.handle()).met, handle), (
        "read once, it is gone"
    )
    board = await redis.zrange("towerhall:{ends}:board:five_towers", 0, -1)
    assert handle.encode() not in board


async def test_a_rename_is_seen_everywhere_at_once(service: Served) -> None:
    ada, ben = await two(service)
    await service.play(end(1, ada.id, ben.id))
    assert (await ada.post("/v1/me/name", name="Countess")).status == 200
    game = (await ben.get("/v1/me/games")).document["games"][0]
    assert game["seats"][0]["name"] == "Countess"


async def test_chat_is_off_at_first_where_the_operator_wants_that(
    engine_url: str, redis: Redis
) -> None:
    async with served(engine_url, TOWERHALL_NEWCOMERS_CHAT="no") as service:
        ada = await service.guest("Ada")
        may_chat = service.running.hall.regulars.may_chat
        assert not await may_chat(ada.id)
        assert (await ada.post("/v1/me/profile", chat=True)).document["chat"] is True
        assert await may_chat(ada.id)
        await ada.post("/v1/me/profile", chat=False)
        assert not await may_chat(ada.id)


PATHS = (
    *("/v1/me/profile", "/v1/me/games", "/v1/me/people", "/v1/me/friends", "/v1/me/blocks"),
    *("/v1/me/reports", "/v1/me/erase", "/v1/me/export", "/v1/people/AAAAAAAAAAA"),
    *("/v1/people/AAAAAAAAAAA/games", "/v1/people/../x", "/v1/leaderboards/five_towers"),
    *("/v1/operator/people", "/v1/operator/reports", "/v1/operator/reports/1-0"),
)
QUERIES: tuple[Mapping[str, object], ...] = (
    *({}, {"most": 0}, {"most": "x"}, {"before": -1}, {"before": 2**70}, {"seats": "9" * 40}),
    *({"game": "x" * 99}, {"first": 0}, {"first": 10**12}, {"after": "x"}, {"after": "1-0-0"}),
    *({"external_id": "x" * 999}, {"external_id": "\x00"}, {"nobody": "1"}, {"most": "1e3"}),
)
BODIES = (
    *(b"", b"[]", b"{", b"\xff", b"null", b'{"hidden":1}', b'{"handle":"../../who"}', b'{"id":1}'),
    *(b'{"handle":"AAAAAAAAAAA","room":"ABCDEF"}', b'{"room":"ABCDEF","seat":-1}', b'{"chat":{}}'),
    *(b'{"room":"\\u0000","reason":"chat","seat":1}', b'{"handle":null}', b"9" * 5000),
    *(json.dumps({"room": "ABCDEF", "reason": "chat", "lines": ["1-1"] * 21}).encode(),),
)


async def test_bad_input_is_refused_with_a_code_and_changes_nothing(
    service: Served, redis: Redis
) -> None:
    ada = await service.guest("Ada")
    chance = random.Random(5)
    before = await redis.keys("towerhall:{p:*")
    for number in range(300):
        path, query, body = chance.choice(PATHS), chance.choice(QUERIES), chance.choice(BODIES)
        token = chance.choice((ada.token, ACME_KEY, "", "x.y.z"))
        method = chance.choice(("GET", "POST", "DELETE"))
        answer = await service.ask(method, path, body, token=token, query=query)
        assert answer.status < 500, (number, method, path, query, body)
        if answer.status >= 400:
            assert answer.code
        elif method != "GET":
            raise AssertionError((method, path, query, body))
    assert await redis.keys("towerhall:{p:*") == before
