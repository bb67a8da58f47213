"""P-124: what a server signs, and when two statements convict it."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from towerhall_protocol.commands import base64url
from towerhall_protocol.statements import (
    Signature,
    Statement,
    contradiction,
    is_signed,
    key_id,
    statement_bytes,
)

PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = PRIVATE.public_key().public_bytes_raw()
PLACE = Statement(uid=b"u" * 16, commitment=b"c" * 32, seq=7, chain=b"h" * 32)


def signed(statement: Statement) -> Signature:
    return Signature(key_id(PUBLIC), base64url(PRIVATE.sign(statement_bytes(statement))))


def test_a_statement_names_all_of_its_parts() -> None:
    text = statement_bytes(PLACE)
    assert text == b"towerhall/1/statement\0" + b"u" * 16 + b"c" * 32 + bytes(7) + b"\7" + b"h" * 32


@pytest.mark.parametrize(
    "place",
    [
        PLACE._replace(uid=b"short"),
        PLACE._replace(commitment=b"short"),
        PLACE._replace(chain=b"short"),
    ],
    ids=["uid", "commitment", "chain"],
)
def test_parts_of_other_sizes_are_no_statement(place: Statement) -> None:
    with pytest.raises(ValueError, match="parts of 16, 32 and 32 bytes"):
        statement_bytes(place)


def test_a_signature_holds_for_its_statement_and_its_key_only() -> None:
    signature = signed(PLACE)
    other = Ed25519PrivateKey.from_private_bytes(bytes(32)).public_key().public_bytes_raw()
    assert is_signed(PLACE, signature, PUBLIC)
    assert not is_signed(PLACE._replace(seq=8), signature, PUBLIC)
    assert not is_signed(PLACE, signature, other)
    assert not is_signed(PLACE, signature._replace(key=key_id(other)), PUBLIC)
    assert not is_signed(PLACE, signature._replace(signature="not base64url!"), PUBLIC)
    assert not is_signed(PLACE, signature._replace(signature="AAAA"), PUBLIC)
    assert not is_signed(PLACE, Signature(key_id(b"short"), signature.signature), b"short")


def test_statements_contradict_if_both_cannot_be_true() -> None:
    assert contradiction(PLACE, PLACE._replace(commitment=b"x" * 32, seq=9)) == "commitment"
    assert contradiction(PLACE, PLACE._replace(chain=b"x" * 32)) == "chain"


def test_statements_about_other_places_or_rooms_do_not_contradict() -> None:
    assert contradiction(PLACE, PLACE) is None
    assert contradiction(PLACE, PLACE._replace(seq=8, chain=b"x" * 32)) is None
    assert contradiction(PLACE, PLACE._replace(uid=b"x" * 16, chain=b"x" * 32)) is None
