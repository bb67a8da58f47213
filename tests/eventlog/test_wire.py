"""One socket's life without a socket: bytes in any portions, and whatever else may arrive."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from towerhall_server.store.connection import MOST_UNHEARD, Wire
from towerhall_server.store.errors import StoreError, StoreRefusedError

REPLIES = (
    b"+OK\r\n"
    b":-12\r\n"
    b"$-1\r\n"
    b"$7\r\n\r\n\x00$1\r\n\r\n"
    b"*0\r\n"
    b"*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\ni\r\n$0\r\n\r\n"
    b"-OOM command not allowed\r\n"
    b"*-1\r\n"
)
ANSWERS = [b"OK", -12, None, b"\r\n\x00$1\r\n", [], [b"1-0", [b"i", b""]], "OOM", None]


class Transport:
    """Remembers what was written. An abort is told as a real one tells it: in the next tick."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.written: list[bytes] = []
        self.flow: list[str] = []
        wire.connection_made(cast(asyncio.BaseTransport, self))

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def pause_reading(self) -> None:
        self.flow.append("paused")

    def resume_reading(self) -> None:
        self.flow.append("resumed")

    def abort(self) -> None:
        asyncio.get_running_loop().call_soon(self.wire.connection_lost, None)


def wired(seconds: float = 60.0) -> tuple[Wire, Transport]:
    wire = Wire(seconds)
    return wire, Transport(wire)


def asked_of(wire: Wire, commands: bytes, count: int) -> asyncio.Future[list[Any]]:
    """The answers to commands, as something that a test can wait for."""
    answers: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()

    def answered(found: list[Any]) -> None:
        if not answers.done():
            answers.set_result(found)

    wire.ask(commands, count, answered)
    return answers


def plain(answers: list[Any]) -> list[Any]:
    """Refusals by their first word, what is unknown as `...`, so that answers can be compared."""
    return [
        str(answer).partition(" ")[0]
        if isinstance(answer, StoreRefusedError)
        else ...
        if isinstance(answer, StoreError)
        else answer
        for answer in answers
    ]


async def test_answers_are_the_same_wherever_the_bytes_are_split() -> None:
    for at in range(len(REPLIES) + 1):
        wire, _ = wired()
        first, second = asked_of(wire, b"...", 3), asked_of(wire, b"...", 5)
        wire.data_received(REPLIES[:at])
        wire.data_received(REPLIES[at:])
        assert plain(await first + await second) == ANSWERS
        await wire.close()


async def test_answers_may_come_byte_by_byte() -> None:
    wire, _ = wired()
    asked = asked_of(wire, b"...", 8)
    for byte in REPLIES:
        assert not asked.done()
        wire.data_received(bytes([byte]))
    assert plain(await asked) == ANSWERS
    await wire.close()


async def test_a_cut_at_any_byte_keeps_what_was_answered_and_leaves_the_rest_unknown() -> None:
    ends = [REPLIES[:at] for at in range(len(REPLIES))]
    known_counts = set()
    for end in ends:
        wire, _ = wired()
        first, second = asked_of(wire, b"...", 3), asked_of(wire, b"...", 5)
        wire.data_received(end)
        wire.connection_lost(None)
        answers = await first + await second
        unknown = [answer for answer in answers if type(answer) is StoreError]
        known = len(answers) - len(unknown)
        assert plain(answers) == ANSWERS[:known] + [...] * (8 - known)
        assert len({id(error) for error in unknown}) == len(unknown), "each is raised elsewhere"
        known_counts.add(known)
    assert known_counts == set(range(8))


