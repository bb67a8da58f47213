"""Answers that count once replicas have the writes: by a connection played here, and by engines."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.eventlog.logs import DAY_MS, attempt
from tests.sockets import HOST
from tests.store.engines import KINDS
from tests.store.several import USUAL, Engine, flags_of, together, until
from towerhall_server.eventlog.answers import Append, Lost
from towerhall_server.eventlog.append import append_call, move_call
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.eventlog.scripts import CONFIRM, restore_call, run_call
from towerhall_server.store.batch import Batch, Call, batch_to
from towerhall_server.store.confirming import UNCONFIRMED, WAIT_MS, ConfirmingConnection
from towerhall_server.store.connection import Answered
from towerhall_server.store.errors import StoreError, StoreRefusedError
from towerhall_server.store.resp import packed

WAIT = packed("WAIT", 1, WAIT_MS)


class Played:
    """A connection whose answers the test gives."""

    def __init__(self) -> None:
        self.asked: list[tuple[list[bytes], Answered]] = []

    def ask(self, commands: Sequence[bytes], answered: Answered) -> None:
        self.asked.append((list(commands), answered))


async def ticks(count: int = 3) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_calls_are_gathered_while_a_wait_is_out() -> None:
    played = Played()
    answers: list[list[Any]] = []
    connection = ConfirmingConnection(played, 1)  # type: ignore[arg-type]
    for name in (b"a", b"b", b"c"):
        connection.ask([name], answers.append)
    (commands, answered), *more = played.asked
    assert (commands, more) == ([b"a", WAIT], [])
    answered([1, 1])
    assert answers == [[1]]
    await ticks()
    _, (commands, answered) = played.asked
    assert commands == [b"b", b"c", WAIT]
    answered([2, 3, 1])
    assert answers == [[1], [2], [3]]
    await ticks()
    assert len(played.asked) == 2
    connection.ask([b"d"], answers.append)
    assert played.asked[-1][0] == [b"d", WAIT]


async def test_who_asks_again_upon_an_answer_goes_along_with_those_who_gathered() -> None:
    played = Played()
    batch = Batch(ConfirmingConnection(played, 1))  # type: ignore[arg-type]

    async def ask_twice(first: bytes, second: bytes) -> None:
        await batch.call(Call(first))
        await batch.call(Call(second))

    async with asyncio.TaskGroup() as group:
        group.create_task(ask_twice(b"a", b"b"))
        await ticks()
        group.create_task(ask_twice(b"c", b"d"))
        await ticks()
        for sent in ([b"a"], [b"c", b"b"], [b"d"]):
            commands, answered = played.asked[-1]
            assert commands == [*sent, WAIT]
            answered([1, *(1 for _ in sent)])
            await ticks(4)


@pytest.mark.parametrize("replicas", [0, StoreError("no answer in 3 s")])
async def test_an_answer_without_replicas_is_unknown_and_a_refusal_stands(replicas: Any) -> None:
    played = Played()
    answers: list[list[Any]] = []
    ConfirmingConnection(played, 1).ask([b"a", b"b"], answers.append)  # type: ignore[arg-type]
    ((_, answered),) = played.asked
    answered([1, StoreRefusedError("MOVED 1 there:1"), replicas])
    ((unknown, refused),) = answers
    assert (type(unknown), str(unknown)) == (StoreError, UNCONFIRMED)
    assert str(refused) == "MOVED 1 there:1"


@pytest.fixture(params=KINDS)
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Engine]]:
    """A primary and its replica, in step."""
    primary = Engine(request.param, tmp_path / "0", *flags_of(USUAL))
    follow = USUAL | {"replicaof": f"{HOST} {primary.port}"}
    replica = Engine(request.param, tmp_path / "1", *flags_of(follow))
    with together([primary, replica]):
        until(lambda: replica.ask("ROLE")[3] == b"connected")
        yield [primary, replica]


def batch(engine: Engine) -> Batch:
    return batch_to(f"redis://{HOST}:{engine.port}", 1)


async def answer_of(engine: Engine, call: Call) -> Any:
    """On a connection of its own: nothing was written there before."""
    fresh = batch(engine)
    try:
        return await fresh.call(call)
    except StoreError as error:
        return str(error)
    finally:
        await fresh.close()


async def insist(engine: Engine, call: Call) -> Any:
    """As rooms do: a busy machine may answer too late."""
    while (answer := await answer_of(engine, call)) == UNCONFIRMED:
        pass
    return answer


def lost(wanted: Append) -> Lost:
    return Lost(
        room=wanted.room,
        first=wanted.entry,
        newest_wall_ms=wanted.entry.stamps.wall_ms,
        secret=b"secret",
        due_at_ms=0,
        summary=b"",
        ttl_ms=DAY_MS,
        rest=(),
    )


async def test_a_retry_is_acknowledged_only_when_the_replica_has_it(pair: list[Engine]) -> None:
    """Though the retry has nothing to change. Valkey confirms at once what only reads."""
    primary, replica = pair
    first = attempt()
    while (await insist(primary, append_call(first, "here")))[0] == b"MISTIMED":
        first = attempt()
    move = attempt(first.entry.point, is_move=True)
    replica.pause()
    try:
        assert await answer_of(primary, move_call(move, "here")) == UNCONFIRMED
        written = primary.ask("XLEN", room_keys(move.room).log)
        assert written == 2
        entry = f"{move.entry.seq}-0", move.entry.chain
        seen = run_call(CONFIRM, (room_keys(move.room).log,), *entry, is_durable=True)
        again = [append_call(move, "here"), restore_call(lost(first)), seen]
        answers = await asyncio.gather(*(answer_of(primary, call) for call in again))
        assert answers == [UNCONFIRMED] * 3
        # What need not survive a failover does not wait.
        assert await answer_of(primary, Call(packed("PING"))) == b"PONG"
    finally:
        replica.resume()
    assert await insist(primary, append_call(move, "here")) == [b"OK", 2]
