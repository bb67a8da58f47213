"""A push service that speaks Web Push, and the browser of a person who is subscribed there.

It checks and decrypts what comes by code of its own, written from the RFCs: HKDF by `hmac`, the
signature and the cipher by the primitives of `cryptography`.
"""

import asyncio
import hmac
import json
import os
import ssl
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.sockets import end, part, serving

HANG = -1


def text_of(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def bytes_of(text: str) -> bytes:
    assert "=" not in text
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def hkdf(salt: bytes, secret: bytes, info: bytes, length: int) -> bytes:
    """RFC 5869, for one block."""
    key = hmac.new(salt, secret, sha256).digest()
    return hmac.new(key, info + b"\x01", sha256).digest()[:length]


def decrypted(body: bytes, private: ec.EllipticCurvePrivateKey, auth: bytes) -> bytes:
    """RFC 8291: what a browser does with a body of one record."""
    salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
    sender, cipher = body[21 : 21 + length], body[21 + length :]
    assert length == 65
    assert len(cipher) <= size <= 4096
    own = private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender)
    shared = private.exchange(ec.ECDH(), point)
    material = hkdf(auth, shared, b"WebPush: info\0" + own + sender, 32)
    key = hkdf(salt, material, b"Content-Encoding: aes128gcm\0", 16)
    nonce = hkdf(salt, material, b"Content-Encoding: nonce\0", 12)
    padded = AESGCM(key).decrypt(nonce, cipher, None).rstrip(b"\0")
    assert padded[-1:] == b"\x02", "the only record is the last one"
    return padded[:-1]


def claims_of(authorization: str, key: str) -> dict[str, Any]:
    """RFC 8292: the claims of a header that this key has signed."""
    scheme, _, rest = authorization.partition(" ")
    assert scheme == "vapid"
    given = dict(part.strip().split("=", 1) for part in rest.split(","))
    assert given["k"] == key
    head, claims, proof = given["t"].split(".")
    assert json.loads(bytes_of(head)) == {"typ": "JWT", "alg": "ES256"}
    signature = bytes_of(proof)
    assert len(signature) == 64
    r, s = (int.from_bytes(half, "big") for half in (signature[:32], signature[32:]))
    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), bytes_of(key))
    point.verify(encode_dss_signature(r, s), f"{head}.{claims}".encode(), ec.ECDSA(SHA256()))
    found: dict[str, Any] = json.loads(bytes_of(claims))
    return found


class Device:
    """A browser that is subscribed at a push service."""

    def __init__(self, service: "PushService", path: str = "") -> None:
        self.service = service
        self.path = path or f"/send/{text_of(os.urandom(9))}"
        self.private = ec.generate_private_key(ec.SECP256R1())
        self.auth = os.urandom(16)
        service.devices[self.path] = self

    @property
    def endpoint(self) -> str:
        return self.service.origin + self.path

    @property
    def subscription(self) -> dict[str, str]:
        point = self.private.public_key().public_bytes(
            Encoding.X962, PublicFormat.UncompressedPoint
        )
        return {
            "endpoint": self.endpoint,
            "p256dh": text_of(point),
            "auth": text_of(self.auth),
        }

    @property
    def got(self) -> list["Arrived"]:
        """What was delivered to it."""
        return [each for each in self.service.got if each.device is self]

    @property
    def notes(self) -> list[dict[str, Any]]:
        return [each.note for each in self.got]


class Arrived(NamedTuple):
    """One push that was checked and decrypted."""

    device: Device
    headers: dict[str, str]
    claims: dict[str, Any]
    note: dict[str, Any]
    size: int


class PushService:
    """A push service at `localhost`. `key` is that of the only sender it knows."""

    def __init__(self, tls: ssl.SSLContext) -> None:
        self._tls = tls
        self.key = ""
        self.devices: dict[str, Device] = {}
        self.got: list[Arrived] = []
        self.asked = 0
        self.faults: list[BaseException] = []
        self.answer: Callable[[Device], tuple[int, str]] = lambda _: (201, "")
        """The status for a device, and more headers."""
        self.port = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._came = asyncio.Condition()

    @property
    def origin(self) -> str:
        return f"https://localhost:{self.port}"

    async def until(self, ready: Callable[[], object]) -> None:
        async with asyncio.timeout(20), self._came:
            await self._came.wait_for(lambda: bool(self.faults or ready()))
        assert self.faults == []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving(self._tasks)
        try:
            said = await self._answer(reader)
            if said:
                writer.write(said)
                await writer.drain()
            else:
                await reader.read()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        except BaseException as fault:
            self.faults.append(fault)
            raise
        finally:
            async with self._came:
                self._came.notify_all()
            await part(writer)

    async def _answer(self, reader: asyncio.StreamReader) -> bytes:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("ascii").split("\r\n")
        headers = {
            name.lower(): value for name, value in (line.split(": ", 1) for line in lines if line)
        }
        method, path, version = first.split(" ")
        assert (method, version) == ("POST", "HTTP/1.1")
        assert headers["host"] == f"localhost:{self.port}"
        body = await reader.readexactly(int(headers["content-length"]))
        self.asked += 1
        device = self.devices.get(path)
        if device is None:
            return b"HTTP/1.1 404 Not Found\r\n\r\n"
        status, more = self.answer(device)
        if status == HANG:
            return b""
        if 200 <= status < 300:
            self.got.append(self._checked(device, headers, body))
        return f"HTTP/1.1 {status} Status\r\n{more}Content-Length: 0\r\n\r\n".encode()

    def _checked(self, device: Device, headers: dict[str, str], body: bytes) -> Arrived:
        assert headers["content-encoding"] == "aes128gcm"
        assert 0 <= int(headers["ttl"]) <= 24 * 3600
        assert headers["urgency"] in ("high", "normal")
        assert 0 < len(headers["topic"]) <= 32
        assert bytes_of(headers["topic"])
        assert len(body) <= 4096
        claims = claims_of(headers["authorization"], self.key)
        assert claims["aud"] == self.origin
        assert 0 < claims["exp"] - time.time() <= 24 * 3600
        note = json.loads(decrypted(body, device.private, device.auth))
        return Arrived(device, headers, claims, note, len(body))

    async def end(self) -> None:
        await end(self._tasks)


@asynccontextmanager
async def push_service(tls: ssl.SSLContext) -> AsyncIterator[PushService]:
    """A push service that runs, and has met nothing that the RFCs forbid."""
    service = PushService(tls)
    server = await asyncio.start_server(service.serve, "127.0.0.1", 0, ssl=tls)
    service.port = server.sockets[0].getsockname()[1]
    try:
        yield service
    finally:
        server.close()
        await service.end()
        await server.wait_closed()
    assert service.faults == []