async def test_each_question_is_one_write() -> None:
    wire, transport = wired()
    asked = asked_of(wire, b"one two", 2)
    assert transport.written == [b"one two"]
    wire.data_received(b":1\r\n:2\r\n")
    assert await asked == [1, 2]
    await wire.close()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda wire: wire.data_received(b"HTTP/1.1 400 Bad Request\r\n"),
        lambda wire: wire.data_received(b":1\r\n:2\r\n:3\r\n"),
        lambda wire: wire.connection_lost(OSError("reset")),
        lambda wire: wire.give_up("of no use"),
    ],
    ids=["no engine", "more answers than questions", "a reset", "given up"],
)
async def test_what_cannot_be_trusted_is_not_asked_again(spoil: Callable[[Wire], None]) -> None:
    wire, transport = wired()
    asked = asked_of(wire, b"...", 2)
    spoil(wire)
    known = plain(await asked)
    assert known in ([1, 2], [..., ...])
    assert wire.lost
    transport.written.clear()
    assert plain(await asked_of(wire, b"again", 2)) == [..., ...]
    assert transport.written == []


async def test_an_answer_to_nobody_ends_the_connection() -> None:
    wire, _ = wired()
    wire.data_received(b":1\r\n")
    assert wire.lost


async def test_a_cancelled_question_still_takes_its_own_answers() -> None:
    wire, _ = wired()
    cancelled, other = asked_of(wire, b"...", 2), asked_of(wire, b"...", 1)
    cancelled.cancel()
    wire.data_received(b":1\r\n:2\r\n:3\r\n")
    assert await other == [3]
    await wire.close()


async def test_a_question_that_was_cancelled_does_not_break_a_cut() -> None:
    wire, _ = wired()
    cancelled, other = asked_of(wire, b"...", 2), asked_of(wire, b"...", 1)
    cancelled.cancel()
    wire.connection_lost(None)
    assert plain(await other) == [...]


async def test_silence_makes_everything_unknown_but_a_slow_answer_does_not() -> None:
    wire, _ = wired(0.3)
    asked = asked_of(wire, b"...", 8)
    for _ in range(5):
        await asyncio.sleep(0.1)
        wire.data_received(b":1\r\n")
    assert wire.lost is None
    assert plain(await asyncio.wait_for(asked, 2)) == [1] * 5 + [...] * 3
    assert wire.lost == "no answer in 0.3 s"


async def test_nobody_is_missed_while_nothing_is_owed() -> None:
    wire, _ = wired(0.05)
    asked = asked_of(wire, b"...", 1)
    wire.data_received(b":1\r\n")
    assert await asked == [1]
    await asyncio.sleep(0.2)
    assert wire.lost is None
    late = asked_of(wire, b"...", 1)
    await asyncio.sleep(0.02)
    assert not late.done()
    wire.data_received(b":2\r\n")
    assert await late == [2]
    await wire.close()


async def test_closing_waits_for_what_is_owed() -> None:
    wire, _ = wired()
    asked = asked_of(wire, b"...", 1)
    closing = asyncio.create_task(wire.close())
    await asyncio.sleep(0.01)
    assert not closing.done()
    wire.data_received(b":1\r\n")
    await closing
    assert await asked == [1]


async def test_what_was_heard_before_a_cut_is_handed_out_before_it_is_told() -> None:
    wire, _ = wired()
    wire.subscribe(b"...")
    wire.data_received(b":1\r\n:2\r\n")
    wire.connection_lost(None)
    assert await wire.hear() == [1, 2]
    with pytest.raises(StoreError):
        await wire.hear()


async def test_a_listener_that_does_not_listen_stops_the_reading() -> None:
    wire, transport = wired()
    wire.subscribe(b"...")
    wire.data_received(b":1\r\n" * MOST_UNHEARD)
    assert transport.flow == []
    wire.data_received(b":1\r\n")
    assert transport.flow == ["paused"]
    assert len(await wire.hear()) == MOST_UNHEARD + 1
    assert transport.flow == ["paused", "resumed"]
    await wire.close()


async def test_a_cancelled_listener_loses_nothing() -> None:
    wire, _ = wired()
    wire.subscribe(b"...")
    hearing = asyncio.create_task(wire.hear())
    await asyncio.sleep(0)
    hearing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hearing
    wire.data_received(b":1\r\n")
    assert await wire.hear() == [1]
    await wire.close()
