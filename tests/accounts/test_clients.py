"""The calls of the Python client for accounts, answered in the shapes of the schema."""

import pytest
from redis.asyncio import Redis

from tests.accounts.authenticator import Authenticator
from tests.accounts.people import HOST, accounts_at
from tests.regulars.served import Served
from tests.regulars.test_clients import fits, joined
from towerhall_client.errors import ServiceError
from towerhall_client.http import Service
from towerhall_protocol import account_answers as c
from towerhall_protocol import people_answers as p


def client_of(running: Served) -> Service:
    """A client that names its host, as those over a network do."""
    service: Service = joined(Service(f"https://{HOST}"), running)
    inner = service.ask

    async def ask(*given: object, headers: object = None, **more: object) -> bytes:
        named = {"host": HOST, **(headers or {})}  # type: ignore[dict-item]
        return await inner(*given, headers=named, **more)  # type: ignore[arg-type]

    service.ask = ask  # type: ignore[method-assign]
    return service


async def test_an_account_from_its_first_passkey_to_the_last_device(
    engine_url: str, redis: Redis
) -> None:
    async with accounts_at(engine_url) as running:
        service, keys = client_of(running), Authenticator()
        guest = await service.guest("Ada")
        fits(await service.account(guest.token), c.AccountAnswer)
        credential = keys.create(await service.passkey_options(guest.token))
        laptop = await service.add_passkey(guest.token, credential, name="Laptop")
        assert (laptop.id, bool(laptop.device)) == (guest.id, True)
        phone = await service.sign_in(keys.get(await service.sign_in_options()))
        assert (phone.id, phone.recovery_code) == (guest.id, "")
        again = await service.sign_in(
            keys.get(await service.sign_in_options(phone.token)), phone.token
        )
        assert again.device == phone.device
        account = await service.account(phone.token)
        fits(account, c.AccountAnswer)
        fits(await service.export(phone.token), p.ExportAnswer)
        lost = await service.recover(laptop.recovery_code, "A" * 22)
        assert (await service.recover(laptop.recovery_code, "A" * 22)).recovery_code == (
            lost.recovery_code
        )
        assert (await service.recover(lost.recovery_code)).id == guest.id
        code = await service.new_recovery_code(phone.token)
        assert (await service.recover(code)).id == guest.id
        with pytest.raises(ServiceError) as refused:
            await service.remove_passkey(phone.token, account["passkeys"][0]["passkey"])
        assert refused.value.code == "last_passkey"
        left = await service.log_out(phone.token, laptop.device)
        assert laptop.device not in {each["device"] for each in left["devices"]}
        other = Authenticator("https://evil.example")
        with pytest.raises(ServiceError) as refused:
            await service.sign_in_options(origin=other.origin)
        assert refused.value.code == "foreign_origin"
