"""The body and the header of a push, against the example of RFC 8291 and code of its own."""

import os

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.push.double import bytes_of, claims_of, decrypted, text_of
from towerhall_server.push.encryption import encrypt, point_of
from towerhall_server.push.notes import BODY_BYTES
from towerhall_server.push.vapid import VALID_SECONDS, Vapid, new_key

# RFC 8291, appendix A
PLAIN = b"When I grow up, I want to be a watermelon"
SENDER = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
DEVICE = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
DEVICE_POINT = (
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
)
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
SALT = "DGv6ra1nlYgDCS1FRnbzlw"
BODY = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6"
    "TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4"
    "a-fN"
)


def private(text: str) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(int.from_bytes(bytes_of(text), "big"), ec.SECP256R1())


def test_the_example_of_the_rfc_comes_out() -> None:
    device, auth = bytes_of(DEVICE_POINT), bytes_of(AUTH)
    body = encrypt(PLAIN, device, auth, private(SENDER), bytes_of(SALT))
    assert text_of(body) == BODY
    assert point_of(private(DEVICE).public_key()) == device
    assert decrypted(bytes_of(BODY), private(DEVICE), auth) == PLAIN


def test_all_bodies_are_equally_long_and_only_the_device_reads_them() -> None:
    device, auth = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
    point = device.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    bodies = [
        encrypt(
            plain,
            point,
            auth,
            ec.generate_private_key(ec.SECP256R1()),
            os.urandom(16),
            padded_to=BODY_BYTES,
        )
        for plain in (b"{}", b"x" * (BODY_BYTES - 1))
    ]
    assert len(bodies[0]) == len(bodies[1]) <= 4096
    assert decrypted(bodies[0], device, auth) == b"{}"
    with pytest.raises(InvalidTag):
        decrypted(bodies[0], device, os.urandom(16))


def test_the_header_names_service_contact_and_end() -> None:
    vapid = Vapid(new_key(), "mailto:towers@example.org")
    header = vapid.authorization("https://push.example:443/send/abc?d=1", 1_700_000_000)
    assert claims_of(header, vapid.public) == {
        "aud": "https://push.example:443",
        "exp": 1_700_000_000 + VALID_SECONDS,
        "sub": "mailto:towers@example.org",
    }
    assert len(bytes_of(vapid.public)) == 65


def test_a_kept_key_stays_the_same_and_a_contact_may_be_missing() -> None:
    kept = new_key()
    assert Vapid(kept).public == Vapid(kept).public != Vapid(new_key()).public
    vapid = Vapid(kept)
    assert "sub" not in claims_of(vapid.authorization("https://push.example/a", 1), vapid.public)
