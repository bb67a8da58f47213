"""Requests of the operator of another lobby, and the check of webhooks (P-160).

operator = Operator(url, key)
room = await operator.open_room("five_towers", [Player("account/17", "Ada"), "easy"], once=order_id)
room.seats[0].token  # for the person whom you know as account/17

A webhook of yours takes what comes if `verify_signature` says so, and answers 2xx.
"""

import hmac
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from time import time
from typing import Any, Final, TypeAlias
from urllib.parse import quote, urlencode

import msgspec

from towerhall_client.http import PastGames
from towerhall_client.web import Web, read

MOST_AGE_SECONDS: Final = 300
"""An older delivery may be a replay by an attacker."""
_TIME: Final = re.compile(r"[0-9]{1,15}", re.ASCII)


class Player(msgspec.Struct, frozen=True):
    """A person of the operator's, by the id and the name that they have there."""

    external_id: str
    name: str


SeatWish: TypeAlias = Player | str | None
"""The owner of a seat: a person, a bot of that level, or any person."""


class Seat(msgspec.Struct, frozen=True):
    """A seat of a new room: all fields for a person, `bot` for a bot, none for a free seat."""

    external_id: str = ""
    id: str = ""
    """Id of the person, at the service."""
    name: str = ""
    token: str = ""
    """By which the person comes in. It is theirs, and secret."""
    expires: int = 0
    """In ms since 1970."""
    bot: str = ""


class OpenedRoom(msgspec.Struct, frozen=True):
    """A room that has just been opened for the operator's people."""

    code: str
    uid: str
    commitment: str
    invite: str
    """The link to it, from the root of the service's page."""
    seats: tuple[Seat, ...]
    key: str = ""
    """Key of a private room."""


class Ban(msgspec.Struct, frozen=True):
    """A person who may not enter."""

    id: str
    time: int
    """In ms since 1970."""
    reason: str
    external_id: str = ""
    scope: str = ""
    """`service` for the operator's own people, `rooms` (those of the operator) for all others."""


class Operator(Web):
    """One operator at one service. The key is a secret: it belongs to no page and no player."""

    def __init__(self, url: str, key: str) -> None:
        super().__init__(url)
        self._key = key

    async def open_room(
        self,
        game: str,
        seats: Sequence[SeatWish],
        *,
        once: str = "",
        options: Mapping[str, object] | None = None,
        turn_seconds: int | None = None,
        bot_delay_ms: int | None = None,
        beat_ms: int | None = None,
        rated: bool = False,
        private: bool = False,
    ) -> OpenedRoom:
        """Open a room. A second call with the same `once` returns the same room, so that no
        answer can be lost on its way (P-163)."""
        wanted = {
            "game": game,
            "seats": [_wish(seat) for seat in seats],
            "options": None if options is None else dict(options),
            "turn_seconds": turn_seconds,
            "bot_delay_ms": bot_delay_ms,
            "beat_ms": beat_ms,
            "rated": rated or None,
            "private": private or None,
        }
        body = {name: value for name, value in wanted.items() if value is not None}
        headers = {"idempotency-key": once} if once else {}
        return read(await self._operate("POST", "/rooms", body, headers), OpenedRoom)

    async def room(self, code: str) -> dict[str, Any]:
        """A room of this operator's as it is now (P-165)."""
        return read(await self._operate("GET", f"/rooms/{_part(code)}"), dict[str, Any])

    async def close(self, code: str, reason: str = "") -> dict[str, Any]:
        """End a room without a result; the room after that."""
        body = {"reason": reason} if reason else {}
        answer = await self._operate("POST", f"/rooms/{_part(code)}/close", body)
        return read(answer, dict[str, Any])

    async def token(self, player: Player) -> Seat:
        """A token for a person, at any time: the one that came with a room may have expired."""
        return read(await self._operate("POST", "/tokens", player), Seat)

    async def ban(self, *, external_id: str = "", id: str = "", reason: str = "") -> Ban:  # noqa: A002
        """Ban one of the operator's own people from the service, or by id another person from the
        operator's rooms."""
        given = {"external_id": external_id, "id": id, "reason": reason}
        body = {name: value for name, value in given.items() if value}
        return read(await self._operate("POST", "/bans", body), Ban)

    async def bans(self) -> tuple[Ban, ...]:
        """Those whom this operator has banned, the oldest first."""
        return read(await self._operate("GET", "/bans"), _Bans).bans

    async def unban(self, id: str) -> None:  # noqa: A002
        """Lift a ban."""
        await self._operate("DELETE", f"/bans/{_part(id)}")

    async def person(self, external_id: str) -> dict[str, Any]:
        """Statistics and ratings of one of the operator's own people (P-210)."""
        query = urlencode({"external_id": external_id})
        return read(await self._operate("GET", f"/people?{query}"), dict[str, Any])

    async def past_games(
        self, external_id: str, *, game: str = "", seats: int = 0, before: int = 0, most: int = 20
    ) -> PastGames:
        """A page of the finished games of one of the operator's own people."""
        wanted = {"game": game, "seats": seats, "before": before, "most": most}
        given = {name: value for name, value in wanted.items() if value}
        query = urlencode({"external_id": external_id, **given})
        return read(await self._operate("GET", f"/people/games?{query}"), PastGames)

    async def reports(self, after: str = "") -> list[dict[str, Any]]:
        """The oldest reports from the operator's rooms, after that number."""
        query = f"?{urlencode({'after': after})}" if after else ""
        return read(await self._operate("GET", f"/reports{query}"), _Reports).reports

    async def settle_report(self, number: str) -> None:
        """Remove a report that is dealt with."""
        await self._operate("DELETE", f"/reports/{_part(number)}")

    async def _operate(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        return await self.ask(method, f"/v1/operator{path}", body, token=self._key, headers=headers)


def verify_signature(
    secret: bytes,
    header: str,
    body: bytes,
    *,
    now: float | None = None,
    most_age_seconds: float = MOST_AGE_SECONDS,
) -> bool:
    """Whether a delivery came from the service, unchanged and lately (P-169).

    `header` is `Towerhall-Signature`, `body` the bytes as they came, `now` the time in seconds.
    """
    pairs = [part.strip().partition("=") for part in header.split(",")]
    times = [value for name, _, value in pairs if name == "t"]
    if len(times) != 1 or not _TIME.fullmatch(times[0]):
        return False
    proof = hmac.new(secret, f"{times[0]}.".encode() + body, sha256).hexdigest()
    proofs = [value for name, _, value in pairs if name == "v1"]
    # All of them are compared, and each in constant time.
    fits = [hmac.compare_digest(proof.encode(), value.encode(errors="replace")) for value in proofs]
    age = (time() if now is None else now) - int(times[0])
    return any(fits) and abs(age) <= most_age_seconds


def _wish(seat: SeatWish) -> object:
    return {"bot": seat} if isinstance(seat, str) else seat


def _part(text: str) -> str:
    return quote(text, safe="")


class _Bans(msgspec.Struct):
    bans: tuple[Ban, ...]


class _Reports(msgspec.Struct):
    reports: list[dict[str, Any]]
