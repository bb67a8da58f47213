"""An operator: a name, the keys that prove it, and the webhook.

Neither `repr` nor an error shows keys or secrets. `settings` decides where they come from.
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
"""Characters of an external id, at most."""


class Webhook(msgspec.Struct, frozen=True):
    """The address of a webhook, and the secrets that sign its requests."""

    url: str
    secrets: tuple[bytes, ...]
    """All secrets sign each request, so that a receiver can rotate them at any time."""

    def __repr__(self) -> str:
        # The path of a webhook is often a secret as well.
        return "Webhook(not shown)"


class Operators:
    """All operators by their keys. Several keys per name allow rotation."""

    def __init__(self, keys: Sequence[tuple[str, bytes]]) -> None:
        self._digests = [(name, sha256(key).digest()) for name, key in keys]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name for name, _ in self._digests)

    def find(self, key: str) -> str | None:
        """Return the name of the operator with this key. Constant time: the duration reveals
        nothing of keys."""
        shown, found = sha256(key.encode(errors="surrogateescape")).digest(), None
        for name, digest in self._digests:
            if hmac.compare_digest(digest, shown):
                found = name
        return found


def key_digest(key: str | bytes) -> str:
    """Return the public name of a key: its SHA-256 digest, as `sha256sum` prints it."""
    data = key if isinstance(key, bytes) else key.encode(errors="surrogateescape")
    return sha256(data).hexdigest()


def identity_of(secret: bytes, operator: str, external_id: str) -> str:
    """Derive the identity of an operator's person: stable, and not reversible."""
    text = f"{operator}\0{external_id}".encode(errors="surrogatepass")
    digest = blake2b(text, digest_size=ID_BYTES, key=secret, person=PERSON).digest()
    return base64url(digest)
