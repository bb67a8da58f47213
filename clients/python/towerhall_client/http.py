"""Requests over HTTP: a token, the list of rooms, a new room, a record."""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from towerhall_client.errors import ServiceError
from towerhall_client.web import Web, read
from towerhall_protocol.check_record import Check, check_record, read_keys
from towerhall_protocol.evidence import Evidence
from towerhall_protocol.evidence import Place as SeenPlace


class Guest(msgspec.Struct, frozen=True):
    """A person with a token."""

    token: str
    id: str
    name: str
    room: str = ""
    """The room of the link that gave this token."""
    expires: int = 0
    """When the token ends, in ms since 1970."""
    bot_account: bool = False
    device: str = ""
    """The device of an account to which this token belongs."""


class SignedIn(Guest, frozen=True):
    """A device of an account is signed in."""

    passkey: str = ""
    """Id of the passkey that was added."""
    recovery_code: str = ""
    """Shown only once: the code by which a person comes back without a passkey."""


class NewRoom(msgspec.Struct, frozen=True):
    """A room that has just been made."""

    code: str
    uid: str
    commitment: str
    key: str = ""
    """Key of a private room: anyone with it may enter."""
    invite: str = ""
    """The link to it, from the root of the service's page."""
    signed: SeenPlace | None = None
    """The first place of its log, signed by the service if it has a key."""


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


class PastGames(msgspec.Struct, frozen=True):
    """A page of a history."""

    games: list[dict[str, Any]]
    before: int | None = None
    """Where the next page begins; None if this was the last one."""


class LiveGames(msgspec.Struct, frozen=True):
    """A page of the games at play."""

    rooms: list[dict[str, Any]]
    more: int = 0
    """Number of games behind this page."""
    next: str = ""
    """`after` of the next page; empty if this was the last one."""
    featured: dict[str, Any] | None = None
    """The game to show first."""


class Look(msgspec.Struct, frozen=True):
    """What a watcher of a room sees at one moment."""

    seq: int
    view: dict[str, Any]


