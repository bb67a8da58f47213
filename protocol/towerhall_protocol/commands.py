"""The commands to a room itself, as bodies of command messages (P-50).

Everything else that a client may ask for is a command of the game, which its offers spell out.
Whether a command is allowed is for the server to say.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from typing import Final, TypeAlias

Body: TypeAlias = dict[str, object]

ROOM_COMMANDS: Final = (
    "sit", "stand", "rename", "ready", "start", "open", "add_bot", "remove_bot", "kick",
    "set_options", "admit", "invite", "mute", "unmute", "leave", "take_back", "call_bot", "resign",
    "want_end", "rematch",
)  # fmt: skip
"""These answer no offer, so they carry no tag."""


def sit(seat: int | None = None, nonce_hash: bytes = b"") -> Body:
    """Take that seat, or the lowest that is free. The hash seals a nonce for the next deal."""
    body: Body = {"command": "sit"}
    if seat is not None:
        body["seat"] = seat
    if nonce_hash:
        body["nonce"] = base64url(nonce_hash)
    return body


def stand() -> Body:
    return {"command": "stand"}


def ready(nonce_hash: bytes = b"", *, is_ready: bool = True) -> Body:
    """Say that the game may start, or that it may not yet. The hash seals a new nonce."""
    body: Body = {"command": "ready"}
    if not is_ready:
        body["ready"] = False
    if nonce_hash:
        body["nonce"] = base64url(nonce_hash)
    return body


def start() -> Body:
    return {"command": "start"}


def open_nonce(nonce: bytes) -> Body:
    """Show the nonce whose hash was given when sitting down or getting ready."""
    return {"command": "open", "nonce": base64url(nonce)}


def add_bot(level: str, seat: int | None = None) -> Body:
    body: Body = {"command": "add_bot", "level": level}
    if seat is not None:
        body["seat"] = seat
    return body


def remove_bot(seat: int) -> Body:
    return {"command": "remove_bot", "seat": seat}


def kick(seat: int) -> Body:
    """Send the person in that seat out of the room, until `admit`."""
    return {"command": "kick", "seat": seat}


def admit(person: str) -> Body:
    """Let the person with that id (P-19) in again, who was sent away."""
    return {"command": "admit", "id": person}


def invite(person: str) -> Body:
    """Invite the person with that id (P-19): they need no key, and may sit as a bot account."""
    return {"command": "invite", "id": person}


def mute(whom: int | str) -> Body:
    """Mute the person in that seat, or with that id (P-19), for the whole room."""
    return {"command": "mute", **_person(whom)}


def unmute(whom: int | str) -> Body:
    """Let them be heard again."""
    return {"command": "unmute", **_person(whom)}


def _person(whom: int | str) -> Body:
    return {"seat": whom} if isinstance(whom, int) else {"id": whom}


def set_options(
    options: Mapping[str, object] | None = None,
    *,
    turn_seconds: int | None = None,
    bot_delay_ms: int | None = None,
    beat_ms: int | None = None,
    bot_accounts: bool | None = None,
    rated: bool | None = None,
) -> Body:
    """Change the given settings, and keep the rest. Options of a game are replaced as a whole."""
    body: Body = {"command": "set_options"}
    if options is not None:
        body["options"] = dict(options)
    if turn_seconds is not None:
        body["turn_seconds"] = turn_seconds
    if bot_delay_ms is not None:
        body["bot_delay_ms"] = bot_delay_ms
    if beat_ms is not None:
        body["beat_ms"] = beat_ms
    if bot_accounts is not None:
        body["bot_accounts"] = bot_accounts
    if rated is not None:
        body["rated"] = rated
    return body


def rename() -> Body:
    """Let the seat have the name of your token."""
    return {"command": "rename"}


def leave(level: str | None = None) -> Body:
    """Let a bot of that level play for you, until you take the seat back."""
    body: Body = {"command": "leave"}
    if level is not None:
        body["level"] = level
    return body


def take_back() -> Body:
    """Play on yourself where a bot has played for you."""
    return {"command": "take_back"}


def call_bot(seat: int) -> Body:
    """Let a bot play for a person who has been away for long."""
    return {"command": "call_bot", "seat": seat}


def resign() -> Body:
    """Lose the game; a bot plays on in the seat if the game goes on."""
    return {"command": "resign"}


def want_end(*, wanted: bool = True) -> Body:
    """Agree to end the game without a result, or not to any more."""
    return {"command": "want_end"} if wanted else {"command": "want_end", "wanted": False}


def rematch() -> Body:
    """Ask for a new room with the same people, once the game is over."""
    return {"command": "rematch"}


def base64url(data: bytes) -> str:
    """Bytes as they travel: text without padding."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    """The bytes that such a text stands for. `ValueError` if it stands for none."""
    data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    # The decoder would also take padding, another alphabet and bits to spare.
    if base64url(data) != text:
        raise ValueError("not base64url")
    return data
