"""Signed notes, checkpoints of logs and cosignatures, as texts.

The formats are those of C2SP: signed-note, tlog-checkpoint and tlog-cosignature. A note is a text
with signature lines below it. A checkpoint is a note that names a log, its size and the root of its
tree. A cosignature is a line by which a witness says that it has seen this checkpoint, and no other
tree of the log that contradicts it. Private keys are not known here; the check of a signature needs
the package `cryptography`.
"""

import re
from base64 import b64decode, b64encode
from hashlib import sha256
from struct import Struct
from typing import Final, NamedTuple

from towerhall_protocol.merkle import HASH_BYTES

ED25519: Final = 1
"""The kind of a key that signs notes."""
COSIGNATURE: Final = 4
"""The kind of a key that cosigns checkpoints."""
PUBLIC_KEY_BYTES: Final = 32
KEY_ID_BYTES: Final = 4
MOST_BYTES: Final = 1 << 16
MOST_SIGNATURES: Final = 64
DASH: Final = "\u2014"
NAME: Final = re.compile(r"[^\s+\x00-\x1f\x7f]+")
SIZE: Final = re.compile(r"0|[1-9][0-9]{0,15}")
_time = Struct(">Q")


class SignatureLine(NamedTuple):
    """One signature below a note."""

    name: str
    key_id: bytes
    signature: bytes

    def __str__(self) -> str:
        return f"{DASH} {self.name} {b64encode(self.key_id + self.signature).decode()}"


class Note(NamedTuple):
    """A text and its signatures; whether they hold is not known."""

    text: str
    signatures: tuple[SignatureLine, ...]

    def __str__(self) -> str:
        lines = "".join(f"{line}\n" for line in self.signatures)
        return f"{self.text}\n{lines}"


class VerifierKey(NamedTuple):
    """Whose signatures are believed."""

    name: str
    kind: int
    public: bytes

    @property
    def key_id(self) -> bytes:
        return note_key_id(self.name, self.kind, self.public)

    def __str__(self) -> str:
        public = b64encode(bytes([self.kind]) + self.public).decode()
        return f"{self.name}+{self.key_id.hex()}+{public}"


class Checkpoint(NamedTuple):
    """The state of a log."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        return f"{self.origin}\n{self.size}\n{b64encode(self.root).decode()}\n"


class BadNoteError(ValueError):
    """This is no such text; the message says why."""


def note_key_id(name: str, kind: int, public: bytes) -> bytes:
    """The short name of a key in signature lines."""
    return sha256(name.encode() + b"\n" + bytes([kind]) + public).digest()[:KEY_ID_BYTES]


def is_name(text: str) -> bool:
    """Whether a key, and so a log, may have this name."""
    return NAME.fullmatch(text) is not None


def read_line(line: str) -> SignatureLine:
    """One signature line, without its end."""
    dash, _, rest = line.partition(" ")
    name, _, encoded = rest.partition(" ")
    if dash != DASH or not is_name(name):
        raise BadNoteError("a signature is a dash, a name and base64")
    data = _bytes(encoded)
    if len(data) <= KEY_ID_BYTES:
        raise BadNoteError("a signature is too short")
    return SignatureLine(name, data[:KEY_ID_BYTES], data[KEY_ID_BYTES:])


def read_note(data: str) -> Note:
    """A note from anywhere."""
    if len(data.encode(errors="surrogatepass")) > MOST_BYTES:
        raise BadNoteError(f"a note has at most {MOST_BYTES} bytes")
    if any(letter < " " and letter != "\n" for letter in data):
        raise BadNoteError("a note has no control characters")
    text, cut, lines = data.rpartition("\n\n")
    if not cut or not lines.endswith("\n"):
        raise BadNoteError("a note is a text, an empty line and signatures")
    found = tuple(map(read_line, lines.removesuffix("\n").split("\n")))
    if len(found) > MOST_SIGNATURES:
        raise BadNoteError(f"a note has at most {MOST_SIGNATURES} signatures")
    return Note(f"{text}\n", found)


def read_checkpoint(text: str) -> Checkpoint:
    """The state of a log as the text of a note gives it. Further lines are ignored."""
    lines = text.removesuffix("\n").split("\n")
    if len(lines) < 3 or not all(lines) or not text.endswith("\n"):
        raise BadNoteError("a checkpoint has three lines: origin, size and root")
    origin, size, root = lines[:3]
    if not SIZE.fullmatch(size):
        raise BadNoteError("the second line of a checkpoint is a size")
    found = _bytes(root)
    if len(found) != HASH_BYTES:
        raise BadNoteError(f"the third line of a checkpoint is a hash of {HASH_BYTES} bytes")
    return Checkpoint(origin, int(size), found)


def read_verifier_key(text: str) -> VerifierKey:
    """A key as `name+id+key`."""
    parts = text.split("+", 2)
    if len(parts) != 3 or not is_name(parts[0]):
        raise BadNoteError("a verifier key is NAME+ID+KEY")
    data = _bytes(parts[2])
    if len(data) != 1 + PUBLIC_KEY_BYTES or data[0] not in (ED25519, COSIGNATURE):
        raise BadNoteError("the key is none of Ed25519")
    key = VerifierKey(parts[0], data[0], data[1:])
    if parts[1] != key.key_id.hex():
        raise BadNoteError("the id does not belong to this name and key")
    return key


def cosigned_message(text: str, seconds: int) -> bytes:
    """The text that a witness signs for a checkpoint, at a time since 1970."""
    return f"cosignature/v1\ntime {seconds}\n{text}".encode()


def cosignature(seconds: int, signature: bytes) -> bytes:
    """The signature of a witness as it stands in its line."""
    return _time.pack(seconds) + signature


def cosigned_at(line: SignatureLine) -> int | None:
    """When a witness signed, by its own clock; None if this is no cosignature."""
    if len(line.signature) <= _time.size:
        return None
    seconds: int = _time.unpack_from(line.signature)[0]
    return seconds if seconds < 1 << 63 else None


def is_signed_by(text: str, line: SignatureLine, key: VerifierKey) -> bool:
    """Whether this line is the signature of that key for the text of a note."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if (line.name, line.key_id) != (key.name, key.key_id):
        return False
    message, signature = text.encode(), line.signature
    if key.kind == COSIGNATURE:
        seconds = cosigned_at(line)
        if seconds is None:
            return False
        message, signature = cosigned_message(text, seconds), signature[_time.size :]
    try:
        Ed25519PublicKey.from_public_bytes(key.public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def signer_of(note: Note, keys: tuple[VerifierKey, ...]) -> VerifierKey | None:
    """The first of these keys that has signed a note. None if none has, or if a signature in the
    name of one of them is false."""
    found = None
    for key in keys:
        for line in note.signatures:
            if (line.name, line.key_id) == (key.name, key.key_id):
                if not is_signed_by(note.text, line, key):
                    return None
                found = found or key
    return found


def _bytes(text: str) -> bytes:
    """Standard base64, of which there is one form only."""
    try:
        data = b64decode(text, validate=True)
    except ValueError as error:
        raise BadNoteError(f"this is no base64: {error}") from None
    if b64encode(data).decode() != text:
        raise BadNoteError("this is no base64 as it should be written")
    return data
