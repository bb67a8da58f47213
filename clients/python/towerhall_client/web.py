"""One request over HTTP after the other. The standard library does the talking, in a thread; one
request is one connection. Other modules know the addresses."""

import asyncio
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection, IncompleteRead
from typing import Final, TypeVar
from urllib.parse import urlsplit

import msgspec

from towerhall_client.errors import ServiceError

Answer = TypeVar("Answer")

TIMEOUT_SECONDS: Final = 10.0
MOST_BYTES: Final = 1 << 26
"""Largest answer in bytes. Records of long games are large."""


class Web:
    """One Towerhall service, by the address that its page has."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"{url} is no http or https address")
        self.url = url.rstrip("/")
        self._secure = parts.scheme == "https"
        self._host = parts.netloc.rpartition("@")[2]
        self._prefix = parts.path.rstrip("/")

    async def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        token: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """The content of the answer; `ServiceError` if it is a refusal, or if there is none."""
        sent = {"accept": "application/json", **(headers or {})}
        if token:
            sent["authorization"] = f"Bearer {token}"
        data = None
        if body is not None:
            data = msgspec.json.encode(body)
            sent["content-type"] = "application/json"
        return await asyncio.to_thread(self._talk, method, path, data, sent)

    def _talk(
        self, method: str, path: str, data: bytes | None, headers: Mapping[str, str]
    ) -> bytes:
        kind = HTTPSConnection if self._secure else HTTPConnection
        connection = kind(self._host, timeout=TIMEOUT_SECONDS)
        try:
            connection.request(method, self._prefix + path, data, dict(headers))
            answer = connection.getresponse()
            content = answer.read(MOST_BYTES)
            if answer.length:  # reading up to a size does not complain about what is missing
                raise IncompleteRead(content, answer.length)
        except (OSError, HTTPException) as error:
            raise ServiceError("unreachable", f"{self.url} does not answer: {error}") from None
        finally:
            connection.close()
        if answer.status >= 400:
            raise refusal(answer.status, content)
        return content


def refusal(status: int, content: bytes) -> ServiceError:
    """The error that an answer tells of; in any case one with its status."""
    try:
        error = msgspec.json.decode(content, type=_Refusal).error
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return ServiceError("bad_answer", f"the service answered {status}", status)
    return ServiceError(error.code, error.hint, status, error.params)


def read(content: bytes, kind: type[Answer]) -> Answer:
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ServiceError("bad_answer", f"this is no answer of the service: {error}") from None


class _Error(msgspec.Struct):
    code: str
    params: dict[str, int | str] = {}
    hint: str = ""


class _Refusal(msgspec.Struct):
    error: _Error
