"""The vectors of a record that its server has signed and entered into its public log, the keys of
that server, and changes of signature and proof that a check with these keys has to find."""

import json
from collections.abc import Callable
from typing import Any, Final

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.protocol.record_vectors import true_record
from towerhall_protocol.commands import base64url
from towerhall_protocol.merkle import Subtree, complete_hash, inclusion_spans, leaf_hash, span_hash
from towerhall_protocol.notes import ED25519, Checkpoint, Note, SignatureLine, VerifierKey
from towerhall_protocol.public_log import Dropped, Leaf, Logged, leaf_bytes, leaves_of, logged_of
from towerhall_protocol.record import end_of, read, signed, write
from towerhall_protocol.statements import Signature, Statement, key_id, statement_bytes

ORIGIN: Final = "towers.example/v1/log"
PRIVATE: Final = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER: Final = Ed25519PrivateKey.from_private_bytes(bytes(32))
"""Another party's."""
OTHERS: Final = tuple(Dropped(base64url(bytes([number]) * 16)) for number in range(11))
"""Leaves of other rooms."""


def public_of(key: Ed25519PrivateKey) -> bytes:
    return key.public_key().public_bytes_raw()


def keys() -> dict[str, str]:
    """As a verifier takes them from `/.well-known/towerhall`."""
    return {key_id(public_of(PRIVATE)): base64url(public_of(PRIVATE))}


def sign(statement: Statement, key: Ed25519PrivateKey = PRIVATE) -> Signature:
    return Signature(key_id(public_of(PRIVATE)), base64url(key.sign(statement_bytes(statement))))


def logged(key: Ed25519PrivateKey = PRIVATE, leaf: Leaf | None = None) -> Logged:
    """The proof that a log of thirteen leaves has the end of the room as its tenth."""
    opened, ended, _ = leaves_of(true_record())
    leaves = (OTHERS[0], opened, *OTHERS[1:8], leaf or ended, *OTHERS[8:])
    hashes = [leaf_hash(leaf_bytes(one)) for one in leaves]

    def node(subtree: Subtree) -> bytes:
        height, number = subtree
        return complete_hash(hashes[number << height : (number + 1) << height])

    size, index = len(hashes), 9
    proof = tuple(span_hash(span, node) for span in inclusion_spans(index, size))
    checkpoint = Checkpoint(ORIGIN, size, span_hash((0, size), node)).text
    verifier = VerifierKey(ORIGIN, ED25519, public_of(PRIVATE))
    line = SignatureLine(ORIGIN, verifier.key_id, key.sign(checkpoint.encode()))
    return logged_of(index, size, proof, str(Note(checkpoint, (line,))))


def signed_record() -> bytes:
    """The true record, with signature and proof."""
    return write(msgspec.structs.replace(signed(read(true_record()), sign), log=logged()))


def tampered() -> list[dict[str, Any]]:
    """Changes of the signed record: each breaks one step."""
    told = json.loads(signed_record())
    return [
        {"name": name, "clause": clause, "step": step, "set": [[path, value(told)]]}
        for name, clause, step, path, value in CASES
    ]


def _plain(found: Logged) -> Any:
    return msgspec.to_builtins(found)


def _other_end(told: Any) -> Any:
    """The log has another record of the room: all of the proof holds, for that one."""
    _, ended, _ = leaves_of(true_record())
    return _plain(logged(leaf=msgspec.structs.replace(ended, seal=base64url(bytes(32)))))


def _signature(key: Ed25519PrivateKey, **changes: Any) -> str:
    return sign(end_of(read(true_record()))._replace(**changes), key).signature


def _swapped(told: Any) -> Any:
    return told["log"]["proof"][::-1]


SIGNED: Final = ["signed", "signature"]
CASES: Final[tuple[tuple[str, int, str, list[str], Callable[[Any], Any]], ...]] = (
    ("the signature of another party", 124, "signature", SIGNED, lambda _: _signature(OTHER)),
    ("signed at another seq", 124, "signature", SIGNED, lambda _: _signature(PRIVATE, seq=71)),
    (
        "signed with another chain",
        124,
        "signature",
        SIGNED,
        lambda _: _signature(PRIVATE, chain=bytes(32)),
    ),
    (
        "signed with another commitment",
        124,
        "signature",
        SIGNED,
        lambda _: _signature(PRIVATE, commitment=bytes(32)),
    ),
    ("another place in the log", 186, "log", ["log", "index"], lambda told: 8),
    ("another size of the log", 186, "log", ["log", "size"], lambda told: 14),
    ("a proof in another order", 186, "log", ["log", "proof"], _swapped),
    ("a shorter proof", 186, "log", ["log", "proof"], lambda told: told["log"]["proof"][:-1]),
    ("a checkpoint of another party", 186, "log", ["log"], lambda _: _plain(logged(OTHER))),
    ("another record in the log", 186, "log", ["log"], _other_end),
    ("a checkpoint that is none", 186, "log", ["log", "checkpoint"], lambda _: "none\n\n"),
)
