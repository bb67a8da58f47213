"""Which web pages may talk to this server, judged by the Origin header.

A browser lets any page open a socket to any server, and names the page truthfully. This check keeps
foreign pages from acting for a visitor. It does not stop programs, which can send any header: they
need a token like every client. No response header is made here.
"""

import ipaddress
import re
from typing import Final

EVERY_PAGE: Final = "*"
OPAQUE: Final = "null"
"""The origin of files and sandboxed frames: the same for all of them."""
DEFAULT_PORTS: Final = {"http": 80, "https": 443}

HOST_AND_PORT: Final = r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::([1-9][0-9]{0,4}))?"
ORIGIN: Final = re.compile(rf"([a-z][a-z0-9+.-]*)://{HOST_AND_PORT}", re.IGNORECASE | re.ASCII)
HOST: Final = re.compile(HOST_AND_PORT, re.IGNORECASE | re.ASCII)

Place = tuple[str, int | None]
"""A host and its port; the port is None if the scheme has no default."""


class Origins:
    """The pages that may connect: those listed, and those of this server itself.

    Entries are origins exactly as browsers write them (`https://play.example.org`), `null`, or `*`
    for every page.
    """

    __slots__ = ("_every", "_listed", "_opaque")

    def __init__(self, allowed: tuple[str, ...]) -> None:
        self._every = EVERY_PAGE in allowed
        self._opaque = OPAQUE in allowed
        self._listed: set[tuple[str, Place]] = set()
        for entry in allowed:
            if entry in (EVERY_PAGE, OPAQUE):
                continue
            origin = _origin(entry)
            if origin is None:
                raise ValueError(
                    f"{entry!r} is not an origin; write it like https://play.example.org or"
                    " http://localhost:3000, without a path and with the host in ASCII"
                )
            self._listed.add(origin)

    def allows(self, origin: str | None, host: str | None) -> bool:
        """Judge a request by its Origin and Host headers, which may be None."""
        if origin is None or self._every:
            return True
        if origin == OPAQUE:
            return self._opaque
        page = _origin(origin)
        if page is None:
            return False
        return page in self._listed or _is_own(page, host)


def _is_own(page: tuple[str, Place], host: str | None) -> bool:
    """Whether the page came from the host that the request goes to.

    The scheme is taken from the Origin header: behind a proxy that ends TLS, this server sees none.
    """
    scheme, place = page
    found = HOST.fullmatch(host or "")
    return (
        scheme in DEFAULT_PORTS and found is not None and _place(scheme, *found.groups()) == place
    )


def _origin(text: str) -> tuple[str, Place] | None:
    found = ORIGIN.fullmatch(text)
    if found is None:
        return None
    scheme = found[1].lower()
    place = _place(scheme, found[2], found[3])
    return None if place is None else (scheme, place)


def _place(scheme: str, host: str, port: str | None) -> Place | None:
    number = int(port) if port else DEFAULT_PORTS.get(scheme)
    if number is not None and number > 65_535:
        return None
    if host.startswith("["):
        try:
            return f"[{ipaddress.IPv6Address(host[1:-1])}]", number
        except ValueError:
            return None
    return host.lower(), number