class Service(Web):
    """Requests that need no operator's key."""

    async def guest(self, name: str, *, bot_account: bool = False) -> Guest:
        """Get a new identity. Keep the token: it is the only proof. A program that plays for itself
        asks for a bot account, which others see as one."""
        body: dict[str, object] = {"name": name}
        if bot_account:
            body["bot_account"] = True
        return read(await self.ask("POST", "/v1/guests", body), Guest)

    async def create_room(
        self,
        token: str,
        game: str,
        *,
        seats: int | None = None,
        options: Mapping[str, object] | None = None,
        turn_seconds: int | None = None,
        bot_delay_ms: int | None = None,
        beat_ms: int | None = None,
        rated: bool = False,
        private: bool = False,
        bot_accounts: bool | None = None,
        sandbox: Mapping[str, object] | None = None,
    ) -> NewRoom:
        """Open a room, as its host. Parameters that are left out have the service's defaults.
        `sandbox` makes it a sandbox room, if the server offers them: a map with `speed` and
        `entropy` (P-190)."""
        wanted = {
            "game": game,
            "seats": seats,
            "options": None if options is None else dict(options),
            "turn_seconds": turn_seconds,
            "bot_delay_ms": bot_delay_ms,
            "beat_ms": beat_ms,
            "rated": rated or None,
            "private": private or None,
            "bot_accounts": bot_accounts,
            "sandbox": None if sandbox is None else dict(sandbox),
        }
        body = {name: value for name, value in wanted.items() if value is not None}
        return read(await self.ask("POST", "/v1/rooms", body, token=token), NewRoom)

    async def invite(self, token: str, code: str, person: str) -> None:
        """Invite a person, or a bot account, by the id of their token; hosts only."""
        await self.ask("POST", _path(code) + "/invitations", {"id": person}, token=token)

    async def quickplay(
        self,
        token: str,
        game: str,
        *,
        seats: int | None = None,
        options: Mapping[str, object] | None = None,
        turn_seconds: int | None = None,
        rated: bool = False,
    ) -> Place:
        """A seat beside others who want the same. Connect to the room, and say `ready`."""
        wanted = {
            "game": game,
            "seats": seats,
            "options": None if options is None else dict(options),
            "turn_seconds": turn_seconds,
            "rated": rated or None,
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
        """Become the person who made the link, until that person's token ends."""
        return read(await self.ask("POST", "/v1/links", {"code": code}), Guest)

    async def rename(self, token: str, name: str) -> Guest:
        """A token of the same person with another name, which their seats take as well. Use it
        from now on: the old token keeps the old name."""
        return read(await self.ask("POST", "/v1/me/name", {"name": name}, token=token), Guest)

    async def newer_token(self, token: str) -> Guest:
        """Another token of the same person with the same end. Keep it before you `revoke`."""
        return read(await self.ask("POST", "/v1/me/tokens", {}, token=token), Guest)

    async def revoke(self, token: str, *, others: bool = False) -> None:
        """End all tokens of this person: log out everywhere. With `others` this token, which came
        from `newer_token`, and newer ones go on: log out everywhere else."""
        body = {"others": True} if others else {}
        await self.ask("POST", "/v1/me/revoke", body, token=token)

    async def my_profile(self, token: str) -> dict[str, Any]:
        """The own profile: statistics, ratings, and what the person has chosen."""
        return read(await self.ask("GET", "/v1/me/profile", token=token), dict[str, Any])

    async def choose(
        self, token: str, *, hidden: bool | None = None, chat: bool | None = None
    ) -> dict[str, Any]:
        """Hide the profile or show it, turn chat on or off; the own profile after that."""
        wanted = {"hidden": hidden, "chat": chat}
        body = {name: value for name, value in wanted.items() if value is not None}
        return read(await self.ask("POST", "/v1/me/profile", body, token=token), dict[str, Any])

    async def profile(self, token: str, handle: str) -> dict[str, Any]:
        """The profile of another person; `not_found` for those who hide."""
        path = f"/v1/people/{quote(handle, safe='')}"
        return read(await self.ask("GET", path, token=token), dict[str, Any])

    async def profile_at(self, token: str, room: str, seat: int, key: str = "") -> dict[str, Any]:
        """The profile of the person in a seat of a room."""
        path = f"/v1/people?{urlencode({'room': room, 'seat': seat})}"
        return read(await self.ask("GET", path, token=token, headers=_key(key)), dict[str, Any])

    async def past_games(
        self,
        token: str,
        handle: str = "",
        *,
        game: str = "",
        seats: int = 0,
        before: int = 0,
        most: int = 20,
    ) -> PastGames:
        """A page of finished games, the newest first: one's own, or those of a person. The next
        page begins `before` what this one gave."""
        path = f"/v1/people/{quote(handle, safe='')}/games" if handle else "/v1/me/games"
        wanted = {"game": game, "seats": seats, "before": before, "most": most}
        query = urlencode({name: value for name, value in wanted.items() if value})
        return read(await self.ask("GET", f"{path}?{query}", token=token), PastGames)

    async def leaderboard(self, game: str, *, first: int = 1, most: int = 20) -> dict[str, Any]:
        """A page of the leaderboard of a game, from that rank on."""
        query = urlencode({"first": first, "most": most})
        path = f"/v1/leaderboards/{quote(game, safe='')}?{query}"
        return read(await self.ask("GET", path), dict[str, Any])

    async def people(self, token: str) -> dict[str, Any]:
        """Friends, those asked and asking, those blocked, and recent opponents."""
        return read(await self.ask("GET", "/v1/me/people", token=token), dict[str, Any])

    async def befriend(self, token: str, handle: str, *, remove: bool = False) -> dict[str, Any]:
        """Choose a person as a friend, or take that back; the lists after that."""
        body = {"handle": handle, "remove": remove}
        return read(await self.ask("POST", "/v1/me/friends", body, token=token), dict[str, Any])

    async def block(self, token: str, handle: str, *, remove: bool = False) -> dict[str, Any]:
        """Block a person, or lift that; the lists after that."""
        body = {"handle": handle, "remove": remove}
        return read(await self.ask("POST", "/v1/me/blocks", body, token=token), dict[str, Any])

    async def blocked_ids(self, token: str, room: str, key: str = "") -> list[str]:
        """The ids in a room of the people whom this person has blocked: show no chat of theirs."""
        path = f"/v1/me/blocks?{urlencode({'room': room})}"
        return read(await self.ask("GET", path, token=token, headers=_key(key)), _Blocked).ids

    async def report(
        self,
        token: str,
        room: str,
        reason: str,
        *,
        handle: str = "",
        seat: int | None = None,
        id: str = "",  # noqa: A002
        text: str = "",
        lines: Sequence[str] = (),
        key: str = "",
    ) -> int:
        """Report a person in a room, by seat or by the id in the room; or, with an empty `room`, by
        handle. Returns how many lines of chat go with the report."""
        wanted = {
            "room": room or None,
            "handle": handle or None,
            "reason": reason,
            "seat": seat,
            "id": id or None,
            "text": text or None,
            "lines": list(lines) or None,
        }
        body = {name: value for name, value in wanted.items() if value is not None}
        answer = await self.ask("POST", "/v1/me/reports", body, token=token, headers=_key(key))
        return read(answer, _Reported).lines

    async def account(self, token: str) -> dict[str, Any]:
        """The own account: passkeys and devices, which are empty lists without one."""
        return read(await self.ask("GET", "/v1/me/account", token=token), dict[str, Any])

    async def passkey_options(self, token: str, *, origin: str = "") -> dict[str, Any]:
        """What `navigator.credentials.create` takes, as JSON. `origin` is that of the page, by
        default of this service."""
        path = "/v1/me/passkeys/options"
        answer = await self.ask("POST", path, {}, token=token, headers=self._page(origin))
        return read(answer, _Options).options

    async def add_passkey(
        self, token: str, credential: Mapping[str, Any], *, name: str = ""
    ) -> SignedIn:
        """Add the passkey that a browser has made. The first one makes the account, and its
        recovery code is shown this once."""
        body: dict[str, object] = {"credential": dict(credential)}
        if name:
            body["name"] = name
        return read(await self.ask("POST", "/v1/me/passkeys", body, token=token), SignedIn)

    async def remove_passkey(self, token: str, passkey: str) -> dict[str, Any]:
        """Remove a passkey, for example a lost one; the account after that."""
        answer = await self.ask("POST", "/v1/me/passkeys/remove", {"passkey": passkey}, token=token)
        return read(answer, dict[str, Any])

    async def new_recovery_code(self, token: str) -> str:
        """Another recovery code. The one before is dead."""
        answer = await self.ask("POST", "/v1/me/recovery", {}, token=token)
        return read(answer, _Code).recovery_code

    async def log_out(self, token: str, device: str) -> dict[str, Any]:
        """Log one device of this person out; the account after that."""
        answer = await self.ask("POST", "/v1/me/devices/revoke", {"device": device}, token=token)
        return read(answer, dict[str, Any])

    async def sign_in_options(self, token: str = "", *, origin: str = "") -> dict[str, Any]:
        """What `navigator.credentials.get` takes, as JSON. With a token its own device signs in
        anew. `origin` is as in `passkey_options`."""
        path = "/v1/sign-in/options"
        answer = await self.ask("POST", path, {}, token=token, headers=self._page(origin))
        return read(answer, _Options).options

    async def sign_in(self, credential: Mapping[str, Any], token: str = "") -> SignedIn:
        """Sign in by what a passkey has signed, with the same token as the options."""
        body = {"credential": dict(credential)}
        return read(await self.ask("POST", "/v1/sign-in", body, token=token), SignedIn)

    async def recover(self, code: str, nonce: str = "") -> SignedIn:
        """Sign in by recovery code. The answer has the next one. If no answer comes, ask again with
        the same `nonce`: 16 random bytes as base64url, which this call chooses unless given."""
        nonce = nonce or secrets.token_urlsafe(16)
        body = {"code": code, "nonce": nonce}
        return read(await self.ask("POST", "/v1/sign-in/recovery", body), SignedIn)

    def _page(self, origin: str) -> dict[str, str]:
        parts = urlsplit(self.url)
        return {"origin": origin or f"{parts.scheme}://{parts.netloc}"}

    async def export(self, token: str) -> dict[str, Any]:
        """All that the service keeps of this person."""
        return read(await self.ask("GET", "/v1/me/export", token=token), dict[str, Any])

    async def erase(self, token: str, id: str) -> None:  # noqa: A002
        """Erase this person, whose id is the proof that it is meant. All tokens end."""
        await self.ask("POST", "/v1/me/erase", {"id": id}, token=token)

    async def push_key(self) -> str:
        """The key that a push subscription for this service needs. Refused with `no_push` if the
        service sends no push messages."""
        return read(await self.ask("GET", "/v1/push"), _PushKey).key

    async def subscribe(
        self, token: str, endpoint: str, p256dh: str, auth: str, language: str = ""
    ) -> int:
        """Have a device told by push when this person is away. Returns until when the service
        keeps it, in milliseconds since 1970; do it again before that."""
        body = {"endpoint": endpoint, "p256dh": p256dh, "auth": auth, "language": language}
        answer = await self.ask("POST", "/v1/me/subscriptions", body, token=token)
        return read(answer, _Subscribed).expires

    async def unsubscribe(self, token: str, endpoint: str) -> None:
        """Have a device of this person told nothing any more."""
        body = {"endpoint": endpoint}
        await self.ask("DELETE", "/v1/me/subscriptions", body, token=token)

    async def rooms(self) -> list[dict[str, Any]]:
        """The open rooms, to join or watch."""
        return read(await self.ask("GET", "/v1/rooms"), _Rooms).rooms

    async def live(self, *, game: str = "", after: str = "", limit: int = 0) -> LiveGames:
        """A page of the public games at play, and the one to show first."""
        wish = {"game": game, "after": after, "limit": limit}
        query = urlencode({name: value for name, value in wish.items() if value})
        return read(await self.ask("GET", f"/v1/live?{query}"), LiveGames)

    async def look(self, code: str, key: str = "") -> Look:
        """What a watcher of a room sees, some seconds old at most. A private room needs its key.
        To follow a game closely, connect to it."""
        return read(await self.ask("GET", _path(code) + "/view", headers=_key(key)), Look)

    async def room(self, code: str, key: str = "") -> dict[str, Any]:
        """One room, over or not. A private one needs its key."""
        return read(await self.ask("GET", _path(code), headers=_key(key)), dict[str, Any])

    async def record(self, code: str, key: str = "") -> dict[str, Any]:
        """The record of a finished game: everything that is needed to check it."""
        return read(
            await self.ask("GET", _path(code) + "/record", headers=_key(key)), dict[str, Any]
        )

    async def keys(self) -> dict[str, str]:
        """The public keys that the service signs with, or has signed with, by their names."""
        return read_keys(await self.ask("GET", "/.well-known/towerhall"))

    async def check_record(
        self, code: str, key: str = "", *, evidence: Evidence | None = None
    ) -> tuple[Check, ...]:
        """Check the record of a finished game, with the keys that the service publishes and with
        what a client has kept. `RecordError` if it is no record."""
        record = await self.ask("GET", _path(code) + "/record", headers=_key(key))
        return check_record(record, keys=await self.keys(), evidence=evidence)

    async def games(self) -> list[dict[str, Any]]:
        """The games with their options, presets, seats and levels of bots."""
        games: list[dict[str, Any]] = (await self.catalogue())["games"]
        return games

    async def catalogue(self) -> dict[str, Any]:
        """The games, and what forms should know besides: clocks and limits (P-113)."""
        found = read(await self.ask("GET", "/v1/games"), dict[str, Any])
        if not isinstance(found.get("games"), list):
            raise ServiceError("bad_answer", "this is no list of games")
        return found


class _Rooms(msgspec.Struct):
    rooms: list[dict[str, Any]]


class _Options(msgspec.Struct):
    options: dict[str, Any]


class _Code(msgspec.Struct):
    recovery_code: str


class _Blocked(msgspec.Struct):
    ids: list[str]


class _Reported(msgspec.Struct):
    lines: int


class _PushKey(msgspec.Struct):
    key: str


class _Subscribed(msgspec.Struct):
    expires: int


def _key(key: str) -> dict[str, str]:
    return {"towerhall-key": key} if key else {}


def _path(code: str) -> str:
    return f"/v1/rooms/{quote(code, safe='')}"
