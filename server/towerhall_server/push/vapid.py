"""The header by which a push service knows this service: RFC 8292. Pure but for the signature."""

from typing import Final
from urllib.parse import urlsplit

import msgspec
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    EllipticCurvePrivateKey,
    derive_private_key,
    generate_private_key,
)
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from towerhall_protocol.commands import base64url
from towerhall_server.push.encryption import point_of

KEY_BYTES: Final = 32
VALID_SECONDS: Final = 12 * 3600
"""Seconds for which a header is valid. Push services refuse more than a day."""
HEAD: Final = base64url(b'{"typ":"JWT","alg":"ES256"}')


def new_key() -> bytes:
    """A new private key, as the store keeps it."""
    value = generate_private_key(SECP256R1()).private_numbers().private_value
    return value.to_bytes(KEY_BYTES, "big")


class Vapid:
    """The key of this service and the contact that it names."""

    def __init__(self, kept: bytes, contact: str = "") -> None:
        self._key: EllipticCurvePrivateKey = derive_private_key(
            int.from_bytes(kept, "big"), SECP256R1()
        )
        self._contact = contact
        self.public = base64url(point_of(self._key.public_key()))
        """The key that browsers are given."""

    def authorization(self, endpoint: str, now_seconds: int) -> str:
        """The header for the push service of an endpoint."""
        parts = urlsplit(endpoint)
        claims: dict[str, int | str] = {
            "aud": f"{parts.scheme}://{parts.netloc}",
            "exp": now_seconds + VALID_SECONDS,
        }
        if self._contact:
            claims["sub"] = self._contact
        signed = f"{HEAD}.{base64url(msgspec.json.encode(claims))}"
        r, s = decode_dss_signature(self._key.sign(signed.encode(), ECDSA(SHA256())))
        proof = base64url(r.to_bytes(KEY_BYTES, "big") + s.to_bytes(KEY_BYTES, "big"))
        return f"vapid t={signed}.{proof}, k={self.public}"
