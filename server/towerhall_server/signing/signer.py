"""Signs with the first of the server's keys. Callers decide which texts are signed."""

from collections.abc import Sequence

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from towerhall_protocol.commands import base64url
from towerhall_protocol.notes import ED25519, SignatureLine, VerifierKey
from towerhall_protocol.statements import Signature, Statement, key_id, statement_bytes


class Signer:
    """The keys of one server. The first one signs, the others are only published."""

    def __init__(self, seeds: Sequence[bytes]) -> None:
        if not seeds:
            raise ValueError("a signer has at least one key")
        keys = [Ed25519PrivateKey.from_private_bytes(seed) for seed in seeds]
        self._key = keys[0]
        self.public = tuple(key.public_key().public_bytes_raw() for key in keys)
        self._name = key_id(self.public[0])

    def __repr__(self) -> str:
        return f"Signer({self._name})"

    def sign(self, statement: Statement) -> Signature:
        """Sign a statement about a room."""
        return Signature(self._name, base64url(self._key.sign(statement_bytes(statement))))

    def sign_note(self, name: str, text: str) -> SignatureLine:
        """Return the signature line of a note, in that name."""
        signature = self._key.sign(text.encode())
        return SignatureLine(name, self.verifier(name).key_id, signature)

    def verifier(self, name: str) -> VerifierKey:
        """Return the verifier key of notes."""
        return VerifierKey(name, ED25519, self.public[0])
