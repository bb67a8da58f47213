"""What is asked once, over HTTP: who I am, which rooms there are, a new room, a record.

The standard library does the talking, in a thread; one request is one connection.
"""

import asyncio
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection, IncompleteRead
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlsplit

import msgspec

from towerhall_client.errors import ServiceError

Answer = TypeVar("Answer")

TIMEOUT_SECONDS: Final = 10.0
MOST_BYTES: Final = 1 << 26
"""Of an answer. Records of long games are large."""


class Guest(msgspec.Struct, frozen=True):
    """Somebody with a token."""

    token: str
    id: str
    name: str


class NewRoom(msgspec.Struct, frozen=True):
    """A room that has just been made."""

    code: str
    uid: str
    commitment: str
    key: str = ""
    """Of a private room: whoever has it may come in."""


class Service:
    """One Towerhall service, by the address that its page has."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"{url} is no http or https address")
        self.url = url.rstrip("/")
        self._secure = parts.scheme == "https"
        self._host = parts.netloc.rpartition("@")[2]
        self._prefix = parts.path.rstrip("/")

    async def guest(self, name: str) -> Guest:
        """Become somebody: the token is the only proof of it, so keep it."""
        return _read(await self._ask("POST", "/v1/guests", {"name": name}), Guest)

    async def create_room(
        self,
        token: str,
        game: str,
        *,
        seats: int | None = None,
        options: Mapping[str, object] | None = None,
        turn_seconds: int | None = None,
        bot_delay_ms: int | None = None,
        private: bool = False,
    ) -> NewRoom:
        """Open a room, as its host. What is left out is the service's default."""
        wanted = {
            "game": game,
            "seats": seats,
            "options": None if options is None else dict(options),
            "turn_seconds": turn_seconds,
            "bot_delay_ms": bot_delay_ms,
            "private": private or None,
        }
        body = {name: value for name, value in wanted.items() if value is not None}
        return _read(await self._ask("POST", "/v1/rooms", body, token=token), NewRoom)

    async def rooms(self) -> list[dict[str, Any]]:
        """The rooms that anybody may join or watch."""
        return _read(await self._ask("GET", "/v1/rooms"), _Rooms).rooms

    async def room(self, code: str, key: str = "") -> dict[str, Any]:
        return _read(await self._ask("GET", _path(code), key=key), dict[str, Any])

    async def record(self, code: str, key: str = "") -> dict[str, Any]:
        """The record of a finished game: everything that is needed to check it."""
        return _read(await self._ask("GET", _path(code) + "/record", key=key), dict[str, Any])

    async def games(self) -> list[dict[str, Any]]:
        """The games with their options, presets, seats and levels of bots."""
        return _read(await self._ask("GET", "/v1/games"), _Games).games

    async def _ask(
        self, method: str, path: str, body: object = None, *, token: str = "", key: str = ""
    ) -> bytes:
        headers = {"accept": "application/json"}
        if token:
            headers["authorization"] = f"Bearer {token}"
        if key:
            headers["towerhall-key"] = key
        data = None
        if body is not None:
            data = msgspec.json.encode(body)
            headers["content-type"] = "application/json"
        return await asyncio.to_thread(self._talk, method, path, data, headers)

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


class _Error(msgspec.Struct):
    code: str
    params: dict[str, int | str] = {}
    hint: str = ""


class _Refusal(msgspec.Struct):
    error: _Error


class _Rooms(msgspec.Struct):
    rooms: list[dict[str, Any]]


class _Games(msgspec.Struct):
    games: list[dict[str, Any]]


def _path(code: str) -> str:
    return f"/v1/rooms/{quote(code, safe='')}"


def _read(content: bytes, kind: type[Answer]) -> Answer:
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ServiceError("bad_answer", f"this is no answer of the service: {error}") from None
