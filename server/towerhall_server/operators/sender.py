"""One attempt of a delivery: a signed POST to the operator's webhook.

Only the status counts: 2xx means success, everything else is retried. Redirects are not followed. A
name is resolved here, and the connection goes to the checked address. No name can lead into a
network that only this server can reach.
"""

import asyncio
import hmac
import ipaddress
import re
import socket
import ssl
from hashlib import sha256
from time import time
from typing import Final
from urllib.parse import urlsplit

from towerhall_server.operators.addresses import Address, is_public, meant
from towerhall_server.operators.operator import Webhook

ATTEMPT_SECONDS: Final = 10.0
MOST_LINE_BYTES: Final = 8192
MOST_LINES: Final = 100
LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})
STATUS: Final = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})(?: |\r?\n)")


class NotToldError(Exception):
    """The delivery failed. The message says why, without the address of the webhook."""


def signature(secrets: tuple[bytes, ...], seconds: int, body: bytes) -> str:
    """Return the headers that prove the sender and the time of a body."""
    signed = b"%d.%b" % (seconds, body)
    proofs = [f"v1={hmac.new(secret, signed, sha256).hexdigest()}" for secret in secrets]
    return ",".join((f"t={seconds}", *proofs))


class Sender:
    """Posts to operators. `networks` are private networks that webhooks may use."""

    def __init__(
        self, networks: tuple[str, ...] = (), *, attempt_seconds: float = ATTEMPT_SECONDS
    ) -> None:
        self._networks = tuple(map(ipaddress.ip_network, networks))
        self._attempt_seconds = attempt_seconds
        self._tls: ssl.SSLContext | None = None

    async def send(self, hook: Webhook, delivery: str, body: bytes) -> None:
        """Try once. Raises `NotToldError` on failure."""
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
            # The rest of the answer and an orderly close are not needed.
            writer.transport.abort()

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls

    async def _address(self, host: str, port: int, *, secure: bool) -> str:
        """Resolve that name to an address that is allowed."""
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        for *_, place in found:
            text = str(place[0])
            if self.may_go(ipaddress.ip_address(text.partition("%")[0]), host, secure=secure):
                return text
        raise NotToldError("its name resolves only to forbidden addresses")

    def may_go(self, address: Address, host: str, *, secure: bool) -> bool:
        """Whether an address of a host may be used."""
        address = meant(address)
        if any(address in network for network in self._networks):
            return True
        if address.is_loopback:
            return host in LOOPBACK_NAMES
        return secure and is_public(address)


async def _status(reader: asyncio.StreamReader) -> int:
    """Return the status of the answer, after any 1xx ones."""
    for _ in range(MOST_LINES):
        found = STATUS.match(await reader.readline())
        if found is None:
            raise ValueError("this is not an HTTP answer")
        status = int(found[1])
        if status >= 200:
            return status
        while (await reader.readline()).strip():
            pass
    raise ValueError("an endless answer")
