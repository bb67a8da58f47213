"""The commands to a room itself, as bodies of command messages (P-50).

Everything else that a client may ask for is a command of the game, which its offers spell out.
Whether a command is allowed is for the server to say.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final, TypeAlias

Body: TypeAlias = dict[str, object]

ROOM_COMMANDS: Final = ("sit", "stand", "ready", "start", "open", "add_bot", "remove_bot")
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
