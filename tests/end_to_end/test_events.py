"""Bot accounts, invitations and the socket with all that concerns one person, as a client has them.

Two nodes of one store are in `tests/lobby/test_events.py`; limits are in `test_served_limits.py`.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import pytest

from tests.end_to_end.raw import (
    BOTH,
    MSGPACK,
    SECONDS,
    Raw,
    ask,
    bearer,
    connected,
    inside,
    new_room,
)
from tests.end_to_end.servers import ServerProcess
from towerhall_protocol.merge_patch import apply

EVENTS = "/v1/me/events"
NOBODY = "AAAAAAAAAAA"


class Guest(NamedTuple):
    token: str
    id: str


def guest(url: str, **more: object) -> Guest:
    answer = ask(url, "POST", "/v1/guests", {"name": "Ada", **more})
    assert answer.status == 201, answer.body
    assert answer.document.get("bot_account", False) is bool(more.get("bot_account"))
    return Guest(answer.document["token"], answer.document["id"])


def bot(url: str) -> Guest:
    return guest(url, name="Deep", bot_account=True)


def invite(url: str, code: str, host: Guest, whom: str) -> Any:
    path = f"/v1/rooms/{code}/invitations"
    return ask(url, "POST", path, {"id": whom}, bearer(host.token))


class Watch:
    """The places as one connection sees them."""

    def __init__(self, raw: Raw, shown: dict[str, Any]) -> None:
        self.raw, self.list = raw, shown

    async def until(self, code: str, **wanted: object) -> None:
        """Wait until a place is like this; without `wanted`, until it is gone."""
        async with asyncio.timeout(SECONDS):
            while True:
                place = self.list["rooms"].get(code)
                if place is None if not wanted else wanted.items() <= (place or {}).items():
                    return
                name, content = await self.raw.hear()
                assert name in ("patch", "reset")
                self.list = apply(self.list, content) if name == "patch" else content


@asynccontextmanager
async def following(url: str, token: str, subprotocol: str = MSGPACK) -> AsyncIterator[Watch]:
    async with connected(url, "", subprotocol, path=EVENTS) as raw:
        await raw.say("hello", {"token": token, "level": 6})
        name, arrival = await raw.hear()
        assert name == "welcome", (name, arrival)
        yield Watch(raw, arrival["list"])


@pytest.mark.parametrize("subprotocol", BOTH)
async def test_a_bot_account_is_invited_plays_and_hears_of_all(
    shared: ServerProcess, subprotocol: str
) -> None:
    url = shared.url
    host, deep = guest(url), bot(url)
    room = new_room(url, host.token, seats=2, private=True, bot_accounts=False)
    code = room["code"]
    async with (
        following(url, deep.token, subprotocol) as watch,
        inside(url, code, host.token) as ada,
    ):
        assert watch.list == {"rooms": {}}
        await ada.done("sit")
        assert invite(url, code, host, deep.id).status == 201
        await watch.until(code, invited=True, private=True)
        async with inside(url, code, deep.token) as raw:  # without the key
            frame = await raw.done("sit")
            assert [fact[0] for fact in frame[4]] == ["person_sat", "bot_account_marked"]
            await raw.done("ready")
            await watch.until(code, seat=1, status="waiting", bot_accounts_at=[1])
            await ada.done("start")
            await watch.until(code, status="playing")
            await ada.done("resign")
            await watch.until(code, status="over", closed="resigned", place=1)
    async with following(url, deep.token, subprotocol) as watch:
        assert watch.list["rooms"][code]["status"] == "over"


async def test_a_bot_account_is_let_in_where_the_host_wants_it(shared: ServerProcess) -> None:
    url = shared.url
    host, deep = guest(url), bot(url)
    closed, private = new_room(url, host.token), new_room(url, host.token, private=True)
    opened = new_room(url, host.token, bot_accounts=True)
    async with inside(url, closed["code"], deep.token) as raw:
        assert await raw.refused("sit") == "no_bot_accounts"
    async with inside(url, private["code"], deep.token, key=private["key"]) as raw:
        await raw.done("sit")
    async with inside(url, opened["code"], deep.token) as raw:
        await raw.done("sit")
    listed = {room["code"]: room for room in ask(url, "GET", "/v1/rooms").document["rooms"]}
    assert listed.get(opened["code"], {"bot_accounts_at": [0]})["bot_accounts_at"] == [0]
    wanted = {"game": "five_towers"}
    quick = ask(url, "POST", "/v1/quickplay", wanted, bearer(deep.token))
    assert (quick.status, quick.code) == (403, "no_bot_accounts")


def test_no_request_takes_the_mark_off(shared: ServerProcess) -> None:
    url, deep = shared.url, bot(shared.url)
    renamed = ask(url, "POST", "/v1/me/name", {"name": "Ada"}, bearer(deep.token)).document
    newer = ask(url, "POST", "/v1/me/tokens", {}, bearer(deep.token)).document
    link = ask(url, "POST", "/v1/me/links", {}, bearer(deep.token)).document["link"]
    used = ask(url, "POST", "/v1/links", {"code": link.rpartition("/")[2]}).document
    assert [each["bot_account"] for each in (renamed, newer, used)] == [True] * 3
    for each in (renamed, newer, used):
        refused = ask(url, "POST", "/v1/quickplay", {"game": "five_towers"}, bearer(each["token"]))
        assert refused.code == "no_bot_accounts"


@pytest.mark.parametrize("wrong", [1, "yes", [], {}])
def test_the_mark_is_true_or_false(shared: ServerProcess, wrong: object) -> None:
    wanted = {"name": "Ada", "bot_account": wrong}
    assert ask(shared.url, "POST", "/v1/guests", wanted).code == "bad_request"


def test_only_the_host_invites_and_only_persons(shared: ServerProcess) -> None:
    url = shared.url
    host, other = guest(url), guest(url)
    code = new_room(url, host.token)["code"]
    assert invite(url, code, other, host.id).code == "not_host"
    assert invite(url, code, host, host.id).code == "own_seat"
    assert invite(url, code, host, other.id).status == 201
    assert invite(url, code, host, other.id).code == "already_invited"
    assert invite(url, "ZZZZZZ", host, other.id).code == "room_gone"
    private = new_room(url, host.token, private=True)["code"]
    assert invite(url, private, other, host.id).code == "room_gone"
    for wrong in ("", NOBODY + "A", "AAAAAAAAAAB", "é" * 11, 7, None):
        answer = ask(
            url, "POST", f"/v1/rooms/{code}/invitations", {"id": wrong}, bearer(host.token)
        )
        assert answer.code == "bad_request", wrong
    assert ask(url, "POST", f"/v1/rooms/{code}/invitations", {"id": NOBODY}).code == "unauthorized"


@pytest.mark.parametrize(
    ("greeting", "code", "close"),
    [
        ({"token": "none", "level": 6}, "unauthorized", 4401),
        ({"token": "", "level": 6}, "unauthorized", 4401),
        ({"token": "none", "level": 0}, "level_too_old", 4410),
    ],
)
async def test_a_stranger_is_sent_away(
    shared: ServerProcess, greeting: dict[str, Any], code: str, close: int
) -> None:
    async with connected(shared.url, "", path=EVENTS) as raw:
        await raw.say("hello", greeting)
        end = await raw.end()
        assert (end.error, end.code) == (code, close)


@pytest.mark.parametrize("subprotocol", BOTH)
async def test_nonsense_has_its_codes_and_a_flood_ends(
    shared: ServerProcess, subprotocol: str
) -> None:
    token = guest(shared.url).token
    async with connected(shared.url, "", subprotocol, path=EVENTS) as raw:
        for message, code in (
            (["ping"], "malformed_message"),
            (["ping", 1], "hello_expected"),
            (["hello", {"token": 7, "level": 6}], "malformed_message"),
            (["hello", {"level": 6}], "malformed_message"),
            (["filter", {}], "unknown_message"),
            (["command", 1, "", {"command": "sit"}], "unknown_message"),
        ):
            await raw.say(*message)
            assert (await raw.hear())[:2] == ["error", code], message
        await raw.say("hello", {"token": token, "level": 6})
        assert (await raw.hear())[0] == "welcome"
        await raw.say("hello", {"token": token, "level": 6})
        assert (await raw.hear())[:2] == ["error", "hello_expected"]
        assert await raw.quiet() == []
        raw.burst(*(["filter", {}] for _ in range(30)))
        assert (await raw.end()).code == 4400


async def test_a_revoked_token_ends_the_connection(shared: ServerProcess) -> None:
    mine = guest(shared.url)
    async with following(shared.url, mine.token) as watch:
        assert ask(shared.url, "POST", "/v1/me/revoke", {}, bearer(mine.token)).status == 200
        end = await watch.raw.end()
        assert (end.error, end.code) == ("unauthorized", 4401)
    async with connected(shared.url, "", path=EVENTS) as raw:
        await raw.say("hello", {"token": mine.token, "level": 6})
        assert (await raw.end()).code == 4401


async def test_a_bot_account_is_not_one_of_the_people_online(server: ServerProcess) -> None:
    url = server.url
    mine, deep = guest(url), bot(url)
    async with following(url, deep.token), connected(url, "", path="/v1/lobby") as raw:
        await raw.say("hello", {"token": mine.token, "level": 6})
        shown = (await raw.hear())[1]["list"]
        while "online" not in shown:
            shown = apply(shown, (await raw.hear())[1])
        assert shown["online"] == 1


async def test_a_server_that_stops_sends_its_followers_on(server: ServerProcess) -> None:
    async with following(server.url, guest(server.url).token) as watch:
        await asyncio.to_thread(server.stop)
        end = await watch.raw.end()
        assert [message[0] for message in end.messages] == ["go"]
        assert end.code == 1012
