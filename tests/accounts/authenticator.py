"""An authenticator in software, with the browser around it.

It signs like a real one, and each part of an answer may be replaced by something wrong.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any, Final

import cbor2
import msgspec
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa

from towerhall_protocol.commands import base64url, from_base64url

ORIGIN: Final = "https://towers.example"
UP, UV, BE, BS, AT = 1, 4, 8, 16, 64
Key = ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey


class Resident(msgspec.Struct):
    """A passkey with its private half."""

    credential: bytes
    key: Any
    domain: str
    user: bytes
    count: int = 0


def cose_key(key: Key) -> bytes:
    """The public key as authenticators write it."""
    match key:
        case ec.EllipticCurvePrivateKey():
            point = key.public_key().public_numbers()
            x, y = point.x.to_bytes(32, "big"), point.y.to_bytes(32, "big")
            return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})
        case ed25519.Ed25519PrivateKey():
            return cbor2.dumps({1: 1, 3: -8, -1: 6, -2: key.public_key().public_bytes_raw()})
        case _:
            public = key.public_key().public_numbers()
            n = public.n.to_bytes((public.n.bit_length() + 7) // 8, "big")
            return cbor2.dumps({1: 3, 3: -257, -1: n, -2: public.e.to_bytes(3, "big")})


def signature(key: Key, data: bytes) -> bytes:
    match key:
        case ec.EllipticCurvePrivateKey():
            return key.sign(data, ec.ECDSA(hashes.SHA256()))
        case ed25519.Ed25519PrivateKey():
            return key.sign(data)
        case _:
            return bytes(key.sign(data, padding.PKCS1v15(), hashes.SHA256()))


class Authenticator:
    """Keeps passkeys. Changes of an answer are named arguments of `create` and `get`."""

    def __init__(self, origin: str = ORIGIN, *, counts: bool = True, kind: str = "ec") -> None:
        self.origin, self.counts, self.kind = origin, counts, kind
        self.residents: list[Resident] = []

    def copy(self) -> "Authenticator":
        """A clone, with the private keys."""
        other = Authenticator(self.origin, counts=self.counts)
        other.residents = [msgspec.structs.replace(each) for each in self.residents]
        return other

    def new_key(self) -> Key:
        match self.kind:
            case "rsa":
                return rsa.generate_private_key(65537, 2048)
            case "ed25519":
                return ed25519.Ed25519PrivateKey.generate()
        return ec.generate_private_key(ec.SECP256R1())

    def create(self, options: Mapping[str, Any], **wrong: Any) -> dict[str, Any]:
        """Make a passkey, as `navigator.credentials.create` does."""
        resident = Resident(
            wrong.get("credential", os.urandom(16)),
            self.new_key(),
            wrong.get("domain", options["rp"]["id"]),
            from_base64url(options["user"]["id"]),
        )
        if "credential" not in wrong:
            self.residents.append(resident)
        public = wrong.get("public_key", cose_key(resident.key))
        attested = bytes(16) + len(resident.credential).to_bytes(2, "big") + resident.credential
        data = self.data(resident, wrong, UP | UV | AT) + attested + public
        form = {"fmt": "none", "attStmt": {}, **wrong.get("attestation", {}), "authData": data}
        return self.answer(
            resident,
            {
                "clientDataJSON": self.client_data("webauthn.create", options["challenge"], wrong),
                "attestationObject": base64url(cbor2.dumps(form)),
                "transports": ["internal"],
            },
        )

    def get(self, options: Mapping[str, Any], **wrong: Any) -> dict[str, Any]:
        """Use the newest passkey of this site, as `navigator.credentials.get` does."""
        allowed = [each["id"] for each in options.get("allowCredentials", ())]
        resident = next(
            each
            for each in reversed(self.residents)
            if each.domain == options["rpId"]
            and (not allowed or base64url(each.credential) in allowed)
        )
        if self.counts:
            resident.count += 1
        data = self.data(resident, wrong, UP | UV)
        client = self.client_data("webauthn.get", options["challenge"], wrong)
        signed = data + hashlib.sha256(from_base64url(client)).digest()
        user = wrong.get("user", resident.user)
        return self.answer(
            resident,
            {
                "clientDataJSON": client,
                "authenticatorData": base64url(data),
                "signature": base64url(signature(wrong.get("key", resident.key), signed)),
                **({"userHandle": base64url(user)} if user else {}),
            },
        )

    def data(self, resident: Resident, wrong: Mapping[str, Any], flags: int) -> bytes:
        domain = hashlib.sha256(wrong.get("domain", resident.domain).encode()).digest()
        count = int(wrong.get("count", resident.count))
        return domain + bytes([wrong.get("flags", flags)]) + count.to_bytes(4, "big")

    def client_data(self, kind: str, challenge: str, wrong: Mapping[str, Any]) -> str:
        data = {
            "type": kind,
            "challenge": challenge,
            "origin": self.origin,
            "crossOrigin": False,
            **wrong.get("client", {}),
        }
        return base64url(json.dumps(data).encode())

    def answer(self, resident: Resident, response: Mapping[str, Any]) -> dict[str, Any]:
        named = base64url(resident.credential)
        return {
            "id": named,
            "rawId": named,
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
            "response": dict(response),
        }
