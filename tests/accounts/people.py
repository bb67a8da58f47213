"""People with accounts, at a service whose routes are in this process."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import msgspec

from tests.accounts.authenticator import ORIGIN, Authenticator
from tests.regulars.served import Answer, Guest, Served, served

HOST: Final = "towers.example"
FIREFOX: Final = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
IPHONE: Final = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15"
    " (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1"
)
HEADERS: Final = {"origin": ORIGIN, "host": HOST, "user-agent": FIREFOX}
NONCE: Final = "A" * 22
RATES: Final = {
    "TOWERHALL_LIMIT_RECOVERIES_PER_IP": "10000/s burst 10000",
    "TOWERHALL_LIMIT_SIGN_INS_PER_ACCOUNT": "10000/s burst 10000",
    "TOWERHALL_LIMIT_REVOCATIONS_PER_IP": "10000/s burst 10000",
}


class Member(msgspec.Struct):
    """A signed-in device of a person."""

    service: Served
    token: str
    id: str
    device: str = ""
    code: str = ""
    """The recovery code, where one was shown."""

    async def ask(self, method: str, path: str, **body: object) -> Answer:
        given = body or None if method == "GET" else body
        return await ask(self.service, method, path, given, token=self.token)

    async def account(self) -> Any:
        found = await self.ask("GET", "/v1/me/account")
        assert found.status == 200, found.document
        return found.document


async def ask(
    service: Served,
    method: str,
    path: str,
    body: object = None,
    *,
    token: str = "",
    headers: Mapping[str, str] | None = None,
) -> Answer:
    return await service.ask(
        method, path, body, token=token, headers={**HEADERS, **(headers or {})}
    )


def member(service: Served, found: Answer) -> Member:
    assert found.status == 201, found.document
    given = found.document
    code = given.get("recovery_code", "")
    return Member(service, given["token"], given["id"], given.get("device", ""), code)


async def new_options(who: Member | Guest) -> Any:
    service = who.service if isinstance(who, Member) else who.served
    found = await ask(service, "POST", "/v1/me/passkeys/options", {}, token=who.token)
    assert found.status == 200, found.document
    return found.document["options"]


async def with_account(
    service: Served, keys: Authenticator, name: str = "Ada"
) -> tuple[Member, Guest]:
    """A guest who has made an account, and the guest before that."""
    guest = await service.guest(name)
    body = {"credential": keys.create(await new_options(guest))}
    found = await ask(service, "POST", "/v1/me/passkeys", body, token=guest.token)
    return member(service, found), guest


async def sign_in_options(service: Served, token: str = "", **headers: str) -> Any:
    found = await ask(service, "POST", "/v1/sign-in/options", {}, token=token, headers=headers)
    assert found.status == 200, found.document
    return found.document["options"]


async def sign_in(
    service: Served, keys: Authenticator, *, token: str = "", agent: str = IPHONE, **wrong: Any
) -> Answer:
    credential = keys.get(await sign_in_options(service, token), **wrong)
    headers = {"user-agent": agent}
    body = {"credential": credential}
    return await ask(service, "POST", "/v1/sign-in", body, token=token, headers=headers)


async def recover(service: Served, code: str, nonce: str = NONCE) -> Answer:
    return await ask(service, "POST", "/v1/sign-in/recovery", {"code": code, "nonce": nonce})


@asynccontextmanager
async def accounts_at(url: str, **settings: str) -> AsyncIterator[Served]:
    async with served(url, **{**RATES, **settings}) as running:
        yield running
