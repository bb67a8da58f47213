"""Our Python client passes the kit, over both subprotocols."""

import pytest

from tests.conformance.players import python_client, verdicts
from towerhall_conformance.cases import ALL, EVERY_BYTE
from towerhall_protocol.level import JSON, MSGPACK


@pytest.mark.parametrize("subprotocol", [MSGPACK, JSON])
async def test_the_python_client_passes_every_case(subprotocol: str) -> None:
    found = await verdicts(ALL.all, python_client(subprotocol))
    assert [verdict for verdict in found if verdict.verdict != "passed" or verdict.why] == []
    assert len(found) == len(ALL.all)


async def test_the_python_client_passes_a_cut_at_every_byte() -> None:
    found = await verdicts(EVERY_BYTE.all, python_client())
    assert [verdict for verdict in found if verdict.verdict == "failed"] == []
    assert sum(verdict.verdict == "passed" for verdict in found) >= 30
