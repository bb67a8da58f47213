"""The nonce that a client adds to a deal: drawn, sealed, and opened when it is due.

Only its hash is shown before the deal is sealed, and it counts once the server has accepted the
command that showed it. No nonce is used twice: an opened one is no secret any more.
"""

from collections.abc import Callable, Mapping
from typing import Any

from towerhall_protocol import commands
from towerhall_protocol.document import Document
from towerhall_protocol.fairness import NONCE_BYTES, UID_BYTES, nonce_hash


class SealedNonce:
    """The nonce of one client, from its hash to its opening."""

    def __init__(self, random_bytes: Callable[[int], bytes]) -> None:
        self._random_bytes = random_bytes
        self._nonce = b""
        self._shown: dict[int, bytes] = {}
        self._tried_at: int | None = None

    def draw(self, view: Document) -> tuple[bytes, bytes]:
        """A fresh nonce and its hash for this room; nothing while the room is unknown."""
        uid = _uid(view)
        if not uid:
            return b"", b""
        nonce = self._random_bytes(NONCE_BYTES)
        return nonce, nonce_hash(uid, nonce)

    def show(self, n: int, nonce: bytes) -> None:
        """Command n carries the hash of this one."""
        if nonce:
            self._shown[n] = nonce

    def settle(self, n: int, body: Mapping[str, Any], *, done: bool) -> None:
        """Command n was done, or was not."""
        nonce = self._shown.pop(n, b"")
        if done and nonce:
            self._nonce = nonce
        elif done and body.get("command") == "stand":
            self._nonce = b""

    def is_sealed(self, view: Document, seat: int | None) -> bool:
        """Whether the room waits for this very nonce, or will when it starts."""
        return bool(self._nonce) and _holder(view, seat).get("nonce") == "sealed"

    def opening(self, view: Document, seat: int | None, seq: int) -> commands.Body | None:
        """The command that opens it, if that is due now."""
        if _room(view).get("status") != "sealed" or not self.is_sealed(view, seat):
            return None
        # Once for each view: a refusal does not change by asking again.
        if self._tried_at == seq:
            return None
        self._tried_at = seq
        return commands.open_nonce(self._nonce)

    def look_again(self) -> None:
        """The view was replaced: whatever was tried may be due once more."""
        self._tried_at = None


def _room(view: Document) -> Mapping[str, Any]:
    room = view.get("room")
    return room if isinstance(room, dict) else {}


def _holder(view: Document, seat: int | None) -> Mapping[str, Any]:
    seats = _room(view).get("seats")
    holder = seats.get(str(seat)) if isinstance(seats, dict) else None
    return holder if isinstance(holder, dict) else {}


def _uid(view: Document) -> bytes:
    text = _room(view).get("uid")
    try:
        uid = commands.from_base64url(text) if isinstance(text, str) else b""
    except ValueError:
        return b""
    return uid if len(uid) == UID_BYTES else b""
