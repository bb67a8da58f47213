"""Guest tokens: who somebody is, signed, so that any server believes it without asking the store.

A token is text of three parts, `payload.time.signature`. It is signed, not hidden: nothing secret
goes into one. Whatever a stranger sends is answered with a value, never with an exception. Which
keys sign is decided in `settings`, what somebody may do in the gate; neither lives here.
"""

import hashlib
import re
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Annotated, Final

import msgspec
from itsdangerous import BadData, TimestampSigner
from itsdangerous.encoding import base64_decode, base64_encode

from towerhall_server.room.seats import Person

TOKEN_BYTES_MAX: Final = 1024
ID_BYTES: Final = 8
SALT: Final = "towerhall guest token 1"
"""Names the purpose: what the same keys sign for another one is no token."""
CLOCK_SKEW_SECONDS: Final = 60
"""How far the clock of the server that issued a token may be ahead of the one that reads it."""
DAY_SECONDS: Final = 86_400

SHAPE: Final = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}")

Id = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9_-]{11}\Z")]
Name = Annotated[str, msgspec.Meta(min_length=1)]
Seconds = Annotated[int, msgspec.Meta(ge=0)]


class _Payload(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    id: Id
    name: Name
    seconds: Seconds = 0
    """How long the token holds at most; 0: as long as any."""


class TokenProblem(msgspec.Struct, frozen=True):
    """Why a token is not taken."""

    code: str
    """too_long, malformed, wrong_signature, expired or from_the_future."""
    detail: str
    """The same for people; it repeats nothing of the token."""


TOO_LONG: Final = TokenProblem("too_long", f"a token has at most {TOKEN_BYTES_MAX} bytes")
MALFORMED: Final = TokenProblem("malformed", "this is no token of this service")
WRONG_SIGNATURE: Final = TokenProblem("wrong_signature", "this service did not sign the token")
EXPIRED: Final = TokenProblem("expired", "the token is too old")
FROM_THE_FUTURE: Final = TokenProblem("from_the_future", "the token is dated in the future")


def new_person(name: str) -> Person:
    """Somebody who was never here before."""
    return Person(base64_encode(secrets.token_bytes(ID_BYTES)).decode(), name)


class _Signer(TimestampSigner):
    """Signs with the first of the keys and with a clock that can be given."""

    def __init__(self, keys: Sequence[bytes | str], clock: Callable[[], float]) -> None:
        encoded = [key.encode() if isinstance(key, str) else bytes(key) for key in keys]
        super().__init__(
            encoded[::-1],  # it signs with its last one
            salt=SALT,
            key_derivation="hmac",
            digest_method=hashlib.sha256,
        )
        self._clock = clock

    def get_timestamp(self) -> int:
        return int(self._clock())


class Tokens:
    """Issues tokens with the first key and takes those of every key, so that keys can be changed.

    To change a key, put the new one in front on every server, and drop the old one when the tokens
    that it signed have expired. `clock` gives seconds since 1970.
    """

    __slots__ = ("_age_max", "_clock", "_signer")

    def __init__(
        self,
        keys: Sequence[bytes | str],
        max_age_days: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if isinstance(keys, (bytes, str)) or not keys or not all(keys):
            raise ValueError("tokens need a sequence of keys, none of them empty")
        self._age_max = max_age_days * DAY_SECONDS
        self._clock = clock
        self._signer = _Signer(keys, clock)

    def issue(self, person: Person, seconds: int = 0) -> str:
        """A token for this person, valid from now on, for so long if that is given."""
        limit = (seconds,) if seconds else ()
        payload = base64_encode(msgspec.json.encode((person.id, person.name, *limit)))
        token = self._signer.sign(payload).decode()
        if len(token) > TOKEN_BYTES_MAX:
            raise ValueError("this name is too long for a token; clean names are short enough")
        return token

    def read(self, token: str) -> Person | TokenProblem:
        """Whom the token names, or why it is not taken."""
        if len(token) > TOKEN_BYTES_MAX:
            return TOO_LONG
        if not SHAPE.fullmatch(token) or not _is_canonical(token.rpartition(".")[2]):
            return MALFORMED
        try:
            payload, signed_at = self._signer.unsign(token, return_timestamp=True)
        except BadData:
            return WRONG_SIGNATURE
        except (ValueError, OverflowError, OSError):
            # Signed, but with a time that no calendar has.
            return MALFORMED
        age = self._clock() - signed_at.timestamp()
        if age > self._age_max:
            return EXPIRED
        if age < -CLOCK_SKEW_SECONDS:
            return FROM_THE_FUTURE
        try:
            found = msgspec.json.decode(base64_decode(payload), type=_Payload)
        except (BadData, msgspec.MsgspecError):
            return MALFORMED
        if found.seconds and age > found.seconds:
            return EXPIRED
        return Person(found.id, found.name)


def _is_canonical(signature: str) -> bool:
    """Whether these characters are the only way to write these bytes.

    The last character holds bits that nobody reads: without this check a token could be changed
    there and still be taken, and would be a second name for the same thing.
    """
    return base64_encode(base64_decode(signature)).decode() == signature
