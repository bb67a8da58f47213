"""Slots of commands, maps of clusters and voices of sentinels; nodes are played by this test."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from redis.crc import key_slot

from tests.sockets import HOST, end, part, serving
from tests.store.several import NAME
from towerhall_server.eventlog.append import MOVE
from towerhall_server.eventlog.scripts import PROBE, run_call
from towerhall_server.store.address import Place, read_address
from towerhall_server.store.endpoint import endpoint
from towerhall_server.store.errors import StoreError, StoreRefusedError
from towerhall_server.store.resp import packed
from towerhall_server.store.sentinels import Sentinels
from towerhall_server.store.slot_map import read_map
from towerhall_server.store.slots import NO_SLOT, slot_of, slot_of_command


@pytest.mark.parametrize("key", ["a", "towerhall:{s7}:log:ABCDEF", "{}x", "x{a}{b}", "{a", "é{ü}"])
def test_a_key_has_the_slot_that_engines_give_it(key: str) -> None:
    assert slot_of(key.encode()) == key_slot(key.encode())


def test_a_command_works_in_the_slot_of_its_first_key() -> None:
    slot = slot_of(b"towerhall:{s7}:log")
    key = "towerhall:{s7}:log"
    script = run_call(MOVE, (key, "towerhall:{s7}:due"), "rest")
    for command in (packed("GET", key), packed("XADD", key, "*", "a", "b"), script.command):
        assert slot_of_command(command) == slot
    assert slot_of_command(MOVE.in_full(script.command)) == slot
    for command in (
        packed("PING"),
        packed("PUBLISH", "towerhall:nodes", "x"),
        packed("CLUSTER", "SLOTS"),
        run_call(PROBE, ()).command,
        PROBE.in_full(run_call(PROBE, ()).command),
    ):
        assert slot_of_command(command) == NO_SLOT


@asynccontextmanager
async def node(answers: Mapping[bytes, bytes]) -> AsyncIterator[Place]:
    """Gives each line that is a name its answer, as bytes of the protocol."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving(tasks)
        try:
            while line := await reader.readline():
                if (answer := answers.get(line.strip().upper())) is not None:
                    writer.write(answer)
        except ConnectionError:
            pass  # a client has what it wanted
        finally:
            await part(writer)

    tasks: set[asyncio.Task[None]] = set()
    server = await asyncio.start_server(serve, HOST, 0)
    try:
        yield HOST, server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await end(tasks)


def bulk(text: str) -> bytes:
    return b"$%d\r\n%b\r\n" % (len(text), text.encode())


def member(host: str, port: int, state: str) -> dict[bytes, bytes]:
    """A node that names one primary for all slots."""
    primary = b"*2\r\n" + bulk(host) + b":%d\r\n" % port
    slots = b"*1\r\n*3\r\n:0\r\n:16383\r\n" + primary
    return {b"SLOTS": slots, b"INFO": bulk(f"cluster_state:{state}\r\n")}


async def test_a_node_that_was_cut_off_is_not_believed() -> None:
    model = endpoint("redis://127.0.0.1")
    async with (
        node(member("old.example", 1, "fail")) as cut,
        node(member("new.example", 2, "ok")) as sound,
    ):
        found = await read_map(model, [cut, sound])
        assert found.primaries == {("new.example", 2)}
        with pytest.raises(StoreError, match="CLUSTERDOWN"):
            await read_map(model, [cut])


async def test_a_node_without_a_name_is_where_it_was_asked() -> None:
    async with node(member("", 7, "ok")) as place:
        found = await read_map(endpoint("redis://127.0.0.1"), [place])
    assert found.ranges == ((0, 16_383, (HOST, 7)),)


def names(place: Place) -> dict[bytes, bytes]:
    """A sentinel that names this primary."""
    return {NAME.encode().upper(): b"*2\r\n" + bulk(place[0]) + bulk(str(place[1]))}


def is_a(role: str) -> dict[bytes, bytes]:
    return {b"ROLE": b"*1\r\n" + bulk(role)}


async def test_most_sentinels_win_and_a_replica_is_no_primary() -> None:
    async with AsyncExitStack() as stack:
        old, new, replica = [
            await stack.enter_async_context(node(is_a(role)))
            for role in ("master", "master", "slave")
        ]
        by_place = {
            place: [await stack.enter_async_context(node(names(place))) for _ in range(2)]
            for place in (old, new, replica)
        }
        (cut, _), (first, second), (early, earlier) = by_place.values()

        def asked(*sentinels: Place) -> Sentinels:
            hosts = ",".join(f"{host}:{port}" for host, port in sentinels)
            return Sentinels(read_address(f"redis+sentinel://{hosts}/{NAME}"))

        found = await asked(cut, first, second).find()
        assert (found.host, found.port) == new
        with pytest.raises(StoreRefusedError, match="is a replica until"):
            await asked(early, earlier).find()
        # One of them knows more already.
        found = await asked(early, earlier, first).find()
        assert (found.host, found.port) == new
