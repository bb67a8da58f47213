"""The audit log: what is in it, what never is, and that a failing store stops nothing."""

import asyncio
import base64
import json
import logging
import secrets
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from tests.cli.runs import Told, here
from tests.end_to_end.raw import ask, bearer, inside, new_room
from tests.end_to_end.servers import ServerProcess
from tests.operators.processes import (
    ACME_KEY,
    OPERATORS,
    OTHER_KEY,
    SEATS,
    TOKEN_KEYS,
    as_operator,
    node,
)
from towerhall_server.access import audit as module
from towerhall_server.access.audit import PEOPLE, SERVICE, Audit, source_of
from towerhall_server.cli.audit import since_ms
from towerhall_server.cli.errors import UsageError
from towerhall_server.eventlog.log import EventLog
from towerhall_server.operators.operator import key_digest
from towerhall_server.store.errors import StoreDownError
from towerhall_server.telemetry.meters import Meters

CHAT = "a line of chat that nobody else says"
WEBHOOK_SECRET = secrets.token_urlsafe(32)


async def settle(log: EventLog) -> None:
    """What was noted has been written."""
    await log.ping()


async def test_entries_come_back_in_order_with_the_time_of_the_store(log: EventLog) -> None:
    audit = Audit(log)
    assert await audit.read() == []
    audit.note(SERVICE, "banned", person="ann", reason="threats")
    audit.note(source_of("acme"), "room_closed", room="QJXKZB")
    await settle(log)
    await asyncio.sleep(0.01)
    audit.note(PEOPLE, "link_made", person="ben")
    await settle(log)
    entries = await audit.read()
    assert {(entry.source, entry.act) for entry in entries[:2]} == {
        ("service", "banned"),
        ("operator acme", "room_closed"),
    }
    assert (entries[2].source, entries[2].about) == ("people", {"person": "ben"})
    assert [entry.time for entry in entries] == sorted(entry.time for entry in entries)
    last = entries[2].time
    assert await audit.read(last) == entries[2:]
    assert await audit.read(last + 1) == []


