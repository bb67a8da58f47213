"""Accounts over HTTP on a real store: made, used on a second device, lost and recovered."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from redis.asyncio import Redis

from tests.accounts.authenticator import Authenticator
from tests.accounts.people import (
    FIREFOX,
    Member,
    accounts_at,
    ask,
    member,
    new_options,
    recover,
    sign_in,
    sign_in_options,
    with_account,
)
from tests.regulars.games import end
from tests.regulars.served import ACME_KEY, Served
from towerhall_server.accounts import service as at_work


@pytest.fixture
async def service(engine_url: str, redis: Redis) -> AsyncIterator[Served]:
    async with accounts_at(engine_url) as running:
        yield running


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.later_ms = 0
        now = at_work._now_ms
        monkeypatch.setattr(at_work, "_now_ms", lambda: now() + self.later_ms)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


async def test_p211_an_account_keeps_identity_and_games_on_a_second_device(
    service: Served,
) -> None:
    keys = Authenticator()
    laptop, guest = await with_account(service, keys)
    assert laptop.id == guest.id
    assert len(laptop.device) == 8
    await service.play(end(1, guest.id, "ben"))
    phone = member(service, await sign_in(service, keys))
    assert phone.id == guest.id
    assert phone.device != laptop.device
    games = (await phone.ask("GET", "/v1/me/games")).document["games"]
    assert len(games) == 1
    account = await phone.account()
    (passkey,) = account["passkeys"]
    assert passkey["name"] == "Firefox, Linux"
    assert passkey["site"] == "towers.example"
    names = {each["device"]: each["name"] for each in account["devices"]}
    assert names == {laptop.device: "Firefox, Linux", phone.device: "Safari, iPhone"}
    assert [each["device"] for each in account["devices"] if each.get("own")] == [phone.device]
    assert (await ask(service, "GET", "/v1/me/rooms", token=guest.token)).status == 200


async def test_p211_the_user_handle_is_not_the_identity(service: Served) -> None:
    guest = await service.guest("Ada")
    first, second = await new_options(guest), await new_options(guest)
    assert guest.id not in str(first["user"])
    assert first["user"]["id"] != second["user"]["id"], "it is random"


async def test_a_guest_without_an_account_is_as_before(service: Served, redis: Redis) -> None:
    guest = await service.guest("Ada")
    found = await ask(service, "GET", "/v1/me/account", token=guest.token)
    assert found.document == {"passkeys": [], "devices": []}
    newer = (await guest.post("/v1/me/tokens")).document
    assert set(newer) == {"token", "id", "name", "expires"}
    assert not await redis.keys("towerhall:account*")
    assert not await redis.keys("towerhall:seen*")


async def test_p214_a_recovery_code_works_once_and_another_takes_its_place(
    service: Served,
) -> None:
    ada, _ = await with_account(service, Authenticator())
    first = member(service, await recover(service, ada.code))
    assert first.id == ada.id
    assert first.code != ada.code
    used = await recover(service, ada.code, "B" * 22)
    assert (used.status, used.code) == (403, "bad_recovery_code")
    second = member(service, await recover(service, first.code.lower().replace("-", " ")))
    assert second.id == ada.id


async def test_p214_the_same_request_again_gives_the_same_code_and_device(
    service: Served,
) -> None:
    ada, _ = await with_account(service, Authenticator())
    lost = member(service, await recover(service, ada.code, "C" * 22))
    again = member(service, await recover(service, ada.code, "C" * 22))
    assert (again.code, again.device) == (lost.code, lost.device)
    assert len((await again.account())["devices"]) == 2
    assert member(service, await recover(service, again.code)).id == ada.id
    assert (await recover(service, ada.code, "C" * 22)).code == "bad_recovery_code"


async def test_p214_a_recovered_person_adds_a_passkey_and_removes_the_lost_one(
    service: Served,
) -> None:
    lost, found = Authenticator(), Authenticator()
    ada, _ = await with_account(service, lost)
    back = member(service, await recover(service, ada.code))
    old = (await back.account())["passkeys"][0]["passkey"]
    credential = found.create(await new_options(back))
    added = await back.ask("POST", "/v1/me/passkeys", credential=credential, name="Key ring")
    assert added.document["device"] == back.device
    assert "recovery_code" not in added.document
    left = (await back.ask("POST", "/v1/me/passkeys/remove", passkey=old)).document
    assert [each["name"] for each in left["passkeys"]] == ["Key ring"]
    assert (await sign_in(service, lost)).code == "bad_passkey"
    assert (await sign_in(service, found)).status == 201
    # The device that made the account is logged out by its owner.
    (other,) = [each["device"] for each in left["devices"] if each["device"] == ada.device]
    await back.ask("POST", "/v1/me/devices/revoke", device=other)
    assert (await ada.ask("GET", "/v1/me/account")).code == "unauthorized"


async def test_p212_only_a_device_that_has_just_signed_in_changes_how_one_signs_in(
    service: Served, clock: Clock
) -> None:
    keys = Authenticator()
    ada, guest = await with_account(service, keys)
    second = keys.create(await new_options(ada))
    ada.service = service
    clock.later_ms = 15 * 60_000 + 1000
    (passkey,) = (await ada.account())["passkeys"]
    assert "fresh" not in await ada.account()
    changes: tuple[tuple[str, dict[str, Any]], ...] = (
        ("/v1/me/passkeys/options", {}),
        ("/v1/me/passkeys", {"credential": second}),
        ("/v1/me/passkeys/remove", {"passkey": passkey["passkey"]}),
        ("/v1/me/recovery", {}),
    )
    for path, body in changes:
        found = await ada.ask("POST", path, **body)
        assert (found.status, found.code) == (403, "sign_in_first"), path
    # A token from before the account, as a thief may have one, is never enough.
    clock.later_ms = 0
    found = await ask(service, "POST", "/v1/me/recovery", {}, token=guest.token)
    assert found.code == "sign_in_first"
    clock.later_ms = 15 * 60_000 + 1000
    keys.residents.pop()
    again = member(service, await sign_in(service, keys, token=ada.token))
    assert again.device == ada.device, "the same device has signed in anew"
    assert (await again.account())["fresh"] is True
    code = (await again.ask("POST", "/v1/me/recovery")).document["recovery_code"]
    assert (await recover(service, ada.code)).code == "bad_recovery_code"
    assert (await recover(service, code)).status == 201


async def test_p212_the_last_passkey_stays(service: Served) -> None:
    ada, _ = await with_account(service, Authenticator())
    (passkey,) = (await ada.account())["passkeys"]
    found = await ada.ask("POST", "/v1/me/passkeys/remove", passkey=passkey["passkey"])
    assert (found.status, found.code) == (409, "last_passkey")
    assert (await ada.ask("POST", "/v1/me/passkeys/remove", passkey="other")).code == "not_found"


async def test_p212_a_passkey_is_not_added_twice_and_ten_are_the_most(service: Served) -> None:
    keys = Authenticator(counts=False)
    ada, _ = await with_account(service, keys)
    options = await new_options(ada)
    assert [each["type"] for each in options["excludeCredentials"]] == ["public-key"]
    same = keys.create(options, credential=keys.residents[0].credential)
    assert (await ada.ask("POST", "/v1/me/passkeys", credential=same)).code == "bad_passkey"
    for _ in range(9):
        found = await ada.ask(
            "POST", "/v1/me/passkeys", credential=keys.create(await new_options(ada))
        )
        assert found.status == 201
    eleventh = keys.create(await new_options(ada))
    assert (await ada.ask("POST", "/v1/me/passkeys", credential=eleventh)).code == "bad_request"


async def test_p215_one_device_is_logged_out_and_the_others_stay(service: Served) -> None:
    keys = Authenticator()
    laptop, guest = await with_account(service, keys)
    phone = member(service, await sign_in(service, keys))
    newer = (await phone.ask("POST", "/v1/me/tokens")).document
    left = (await laptop.ask("POST", "/v1/me/devices/revoke", device=phone.device)).document
    assert [each["device"] for each in left["devices"]] == [laptop.device]
    for token in (phone.token, newer["token"]):
        assert (await ask(service, "GET", "/v1/me/rooms", token=token)).code == "unauthorized"
    assert (await laptop.account())["devices"] == left["devices"]
    assert (await guest.get("/v1/me/rooms")).status == 200
    other = await laptop.ask("POST", "/v1/me/devices/revoke", device="AAAAAAAA")
    assert other.code == "not_found"
    # What has gone out is not in: the same person signs in again as another device.
    again = member(service, await sign_in(service, keys))
    assert again.device not in {phone.device, laptop.device}


async def test_p215_a_device_that_came_by_a_link_goes_with_the_device_that_made_it(
    service: Served,
) -> None:
    keys = Authenticator()
    laptop, _ = await with_account(service, keys)
    link = (await laptop.ask("POST", "/v1/me/links")).document["link"]
    tablet = member(
        service, await ask(service, "POST", "/v1/links", {"code": link.rpartition("/")[2]})
    )
    assert tablet.device == laptop.device
    phone = member(service, await sign_in(service, keys))
    await phone.ask("POST", "/v1/me/devices/revoke", device=laptop.device)
    assert (await tablet.ask("GET", "/v1/me/rooms")).code == "unauthorized"


async def test_p215_log_out_everywhere_and_everywhere_else(service: Served) -> None:
    keys = Authenticator()
    laptop, guest = await with_account(service, keys)
    phone = member(service, await sign_in(service, keys))
    newer = member(service, await phone.ask("POST", "/v1/me/tokens"))
    await newer.ask("POST", "/v1/me/revoke", others=True)
    (left,) = (await newer.account())["devices"]
    assert left["device"] == phone.device
    for token in (laptop.token, guest.token, phone.token):
        assert (await ask(service, "GET", "/v1/me/rooms", token=token)).code == "unauthorized"
    await newer.ask("POST", "/v1/me/revoke")
    back = member(service, await sign_in(service, keys))
    (left,) = (await back.account())["devices"]
    assert left["device"] == back.device


async def test_p215_a_newer_token_of_another_device_keeps_it_in_the_list(
    service: Served,
) -> None:
    keys = Authenticator()
    laptop, _ = await with_account(service, keys)
    phone = member(service, await sign_in(service, keys))
    mine = member(service, await laptop.ask("POST", "/v1/me/tokens"))
    theirs = member(service, await phone.ask("POST", "/v1/me/tokens"))
    await mine.ask("POST", "/v1/me/revoke", others=True)
    assert (await theirs.ask("GET", "/v1/me/rooms")).status == 200
    assert len((await mine.account())["devices"]) == 2


async def test_p215_the_twenty_first_device_logs_the_oldest_out(service: Served) -> None:
    keys = Authenticator()
    first, _ = await with_account(service, keys)
    newest: list[Member] = [
        member(service, await sign_in(service, keys, agent=FIREFOX)) for _ in range(20)
    ]
    assert (await first.ask("GET", "/v1/me/rooms")).code == "unauthorized"
    devices = (await newest[-1].account())["devices"]
    assert [each["device"] for each in devices] == [each.device for each in newest]
    assert (await newest[0].ask("GET", "/v1/me/rooms")).status == 200


async def test_p211_the_token_of_a_new_account_ends_all_tokens_from_before(
    service: Served,
) -> None:
    ada, guest = await with_account(service, Authenticator())
    assert (await guest.get("/v1/me/rooms")).status == 200
    assert (await ada.ask("POST", "/v1/me/revoke", others=True)).status == 200
    assert (await guest.get("/v1/me/rooms")).code == "unauthorized"
    assert (await ada.ask("GET", "/v1/me/rooms")).status == 200


async def test_another_name_is_that_of_all_later_tokens(service: Served) -> None:
    keys = Authenticator()
    ada, _ = await with_account(service, keys)
    renamed = (await ada.ask("POST", "/v1/me/name", name="Countess")).document
    assert renamed["device"] == ada.device
    assert (await sign_in(service, keys)).document["name"] == "Countess"
    # A newer token of an old name changes nothing.
    await ada.ask("POST", "/v1/me/tokens")
    assert (await sign_in(service, keys)).document["name"] == "Countess"


async def test_p209_export_and_erasure_reach_the_account(service: Served, redis: Redis) -> None:
    keys = Authenticator()
    ada, _ = await with_account(service, keys)
    exported = (await ada.ask("GET", "/v1/me/export")).document["account"]
    assert exported["passkeys"][0]["name"] == "Firefox, Linux"
    assert exported["devices"][0]["device"] == ada.device
    assert "recovery_code" not in exported
    assert await redis.keys("towerhall:account*")
    await ada.ask("POST", "/v1/me/erase", id=ada.id)
    assert not await redis.keys("towerhall:account*")
    assert not await redis.keys("towerhall:seen*")
    assert (await sign_in(service, keys)).code == "bad_passkey"
    assert (await recover(service, ada.code)).code == "bad_recovery_code"


async def test_p216_people_of_operators_and_programs_have_no_account(service: Served) -> None:
    person = (
        await service.ask(
            "POST", "/v1/operator/tokens", {"external_id": "1", "name": "Ada"}, token=ACME_KEY
        )
    ).document
    bot = await service.ask("POST", "/v1/guests", {"name": "Bot", "bot_account": True})
    for given in (person, bot.document):
        bodies: dict[str, dict[str, Any]] = {"/options": {}, "": {"credential": {}}}
        for rest, body in bodies.items():
            path = f"/v1/me/passkeys{rest}"
            found = await ask(service, "POST", path, body, token=given["token"])
            assert (found.status, found.code) == (403, "forbidden")


async def test_the_store_has_neither_codes_nor_ids_in_its_keys(
    service: Served, redis: Redis
) -> None:
    ada, guest = await with_account(service, Authenticator())
    await sign_in_options(service)
    keys: list[Any] = await redis.keys("*")
    names = b" ".join(keys).decode()
    secret = ada.code.replace("-", "")[15:]
    assert guest.id not in names.replace(f"mine:{guest.id}", "")
    values: list[Any] = [await redis.get(key) for key in await redis.keys("towerhall:account*")]
    assert not any(secret.encode() in value for value in values)


async def test_what_a_device_does_is_noted_once_a_day(service: Served, redis: Redis) -> None:
    ada, _ = await with_account(service, Authenticator())
    for _ in range(5):
        await ada.ask("GET", "/v1/me/rooms")
    (key,) = await redis.keys("towerhall:seen:*")
    assert list(await redis.hgetall(key)) == [ada.device.encode()]
    assert await redis.pttl(key) > 0
    assert service.running.hall.accounts.store._noted.keys() == {ada.device}
