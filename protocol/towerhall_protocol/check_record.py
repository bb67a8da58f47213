"""Checking the record of a finished game without trusting its maker, by the specification alone
(P-86, P-87, P-120 to P-125, P-186): the same steps as `verify.ts` makes.

Checks that need the rules of a game are not made here: that moves follow the rules, that bots moved
as bots do, and that views show the outcome. `towerhall verify` decides every commit again.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from towerhall_protocol.commands import from_base64url
from towerhall_protocol.evidence import Difference, Evidence, compare
from towerhall_protocol.notes import ED25519, VerifierKey, read_checkpoint, read_note, signer_of
from towerhall_protocol.public_log import Ended, proof_problem
from towerhall_protocol.record import Record, end_of, read
from towerhall_protocol.record_steps import STEPS, Fault, Where, need, read_file
from towerhall_protocol.statements import Signature, is_signed, key_id

Keys = Mapping[str, str]
"""Public keys of a server by their names."""


class Check(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that was checked about a record, or why it was not."""

    name: str
    ok: bool
    """True as well if it was not checked."""
    detail: dict[str, Any] = {}
    """With `where`, if it is wrong: the place of the first fault."""
    skipped: str = ""
    """`no_signature`, `not_logged`, `no_key`, `no_ed25519` or `no_evidence`."""


class Skip(Exception):  # noqa: N818 - nothing is wrong
    """Something cannot be checked here."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def check_record(
    data: bytes, *, keys: Keys | None = None, evidence: Evidence | None = None
) -> tuple[Check, ...]:
    """All checks, in the order in which the proof is built. `keys` are those of the server,
    `evidence` is that of a client. `RecordError` if the file is no record."""
    record = read(data)
    file = read_file(record)
    known = {} if keys is None else keys
    return (
        *(_checked(name, partial(step, file)) for name, step in STEPS.items()),
        *check_signed(record, known),
        _checked("seen", partial(_check_seen, record, evidence)),
    )


def check_signed(record: Record, keys: Keys) -> tuple[Check, Check]:
    """The signed parts of a record, by these keys: its end, and its public log."""
    return (
        _checked("signature", partial(_check_signature, record, keys)),
        _checked("log", partial(_check_log, record, keys)),
    )


def read_keys(data: bytes) -> dict[str, str]:
    """The keys in the answer to P-180, by their names. `ValueError` if there is none."""
    known = {key.key: key.public for key in msgspec.json.decode(data, type=_WellKnown).keys}
    for name, public in known.items():
        if key_id(from_base64url(public)) != name:
            raise ValueError(f"{name} is not the name of its key")
    return known


class _Key(msgspec.Struct):
    key: str
    public: str


class _WellKnown(msgspec.Struct):
    keys: tuple[_Key, ...]


def _checked(name: str, step: Callable[[], Where]) -> Check:
    """A step that raises does not hold: a file may hold anything."""
    try:
        return Check(name, ok=True, detail=dict(step()))
    except Skip as skip:
        return Check(name, ok=True, skipped=skip.why)
    except ImportError:
        return Check(name, ok=True, skipped="no_ed25519")
    except Fault as fault:
        return Check(name, ok=False, detail={"where": fault.where})
    except Exception as error:  # noqa: BLE001 - a file may hold anything at all
        return Check(name, ok=False, detail={"where": {"error": str(error)}})


def _check_signature(record: Record, keys: Keys) -> Where:
    """The server has signed the end of this very room (P-124)."""
    if record.signed is None:
        raise Skip("no_signature")
    signature = Signature(record.signed.key, record.signed.signature)
    if signature.key not in keys:
        raise Skip("no_key")
    public = from_base64url(keys[signature.key])
    need(is_signed(end_of(record), signature, public), part="signature")
    return {"key": signature.key}


def _check_log(record: Record, keys: Keys) -> Where:
    """The public log of the server has the end of this room (P-186)."""
    logged = record.log
    if logged is None:
        raise Skip("not_logged")
    leaf = Ended(record.uid, record.commits[-1].seq, record.chain, record.seal)
    problem = proof_problem(leaf, logged)
    need(problem is None, error=problem)
    note = read_note(logged.checkpoint)
    origin = read_checkpoint(note.text).origin
    known = [VerifierKey(origin, ED25519, from_base64url(text)) for text in keys.values()]
    signers = {(line.name, line.key_id) for line in note.signatures}
    named = tuple(key for key in known if (key.name, key.key_id) in signers)
    if not named:
        raise Skip("no_key")
    need(signer_of(note, named) is not None, part="log")
    return {"leaves": logged.size}


def _check_seen(record: Record, evidence: Evidence | None) -> Where:
    """It is the game that this client saw (P-87)."""
    if evidence is None:
        raise Skip("no_evidence")
    found = compare(evidence, msgspec.to_builtins(record))
    if found:
        raise Fault(**_place(found[0]))
    seen = [place.seq for place in evidence.places]
    return {"seen_places": seen, "seen_nonces": list(evidence.nonces.values())}


def _place(difference: Difference) -> dict[str, Any]:
    """Where a record and what was seen part."""
    match difference.code:
        case "room":
            return {"part": "uid"}
        case "commitment":
            return {"part": "commitment"}
        case "nonce":
            return {"deal": difference.at}
    return {"commit": difference.at}
