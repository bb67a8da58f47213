"""Answers that are foreign, old, repeated or no answers at all, sent to the routes."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from typing import Any, Final

import pytest
from redis.asyncio import Redis

from tests.accounts.authenticator import ORIGIN, Authenticator
from tests.accounts.people import (
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
from tests.examples import examples
from tests.regulars.served import Answer, Served
from towerhall_protocol.commands import base64url, from_base64url
from towerhall_server.access.admission import REVOKED, Denied
from towerhall_server.accounts.codes import account_name, recovery_code
from towerhall_server.eventlog.operators import Ban, OperatorStore
from towerhall_server.eventlog.single_use import SingleUse

FUZZED: Final = examples(2000, 10_000)


@pytest.fixture
async def service(engine_url: str, redis: Redis) -> AsyncIterator[Served]:
    async with accounts_at(engine_url) as running:
        yield running


def refused(found: Answer, code: str) -> None:
    assert (found.status >= 400, found.code) == (True, code), found.document


async def test_p213_an_answer_works_once(service: Served) -> None:
    keys = Authenticator()
    await with_account(service, keys)
    credential = keys.get(await sign_in_options(service))
    assert (await ask(service, "POST", "/v1/sign-in", {"credential": credential})).status == 201
    refused(await ask(service, "POST", "/v1/sign-in", {"credential": credential}), "challenge_gone")


async def test_p213_of_many_at_once_one_answer_is_taken(service: Served) -> None:
    keys = Authenticator(counts=False)
    await with_account(service, keys)
    body = {"credential": keys.get(await sign_in_options(service))}
    found = await asyncio.gather(*(ask(service, "POST", "/v1/sign-in", body) for _ in range(10)))
    assert sorted(each.status for each in found) == [201] + [404] * 9


async def test_p212_a_question_of_another_purpose_or_person_is_gone(service: Served) -> None:
    keys, others = Authenticator(), Authenticator()
    ada, _ = await with_account(service, keys)
    ben, _ = await with_account(service, others, "Ben")
    # The question of a sign-in, answered as if it were that of a new passkey, and the other way.
    options = await new_options(ada)
    asked = await sign_in_options(service)
    made = keys.create({**options, "challenge": asked["challenge"]})
    refused(await ada.ask("POST", "/v1/me/passkeys", credential=made), "challenge_gone")
    signed = keys.get({**asked, "challenge": options["challenge"]})
    refused(await ask(service, "POST", "/v1/sign-in", {"credential": signed}), "challenge_gone")
    signed = keys.get({**asked, "challenge": (await new_options(ada))["challenge"]})
    body = {"credential": signed}
    refused(await ask(service, "POST", "/v1/sign-in", body, token=ada.token), "challenge_gone")
    # Ben gets no passkey into Ada's account, and she none into his.
    mine = others.create(await new_options(ada))
    refused(await ben.ask("POST", "/v1/me/passkeys", credential=mine), "challenge_gone")
    assert len((await ben.account())["passkeys"]) == 1
    # A sign-in that Ada asked for is no stranger's.
    bound = keys.get(await sign_in_options(service, ada.token))
    refused(await ask(service, "POST", "/v1/sign-in", {"credential": bound}), "challenge_gone")


async def test_p213_a_device_signs_in_anew_by_a_passkey_of_its_own_person_only(
    service: Served,
) -> None:
    keys, others = Authenticator(counts=False), Authenticator()
    ada, _ = await with_account(service, keys)
    await with_account(service, others, "Ben")
    options = await sign_in_options(service, ada.token)
    others.residents[0].credential = keys.residents[0].credential
    body = {"credential": others.get(options)}
    refused(await ask(service, "POST", "/v1/sign-in", body, token=ada.token), "bad_passkey")


async def test_p213_the_passkey_of_one_account_with_the_user_handle_of_another(
    service: Served,
) -> None:
    keys, others = Authenticator(), Authenticator()
    await with_account(service, keys)
    await with_account(service, others, "Ben")
    for user in (others.residents[0].user, b"0" * 15, b"nobody", b""):
        refused(await sign_in(service, keys, user=user), "bad_passkey")
    refused(await sign_in(service, keys, key=others.residents[0].key), "bad_passkey")


async def test_p213_a_clone_is_refused_and_the_passkey_that_counts_goes_on(
    service: Served,
) -> None:
    keys = Authenticator()
    await with_account(service, keys)
    clone = keys.copy()
    for _ in range(3):
        assert (await sign_in(service, keys)).status == 201
    refused(await sign_in(service, clone), "bad_passkey")
    refused(await sign_in(service, keys, count=3), "bad_passkey")
    assert (await sign_in(service, keys, count=5)).status == 201


async def test_p212_questions_expire_and_used_ones_stay_used_in_an_older_store(
    service: Served, redis: Redis
) -> None:
    keys = Authenticator(counts=False)
    await with_account(service, keys)
    options = await sign_in_options(service)
    codes = SingleUse(service.running.hall.directory.node.log, "challenge")
    key = codes.key(options["challenge"])
    assert 0 < await redis.pttl(key) <= 5 * 60_000
    copy: Any = await redis.dump(key)
    body = {"credential": keys.get(options)}
    assert (await ask(service, "POST", "/v1/sign-in", body)).status == 201
    await redis.restore(key, 60_000, copy, replace=True)
    refused(await ask(service, "POST", "/v1/sign-in", body), "challenge_gone")
    late = await sign_in_options(service)
    await redis.delete(codes.key(late["challenge"]))
    body = {"credential": keys.get(late)}
    refused(await ask(service, "POST", "/v1/sign-in", body), "challenge_gone")


async def test_p212_a_page_that_is_not_allowed_has_no_passkeys(
    service: Served, engine_url: str
) -> None:
    guest = await service.guest("Ada")
    for origin, code in (
        ("https://evil.example", "foreign_origin"),
        ("null", "foreign_origin"),
        ("", "foreign_origin"),
    ):
        for path, token in (
            ("/v1/me/passkeys/options", guest.token),
            ("/v1/sign-in/options", ""),
        ):
            found = await ask(service, "POST", path, {}, token=token, headers={"origin": origin})
            refused(found, code)
    by_address = {"origin": "http://127.0.0.1", "host": "127.0.0.1"}
    refused(
        await ask(service, "POST", "/v1/sign-in/options", {}, headers=by_address), "bad_request"
    )
    refused(await service.ask("POST", "/v1/sign-in/options", {}), "bad_request")
    async with accounts_at(engine_url, TOWERHALL_ORIGINS="https://play.partner.example") as other:
        headers = {"origin": "https://play.partner.example"}
        options = await sign_in_options(other, **headers)
        assert options["rpId"] == "play.partner.example"


async def test_p213_a_phishing_page_gets_nothing_of_use(engine_url: str, redis: Redis) -> None:
    """Even where every page may connect: a passkey signs for the domain of the page only."""
    async with accounts_at(engine_url, TOWERHALL_ORIGINS="*") as service:
        keys = Authenticator()
        await with_account(service, keys)
        options = await sign_in_options(service, origin="https://evil.example")
        assert options["rpId"] == "evil.example"
        with pytest.raises(StopIteration):
            keys.get(options)
        # A hostile browser would still lack a signature for the right domain and page.
        options["rpId"] = "towers.example"
        for wrong in ({}, {"domain": "evil.example"}):
            for origin in (ORIGIN, "https://evil.example"):
                keys.origin = origin
                body = {"credential": keys.get(options, **wrong)}
                found = await ask(service, "POST", "/v1/sign-in", body)
                assert found.code in {"bad_passkey", "challenge_gone"}


async def test_p214_recovery_codes_that_are_wrong_and_their_rates(
    engine_url: str, redis: Redis
) -> None:
    rates = {
        "TOWERHALL_LIMIT_RECOVERIES_PER_IP": "1/h burst 8",
        "TOWERHALL_LIMIT_SIGN_INS_PER_ACCOUNT": "1/h burst 3",
    }
    async with accounts_at(engine_url, **rates) as service:
        ada, _ = await with_account(service, Authenticator())
        account = ada.code.replace("-", "")[:15]
        for number in range(3):
            wrong = recovery_code(account, bytes([number]) * 16)
            refused(await recover(service, str(wrong)), "bad_recovery_code")
        # Too many tries for this account: not even the right one is looked at now.
        refused(await recover(service, ada.code), "too_many")
        unknown = recovery_code(account_name(bytes(16)), bytes(16))
        for _ in range(3):
            refused(await recover(service, str(unknown)), "bad_recovery_code")
        refused(await recover(service, "not a code"), "bad_recovery_code")
        refused(await recover(service, str(unknown)), "too_many")
    await redis.delete(*await redis.keys("towerhall:{quotas}:*"))
    async with accounts_at(engine_url) as service:
        assert (await recover(service, ada.code)).status == 201


async def test_p213_an_account_has_a_rate_of_sign_ins(engine_url: str, redis: Redis) -> None:
    """Each sign-in may end an older device, and each such end is kept for long."""
    async with accounts_at(
        engine_url, TOWERHALL_LIMIT_SIGN_INS_PER_ACCOUNT="1/h burst 2"
    ) as service:
        keys, others = Authenticator(), Authenticator()
        await with_account(service, keys)
        await with_account(service, others, "Ben")
        assert [(await sign_in(service, keys)).status for _ in range(3)] == [201, 201, 429]
        assert (await sign_in(service, others)).status == 201


@pytest.mark.parametrize("nonce", ["", "short", "A" * 23, "A" * 21 + "!", None, 7])
async def test_p214_a_nonce_is_sixteen_bytes(service: Served, nonce: Any) -> None:
    body = {"code": "A" * 35, "nonce": nonce}
    refused(await ask(service, "POST", "/v1/sign-in/recovery", body), "bad_request")


async def test_a_banned_person_signs_in_no_more(service: Served) -> None:
    keys = Authenticator()
    ada, _ = await with_account(service, keys)
    log = service.running.hall.directory.node.log
    await OperatorStore(log).ban(Ban(ada.id, "", 1))
    await service.running.hall.access.refresh()
    refused(await sign_in(service, keys), "banned")
    refused(await recover(service, ada.code), "banned")


class Visitor:
    """A connection."""

    operator = ""

    def __init__(self) -> None:
        self.denied: list[Denied] = []

    def shut_out(self, denied: Denied) -> None:
        self.denied.append(denied)


async def test_p215_a_device_is_out_at_all_servers_and_its_sockets_are_closed(
    service: Served, engine_url: str
) -> None:
    keys = Authenticator()
    laptop, _ = await with_account(service, keys)
    phone = member(service, await sign_in(service, keys))
    async with accounts_at(engine_url) as other:
        here, there = service.running.hall.access, other.running.hall.access
        sockets = {
            (access, who.device): Visitor() for access in (here, there) for who in (laptop, phone)
        }
        for (access, device), visitor in sockets.items():
            token = phone.token if device == phone.device else laptop.token
            read = access.read(token)
            assert not isinstance(read, Denied)
            access.enter(read, visitor)
        await laptop.ask("POST", "/v1/me/devices/revoke", device=phone.device)
        assert sockets[here, phone.device].denied == [REVOKED], "at once where it was asked"
        await there.refresh()  # as it does each second
        assert sockets[there, phone.device].denied == [REVOKED]
        found = await ask(other, "GET", "/v1/me/account", token=phone.token)
        refused(found, "unauthorized")
        assert not sockets[here, laptop.device].denied
        assert not sockets[there, laptop.device].denied
        # What the phone had under way leads nowhere either.
        refused(await ask(other, "POST", "/v1/me/tokens", {}, token=phone.token), "unauthorized")


async def test_p211_two_servers_make_one_account(service: Served, engine_url: str) -> None:
    guest = await service.guest("Ada")
    async with accounts_at(engine_url) as other:
        bodies = [
            {"credential": Authenticator().create(await new_options(guest))} for _ in range(6)
        ]
        found = await asyncio.gather(
            *(
                ask(at, "POST", "/v1/me/passkeys", body, token=guest.token)
                for at, body in zip((service, other) * 3, bodies, strict=True)
            )
        )
    made = [each for each in found if each.status == 201]
    assert len(made) == 1
    assert {each.code for each in found if each.status != 201} == {"challenge_gone"}
    assert len((await member(service, made[0]).account())["passkeys"]) == 1


async def test_p213_two_servers_lose_no_sign_in_of_each_other(
    service: Served, engine_url: str
) -> None:
    keys = Authenticator(counts=False)
    await with_account(service, keys)
    async with accounts_at(engine_url) as other:
        found = await asyncio.gather(*(sign_in(at, keys) for at in (service, other) * 5))
        assert [each.status for each in found] == [201] * 10
        last = member(other, found[-1])
        assert len((await last.account())["devices"]) == 11


async def test_a_lost_way_to_an_account_is_repaired_by_a_sign_in(
    service: Served, redis: Redis
) -> None:
    keys = Authenticator()
    ada, _ = await with_account(service, keys)
    (way,) = await redis.keys("towerhall:account-of:*")
    await redis.delete(way)
    assert (await ada.account())["passkeys"] == []
    back = member(service, await sign_in(service, keys))
    assert len((await back.account())["passkeys"]) == 1
    assert len((await ada.account())["passkeys"]) == 1


async def test_an_account_that_was_lost_with_the_store_can_be_made_again(
    service: Served, redis: Redis
) -> None:
    keys = Authenticator()
    ada, guest = await with_account(service, keys)
    await redis.delete(*await redis.keys("towerhall:account:*"))
    assert (await ada.account())["passkeys"] == []
    body = {"credential": keys.create(await new_options(guest))}
    again = await ask(service, "POST", "/v1/me/passkeys", body, token=guest.token)
    assert member(service, again).id == ada.id
    assert (await sign_in(service, keys)).status == 201


# Requests at random


def scalar(dice: random.Random) -> Any:
    return dice.choice(
        (
            None, True, -1, 2**63, 1e308, "", "\x00", "\ud800", "A" * 15, "A" * 35, "public-key",
            base64url(dice.randbytes(dice.randrange(80))), ORIGIN, [], {}, "A" * 22,
        )
    )  # fmt: skip


def changed(document: Any, dice: random.Random) -> Any:
    """The same document with a few places replaced."""
    if dice.random() < 0.02:
        return scalar(dice)
    if isinstance(document, dict):
        kept = {name: changed(value, dice) for name, value in document.items()}
        if kept and dice.random() < 0.05:
            del kept[dice.choice(list(kept))]
        if dice.random() < 0.03:
            kept[str(scalar(dice))] = scalar(dice)
        return kept
    if isinstance(document, str) and dice.random() < 0.1:
        place = dice.randrange(len(document) + 1)
        return document[:place] + dice.choice("AZ-_=\n\x00é") + document[place + 1 :]
    return document


def changed_cbor(data: bytes, dice: random.Random) -> bytes:
    """The same bytes, with some of them wrong."""
    if dice.random() < 0.3:
        return dice.randbytes(dice.randrange(200))
    wrong = bytearray(data)
    for _ in range(dice.randrange(1, 6)):
        wrong[dice.randrange(len(wrong))] = dice.randrange(256)
    return bytes(wrong[: dice.randrange(1, len(wrong) + 1)] if dice.random() < 0.3 else wrong)


PARTS: Final = {
    "/v1/me/passkeys/options": (),
    "/v1/me/passkeys": ("credential", "name"),
    "/v1/me/passkeys/remove": ("passkey",),
    "/v1/me/recovery": (),
    "/v1/me/devices/revoke": ("device",),
    "/v1/sign-in/options": (),
    "/v1/sign-in": ("credential",),
    "/v1/sign-in/recovery": ("code", "nonce"),
}
"""The keys of a body, by address."""


def body_for(
    path: str, keys: Authenticator, asked: list[Any], ada: Member, dice: random.Random
) -> Any:
    """A request that is right in most of its parts."""
    options = dice.choice(asked)
    if "user" in options:
        credential = keys.create(options, credential=dice.randbytes(16))
        part = "attestationObject"
    else:
        credential, part = keys.get(options), "authenticatorData"
    if dice.random() < 0.5:
        data = changed_cbor(from_base64url(credential["response"][part]), dice)
        credential["response"][part] = base64url(data)
    whole = {
        "credential": credential,
        "name": "Laptop",
        "passkey": "A" * 11,
        "device": "A" * 8,
        "code": ada.code,
        "nonce": "A" * 22,
    }
    parts = PARTS[path if dice.random() < 0.9 else dice.choice(list(PARTS))]
    return changed({name: whole[name] for name in parts}, dice)


async def test_thousands_of_requests_at_random_are_answered_and_never_by_a_fault(
    engine_url: str, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(random.randrange(2**32))  # another one each time
    # Otherwise each question is used up by the first answer, and the rest is never read.
    monkeypatch.setattr(SingleUse, "take", kept_for_all)
    async with accounts_at(engine_url) as service:
        keys = Authenticator(counts=False)
        ada, _ = await with_account(service, keys)
        asked = [await new_options(ada), await sign_in_options(service)]
        asked.append(await sign_in_options(service, ada.token))
        seen: dict[str, int] = {}
        for number in range(FUZZED):
            path = dice.choice((*PARTS, "/v1/me/passkeys", "/v1/sign-in", "/v1/sign-in"))
            body = body_for(path, keys, asked, ada, dice)
            data = json.dumps(body, ensure_ascii=dice.random() < 0.5).encode(errors="replace")
            if dice.random() < 0.03:
                data = changed_cbor(data, dice)
            token = dice.choice((ada.token, ada.token, ""))
            found = await ask(service, "POST", path, data, token=token)
            assert found.status < 500, (number, data)
            code = found.code if found.status >= 400 else "done"
            seen[code] = seen.get(code, 0) + 1
        assert {"bad_passkey", "bad_request", "unauthorized", "done"} <= set(seen), seen
        assert seen["bad_passkey"] > FUZZED // 50, seen


async def kept_for_all(codes: SingleUse, code: str) -> bytes | None:
    """As `take`, but nothing is used up."""
    found: bytes | None = await codes._ask("GET", codes.key(code))
    return found or None
