"""Routes of accounts: passkeys, signing in, recovery codes, devices.

As in `routes`, each endpoint reads a request, calls `accounts`, and answers.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from towerhall_server.access.admission import Denied
from towerhall_server.access.audit import PEOPLE, Act
from towerhall_server.access.names import clean_name
from towerhall_server.access.tokens import Token
from towerhall_server.accounts.account import WRONG_CODE, AccountProblem
from towerhall_server.accounts.codes import read_recovery_code
from towerhall_server.accounts.devices import device_name
from towerhall_server.accounts.passkeys import account_of
from towerhall_server.accounts.service import SignedIn
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.http.account_requests import (
    LostDevice,
    LostPasskey,
    NewPasskey,
    NewRecovery,
    NewSignIn,
    Nothing,
    site_here,
)
from towerhall_server.gateway.http.routes import Routes, address_of
from towerhall_server.gateway.responses import RefusedError, answer, expect_json, read_body

Reading = Callable[[str, Callable[[Request], Awaitable[Response]]], Route]
Done = TypeVar("Done")
BEARER: Final = "authorization"


class AccountRoutes:
    """All endpoints of accounts."""

    def __init__(self, hall: Hall, routes: Routes, asking: Callable[[Request], Awaitable[Token]]):
        self._hall, self._routes, self._asking = hall, routes, asking
        self._accounts = hall.accounts

    def table(self, reading: Reading) -> Sequence[BaseRoute]:
        """The routes. `reading` makes a GET route under the rate of the client's address."""

        def post(path: str, serve: Callable[[Request], Awaitable[Response]]) -> Route:
            return Route(path, serve, methods=["POST"])

        return (
            reading("/v1/me/account", self.account),
            post("/v1/me/passkeys/options", self.ask_for_passkey),
            post("/v1/me/passkeys", self.add_passkey),
            post("/v1/me/passkeys/remove", self.remove_passkey),
            post("/v1/me/recovery", self.new_code),
            post("/v1/me/devices/revoke", self.log_out),
            post("/v1/sign-in/options", self.ask_for_sign_in),
            post("/v1/sign-in", self.sign_in),
            post("/v1/sign-in/recovery", self.recover),
        )

    # The account of the caller

    async def account(self, request: Request) -> Response:
        """Return the passkeys and devices of the caller."""
        return answer(await self._accounts.shown(await self._asking(request)))

    async def ask_for_passkey(self, request: Request) -> Response:
        token = await self._owner(request)
        site = site_here(request, self._routes.origins)
        await read_body(request, Nothing)
        return answer({"options": _done(await self._accounts.ask_for_passkey(token, site))})

    async def add_passkey(self, request: Request) -> Response:
        """Add a passkey to the caller's account. The first one makes the account."""
        token = await self._owner(request)
        wanted = await read_body(request, NewPasskey)
        name = clean_name(wanted.name) if wanted.name else ""
        if name is None:
            raise RefusedError("bad_name")
        added = _done(
            await self._accounts.add_passkey(token, wanted.credential, _device(request), name)
        )
        act: Act = "account_made" if added.recovery_code else "passkey_added"
        return self._signed_in(added, act)

    async def remove_passkey(self, request: Request) -> Response:
        token = await self._asking(request)
        wanted = await read_body(request, LostPasskey)
        account = _done(await self._accounts.remove_passkey(token, wanted.passkey))
        self._hall.audit.note(PEOPLE, "passkey_removed", person=token.person.id)
        return answer(await self._accounts.described(account, token))

    async def new_code(self, request: Request) -> Response:
        token = await self._asking(request)
        await read_body(request, Nothing)
        code = _done(await self._accounts.new_code(token))
        return answer({"recovery_code": str(code)}, 201)

    async def log_out(self, request: Request) -> Response:
        """Log out one device of the caller."""
        token = await self._asking(request)
        wanted = await read_body(request, LostDevice)
        await self._hall.take(revocations_per_ip=address_of(request))
        account = _done(await self._accounts.log_out(token, wanted.device))
        self._hall.audit.note(PEOPLE, "device_logged_out", person=token.person.id)
        return answer(await self._accounts.described(account, token))

    # Signing in

    async def ask_for_sign_in(self, request: Request) -> Response:
        await self._arriving(request)
        site, token = site_here(request, self._routes.origins), self._perhaps(request)
        await read_body(request, Nothing)
        return answer({"options": _done(await self._accounts.ask_for_sign_in(site, token))})

    async def sign_in(self, request: Request) -> Response:
        """Sign in by passkey."""
        await self._arriving(request)
        token = self._perhaps(request)
        wanted = await read_body(request, NewSignIn)
        if account := account_of(wanted.credential):
            await self._hall.take(sign_ins_per_account=account)
        entered = await self._accounts.sign_in(wanted.credential, _device(request), token)
        return self._signed_in(_done(entered), "signed_in")

    async def recover(self, request: Request) -> Response:
        """Sign in by recovery code."""
        await self._arriving(request)
        wanted = await read_body(request, NewRecovery)
        await self._hall.take(recoveries_per_ip=address_of(request))
        code = read_recovery_code(wanted.code)
        if code is None:
            raise RefusedError(WRONG_CODE.code)
        await self._hall.take(sign_ins_per_account=code.account)
        entered = await self._accounts.recover(code, wanted.nonce, _device(request))
        return self._signed_in(_done(entered), "recovered")

    # Shared parts

    async def _owner(self, request: Request) -> Token:
        """Return the token of a person who may have an account: the people of operators have
        theirs elsewhere, and a program needs none."""
        token = await self._asking(request)
        if token.operator or token.person.bot_account:
            raise RefusedError("forbidden")
        return token

    async def _arriving(self, request: Request) -> None:
        """Take the rate of people who ask for tokens."""
        expect_json(request)  # checked first, as for a new guest
        await self._hall.take(guests_per_ip=address_of(request))

    def _perhaps(self, request: Request) -> Token | None:
        """Return the token of a request, if there is one."""
        return self._routes.token_of(request) if BEARER in request.headers else None

    def _signed_in(self, entered: SignedIn, act: Act) -> Response:
        self._hall.audit.note(PEOPLE, act, person=entered.token.person.id)
        given = self._routes.given(entered.token)
        if entered.passkey:
            given["passkey"] = entered.passkey
        if entered.recovery_code:
            given["recovery_code"] = str(entered.recovery_code)
        return answer(given, 201)


def _done(found: Done | AccountProblem | Denied) -> Done:
    """Return what was done, or refuse."""
    if isinstance(found, AccountProblem):
        params = {"detail": found.detail} if found.detail else {}
        raise RefusedError(found.code, **params)
    if isinstance(found, Denied):
        raise RefusedError(found.code, **found.params)
    return found


def _device(request: Request) -> str:
    return device_name(request.headers.get("user-agent", ""))
