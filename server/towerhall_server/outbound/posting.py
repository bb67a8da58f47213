"""One POST to an address that a stranger has chosen.

Redirects are not followed. A name is resolved here, and the connection goes to the checked address,
so an answer of DNS that changes cannot lead into a network that only this server can reach. Of the
answer only the status is read, and of a refusal the time to wait.
"""

import asyncio
import ipaddress
import re
import socket
import ssl
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

import msgspec

from towerhall_server.outbound.addresses import Address, is_public, meant

ATTEMPT_SECONDS: Final = 10.0
MOST_LINE_BYTES: Final = 8192
MOST_LINES: Final = 100
MOST_WAIT_SECONDS: Final = 24 * 3600
LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})
STATUS: Final = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})(?: |\r?\n)")
RETRY_AFTER: Final = re.compile(rb"retry-after:[ \t]*([0-9]{1,9})[ \t]*\r?\n", re.IGNORECASE)
REFUSED_FOR_NOW: Final = frozenset({429, 503})
HTTPS_PORT: Final = 443


class NotPostedError(Exception):
    """There is no answer. The message says why, without the address."""


class Posted(msgspec.Struct, frozen=True):
    """The part of an answer that counts."""

    status: int
    retry_seconds: int = 0
    """Seconds that the receiver wants to be left alone; 0 if it did not say."""


class Outbound:
    """Posts. `networks` are private networks that may be asked.

    Operators may name this machine and any port: `is_trusted`. A stranger's address must be public,
    and its port that of https.
    """

    def __init__(
        self,
        networks: tuple[str, ...] = (),
        *,
        is_trusted: bool,
        attempt_seconds: float = ATTEMPT_SECONDS,
    ) -> None:
        self._networks = tuple(map(ipaddress.ip_network, networks))
        self._is_trusted = is_trusted
        self._attempt_seconds = attempt_seconds
        self._tls: ssl.SSLContext | None = None

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Posted:
        """Try once. Raises `NotPostedError` if there is no answer."""
        try:
            async with asyncio.timeout(self._attempt_seconds):
                return await self._post(url, headers, body)
        except TimeoutError:
            raise NotPostedError(f"no answer within {self._attempt_seconds:g} s") from None
        except (OSError, EOFError, ValueError) as error:
            raise NotPostedError(f"{type(error).__name__} while asking") from None

    async def _post(self, url: str, headers: Mapping[str, str], body: bytes) -> Posted:
        parts = urlsplit(url)
        host, secure = parts.hostname or "", parts.scheme == "https"
        port = parts.port or (HTTPS_PORT if secure else 80)
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
            lines = (
                f"POST {target}{'?' if parts.query else ''}{parts.query} HTTP/1.1",
                f"Host: {parts.netloc}",
                f"Content-Length: {len(body)}",
                *(f"{name}: {value}" for name, value in headers.items()),
                "User-Agent: towerhall",
                "Connection: close",
            )
            writer.write("\r\n".join((*lines, "", "")).encode("ascii") + body)
            await writer.drain()
            return await _answer(reader)
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
            address = ipaddress.ip_address(text.partition("%")[0])
            if self.may_go(address, host, port, secure=secure):
                return text
        raise NotPostedError("its name resolves only to forbidden addresses")

    def may_go(self, address: Address, host: str, port: int, *, secure: bool) -> bool:
        """Whether an address of a host may be asked at that port."""
        address = meant(address)
        if any(address in network for network in self._networks):
            return True
        if not self._is_trusted and port != HTTPS_PORT:
            return False
        if address.is_loopback:
            return self._is_trusted and host in LOOPBACK_NAMES
        return secure and is_public(address)


async def _answer(reader: asyncio.StreamReader) -> Posted:
    """Return the status of the answer, after any 1xx ones."""
    for _ in range(MOST_LINES):
        found = STATUS.match(await reader.readline())
        if found is None:
            raise ValueError("this is not an HTTP answer")
        status = int(found[1])
        if status in REFUSED_FOR_NOW:
            return Posted(status, await _wait_of(reader))
        if status >= 200:
            return Posted(status)
        while (await reader.readline()).strip():
            pass
    raise ValueError("an endless answer")


async def _wait_of(reader: asyncio.StreamReader) -> int:
    """Return the seconds that the headers of a refusal ask to wait."""
    for _ in range(MOST_LINES):
        line = await reader.readline()
        found = RETRY_AFTER.match(line)
        if found is not None:
            return min(int(found[1]), MOST_WAIT_SECONDS)
        if not line.strip():
            break
    return 0
