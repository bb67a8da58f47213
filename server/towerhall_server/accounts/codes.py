"""Names of accounts and recovery codes: random characters that people can copy by hand.

A recovery code is the name of its account and a secret. It leads to the account without an index,
and its name alone opens nothing. Entropy is an argument everywhere: this module is pure.
"""

import hashlib
import hmac
from typing import Final

import msgspec

from towerhall_protocol.commands import base64url

ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base 32: no two of its characters look alike."""
BITS: Final = 5
NAME_CHARACTERS: Final = 15
"""75 bits: no two accounts have the same name by chance, and no name can be guessed."""
SECRET_CHARACTERS: Final = 20
"""100 bits."""
GROUP: Final = 5
DEVICE_BYTES: Final = 6
ENTROPY_BYTES: Final = 16
LOOK_ALIKES: Final = str.maketrans("OIL", "011", "- \t\r\n")
"""What people write instead, and what stands between the groups."""
MOST_CHARACTERS: Final = 80
"""Characters of a code as a person may type it."""


class RecoveryCode(msgspec.Struct, frozen=True):
    """A recovery code, whole. `repr` shows no secret."""

    account: str
    secret: str

    def __str__(self) -> str:
        text = self.account + self.secret
        return "-".join(text[at : at + GROUP] for at in range(0, len(text), GROUP))

    def __repr__(self) -> str:
        return f"RecoveryCode({self.account!r})"

    @property
    def digest(self) -> bytes:
        """What the store keeps. The secret is random and long, so one round is enough."""
        return hashlib.sha256(self.secret.encode()).digest()

    def opens(self, digest: bytes) -> bool:
        """Whether the store keeps this code. It takes the same time for each answer."""
        return hmac.compare_digest(self.digest, digest)


class Successor(msgspec.Struct, frozen=True):
    """What a recovery leads to. The same code and nonce always lead to the same."""

    code: RecoveryCode
    device: str


def account_name(entropy: bytes) -> str:
    return _characters(entropy, NAME_CHARACTERS)


def is_account_name(text: str) -> bool:
    return len(text) == NAME_CHARACTERS and set(text) <= set(ALPHABET)


def recovery_code(account: str, entropy: bytes) -> RecoveryCode:
    return RecoveryCode(account, _characters(entropy, SECRET_CHARACTERS))


def read_recovery_code(text: str) -> RecoveryCode | None:
    """Return the code that a person typed; None if it is none."""
    if len(text) > MOST_CHARACTERS:
        return None
    plain = text.upper().translate(LOOK_ALIKES)
    if len(plain) != NAME_CHARACTERS + SECRET_CHARACTERS or not set(plain) <= set(ALPHABET):
        return None
    return RecoveryCode(plain[:NAME_CHARACTERS], plain[NAME_CHARACTERS:])


def successor(code: RecoveryCode, nonce: str) -> Successor:
    """Return the code after this one, by a nonce of the client.

    It is not random but derived. So a client whose answer was lost gets the same one again, though
    the store keeps neither. Without the nonce the used code is worth nothing.
    """
    made = hmac.digest(code.secret.encode(), f"{code.account} {nonce}".encode(), "sha256")
    secret = _characters(made, SECRET_CHARACTERS)
    device = base64url(made[ENTROPY_BYTES : ENTROPY_BYTES + DEVICE_BYTES])
    return Successor(RecoveryCode(code.account, secret), device)


def _characters(entropy: bytes, count: int) -> str:
    if len(entropy) < ENTROPY_BYTES:
        raise ValueError(f"this needs {ENTROPY_BYTES} bytes of entropy")
    number = int.from_bytes(entropy[:ENTROPY_BYTES], "big")
    return "".join(ALPHABET[number >> BITS * place & 31] for place in range(count))
