"""What an operator may ask holds for all servers of a store; while it is silent, for each."""

import asyncio
import os
import signal
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.end_to_end.servers import LIMITS, running
from tests.operators.processes import (
    ACME_KEY,
    NEW_ACME_KEY,
    OPERATORS,
    OTHER_KEY,
    as_operator,
    node,
)

FEW = {"TOWERHALL_LIMIT_OPERATOR_REQUESTS": "4/h burst 4"}
WRONG_KEY = "nobody-has-this-key-of-an-operator"


@pytest.mark.parametrize(
    ("keys", "status", "others"),
    [((ACME_KEY, NEW_ACME_KEY), 200, OTHER_KEY), ((WRONG_KEY,), 401, ACME_KEY)],
    ids=["operator", "wrong keys of one address"],
)
def test_nobody_gets_more_by_asking_another_server(
    url: str, tmp_path: Path, keys: tuple[str, ...], status: int, others: str
) -> None:
    with ExitStack() as stack:
        servers = [stack.enter_context(node(tmp_path / name, url, **FEW)) for name in ("a", "b")]

        def asked(turn: int, key: str = "") -> tuple[int, int]:
            used = key or keys[turn // 2 % len(keys)]
            answer = as_operator(servers[turn % 2].url, "GET", "/bans", key=used)
            retry = (
                answer.document["error"]["params"].get("retry_ms", 0) if answer.status == 429 else 0
            )
            return answer.status, retry

        assert [asked(turn)[0] for turn in range(4)] == [status] * 4
        for turn in range(4):
            refused, retry_ms = asked(turn)
            assert refused == 429
            assert 0 < retry_ms <= 3_600_000 // 4
        assert asked(0, others)[0] == 200, "somebody else is another matter"


async def test_a_silent_store_leaves_it_to_each_server(tmp_path: Path) -> None:
    with running(tmp_path / "data", limits=LIMITS | OPERATORS | FEW) as server:
        engine = server.engine_pid()
        os.kill(engine, signal.SIGSTOP)
        try:
            answers = [
                await asyncio.to_thread(as_operator, server.url, "GET", "/bans", key=WRONG_KEY)
                for _ in range(5)
            ]
        finally:
            os.kill(engine, signal.SIGCONT)
    assert [answer.status for answer in answers] == [401] * 4 + [429]
    assert answers[-1].code == "too_many"
