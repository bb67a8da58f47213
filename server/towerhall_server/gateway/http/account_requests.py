"""Request bodies about accounts, and the site of a request."""

from typing import Annotated, Any

import msgspec
from starlette.requests import Request

from towerhall_server.access.origins import Origins
from towerhall_server.accounts.codes import MOST_CHARACTERS
from towerhall_server.accounts.passkeys import Site, site_of
from towerhall_server.gateway.responses import RefusedError

Nonce = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9_-]{22}\Z")]
"""16 random bytes of the client, which it repeats if an answer is lost."""


class Nothing(msgspec.Struct, forbid_unknown_fields=True):
    """An empty body."""


class NewPasskey(msgspec.Struct, forbid_unknown_fields=True):
    credential: dict[str, Any]
    """The answer of `navigator.credentials.create` as JSON."""
    name: str = ""


class LostPasskey(msgspec.Struct, forbid_unknown_fields=True):
    passkey: str


class LostDevice(msgspec.Struct, forbid_unknown_fields=True):
    device: str


class NewSignIn(msgspec.Struct, forbid_unknown_fields=True):
    credential: dict[str, Any]
    """The answer of `navigator.credentials.get` as JSON."""


class NewRecovery(msgspec.Struct, forbid_unknown_fields=True):
    code: Annotated[str, msgspec.Meta(max_length=MOST_CHARACTERS)]
    nonce: Nonce


def site_here(request: Request, origins: Origins) -> Site:
    """Return the site of the page that asks. A browser names it truthfully; a program names the
    page for which it acts."""
    origin, host = request.headers.get("origin"), request.headers.get("host")
    if origin is None:
        raise RefusedError("bad_request", detail="the header Origin names the page of a passkey")
    if not origins.allows(origin, host):
        raise RefusedError("foreign_origin")
    site = site_of(origin)
    if site is None:
        raise RefusedError("bad_request", detail="a passkey needs a page with a domain name")
    return site
