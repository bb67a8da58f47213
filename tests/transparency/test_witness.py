"""P-184: an observer who looks twice sees whether the log is still the same one."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from tests.cli.runs import Told, here
from tests.eventlog.logs import copy_of, go_back
from tests.transparency.logs import (
    ORIGIN,
    SIGNER,
    debt,
    dropped,
    ended,
    enter,
    enter_in_order,
    opened,
    publishing,
    reading,
    settle,
)
from tests.transparency.served import SEED, Face, served
from towerhall_protocol.commands import base64url
from towerhall_protocol.merkle import Edge, edge_root, grown, leaf_hash
from towerhall_protocol.notes import (
    Checkpoint,
    Note,
    is_signed_by,
    read_checkpoint,
    read_note,
    read_verifier_key,
    signer_of,
)
from towerhall_protocol.public_log import bundled, leaf_bytes, unbundled
from towerhall_protocol.statements import Statement, contradiction, is_signed
from towerhall_server.eventlog.log import EventLog
from towerhall_server.signing.signer import Signer
from towerhall_server.transparency.reading import NotCosignedError
from towerhall_server.transparency.service import OtherOriginError, open_public_log

OTHER_SEED = bytes(range(1, 33))


def rooms(*numbers: int) -> list[bytes]:
    return [debt(opened(number), ended(number)) for number in numbers]


@pytest.fixture
async def face(log: EventLog, redis: Redis) -> AsyncIterator[Face]:
    """A log of twenty rooms."""
    async with served(log) as shown:
        await enter_in_order(publishing(log), rooms(*range(20)))
        yield shown


async def look(face: Face, folder: Path, *flags: str) -> Told:
    key, state = folder / "witness.key", folder / "state"
    arguments = ["log", "witness", face.url, "--key", str(key), "--state", str(state)]
    if not key.exists():
        arguments += ["--name", "witness.example/w1"]
    return await asyncio.to_thread(here, *arguments, *flags)


async def verify(face: Face, *flags: str | Path) -> Told:
    return await asyncio.to_thread(here, "log", "verify", face.url, *map(str, flags))


async def rebuilt(log: EventLog, redis: Redis, *numbers: int) -> None:
    """Another log in place of the one that was shown, signed by the same key."""
    await redis.flushall()
    await enter_in_order(publishing(log), rooms(*numbers))


def evidence(path: Path) -> list[Checkpoint]:
    """The checkpoints in a file of evidence, each of them signed by the log."""
    first, *others = path.read_text().split(f"\n{ORIGIN}\n")
    found = [read_note(first), *(read_note(f"{ORIGIN}\n{rest}") for rest in others)]
    assert [signer_of(note, (SIGNER.verifier(ORIGIN),)) is not None for note in found] == [True] * 2
    return [read_checkpoint(note.text) for note in found]


# A log that goes on


async def test_a_log_that_goes_on_is_cosigned(face: Face, log: EventLog, tmp_path: Path) -> None:
    told = await look(face, tmp_path)
    assert told.status == 0, told
    assert "this is the first look" in told.out
    await enter(publishing(log), rooms(*range(20, 200)))
    told = await look(face, tmp_path)
    assert told.status == 0, told
    assert "it continues the 40 leaves of the last look" in told.out
    (line,) = [line for line in told.out.splitlines() if line.startswith("\u2014")]
    (shown,) = [line for line in told.out.splitlines() if line.startswith("witness ")]
    key = read_verifier_key(shown.removeprefix("witness "))
    checkpoint = await reading(log).checkpoint()
    assert checkpoint is not None
    note = read_note(checkpoint)
    (cosigned,) = read_note(f"{note.text}\n{line}\n").signatures
    assert is_signed_by(note.text, cosigned, key)
    assert (tmp_path / "witness.key").stat().st_mode & 0o077 == 0


async def test_the_whole_log_is_verified(face: Face, log: EventLog, tmp_path: Path) -> None:
    await enter(publishing(log), [debt(opened(30)), debt(opened(31), dropped(31))])
    since = tmp_path / "since"
    told = await verify(face, "--since", since)
    assert told.status == 0, told
    assert "21 opened" not in told.out
    assert "22 opened, 20 ended, 1 dropped, 1 never ended" in told.out
    await enter(publishing(log), rooms(*range(40, 300)))
    told = await verify(face, "--since", since)
    assert told.status == 0, told
    assert "it begins with the 43 leaves of the last look" in told.out


# Tails that are shortened, forked, rewritten


@pytest.mark.parametrize("by", ["witness", "verify"])
@pytest.mark.parametrize(
    ("others", "code"),
    [
        (range(15), "shortened"),
        ([*range(19), 99], "forked"),
        ([*range(19), 99, 100, 101], "rewritten"),
        ([99, *range(1, 40)], "rewritten"),
    ],
    ids=["shortened", "forked", "rewritten tail", "rewritten beginning"],
)
async def test_a_changed_log_is_seen_and_convicted(
    face: Face, log: EventLog, redis: Redis, tmp_path: Path, others: list[int], code: str, by: str
) -> None:
    state = tmp_path / "state"

    async def looked() -> Told:
        return await (look(face, tmp_path) if by == "witness" else verify(face, "--since", state))

    assert (await looked()).status == 0
    before = state.read_text()
    await rebuilt(log, redis, *others)
    told = await looked()
    assert told.status == 1, told
    assert f"NOT OK  {code}: " in told.out
    assert "\u2014" not in told.out, "no cosignature"
    assert state.read_text() == before
    old, new = evidence(tmp_path / "state.evidence")
    assert (old.size, new.size) == (40, 2 * len(others))
    assert old.root != new.root


async def test_a_store_that_went_back_is_no_fault_once_a_node_has_put_the_rest_back(
    face: Face, log: EventLog, redis: Redis, tmp_path: Path
) -> None:
    node = publishing(log)
    await settle(node)
    copy = await copy_of(redis)
    await enter(node, rooms(50, 51))
    assert (await look(face, tmp_path)).status == 0
    await go_back(redis, copy)
    assert "shortened" in (await look(face, tmp_path)).out
    await settle(node)
    assert (await look(face, tmp_path)).status == 0


# Lies


def other_leaf(number: int) -> bytes:
    return leaf_bytes(opened(number))


async def test_a_missing_or_a_changed_leaf_is_seen(face: Face) -> None:
    def without(path: str, data: bytes) -> bytes:
        leaves = unbundled(data) if "/entries/" in path else None
        return data if leaves is None else b"".join(map(bundled, leaves[:-1]))

    def changed(path: str, data: bytes) -> bytes:
        leaves = unbundled(data) if "/entries/" in path else None
        return data if leaves is None else b"".join(map(bundled, (other_leaf(77), *leaves[1:])))

    def changed_with_its_tile(path: str, data: bytes) -> bytes:
        if "/tile/0/" in path:
            return leaf_hash(other_leaf(77)) + data[32:]
        return changed(path, data)

    def gone(path: str, data: bytes) -> bytes | None:
        return None if "/entries/" in path else data

    def bad_tile(path: str, data: bytes) -> bytes:
        return bytes(len(data)) if "/tile/0/" in path else data

    for lie in (without, changed, changed_with_its_tile, gone, bad_tile):
        face.lie = lie
        told = await verify(face)
        assert told.status == 1, lie
        assert "NOT OK  missing: " in told.out


async def test_leaves_that_break_the_rules_are_seen(
    face: Face, log: EventLog, redis: Redis
) -> None:
    """The log of a server that signs whatever it likes."""
    for leaves in (
        [leaf_bytes(opened(1)), leaf_bytes(opened(1))],
        [leaf_bytes(ended(1))],
        [leaf_bytes(opened(1)), leaf_bytes(ended(1)), leaf_bytes(dropped(1))],
        [b'{"kind": "opened"}'],
    ):
        edge, _ = grown(Edge(), map(leaf_hash, leaves))
        text = Checkpoint(ORIGIN, len(leaves), edge_root(edge)).text
        note = str(Note(text, (SIGNER.sign_note(ORIGIN, text),)))

        def lie(
            path: str, data: bytes, leaves: list[bytes] = leaves, note: str = note
        ) -> bytes | None:
            if path.endswith("/checkpoint"):
                return note.encode()
            if "/entries/" in path:
                return b"".join(map(bundled, leaves))
            return b"".join(map(leaf_hash, leaves)) if "/tile/0/" in path else data

        face.lie = lie
        told = await verify(face)
        assert told.status == 1
        assert "NOT OK  bad_leaf: " in told.out


async def test_numbers_that_the_leaves_do_not_bear_out_are_seen(face: Face) -> None:
    def lie(path: str, data: bytes) -> bytes:
        return data.replace(b'"open":0', b'"open":1') if path == "/v1/log" else data

    face.lie = lie
    told = await verify(face)
    assert (told.status, "wrong_numbers" in told.out) == (1, True)


async def test_a_checkpoint_of_another_key_or_log_is_refused(face: Face) -> None:
    root = bytes(32)
    stranger = Signer([OTHER_SEED])
    for name, signer, code in (
        (ORIGIN, stranger, "unsigned"),
        ("other.example/log", SIGNER, "other_log"),
    ):
        text = Checkpoint(name, 40, root).text
        note = str(Note(text, (signer.sign_note(name, text),)))
        face.lie = lambda path, data, note=note: (  # type: ignore[misc]
            note.encode() if path.endswith("/checkpoint") else data
        )
        assert f"NOT OK  {code}: " in (await verify(face)).out
    face.lie = lambda path, data: b"nonsense" if path.endswith("/checkpoint") else data
    assert "NOT OK  unsigned: " in (await verify(face)).out


# Records


def record(number: int, **changes: object) -> dict[str, object]:
    """What of a record is in the log."""
    leaf = ended(number)
    made: dict[str, object] = {
        "uid": leaf.uid,
        "commits": [[leaf.seq, "id", "chain", "blob", 1, 1]],
        "chain": leaf.chain,
        "seal": leaf.seal,
        "proof": {"commitment": opened(number).commitment},
    }
    return made | changes


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, ""),
        ({"seal": base64url(bytes(32))}, "other_record"),
        ({"chain": base64url(bytes(32))}, "other_record"),
        ({"commits": [[8, "id", "chain", "blob", 1, 1]]}, "other_record"),
        ({"proof": {"commitment": base64url(bytes(32))}}, "other_commitment"),
        ({"uid": base64url(bytes(16))}, "not_logged"),
    ],
)
async def test_a_changed_record_is_seen(
    face: Face, tmp_path: Path, changes: dict[str, object], code: str
) -> None:
    path = tmp_path / "record.json"
    path.write_text(json.dumps(record(3, **changes)))
    told = await verify(face, "--record", path)
    assert told.status == (1 if code else 0), told
    assert f"NOT OK  {code}: " in told.out if code else "are in the log" in told.out


async def test_the_proof_in_a_record_is_held_against_the_log(
    face: Face, log: EventLog, tmp_path: Path
) -> None:
    path = tmp_path / "record.json"
    logged = await reading(log).proof(debt(opened(3), ended(3)))
    assert logged is not None
    proof = {
        "index": logged.index,
        "size": logged.size,
        "proof": list(logged.proof),
        "checkpoint": logged.checkpoint,
    }
    await enter(publishing(log), rooms(*range(20, 30)))
    path.write_text(json.dumps(record(3, log=proof)))
    assert (await verify(face, "--record", path)).status == 0
    path.write_text(json.dumps(record(3, log=proof | {"index": logged.index - 2})))
    assert "bad_proof" in (await verify(face, "--record", path)).out
    # A log of one leaf, for this record alone.
    root = leaf_hash(leaf_bytes(ended(3)))
    text = Checkpoint(ORIGIN, 1, root).text
    alone = str(Note(text, (SIGNER.sign_note(ORIGIN, text),)))
    proof = {"index": 0, "size": 1, "proof": [], "checkpoint": alone}
    path.write_text(json.dumps(record(3, log=proof)))
    told = await verify(face, "--record", path)
    assert "NOT OK  rewritten: " in told.out
    path.write_text(json.dumps(record(3, log=proof | {"checkpoint": text})))
    assert "bad_proof" in (await verify(face, "--record", path)).out


# Keys


async def test_a_key_that_was_published_before_it_signs_is_known(
    log: EventLog, redis: Redis, tmp_path: Path
) -> None:
    async with served(log, seeds=(SEED, OTHER_SEED)) as face:
        await enter(publishing(log), rooms(1))
        assert (await look(face, tmp_path)).status == 0
    later = publishing(log)
    later._signer = Signer([OTHER_SEED, SEED])
    await enter(later, rooms(2))
    async with served(log, seeds=(OTHER_SEED, SEED)) as face:
        assert (await look(face, tmp_path)).status == 0
    # The first one is not in the settings any more; it stays published, with its end.
    async with served(log, seeds=(OTHER_SEED,)) as face:
        published = face.public.history.published
        assert [key.until_ms is None for key in published] == [True, False]
        assert (await look(face, tmp_path)).status == 0


async def test_a_key_that_comes_from_nowhere_or_vanishes_is_a_finding(
    log: EventLog, redis: Redis, tmp_path: Path
) -> None:
    async with served(log) as face:
        await enter(publishing(log), rooms(1))
        assert (await look(face, tmp_path)).status == 0
        face.lie = lambda path, data: (
            data.replace(base64url(SIGNER.public[0]).encode(), base64url(bytes(32)).encode())
            if path.startswith("/.well-known")
            else data
        )
        assert "key_gone" in (await look(face, tmp_path)).out
    later = publishing(log)
    later._signer = Signer([OTHER_SEED])
    await enter(later, rooms(2))
    async with served(log, seeds=(OTHER_SEED,)) as face:
        assert "strange_key" in (await look(face, tmp_path)).out


async def test_a_log_keeps_its_name(log: EventLog, redis: Redis) -> None:
    first = await open_public_log(log, [SEED], "", ["towers.example", "other.example"])
    assert first.log.origin == "towers.example/v1/log"
    again = await open_public_log(log, [SEED])
    assert again.log.origin == first.log.origin
    with pytest.raises(OtherOriginError, match="is named towers"):
        await open_public_log(log, [SEED], "other.example/v1/log")
    await redis.flushall()
    by_chance = await open_public_log(log, [SEED], "", ["[::1]:8000"])
    assert by_chance.log.origin


# What a server said twice


async def test_two_signed_statements_convict_a_server(face: Face) -> None:
    """A stranger has only what was published, and what two players were given."""
    signer = Signer([SEED])
    one = Statement(b"u" * 16, b"c" * 32, 12, b"x" * 32)
    other = one._replace(chain=b"y" * 32)
    said = [(statement, signer.sign(statement)) for statement in (one, other)]
    (published,) = face.public.history.published
    public = SIGNER.public[0]
    assert (published.key, published.public) == (said[0][1].key, base64url(public))
    assert all(is_signed(statement, signature, public) for statement, signature in said)
    assert contradiction(one, other) == "chain"
    assert not is_signed(other, said[0][1], public)


# Cosignatures


async def test_cosignatures_of_listed_witnesses_are_served(
    log: EventLog, redis: Redis, tmp_path: Path
) -> None:
    async with served(log) as face:
        await enter(publishing(log), rooms(1, 2))
        told = await look(face, tmp_path)
        key = told.out.splitlines()[0].removeprefix("witness ")
        refused = await look(face, tmp_path, "--post")
        assert (refused.status, "forbidden" in refused.err) == (2, True)
    async with served(log, (key,)) as face:
        told = await look(face, tmp_path, "--post")
        assert told.status == 0, told
        public = face.public.log
        note = await public.checkpoint()
        assert note is not None
        assert signer_of(read_note(note), (read_verifier_key(key),)) is not None
        await enter(publishing(log), rooms(3))
        later = await public.checkpoint()
        assert later is not None
        assert signer_of(read_note(later), (read_verifier_key(key),)) is None
        about = await public.about()
        assert about["witnesses"][0]["name"] == "witness.example/w1"
        assert about["witnesses"][0]["size"] == 4
        cosigned = read_note(about["cosigned"])
        keys = (SIGNER.verifier(ORIGIN), read_verifier_key(key))
        assert [signer_of(cosigned, (each,)) for each in keys] == [*keys]
        assert read_checkpoint(cosigned.text).size == 4


async def test_a_false_cosignature_is_refused(log: EventLog, redis: Redis, tmp_path: Path) -> None:
    async with served(log) as face:
        await enter(publishing(log), rooms(1, 2))
        told = await look(face, tmp_path)
    key = told.out.splitlines()[0].removeprefix("witness ")
    (line,) = [line for line in told.out.splitlines() if line.startswith("\u2014")]
    async with served(log, (key,)) as face:
        public = face.public.log
        name, _, data = line.removeprefix("\u2014 ").partition(" ")
        forged = data[:40] + ("A" if data[40] != "A" else "B") + data[41:]
        for size, text in ((3, line), (4, f"\u2014 {name} {forged}"), (9, line), (4, "nonsense")):
            with pytest.raises(NotCosignedError):
                await public.cosign(size, text)
        assert (await public.about())["witnesses"] == []
        await public.cosign(4, line)
        assert len((await public.about())["witnesses"]) == 1


# The command line


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["verify", "nowhere"], "no http or https address"),
        (["verify", "http://127.0.0.1:1"], "could not be read"),
        (["witness", "http://127.0.0.1:1", "--key", "missing"], "give --name"),
        (["verify", "http://127.0.0.1:1", "--record", "missing"], "missing cannot be used"),
        (
            ["verify", "http://127.0.0.1:1", "--since", "nonsense"],
            "is not the state of an earlier look",
        ),
        (["witness", "http://127.0.0.1:1", "--key", "nonsense"], "holds no key of a witness"),
    ],
)
def test_what_cannot_be_done_is_told(tmp_path: Path, arguments: list[str], text: str) -> None:
    (tmp_path / "nonsense").write_text("nonsense")
    told = here("log", *arguments, cwd=tmp_path)
    assert told.status == 2
    assert text in told.err


async def test_a_key_is_of_one_witness(face: Face, tmp_path: Path) -> None:
    await look(face, tmp_path)
    told = await look(face, tmp_path, "--name", "other.example/w")
    assert (told.status, "holds the key of witness.example/w1" in told.err) == (2, True)