async def test_a_source_that_writes_much_pushes_out_nothing_of_others(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_ENTRIES", 200)
    monkeypatch.setattr(module, "PAGE", 30)
    audit = Audit(log)
    audit.note(SERVICE, "banned", person="ann")
    for number in range(1000):
        audit.note(PEOPLE, "link_made", number=number)
    await settle(log)
    entries = await audit.read()
    assert [entry.act for entry in entries if entry.source == SERVICE] == ["banned"]
    numbers = [entry.about["number"] for entry in entries if entry.source == PEOPLE]
    assert numbers == list(range(1000))[-len(numbers) :], "the newest are kept, each of them once"
    assert 200 <= len(numbers) <= 400


async def test_entries_end_with_their_time(
    log: EventLog, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit = Audit(log)
    for number in range(300):
        audit.note(SERVICE, "banned", number=number)
    await settle(log)
    await asyncio.sleep(0.05)
    monkeypatch.setattr(module, "KEPT_DAYS", 0)
    audit.note(SERVICE, "ban_lifted")
    await settle(log)
    left = await audit.read()
    assert left[-1].act == "ban_lifted"
    assert len(left) < 200


class Silent:
    """A store that does not answer."""

    def call(self, call: object) -> "asyncio.Future[Any]":
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        answer.set_exception(StoreDownError("away"))
        return answer


async def test_an_entry_that_is_lost_is_logged_and_counted_and_fails_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    meters = Meters()
    audit = Audit(Silent(), meters)  # type: ignore[arg-type]
    with caplog.at_level(logging.WARNING):
        audit.note(SERVICE, "banned", person="a person's id")
        await asyncio.sleep(0)
    assert meters.audit_lost == 1
    assert "lacks an entry: banned by service" in caplog.text
    assert "a person's id" not in caplog.text


# All that is noted


@pytest.fixture
def server(url: str, tmp_path: Path) -> Iterator[ServerProcess]:
    more = {
        "TOWERHALL_WEBHOOKS": "acme:https://lobby.example/hook/with-a-secret-path",
        "TOWERHALL_WEBHOOK_SECRETS": f"acme:{WEBHOOK_SECRET}",
        "TOWERHALL_METRICS_TOKEN": WEBHOOK_SECRET,
    }
    with node(tmp_path / "a", url, **more) as process:
        yield process


async def test_everything_at_the_border_is_noted_and_nothing_secret(
    server: ServerProcess, url: str
) -> None:
    base = server.url
    written: list[str] = []

    async def towerhall(command: str, *arguments: str) -> Told:
        environ = {"TOWERHALL_OPERATOR_KEYS": OPERATORS["TOWERHALL_OPERATOR_KEYS"]}
        told = await asyncio.to_thread(here, command, *arguments, environ=environ)
        assert told.status == 0, told.err
        written.append(told.out)
        return told

    def post(path: str, body: object, token: str = "") -> Any:
        answer = ask(base, "POST", path, body, bearer(token) if token else {})
        assert answer.status in (200, 201), answer.body
        return answer.document

    def operate(method: str, path: str, body: object = None, **more: str) -> Any:
        answer = as_operator(base, method, path, body, **more)
        assert answer.status in (200, 201), answer.body
        return answer.document

    place = ("--redis-url", url)
    guest = post("/v1/guests", {"name": "Ada"})
    room = await asyncio.to_thread(new_room, base, guest["token"])
    async with inside(base, room["code"], guest["token"]) as raw:
        await raw.say("chat", CHAT)
        await raw.wait_for("chat")
    link = post("/v1/me/links", {"room": room["code"]}, guest["token"])["link"]
    post("/v1/links", {"code": link.removeprefix("/#/l/")})
    newer = post("/v1/me/tokens", {}, guest["token"])
    post("/v1/me/revoke", {"others": True}, newer["token"])
    made = operate("POST", "/rooms", {"game": "five_towers", "seats": SEATS})
    seat = operate("POST", "/tokens", SEATS[0], key=OTHER_KEY)
    operate("POST", "/bans", {"id": guest["id"], "reason": "unkind"})
    operate("DELETE", f"/bans/{guest['id']}")
    operate("POST", f"/rooms/{made['code']}/close", {"reason": "done"})
    await towerhall("rooms", "close", *place, "--reason", "maintenance", room["code"])
    await towerhall("bans", "add", *place, "--reason", "threats", "--", guest["id"])
    await towerhall("bans", "lift", *place, "--", guest["id"])
    await towerhall("tokens", "revoke", *place, "--", guest["id"])
    digest = key_digest(ACME_KEY)
    await towerhall("operators", "revoke", *place, "--key-digest", digest, "--tokens", "acme")
    text = (await towerhall("audit", *place)).out
    lines = (await towerhall("audit", *place, "--since", "1h", "--json")).out.splitlines()
    entries = [json.loads(line) for line in lines]
    assert len(text.splitlines()) == len(entries)
    started, *others = entries
    assert (started["source"], started["act"]) == ("service", "started")
    settings = started["about"]["settings"]
    assert (settings["token_days"], settings["token_keys"]) == (90, "(1, not shown)")
    assert started["about"]["version"] == version("towerhall")
    assert f"acme {digest}" in started["about"]["keys"]
    people = [each["id"] for each in made["seats"]]
    person = {"person": guest["id"]}
    found = [(each["source"], each["act"], each["about"]) for each in others]
    assert found == [
        ("people", "link_made", person | {"room": room["code"]}),
        ("people", "link_used", person | {"room": room["code"]}),
        ("people", "tokens_revoked", person | {"others": True}),
        ("operator acme", "room_opened", {"room": made["code"], "people": people}),
        ("operator other", "token_issued", {"person": seat["id"]}),
        ("operator acme", "banned", person | {"scope": "rooms", "reason": "unkind"}),
        ("operator acme", "ban_lifted", person),
        ("operator acme", "room_closed", {"room": made["code"], "reason": "done"}),
        ("service", "room_closed", {"room": room["code"], "reason": "maintenance"}),
        ("service", "banned", person | {"scope": "service", "reason": "threats"}),
        ("service", "ban_lifted", person | {"by": "the service"}),
        ("service", "tokens_revoked", person),
        ("service", "keys_revoked", {"operator": "acme", "digests": [digest], "tokens": True}),
    ]
    everything = "".join(written)
    tokens = [guest["token"], newer["token"], seat["token"], *(s["token"] for s in made["seats"])]
    secret = (ACME_KEY, OTHER_KEY, TOKEN_KEYS, WEBHOOK_SECRET, "secret-path", CHAT, *tokens)
    for hidden in (*secret, *(each["external_id"] for each in SEATS), "127.0.0.1:"):
        for form in forms(hidden):
            assert form not in everything


def forms(secret: str) -> Iterator[str]:
    """How a secret may be written."""
    data = secret.encode()
    yield from (secret, data.hex())
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(data).decode().rstrip("=")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("90s", 910_000),
        ("10m", 400_000),
        ("1970-01-02", 86_400_000),
        ("1970-01-01T00:10", 600_000),
        ("1970-01-01T01:00+01:00", 0),
    ],
)
def test_a_time_is_read_as_it_is_meant(text: str, expected: int) -> None:
    assert since_ms(text, 1000.0) == expected


@pytest.mark.parametrize("text", ["yesterday", "5", "5x", "-1d", "2026-13-01"])
def test_a_time_that_means_nothing_is_told(text: str) -> None:
    with pytest.raises(UsageError, match="--since"):
        since_ms(text, 1000.0)


async def test_what_people_ask_for_is_done_though_the_store_takes_no_entry(
    server: ServerProcess, redis: Redis
) -> None:
    await redis.set("towerhall:{audit}:of:people", "no stream")
    base = server.url
    guest = (await asyncio.to_thread(ask, base, "POST", "/v1/guests", {"name": "Ada"})).document
    for _ in range(3):
        made = await asyncio.to_thread(
            ask, base, "POST", "/v1/me/links", {}, bearer(guest["token"])
        )
        assert made.status == 201
    ban = await asyncio.to_thread(as_operator, base, "POST", "/bans", {"id": guest["id"]})
    assert ban.status == 201
