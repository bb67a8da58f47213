"""The checks of `towerhall log`. Each one reports what was checked, and what was not."""

import os
from base64 import b64decode, b64encode
from pathlib import Path
from time import time

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from towerhall_client.public_log import (
    LogFault,
    Memory,
    Numbers,
    RemoteLog,
    check_beginning,
    check_leaves,
    check_record,
)
from towerhall_protocol.notes import (
    COSIGNATURE,
    BadNoteError,
    SignatureLine,
    VerifierKey,
    cosignature,
    cosigned_message,
    is_name,
    read_note,
)
from towerhall_protocol.public_log import Census, Ended, Kind, Logged, Opened, leaves_of
from towerhall_server.cli.errors import UsageError

PRIVATE = "PRIVATE+KEY"
KINDS: tuple[Kind, ...] = ("opened", "ended", "dropped")
MOST_BYTES = 1 << 26


async def verify(remote: RemoteLog, since: Path | None, record: Path | None) -> None:
    """Read the whole log and run all checks that need no other party."""
    parts = None if record is None else _record(record)
    memory = _remembered(since)
    signed, new = await remote.look(memory)
    numbers = await remote.numbers()
    size = signed.checkpoint.size
    _ok(f"log {new.origin}: the checkpoint of {_leaves(size)} is signed by a known key")
    leaves = await remote.leaves(signed)
    _ok("all leaves are there, and lead to the signed root")
    await remote.check_tiles(signed, leaves)
    _ok("the tiles, the source of proofs, match the leaves")
    census = check_leaves(leaves, signed.note)
    _ok("each room is opened once, and closed at most once")
    _check_numbers(numbers, census, size)
    if memory is None:
        print("--      no earlier checkpoint was given: whether the log was changed is unknown")
    else:
        check_beginning(memory.signed, signed, leaves)
        _ok(f"it begins with the {_leaves(memory.signed.checkpoint.size)} of the last look")
    if parts is not None:
        check_record(parts, census, leaves, signed, new.keys)
        _ok(f"the seal and the commitment of the record in {record} are in the log")
        print("--      to check whether the record is true: towerhall verify FILE")
    print("--      witnesses check whether all readers get the same log")
    if since is not None:
        _keep(since, new)


def _check_numbers(numbers: Numbers, census: Census, size: int) -> None:
    told = {"opened": numbers.opened, "ended": numbers.ended, "dropped": numbers.dropped}
    counted = ", ".join(f"{census.counts[kind]} {kind}" for kind in KINDS)
    # These were read after the checkpoint: the log may have grown.
    if numbers.size == size and (told != census.counts or numbers.open != census.open):
        claimed = ", ".join(f"{told[kind]} {kind}" for kind in KINDS)
        raise LogFault(
            "wrong_numbers",
            f"the leaves say {counted}, {census.open} open; the service says {claimed},"
            f" {numbers.open} open",
        )
    _ok(f"rooms: {counted}, {census.open} never ended")
    print(
        f"--      {numbers.open_long} of them are open for longer than {numbers.long_days} days,"
        " says the service: leaves have no times"
    )


async def witness(
    remote: RemoteLog, key: Path, name: str, state: Path | None, *, post: bool
) -> None:
    """Check that the log continues the last look, and sign that."""
    private, verifier = _witness_key(key, name)
    memory = _remembered(state)
    signed, new = await remote.look(memory)
    size = signed.checkpoint.size
    _ok(f"log {new.origin}: the checkpoint of {_leaves(size)} is signed by a known key")
    if memory is None:
        print("--      this is the first look: the log is taken as it is")
    else:
        await remote.prove(memory.signed, signed)
        _ok(f"it continues the {_leaves(memory.signed.checkpoint.size)} of the last look")
    if state is not None:
        # Save first: otherwise a witness that dies here could sign two logs.
        _keep(state, new)
    text, seconds = read_note(signed.note).text, int(time())
    signature = cosignature(seconds, private.sign(cosigned_message(text, seconds)))
    line = SignatureLine(verifier.name, verifier.key_id, signature)
    print(line)
    if post:
        await remote.post(size, str(line))
        _ok("the service has the cosignature")


# Files


def _witness_key(path: Path, name: str) -> tuple[Ed25519PrivateKey, VerifierKey]:
    """Return the key in a file, as `PRIVATE+KEY+name+id+key`; created if missing."""
    if not path.exists():
        _make_key(path, name)
    try:
        text = path.read_text().strip()
        _, _, found, _, data = text.split("+", 4)
        kind, seed = b64decode(data)[0], b64decode(data)[1:]
        private = Ed25519PrivateKey.from_private_bytes(seed)
    except (OSError, ValueError, IndexError) as error:
        raise UsageError(f"{path} holds no key of a witness: {type(error).__name__}") from None
    verifier = VerifierKey(found, COSIGNATURE, private.public_key().public_bytes_raw())
    if kind != COSIGNATURE or text != _private_text(verifier, seed):
        raise UsageError(f"{path} holds no key of a witness")
    if name and name != found:
        raise UsageError(f"{path} holds the key of {found}, not of {name}")
    print(f"witness {verifier}")
    return private, verifier


def _make_key(path: Path, name: str) -> None:
    if not is_name(name):
        raise UsageError(
            f"{path} does not exist: give --name, such as witness.example/w1, to make a key"
        )
    private = Ed25519PrivateKey.generate()
    verifier = VerifierKey(name, COSIGNATURE, private.public_key().public_bytes_raw())
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    with os.fdopen(file, "w") as writer:
        writer.write(_private_text(verifier, private.private_bytes_raw()) + "\n")


def _private_text(verifier: VerifierKey, seed: bytes) -> str:
    data = b64encode(bytes([COSIGNATURE]) + seed).decode()
    return f"{PRIVATE}+{verifier.name}+{verifier.key_id.hex()}+{data}"


def _remembered(path: Path | None) -> Memory | None:
    """Return the state of the last look; None if there was none."""
    if path is None or not path.exists():
        return None
    try:
        memory = msgspec.json.decode(path.read_bytes(), type=Memory)
        memory.signed  # noqa: B018 - raises if it is no checkpoint
    except (OSError, msgspec.MsgspecError, BadNoteError) as error:
        raise UsageError(f"{path} is not the state of an earlier look: {error}") from None
    return memory


def _keep(path: Path, memory: Memory) -> None:
    """Write a file atomically: the old content or the new one."""
    new = path.with_name(f"{path.name}.new")
    try:
        with new.open("wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(memory), indent=1) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None


def _record(path: Path) -> tuple[Opened, Ended, Logged | None]:
    try:
        with path.open("rb") as file:
            return leaves_of(file.read(MOST_BYTES))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be used: {error}") from None


def _ok(text: str) -> None:
    print(f"ok      {text}")


def _leaves(number: int) -> str:
    return "1 leaf" if number == 1 else f"{number} leaves"
