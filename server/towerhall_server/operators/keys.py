"""Who an operator is: a name, the keys that prove it, and where they want to hear of their rooms.

Keys and secrets are shown by nothing here, neither by `repr` nor by an error. Where they come from
is decided in `settings`.
"""

import hmac
from collections.abc import Sequence
from hashlib import blake2b, sha256
from typing import Final

import msgspec

from towerhall_protocol.commands import base64url

ID_BYTES: Final = 8
PERSON: Final = b"towerhall guest"
MOST_EXTERNAL: Final = 128
"""Characters of an external id."""


class Webhook(msgspec.Struct, frozen=True):
    """Where an operator is told of what happens, and the secrets that sign it."""

    url: str
    secrets: tuple[bytes, ...]
    """All of them sign, so that a receiver can change from one to the next at any time."""

    def __repr__(self) -> str:
        # The path of a hook is often a secret as well.
        return "Webhook(not shown)"


class Operators:
    """All operators by their keys. Several keys of one name let a key be changed."""

    def __init__(self, keys: Sequence[tuple[str, bytes]]) -> None:
        self._digests = [(name, sha256(key).digest()) for name, key in keys]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name for name, _ in self._digests)

    def find(self, key: str) -> str | None:
        """The name of the operator who has this key. How long it takes tells nothing of keys."""
        shown, found = sha256(key.encode(errors="surrogateescape")).digest(), None
        for name, digest in self._digests:
            if hmac.compare_digest(digest, shown):
                found = name
        return found


def identity_of(secret: bytes, operator: str, external_id: str) -> str:
    """The identity of an operator's person: always the same, and telling nothing of who it is."""
    text = f"{operator}\0{external_id}".encode(errors="surrogatepass")
    digest = blake2b(text, digest_size=ID_BYTES, key=secret, person=PERSON).digest()
    return base64url(digest)
