"""A bucket of an object store that speaks the S3 protocol, as a place for records.

Three requests suffice: put, list, get. They are signed as version 4 of AWS signatures asks, with
the bucket in the path. All calls block: callers run them in threads. Failures are `BucketError`,
whose message has neither key nor secret. A failure that may pass is retried some times.

The meaning of an object is unknown here.
"""

import hmac
import re
import ssl
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from html import unescape
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from time import sleep
from typing import Final
from urllib.parse import quote, urlsplit

import msgspec

TIMEOUT_SECONDS: Final = 10.0
RETRIES: Final = (0.2, 1.0)
"""Seconds before each retry."""
MOST_BYTES: Final = 64 << 20
"""Longest answer that is read."""
PASSING: Final = frozenset({408, 429, 500, 502, 503, 504})
ALGORITHM: Final = "AWS4-HMAC-SHA256"
SIGNED: Final = "host;x-amz-content-sha256;x-amz-date"
CODE: Final = re.compile(rb"<Code>([A-Za-z]{1,60})</Code>")
KEY: Final = re.compile(rb"<Key>([^<]+)</Key>")
REMEDIES: Final[Mapping[str, str]] = {
    "NoSuchBucket": "make the bucket, or name another one",
    "SignatureDoesNotMatch": "the secret is wrong, or the clock of this machine is",
    "InvalidAccessKeyId": "the key is wrong",
    "RequestTimeTooSkewed": "the clock of this machine is wrong",
    "AccessDenied": "the key may not put, list and get objects of this bucket, or is wrong",
}


class BucketName(msgspec.Struct, frozen=True):
    """A bucket, and the beginning of all names in it."""

    name: str
    prefix: str = ""

    def __str__(self) -> str:
        return f"s3://{self.name}/{self.prefix}"


class BucketAccess(msgspec.Struct, frozen=True):
    """Where the object store is, and who asks."""

    endpoint: str
    """Such as `https://s3.example.org`."""
    key: str
    secret: str
    region: str = "us-east-1"

    def __repr__(self) -> str:
        return f"BucketAccess({self.endpoint!r})"


class BucketError(OSError):
    """The object store did not do it. The message says why."""


class _PassingError(BucketError):
    """It may do it later."""


class ObjectBucket:
    """The objects of one bucket below a prefix."""

    def __init__(
        self, name: BucketName, access: BucketAccess, *, retries: Sequence[float] = RETRIES
    ) -> None:
        self._name, self._access, self._retries = name, access, retries
        parts = urlsplit(access.endpoint)
        self._host, self._netloc = parts.hostname or "", parts.netloc
        self._port = parts.port
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None

    def __str__(self) -> str:
        return str(self._name)

    def put(self, name: str, data: bytes) -> None:
        """Write an object, or replace it."""
        self._request("PUT", self._name.prefix + name, {}, data)

    def get(self, name: str) -> bytes:
        return self._request("GET", self._name.prefix + name, {})

    def names(self, beginning: str, most: int = 1000) -> tuple[str, ...]:
        """Return the names of objects that begin so."""
        prefix = self._name.prefix
        asked = {"list-type": "2", "max-keys": str(most), "prefix": prefix + beginning}
        found = KEY.findall(self._request("GET", "", asked))
        return tuple(unescape(key.decode()).removeprefix(prefix) for key in found)

    def _request(
        self, method: str, name: str, query: Mapping[str, str], body: bytes = b""
    ) -> bytes:
        for seconds in self._retries:
            try:
                return self._request_once(method, name, query, body)
            except _PassingError:
                sleep(seconds)
        return self._request_once(method, name, query, body)

    def _request_once(self, method: str, name: str, query: Mapping[str, str], body: bytes) -> bytes:
        path = quote(f"/{self._name.name}" + (f"/{name}" if name else ""), safe="/~")
        asked = "&".join(f"{key}={quote(query[key], safe='~')}" for key in sorted(query))
        headers = signed_headers(
            self._access, method, self._netloc, path, asked, body, datetime.now(UTC)
        )
        if self._tls is None:
            connection = HTTPConnection(self._host, self._port, timeout=TIMEOUT_SECONDS)
        else:
            connection = HTTPSConnection(
                self._host, self._port, timeout=TIMEOUT_SECONDS, context=self._tls
            )
        try:
            connection.request(method, f"{path}?{asked}" if asked else path, body, headers)
            answer = connection.getresponse()
            status, content = answer.status, answer.read(MOST_BYTES)
        except ssl.SSLCertVerificationError as error:
            raise BucketError(f"{self._access.endpoint}: {error.verify_message}") from None
        except (OSError, HTTPException) as error:
            why = f"{self._access.endpoint} does not answer ({type(error).__name__})"
            raise _PassingError(why) from None
        finally:
            connection.close()
        if status == 200:
            return content
        found = CODE.search(content)
        code = found[1].decode() if found else ""
        remedy = REMEDIES.get(code, "look into its log")
        kind = _PassingError if status in PASSING else BucketError
        raise kind(f"{self._access.endpoint} answered {status} {code} for {self}: {remedy}")


def signed_headers(
    access: BucketAccess, method: str, host: str, path: str, query: str, body: bytes, now: datetime
) -> dict[str, str]:
    """Return the headers of a request, signed by AWS Signature Version 4. Path and query are
    encoded already, and the query is sorted. Pure."""
    time = now.strftime("%Y%m%dT%H%M%SZ")
    digest = sha256(body).hexdigest()
    plain = f"host:{host}\nx-amz-content-sha256:{digest}\nx-amz-date:{time}\n"
    request = f"{method}\n{path}\n{query}\n{plain}\n{SIGNED}\n{digest}"
    scope = f"{time[:8]}/{access.region}/s3/aws4_request"
    signed = "\n".join((ALGORITHM, time, scope, sha256(request.encode()).hexdigest()))
    proof = f"AWS4{access.secret}".encode()
    for part in (*scope.split("/"), signed):
        proof = hmac.new(proof, part.encode(), sha256).digest()
    credential = f"{ALGORITHM} Credential={access.key}/{scope}"
    return {
        "host": host,
        "x-amz-content-sha256": digest,
        "x-amz-date": time,
        "authorization": f"{credential}, SignedHeaders={SIGNED}, Signature={proof.hex()}",
    }
