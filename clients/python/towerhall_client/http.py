"""What is asked once, over HTTP: who I am, which rooms there are, a new room, a record."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from towerhall_client.web import Web, read


class Guest(msgspec.Struct, frozen=True):
    """Somebody with a token."""

    token: str
    id: str
    name: str
    room: str = ""
    """Where the link leads that brought this token."""


class NewRoom(msgspec.Struct, frozen=True):
    """A room that has just been made."""

    code: str
    uid: str
    commitment: str
    key: str = ""
    """Of a private room: whoever has it may come in."""
    invite: str = ""
    """The link to it, from the root of the service's page."""


class Place(msgspec.Struct, frozen=True):
    """A seat that quickplay has found."""

    code: str
    seat: int
    invite: str = ""


class Link(msgspec.Struct, frozen=True):
    """By this another device becomes the same person, once."""

    link: str
    expires: int
    """In ms since 1970."""

    @property
    def code(self) -> str:
        return self.link.rpartition("/")[2]


class Service(Web):
    """What everybody may ask a service."""

    async def guest(self, name: str) -> Guest:
        """Become somebody: the token is the only proof of it, so keep it."""
        return read(await self.ask("POST", "/v1/guests", {"name": name}), Guest)

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
        return read(await self.ask("POST", "/v1/rooms", body, token=token), NewRoom)

    async def quickplay(
        self,
        token: str,
        game: str,
        *,
        seats: int | None = None,
        options: Mapping[str, object] | None = None,
        turn_seconds: int | None = None,
    ) -> Place:
        """A seat beside others who want the same. Connect to the room, and say `ready`."""
        wanted = {
            "game": game,
            "seats": seats,
            "options": None if options is None else dict(options),
            "turn_seconds": turn_seconds,
        }
        body = {name: value for name, value in wanted.items() if value is not None}
        return read(await self.ask("POST", "/v1/quickplay", body, token=token), Place)

    async def my_rooms(self, token: str) -> list[dict[str, Any]]:
        """The rooms in which this person has a place, and whose turn it is there."""
        return read(await self.ask("GET", "/v1/me/rooms", token=token), _Rooms).rooms

    async def new_link(self, token: str, room: str = "") -> Link:
        """A link by which another device becomes this person, and may go to that room."""
        body = {"room": room} if room else {}
        return read(await self.ask("POST", "/v1/me/links", body, token=token), Link)

    async def use_link(self, code: str) -> Guest:
        """Become whoever made the link."""
        return read(await self.ask("POST", "/v1/links", {"code": code}), Guest)

    async def rooms(self) -> list[dict[str, Any]]:
        """The rooms that anybody may join or watch."""
        return read(await self.ask("GET", "/v1/rooms"), _Rooms).rooms

    async def room(self, code: str, key: str = "") -> dict[str, Any]:
        return read(await self.ask("GET", _path(code), headers=_key(key)), dict[str, Any])

    async def record(self, code: str, key: str = "") -> dict[str, Any]:
        """The record of a finished game: everything that is needed to check it."""
        return read(
            await self.ask("GET", _path(code) + "/record", headers=_key(key)), dict[str, Any]
        )

    async def games(self) -> list[dict[str, Any]]:
        """The games with their options, presets, seats and levels of bots."""
        return read(await self.ask("GET", "/v1/games"), _Games).games


class _Rooms(msgspec.Struct):
    rooms: list[dict[str, Any]]


class _Games(msgspec.Struct):
    games: list[dict[str, Any]]


def _key(key: str) -> dict[str, str]:
    return {"towerhall-key": key} if key else {}


def _path(code: str) -> str:
    return f"/v1/rooms/{quote(code, safe='')}"
