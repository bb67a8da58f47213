"""Texts of private keys: 32 random bytes as base64url each. No message ever contains one."""

from collections.abc import Iterable
from typing import Final

from towerhall_protocol.commands import from_base64url

KEY_FILE: Final = "signing.key"
SEED_BYTES: Final = 32


def seeds_of(texts: Iterable[bytes]) -> tuple[bytes, ...]:
    """Parse private keys. Raises `ValueError` for an invalid one."""
    return tuple(_seed(number, text) for number, text in enumerate(texts, start=1))


def _seed(number: int, text: bytes) -> bytes:
    try:
        seed = from_base64url(text.decode())
    except ValueError:
        seed = b""
    if len(seed) != SEED_BYTES:
        raise ValueError(f"key {number} is not {SEED_BYTES} bytes as base64url")
    return seed
