"""A server with a key: what it signs on the way, what its record holds, and how it is convicted."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec
import pytest

from tests.end_to_end.games import play_out, seated
from tests.end_to_end.raw import ask, inside, new_guest, new_room
from tests.end_to_end.servers import ServerProcess, running
from towerhall_client.http import NewRoom, Service
from towerhall_protocol.check_record import Check
from towerhall_protocol.commands import from_base64url
from towerhall_protocol.evidence import Evidence, Place, with_place
from towerhall_protocol.statements import Signature, Statement, contradiction, is_signed

PATIENCE_SECONDS = 25.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with a store of its own, and so with a key of its own."""
    with running(tmp_path_factory.mktemp("signed") / "data") as started:
        yield started


def said(evidence: Evidence, place: Place) -> Statement:
    """What a place of the evidence says."""
    uid, commitment = map(from_base64url, (evidence.uid, evidence.commitment))
    return Statement(uid, commitment, place.seq, from_base64url(place.chain))


def holds(evidence: Evidence, place: Place, keys: dict[str, str]) -> bool:
    """Whether a published key has signed this place."""
    public = from_base64url(keys[place.key])
    return is_signed(said(evidence, place), Signature(place.key, place.signature), public)


def opening(made: NewRoom) -> Evidence:
    """What the answer to the creation of a room is evidence of."""
    assert made.signed is not None
    return Evidence(made.uid, made.code, made.commitment, places=(made.signed,))


async def checked(service: Service, made: NewRoom, evidence: Evidence) -> tuple[Check, ...]:
    """The check, once the public log has the record."""
    began = monotonic()
    while True:
        found = await service.check_record(made.code, evidence=evidence)
        if not any(check.skipped == "not_logged" for check in found):
            return found
        assert monotonic() - began < PATIENCE_SECONDS
        await asyncio.sleep(0.1)


async def test_all_that_was_signed_on_the_way_holds_and_so_does_the_record(
    server: ServerProcess,
) -> None:
    service = Service(server.url)
    keys = await service.keys()
    async with seated(service, 2) as (made, tables):
        first = opening(made)
        assert [place.seq for place in first.places] == [1]
        assert holds(first, first.places[0], keys)
        await tables[0].start()
        await tables[1].sign()
        await play_out(tables)
        seen = [table.evidence for table in tables]
    for evidence in seen:
        assert evidence is not None
        signed = [place for place in evidence.places if place.signature]
        assert {"seal", "end"} <= {place.why for place in signed}
        assert all(holds(evidence, place, keys) for place in signed)
        other = msgspec.structs.replace(signed[0], chain=signed[-1].chain)
        assert not holds(evidence, other, keys)
        checks = await checked(service, made, with_place(evidence, first.places[0]))
        assert [(check.ok, check.skipped) for check in checks] == [(True, "")] * 12


async def test_sign_is_answered_for_the_present_place(server: ServerProcess) -> None:
    service = Service(server.url)
    token = (await service.guest("Ada")).token
    made = await service.create_room(token, "five_towers", seats=2)
    async with inside(server.url, made.code, token, level=4) as raw:
        await raw.done("sit")
        await raw.say("sign")
        _, seq, chain, key, signature = await raw.wait_for("chain")
        assert seq == 2
        assert holds(opening(made), Place(seq, chain, key, signature), await service.keys())


async def sign_in(server: ServerProcess, token: str, code: str, seat: int) -> Place:
    """Take a seat, and have the place after it signed."""
    async with inside(server.url, code, token, level=4) as raw:
        await raw.done("sit", seat=seat)
        await raw.say("sign")
        return Place(*(await raw.wait_for("chain"))[1:])


async def test_a_server_that_says_two_things_is_convicted_by_its_own_signatures(
    tmp_path: Path,
) -> None:
    """The operator runs two copies of the service, and shows each player another history."""
    with running(tmp_path / "data") as one:
        token = await asyncio.to_thread(new_guest, one.url)
        answer: dict[str, Any] = await asyncio.to_thread(lambda: new_room(one.url, token, seats=2))
        made = msgspec.convert(answer, NewRoom)
        await asyncio.to_thread(one.stop)
        shutil.copytree(tmp_path / "data", tmp_path / "copy")
        await asyncio.to_thread(one.start)
        with running(tmp_path / "copy") as other:
            places = [
                await sign_in(each, token, made.code, seat)
                for seat, each in enumerate((one, other))
            ]
            known = (
                await asyncio.to_thread(ask, one.url, "GET", "/.well-known/towerhall")
            ).document
    keys = {key["key"]: key["public"] for key in known["keys"]}
    room = opening(made)
    assert all(holds(room, place, keys) for place in (*room.places, *places))
    first, second = (said(room, place) for place in places)
    assert contradiction(first, second) == "chain"
    assert contradiction(said(room, room.places[0]), first) is None
    # The conviction needs both signatures: words that anyone could have made convict no server.
    assert not holds(room, msgspec.structs.replace(places[0], chain=places[1].chain), keys)
