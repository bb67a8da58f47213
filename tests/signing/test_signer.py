"""P-124, P-181: the first key signs, and no text shows a private one."""

import pytest

from towerhall_protocol.notes import Note, is_signed_by, signer_of
from towerhall_protocol.statements import Statement, is_signed, key_id
from towerhall_server.signing.keys import seeds_of
from towerhall_server.signing.signer import Signer

ONE, OTHER = bytes([1]) * 32, bytes([2]) * 32
PLACE = Statement(b"u" * 16, b"c" * 32, 7, b"h" * 32)


def test_the_first_key_signs_and_the_others_are_known() -> None:
    signer = Signer([ONE, OTHER])
    assert signer.public == (Signer([ONE]).public[0], Signer([OTHER]).public[0])
    signature = signer.sign(PLACE)
    assert signature.key == key_id(signer.public[0])
    assert is_signed(PLACE, signature, signer.public[0])
    assert not is_signed(PLACE, signature, signer.public[1])


def test_equal_texts_have_equal_signatures() -> None:
    """So a checkpoint is the same note, whichever of several servers signs it."""
    assert Signer([ONE]).sign(PLACE) == Signer([ONE, OTHER]).sign(PLACE)
    assert Signer([ONE]).sign_note("log", "a\n") == Signer([ONE, OTHER]).sign_note("log", "a\n")


def test_a_note_is_signed_in_a_name() -> None:
    signer = Signer([ONE])
    line = signer.sign_note("towers.example/log", "a text\n")
    assert is_signed_by("a text\n", line, signer.verifier("towers.example/log"))
    assert not is_signed_by("a text\n", line, signer.verifier("other.example/log"))
    assert signer_of(Note("a text\n", (line,)), (Signer([OTHER]).verifier(line.name),)) is None


def test_a_signature_for_a_note_says_nothing_of_a_room() -> None:
    """One key signs both, so no text of one kind may be one of the other."""
    signer = Signer([ONE])
    note = signer.sign_note("log", "towerhall/1/statement\n")
    assert signer.sign(PLACE).signature.encode() not in note.signature


def test_private_keys_are_not_shown() -> None:
    assert repr(Signer([ONE])) == f"Signer({key_id(Signer([ONE]).public[0])})"
    with pytest.raises(ValueError, match="key 2 is not 32 bytes") as caught:
        seeds_of([b"A" * 43, b"secret"])
    assert "secret" not in str(caught.value)
    with pytest.raises(ValueError, match="at least one key"):
        Signer([])
