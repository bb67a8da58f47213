"""P-181: notes, checkpoints and cosignatures as texts."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from towerhall_protocol.merkle import EMPTY_ROOT
from towerhall_protocol.notes import (
    COSIGNATURE,
    ED25519,
    BadNoteError,
    Checkpoint,
    Note,
    SignatureLine,
    VerifierKey,
    cosignature,
    cosigned_at,
    cosigned_message,
    is_signed_by,
    read_checkpoint,
    read_line,
    read_note,
    read_verifier_key,
    signer_of,
)

LOG = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
WITNESS = Ed25519PrivateKey.from_private_bytes(bytes(range(32, 64)))
LOG_KEY = VerifierKey("towers.example/v1/log", ED25519, LOG.public_key().public_bytes_raw())
WITNESS_KEY = VerifierKey(
    "witness.example/w1", COSIGNATURE, WITNESS.public_key().public_bytes_raw()
)
TEXT = Checkpoint(LOG_KEY.name, 7, b"r" * 32).text
SECONDS = 1_700_000_000


def signed(text: str = TEXT) -> SignatureLine:
    return SignatureLine(LOG_KEY.name, LOG_KEY.key_id, LOG.sign(text.encode()))


def cosigned(text: str = TEXT, seconds: int = SECONDS) -> SignatureLine:
    signature = WITNESS.sign(cosigned_message(text, seconds))
    return SignatureLine(WITNESS_KEY.name, WITNESS_KEY.key_id, cosignature(seconds, signature))


def test_the_cosigned_example_of_the_format_is_read() -> None:
    """The texts of C2SP tlog-cosignature, whose private keys are not ours."""
    lines = (
        "example.com/behind-the-sofa",
        "20852163",
        "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=",
        "",
        (
            "— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4"
            "URYN7u5/Zh"
            "cyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8="
        ),
        (
            "— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZ"
            "CB9dlrDJsX"
            "3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA=="
        ),
        "",
    )
    note = read_note("\n".join(lines))
    assert str(note) == "\n".join(lines)
    checkpoint = read_checkpoint(note.text)
    assert (checkpoint.origin, checkpoint.size) == ("example.com/behind-the-sofa", 20852163)
    assert checkpoint.text == note.text
    assert cosigned_at(note.signatures[1]) == 1679315147


def test_a_signature_holds_for_its_text_and_its_key_only() -> None:
    assert is_signed_by(TEXT, signed(), LOG_KEY)
    assert not is_signed_by(TEXT.replace("7", "8"), signed(), LOG_KEY)
    assert not is_signed_by(TEXT, signed(), LOG_KEY._replace(public=WITNESS_KEY.public))
    assert not is_signed_by(TEXT, signed()._replace(name="other"), LOG_KEY)
    assert not is_signed_by(TEXT, signed()._replace(signature=b"short"), LOG_KEY)


def test_a_cosignature_binds_its_time_and_is_no_signature_of_the_log() -> None:
    line = cosigned()
    assert cosigned_at(line) == SECONDS
    assert is_signed_by(TEXT, line, WITNESS_KEY)
    later = line._replace(signature=cosignature(SECONDS + 1, line.signature[8:]))
    assert not is_signed_by(TEXT, later, WITNESS_KEY)
    assert not is_signed_by(TEXT, line, WITNESS_KEY._replace(kind=ED25519))
    plain = line._replace(signature=WITNESS.sign(TEXT.encode()))
    assert not is_signed_by(TEXT, plain, WITNESS_KEY)
    assert not is_signed_by(TEXT, line._replace(signature=b"1234567"), WITNESS_KEY)


def test_a_note_is_believed_for_a_known_key_and_refused_for_a_false_line_of_one() -> None:
    stranger = SignatureLine("stranger", b"abcd", b"whatever")
    note = Note(TEXT, (stranger, signed(), cosigned()))
    assert read_note(str(note)) == note
    assert signer_of(note, (LOG_KEY,)) == LOG_KEY
    assert signer_of(note, (WITNESS_KEY,)) == WITNESS_KEY
    assert signer_of(Note(TEXT, (stranger,)), (LOG_KEY,)) is None
    false = Note(TEXT, (signed(), cosigned()._replace(signature=bytes(72))))
    assert signer_of(false, (LOG_KEY, WITNESS_KEY)) is None


def test_keys_are_read_as_they_are_written() -> None:
    for key in (LOG_KEY, WITNESS_KEY):
        assert read_verifier_key(str(key)) == key
    assert LOG_KEY.key_id != LOG_KEY._replace(kind=COSIGNATURE).key_id


@pytest.mark.parametrize(
    "text",
    [
        "",
        "towers.example",
        "towers.example+00000000+",
        str(LOG_KEY)[:-4],
        str(LOG_KEY).replace("towers", "others"),
        str(LOG_KEY).replace("towers.", "tow ers."),
        str(LOG_KEY._replace(kind=2)),
        str(LOG_KEY._replace(public=b"short")),
    ],
)
def test_what_is_no_verifier_key_is_refused(text: str) -> None:
    with pytest.raises(BadNoteError):
        read_verifier_key(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a text\n",
        f"{TEXT}\n",
        f"{TEXT}{signed()}\n",
        f"{TEXT}\n{signed()}",
        f"{TEXT}\n- {LOG_KEY.name} AAAAAAAA\n",
        f"{TEXT}\n— {LOG_KEY.name} AAAA\n",
        f"{TEXT}\n— {LOG_KEY.name} AAAAAAA\n",
        f"{TEXT}\n— {LOG_KEY.name} AAAAAAB=\n",
        f"{TEXT}\n— a+b AAAAAAAA\n",
        f"{TEXT}\t\n{signed()}\n",
        str(Note("x" * 70_000 + "\n", (signed(),))),
        str(Note(TEXT, (signed(),) * 65)),
    ],
)
def test_what_is_no_note_is_refused(text: str) -> None:
    with pytest.raises(BadNoteError):
        read_note(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "origin\n7\n",
        TEXT.replace("7", "07"),
        TEXT.replace("7", "-7"),
        TEXT.replace("7", "seven"),
        TEXT.replace("=", ""),
        "origin\n7\nAAAA\n",
        TEXT.removesuffix("\n"),
        f"\n7\n{'A' * 43}=\n",
    ],
)
def test_what_is_no_checkpoint_is_refused(text: str) -> None:
    with pytest.raises(BadNoteError):
        read_checkpoint(text)


def test_an_empty_log_has_a_checkpoint_and_further_lines_are_ignored() -> None:
    empty = Checkpoint("origin", 0, EMPTY_ROOT)
    assert read_checkpoint(empty.text) == empty
    assert read_checkpoint(empty.text + "more\n") == empty


@given(st.text())
def test_whatever_is_read_is_a_note_or_refused(text: str) -> None:
    for read in (read_note, read_line, read_checkpoint, read_verifier_key):
        try:
            read(text)
        except BadNoteError:
            continue
