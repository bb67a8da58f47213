"""One attempt to tell an operator something: a signed POST to their address.

Only the answer's status counts: 2xx means taken, everything else means try again. Redirects are not
followed. A name is resolved here and the connection goes to the very address that was looked at, so
that no name can lead into a network where only this server may go.
"""

import asyncio
import hmac
import ipaddress
import re
import socket
import ssl
from hashlib import sha256
from time import time
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from towerhall_server.operators.keys import Webhook

ATTEMPT_SECONDS: Final = 10.0
MOST_LINE_BYTES: Final = 8192
MOST_LINES: Final = 100
LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})
TRANSLATED: Final = tuple(
    map(ipaddress.ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16"))
)
"""Addresses that stand for others, which may lead anywhere."""
STATUS: Final = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})(?: |\r?\n)")

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network


class NotToldError(Exception):
    """The operator has not taken it. The message says why, without the address of the hook."""


def signature(secrets: tuple[bytes, ...], seconds: int, body: bytes) -> str:
    """What proves that a body comes from this service, and when it was sent."""
    signed = b"%d.%b" % (seconds, body)
    proofs = [f"v1={hmac.new(secret, signed, sha256).hexdigest()}" for secret in secrets]
    return ",".join((f"t={seconds}", *proofs))


class Sender:
    """Posts to operators. `networks` are private ones where operators may be all the same."""

    def __init__(
        self, networks: tuple[str, ...] = (), *, attempt_seconds: float = ATTEMPT_SECONDS
    ) -> None:
        self._networks = tuple(map(ipaddress.ip_network, networks))
        self._attempt_seconds = attempt_seconds
        self._tls: ssl.SSLContext | None = None

    async def send(self, hook: Webhook, delivery: str, body: bytes) -> None:
        """Try once; `NotToldError` unless it was taken."""
        try:
            async with asyncio.timeout(self._attempt_seconds):
                status = await self._post(hook, delivery, body)
        except TimeoutError:
            raise NotToldError(f"no answer within {self._attempt_seconds:g} s") from None
        except (OSError, EOFError, ValueError) as error:
            raise NotToldError(f"{type(error).__name__} while asking") from None
        if not 200 <= status < 300:
            raise NotToldError(f"the answer was {status}")

    async def _post(self, hook: Webhook, delivery: str, body: bytes) -> int:
        parts = urlsplit(hook.url)
        host, secure = parts.hostname or "", parts.scheme == "https"
        port = parts.port or (443 if secure else 80)
        address = await self._address(host, port, secure=secure)
        reader, writer = await asyncio.open_connection(
            address,
            port,
            limit=MOST_LINE_BYTES,
            ssl=self._context() if secure else None,
            server_hostname=host if secure else None,
        )
        try:
            target = parts.path or "/"
            head = (
                f"POST {target}{'?' if parts.query else ''}{parts.query} HTTP/1.1\r\n"
                f"Host: {parts.netloc}\r\n"
                "Content-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n"
                f"Towerhall-Delivery: {delivery}\r\n"
                f"Towerhall-Signature: {signature(hook.secrets, int(time()), body)}\r\n"
                "User-Agent: towerhall\r\n"
                "Connection: close\r\n\r\n"
            )
            writer.write(head.encode("ascii") + body)
            await writer.drain()
            return await _status(reader)
        finally:
            # Nobody needs the rest of the answer, nor an orderly goodbye.
            writer.transport.abort()

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls

    async def _address(self, host: str, port: int, *, secure: bool) -> str:
        """Where that name leads, if one may go there."""
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        for *_, place in found:
            text = str(place[0])
            if self.may_go(ipaddress.ip_address(text.partition("%")[0]), host, secure=secure):
                return text
        raise NotToldError("its name leads only to addresses that are not allowed")

    def may_go(self, address: Address, host: str, *, secure: bool) -> bool:
        """Whether an address that was found for a host may be asked."""
        if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        if any(address in network for network in self._networks):
            return True
        if address.is_loopback:
            return host in LOOPBACK_NAMES
        translated = any(address in network for network in TRANSLATED)
        return secure and address.is_global and not address.is_multicast and not translated


async def _status(reader: asyncio.StreamReader) -> int:
    """The status of the answer; those before it (1xx) are passed over."""
    for _ in range(MOST_LINES):
        found = STATUS.match(await reader.readline())
        if found is None:
            raise ValueError("this is no answer of HTTP")
        status = int(found[1])
        if status >= 200:
            return status
        while (await reader.readline()).strip():
            pass
    raise ValueError("an answer without an end")
