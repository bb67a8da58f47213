"""Our server passes the kit for servers, with the limits that it has by default."""

from pathlib import Path

from tests.end_to_end.servers import ServerProcess
from towerhall_conformance.case import Verdict
from towerhall_conformance.command import check_server
from towerhall_conformance.server_cases import ALL


async def test_our_server_passes_every_case(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path / "data", limits={})
    server.start()
    found: list[Verdict] = []
    try:
        await check_server(server.url, ALL.all, found, lambda verdict: None)
    finally:
        server.kill()
    assert [verdict for verdict in found if verdict.verdict != "passed"] == []
    assert len(found) == len(ALL.all)
