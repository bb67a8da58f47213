"""Guest tokens: an identity and its expiry, signed, so that any server can verify it alone.

A token is text of three parts, `payload.time.signature`. It is signed, not encrypted, so it holds
no secret. Invalid input returns a value and never raises. `settings` chooses the keys, the gate
decides what a person may do, and `admission` knows revocations.
"""

import hashlib
import re
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Annotated, Final

import msgspec
from itsdangerous import BadData, Signer, TimestampSigner
from itsdangerous.encoding import base64_decode, base64_encode, int_to_bytes

from towerhall_server.room.seats import Person

TOKEN_BYTES_MAX: Final = 1024
ID_BYTES: Final = 8
SALT: Final = "towerhall guest token 1"
"""The purpose of the signature: signatures of the same keys for other purposes are no tokens."""
CLOCK_SKEW_SECONDS: Final = 60
"""Seconds that the issuer's clock may be ahead of the reader's."""
DAY_SECONDS: Final = 86_400

SHAPE: Final = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}")

Id = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9_-]{11}\Z")]
Name = Annotated[str, msgspec.Meta(min_length=1)]
Seconds = Annotated[int, msgspec.Meta(ge=0)]
DeviceId = Annotated[str, msgspec.Meta(pattern=r"\A([A-Za-z0-9_-]{8})?\Z")]


class _Payload(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    id: Id
    name: Name
    seconds: Seconds = 0
    """The longest life of the token; 0: the default."""
    operator: str = ""
    after: Seconds = 0
    bot_account: bool = False
    device: DeviceId = ""


class Token(msgspec.Struct, frozen=True):
    """The claims of a token."""

    person: Person
    issued: int
    """In seconds since 1970, as is `expires`."""
    expires: int
    operator: str = ""
    """The operator of another lobby who issued it; empty: this service did."""
    after: int = 0
    """Stamp of the newest revocation that the issuer knew of; 0: none. Later ones end the token."""
    device: str = ""
    """The device of an account that signed in; empty: none. It can be logged out alone."""


class TokenProblem(msgspec.Struct, frozen=True):
    """Why a token is refused."""

    code: str
    """too_long, malformed, wrong_signature, expired or from_the_future."""
    detail: str
    """The reason for people; it repeats no part of the token."""


TOO_LONG: Final = TokenProblem("too_long", f"a token has at most {TOKEN_BYTES_MAX} bytes")
MALFORMED: Final = TokenProblem("malformed", "this is not a token of this service")
WRONG_SIGNATURE: Final = TokenProblem("wrong_signature", "this service did not sign the token")
EXPIRED: Final = TokenProblem("expired", "the token has expired")
FROM_THE_FUTURE: Final = TokenProblem("from_the_future", "the token is dated in the future")


def new_person(name: str, *, bot_account: bool = False) -> Person:
    """Return a new person, or a new bot account."""
    identity = base64_encode(secrets.token_bytes(ID_BYTES)).decode()
    return Person(identity, name, bot_account)


class _Signer(TimestampSigner):
    """Signs with the first of the keys."""

    def __init__(self, keys: Sequence[bytes | str]) -> None:
        encoded = [key.encode() if isinstance(key, str) else bytes(key) for key in keys]
        super().__init__(
            encoded[::-1],  # it signs with its last one
            salt=SALT,
            key_derivation="hmac",
            digest_method=hashlib.sha256,
        )

    def sign_at(self, payload: bytes, seconds: int) -> str:
        """Return the payload as if it was signed at that time."""
        return Signer.sign(
            self, b".".join((payload, base64_encode(int_to_bytes(seconds))))
        ).decode()


class Tokens:
    """Issues tokens with the first key, and accepts those of every key, so that keys can be
    rotated.

    To rotate a key, put the new one first on every server. Drop the old one when the tokens that it
    signed have expired. `clock` gives seconds since 1970.
    """

    __slots__ = ("_clock", "_signer", "most_seconds")

    def __init__(
        self,
        keys: Sequence[bytes | str],
        max_age_days: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if isinstance(keys, (bytes, str)) or not keys or not all(keys):
            raise ValueError("tokens need a sequence of non-empty keys")
        self.most_seconds = max_age_days * DAY_SECONDS
        self._clock = clock
        self._signer = _Signer(keys)

    def new(
        self,
        person: Person,
        seconds: int = 0,
        *,
        operator: str = "",
        after: int = 0,
        device: str = "",
    ) -> Token:
        """Return a token that is valid from now on, for that many seconds if given."""
        issued = int(self._clock())
        lasts = min(seconds or self.most_seconds, self.most_seconds)
        return Token(person, issued, issued + lasts, operator, after, device)

    def sign(self, token: Token) -> str:
        """Return the token as text. Signing again renews nothing: its times stay as they are."""
        person, seconds = token.person, token.expires - token.issued
        more: tuple[object, ...] = (
            token.operator,
            token.after,
            person.bot_account,
            token.device,
        )
        while more and not more[-1]:
            more = more[:-1]  # servers of older releases read tokens of people
        payload = base64_encode(msgspec.json.encode((person.id, person.name, seconds, *more)))
        text = self._signer.sign_at(payload, token.issued)
        if len(text) > TOKEN_BYTES_MAX:
            raise ValueError("this name is too long for a token; clean names are short enough")
        return text

    def issue(self, person: Person, seconds: int = 0) -> str:
        """Return the text of a new token."""
        return self.sign(self.new(person, seconds))

    def is_over(self, token: Token) -> bool:
        return self._clock() > token.expires

    def read(self, token: str) -> Token | TokenProblem:
        """Return the claims of the token, or why it is refused."""
        if len(token) > TOKEN_BYTES_MAX:
            return TOO_LONG
        signed, _, signature = token.rpartition(".")
        if not SHAPE.fullmatch(token) or not _is_canonical(signature):
            return MALFORMED
        # Not left to `unsign`, whose exception refers to its own traceback: a cycle for each bad
        # token.
        if not self._signer.verify_signature(signed.encode(), signature):
            return WRONG_SIGNATURE
        try:
            payload, signed_at = self._signer.unsign(token, return_timestamp=True)
        except BadData:
            return WRONG_SIGNATURE
        except (ValueError, OverflowError, OSError):
            # Signed, but with a time outside the calendar.
            return MALFORMED
        age = self._clock() - signed_at.timestamp()
        if age < -CLOCK_SKEW_SECONDS:
            return FROM_THE_FUTURE
        try:
            found = msgspec.json.decode(base64_decode(payload), type=_Payload)
        except (BadData, msgspec.MsgspecError):
            return MALFORMED
        lasts = min(found.seconds or self.most_seconds, self.most_seconds)
        if age > lasts:
            return EXPIRED
        issued = int(signed_at.timestamp())
        person = Person(found.id, found.name, found.bot_account)
        return Token(person, issued, issued + lasts, found.operator, found.after, found.device)


def _is_canonical(signature: str) -> bool:
    """Whether these characters are the only encoding of these bytes.

    The last character has unused bits. Without this check, changing them would give a second valid
    spelling of the same token.
    """
    return base64_encode(base64_decode(signature)).decode() == signature
