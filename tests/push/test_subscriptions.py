"""Which subscriptions are refused when they come."""

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.push.double import text_of
from towerhall_server.push.subscriptions import problem_of

POINT = ec.derive_private_key(7, ec.SECP256R1()).public_key()
P256DH = text_of(POINT.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint))
AT = "https://"
"""Before hosts that are no examples."""
AUTH = text_of(b"\x01" * 16)
ENDPOINT = "https://push.example/send/abc?d=1"


@pytest.mark.parametrize(
    "endpoint",
    [
        ENDPOINT,
        "https://push.example:443/",
        "https://a1.notify.windows.example/w/?token=B%2f",
        "https://" + "p" * 60 + ".example/" + "x" * 900,
    ],
)
def test_what_browsers_give_is_taken(endpoint: str) -> None:
    assert problem_of(endpoint, P256DH, AUTH, any_port=False) == ""


@pytest.mark.parametrize(
    ("endpoint", "why"),
    [
        ("", "https"),
        ("http://push.example/", "https"),
        ("ftp://push.example/", "https"),
        ("https:///send", "https"),
        ("//push.example/", "https"),
        (AT + "127.0.0.1/", "IP address"),
        (AT + "127.1/", "IP address"),
        (AT + "2130706433/", "IP address"),
        (AT + "0x7f.0.0.0x1/", "IP address"),
        (AT + "0x7f000001./", "IP address"),
        (AT + "[::1]/", "IP address"),
        (AT + "[::ffff:10.0.0.7]/", "IP address"),
        (AT + "93.184.216.34/", "IP address"),
        ("https://push.example:80/", "port"),
        ("https://push.example:8443/", "port"),
        ("https://push.example:0/", "port"),
        ("https://push.example:99999/", "no address"),
        ("https://push.example:x/", "no address"),
        (AT + "[push.example/", "no address"),
        ("https://user@push.example/", "user"),
        ("https://:secret@push.example/", "user"),
        ("https://push.example/#a", "character"),
        ("https://push.example/a b", "character"),
        ("https://push.example/\r\nHost: x", "character"),
        ("https://push.example\\@inside.example/", "character"),
        ("https://püsh.example/", "character"),
        ("https://push.example/" + "x" * 1024, "1024"),
    ],
)
def test_other_endpoints_are_not(endpoint: str, why: str) -> None:
    assert why in problem_of(endpoint, P256DH, AUTH, any_port=False)


@pytest.mark.parametrize(
    ("p256dh", "auth", "why"),
    [
        (P256DH, text_of(b"\x01" * 15), "auth has 16"),
        (P256DH, text_of(b"\x01" * 17), "auth has 16"),
        (P256DH, "", "auth has 16"),
        ("", AUTH, "p256dh has 65"),
        (text_of(b"\x04" * 64), AUTH, "p256dh has 65"),
        (text_of(b"\x04" + b"\x01" * 64), AUTH, "no point"),
        (text_of(b"\x04" + bytes(64)), AUTH, "no point"),
        (P256DH + "=", AUTH, "base64url"),
        (P256DH.replace("B", "+", 1), AUTH, "base64url"),
        ("ä" + P256DH, AUTH, "base64url"),
    ],
)
def test_other_keys_are_not(p256dh: str, auth: str, why: str) -> None:
    assert why in problem_of(ENDPOINT, p256dh, auth, any_port=False)


def test_a_network_of_the_operator_may_have_push_services_at_other_ports() -> None:
    at = "https://push.example:8443/"
    assert problem_of(at, P256DH, AUTH, any_port=True) == ""
    assert problem_of(AT + "10.0.0.7:8443/", P256DH, AUTH, any_port=True) != ""
