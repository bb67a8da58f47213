"""When viewers are told the whole chain, and when the server signs it (P-99)."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from random import Random

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.live.live_rooms import DUEL, GAMES, FakeViewer, LiveNode, begin, live_node, no_fault
from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.evidence import compare
from towerhall_protocol.messages import ServerChain, ServerFrame, ServerWelcome
from towerhall_protocol.statements import (
    Signature,
    Statement,
    is_signed,
    key_id,
    statement_bytes,
)
from towerhall_server.frames import Prepared
from towerhall_server.game import AnyGame
from towerhall_server.live.loading import whole_log
from towerhall_server.live.record_store import find_or_make_record

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = KEY.public_key().public_bytes_raw()
SHARED: AnyGame = replace(DUEL, name="shared", shared_view=True)
WITH_SHARED = {**GAMES, "shared": SHARED}


def sign(statement: Statement) -> Signature:
    return Signature(key_id(PUBLIC), base64url(KEY.sign(statement_bytes(statement))))


@pytest.fixture
async def signing(url: str) -> AsyncIterator[LiveNode]:
    async with live_node(url, games=WITH_SHARED, sign=sign) as node:
        yield node


Viewers = tuple[FakeViewer, FakeViewer, FakeViewer]


async def played(node: LiveNode, rules: AnyGame = DUEL) -> Viewers:
    """A finished game, as two players saw it, and a spectator with a client of the level before."""
    ann = await FakeViewer("ann").enter(await node.found(rules))
    bob, eve = FakeViewer("bob"), FakeViewer("eve")
    eve.level = 3
    await bob.enter(ann.room)
    await eve.enter(ann.room)
    await begin(ann, bob)
    # Wishes that come and go make the log long enough.
    for number in range(12):
        await ann.do("want_end", wanted=number % 2 == 0)
    await asyncio.gather(ann.play(Random(1)), bob.play(Random(2)))
    await eve.until(lambda: eve.status == "over")
    no_fault(ann, bob, eve)
    return ann, bob, eve


def sealing(viewer: FakeViewer) -> int:
    """The seq of the commit that sealed the deal."""
    return next(f.seq for f in viewer.frames if any(fact[0] == "sealed" for fact in f.facts))


async def test_chains_come_with_every_sixteenth_frame_the_seal_and_the_end(
    signing: LiveNode, url: str
) -> None:
    ann, bob, eve = await played(signing, SHARED)
    entries = await whole_log(signing.log, ann.code)
    (welcomed,) = ann.of(ServerWelcome)
    assert welcomed.arrival.chain == (1, base64url(entries[0].chain))
    assert welcomed.arrival.shared
    seal, end = sealing(ann), len(entries)
    assert end > 16
    wanted = sorted({*range(16, end + 1, 16), seal, end})
    for viewer in (ann, bob):
        chains = viewer.of(ServerChain)
        assert [chain.seq for chain in chains] == wanted
        for chain in chains:
            assert from_base64url(chain.chain) == entries[chain.seq - 1].chain
            assert bool(chain.signature) == (chain.seq in (seal, end))
            at = viewer.got.index(chain)
            frame = viewer.got[at - 1]
            assert isinstance(frame, ServerFrame)
            assert frame.seq == chain.seq
    assert eve.of(ServerChain) == []
    assert eve.of(ServerWelcome)[0].arrival.chain is None
    assert not eve.of(ServerWelcome)[0].arrival.shared


async def test_frame_chain_and_offers_leave_in_one_write(
    signing: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[tuple[str, ...]] = []

    def noted(self: FakeViewer, *messages: Prepared) -> None:
        before = len(self.got)
        for message in messages:
            self._send(message)
        writes.append(tuple(type(message).__name__ for message in self.got[before:]))

    monkeypatch.setattr(FakeViewer, "send", noted)
    await played(signing)
    together = {write for write in writes if "ServerChain" in write}
    assert {write[:2] for write in together} == {("ServerFrame", "ServerChain")}
    assert {write[2:] for write in together} <= {(), ("ServerOffers",)}


async def test_what_is_signed_names_room_commitment_and_chain(signing: LiveNode) -> None:
    ann, *_ = await played(signing)
    table = ann.table
    signed = [chain for chain in ann.of(ServerChain) if chain.signature]
    assert len(signed) == 2
    for chain in signed:
        place = Statement(table.uid, table.commitment, chain.seq, from_base64url(chain.chain))
        signature = Signature(chain.key, chain.signature)
        assert is_signed(place, signature, PUBLIC)
        assert not is_signed(place._replace(seq=chain.seq + 1), signature, PUBLIC)


async def test_without_a_key_nothing_is_signed(one: LiveNode) -> None:
    ann, *_ = await played(one)
    assert len(ann.of(ServerChain)) >= 3
    assert not any(chain.signature for chain in ann.of(ServerChain))


@pytest.mark.parametrize("rules", [SHARED, DUEL], ids=["shared", "own"])
async def test_the_evidence_of_all_who_saw_a_game_agrees_with_its_record(
    signing: LiveNode, rules: AnyGame
) -> None:
    ann, bob, eve = await played(signing, rules)
    kept = await find_or_make_record(signing.log, ann.code, WITH_SHARED, sign)
    assert kept is not None
    record = msgspec.json.decode(kept.file)
    for viewer in (ann, bob):
        evidence = viewer.replay.evidence
        assert evidence is not None
        assert [place.why for place in evidence.places if place.why] == ["seal", "end"]
        # Who sits sees more than the record tells, unless all see the same; before that all watch.
        assert all(place.view for place in evidence.places[1:]) == rules.shared_view
        assert compare(evidence, record) == ()
        end = evidence.places[-1]
    assert record["signed"] == {"key": end.key, "signature": end.signature}
    older = eve.replay.evidence
    assert older is not None
    assert older.places == ()
    assert compare(older, record) == ()
