"""The body of a push: RFC 8291, which is RFC 8188 (`aes128gcm`) with one record. Pure.

The ciphers are those of `cryptography`; this file only joins them. Entropy is an argument.
"""

from struct import pack
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDH,
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
)
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

SALT_BYTES: Final = 16
POINT_BYTES: Final = 65
AUTH_BYTES: Final = 16
RECORD_BYTES: Final = 4096
LAST_RECORD: Final = b"\x02"


def point_of(key: EllipticCurvePublicKey) -> bytes:
    """The public key as push services and browsers write it: an uncompressed point."""
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def public_key(point: bytes) -> EllipticCurvePublicKey:
    """The key of a device. Raises `ValueError` if the bytes are no point of the curve."""
    return EllipticCurvePublicKey.from_encoded_point(SECP256R1(), point)


def encrypt(
    plain: bytes,
    device: bytes,
    auth: bytes,
    once: EllipticCurvePrivateKey,
    salt: bytes,
    *,
    padded_to: int = 0,
) -> bytes:
    """Encrypt a body for a device, with a key and a salt that serve for this body alone. It is
    padded to that length, so that the push service does not learn the length of names."""
    sender = point_of(once.public_key())
    shared = once.exchange(ECDH(), public_key(device))
    material = _derive(shared, auth, b"WebPush: info\0" + device + sender, 32)
    key = _derive(material, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derive(material, salt, b"Content-Encoding: nonce\0", 12)
    padded = (plain + LAST_RECORD).ljust(padded_to, b"\0")
    header = salt + pack(">IB", RECORD_BYTES, len(sender)) + sender
    return header + AESGCM(key).encrypt(nonce, padded, None)


def _derive(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(secret)
