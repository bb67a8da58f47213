"""Small builders for tests of the public log: rooms, nodes, and a log held against its rules."""

from collections.abc import Iterable
from hashlib import sha256
from typing import Final

from tests.eventlog.logs import ROOM
from towerhall_protocol.commands import base64url
from towerhall_protocol.merkle import Edge, edge_root, grown, leaf_hash
from towerhall_protocol.notes import Checkpoint, read_checkpoint, read_note, signer_of
from towerhall_protocol.public_log import Census, Dropped, Ended, Leaf, Opened, leaf_bytes
from towerhall_server.eventlog.log import EventLog
from towerhall_server.signing.signer import Signer
from towerhall_server.transparency.publishing import Publishing
from towerhall_server.transparency.reading import PublicLog
from towerhall_server.transparency.store import LogStore

ORIGIN: Final = "towers.example/v1/log"
SIGNER: Final = Signer([bytes(range(32))])
MOST_STEPS: Final = 1000


def digest(number: int, size: int, of: str) -> str:
    return base64url(sha256(f"{of} {number}".encode()).digest()[:size])


def opened(number: int) -> Opened:
    return Opened(digest(number, 16, "uid"), digest(number, 32, "commitment"))


def ended(number: int) -> Ended:
    return Ended(
        digest(number, 16, "uid"), 7, digest(number, 32, "chain"), digest(number, 32, "seal")
    )


def dropped(number: int) -> Dropped:
    return Dropped(digest(number, 16, "uid"))


def debt(*leaves: Leaf) -> bytes:
    return b"\n".join(map(leaf_bytes, leaves))


def publishing(log: EventLog) -> Publishing:
    """A node that does not wait for others."""
    return Publishing(LogStore(log), SIGNER, ORIGIN, settle_seconds=0.0)


def reading(log: EventLog) -> PublicLog:
    return PublicLog(LogStore(log), SIGNER, ORIGIN)


async def put(node: Publishing, owed: bytes) -> None:
    """A room owes this, and the node is told."""
    await node._store._log.owe(ROOM, owed)
    node.owe(ROOM)


async def settle(*nodes: Publishing) -> None:
    """Let each node do all that there is to do."""
    for node in nodes:
        for _ in range(MOST_STEPS):
            if not await node.step():
                break
        else:
            raise AssertionError("a node does not come to rest")


async def enter(node: Publishing, debts: Iterable[bytes]) -> None:
    for each in debts:
        await put(node, each)
    await settle(node)


async def enter_in_order(node: Publishing, debts: Iterable[bytes]) -> None:
    """The same, one debt after the other."""
    for each in debts:
        await enter(node, [each])


async def whole(log: EventLog) -> tuple[bytes, ...]:
    """All leaves that are in the store, if they lead to its head and to its checkpoint."""
    store = LogStore(log)
    head = await store.head()
    found: list[bytes] = []
    while len(found) < head.size:
        found += await store.leaves(len(found) // 256)
    assert len(found) == head.size
    edge, _ = grown(Edge(), map(leaf_hash, found))
    assert edge_root(edge) == head.root
    note = read_note(head.checkpoint)
    assert signer_of(note, (SIGNER.verifier(ORIGIN),)) is not None
    assert read_checkpoint(note.text) == Checkpoint(ORIGIN, head.size, head.root)
    census = Census()
    assert [census.take(leaf) for leaf in found] == [None] * len(found)
    return tuple(found)
