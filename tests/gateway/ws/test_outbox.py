"""A reader that falls behind: what is held for it is bounded, and it never misses a gap."""

from collections.abc import Callable
from functools import partial

import msgpack
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.gateway.ws.socket_frames import payloads_in
from towerhall_protocol.messages import Cursor, ServerChat, ServerReset
from towerhall_server.frames import Prepared
from towerhall_server.gateway.ws.closing import HIGH_WATER, LOW_WATER
from towerhall_server.gateway.ws.outbox import LAG_SECONDS, LIMIT_BYTES, RELAPSE_SECONDS, Outbox

KIB = 1024


class Alarm:
    """Something that a clock will do."""

    def __init__(self, at: float, action: Callable[[], object]) -> None:
        self.at = at
        self.action: Callable[[], object] | None = action

    def cancel(self) -> None:
        self.action = None


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.alarms: list[Alarm] = []

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, callback: Callable[[], object]) -> Alarm:
        alarm = Alarm(self.now + delay, callback)
        self.alarms.append(alarm)
        return alarm

    def pass_by(self, seconds: float) -> None:
        self.now += seconds
        for alarm in self.alarms:
            if alarm.action is not None and alarm.at <= self.now:
                ring, alarm.action = alarm.action, None
                ring()


class Line:
    """A transport, its peer and a room: the peer reads when a test says so, and the room answers
    a request for a `reset` at once or when it comes to it."""

    def __init__(self, *, text: bool = False, at_once: bool = True) -> None:
        self.clock = Clock()
        self.at_once = at_once
        self.held: list[bytes] = []
        self.most = 0
        self.paused = False
        self.read = b""
        self.sent = 0
        self.resyncs = 0
        self.owed = 0
        self.ended = 0
        self.outbox = Outbox(self, text, self.resync, self.too_slow, timers=self.clock)

    @property
    def full(self) -> bool:
        return self.paused

    def backlog(self) -> int:
        return sum(map(len, self.held))

    def write_frame(self, frame: bytes) -> None:
        self.held.append(frame)
        self.most = max(self.most, self.backlog())
        self.paused = self.paused or self.backlog() > HIGH_WATER

    def read_some(self, size: int) -> None:
        data = b"".join(self.held)
        self.read += data[:size]
        self.held = [data[size:]]
        if self.paused and self.backlog() <= LOW_WATER:
            self.paused = False
            self.outbox.drained()

    def broadcast(self, size: int) -> None:
        """The room's next message, for everybody."""
        self.sent += 1
        self.outbox.send(Prepared(ServerChat(str(self.sent), "", 0, "x" * size, 0)))

    def resync(self) -> None:
        self.resyncs += 1
        self.owed += 1
        if self.at_once:
            self.pay()

    def pay(self) -> None:
        """The room comes to what it was asked for."""
        for _ in range(self.owed):
            self.reset()
        self.owed = 0

    def reset(self, size: int = 0) -> None:
        view = {"seen": self.sent, "more": "x" * size}
        self.outbox.send(Prepared(ServerReset(Cursor("", self.sent, ""), view, 0)))

    def too_slow(self) -> None:
        self.ended += 1

    def seen(self) -> list[tuple[str, int]]:
        """What the peer has read, if it has read all: numbered messages and resets."""
        return [
            ("chat", int(message[1])) if message[0] == "chat" else ("reset", message[1][1])
            for message in map(msgpack.unpackb, payloads_in(self.read))
        ]

    def fill(self) -> None:
        while self.outbox.state == "flowing":
            self.broadcast(10 * KIB)


def test_a_reader_who_keeps_up_gets_everything_in_order() -> None:
    line = Line()
    for _ in range(100):
        line.broadcast(30 * KIB)
        line.read_some(LIMIT_BYTES)
    assert line.seen() == [("chat", number) for number in range(1, 101)]
    assert (line.resyncs, line.ended) == (0, 0)


def test_messages_take_the_form_of_the_connection() -> None:
    line = Line(text=True)
    line.broadcast(3)
    assert msgspec.json.decode(payloads_in(line.held[0])[0]) == ["chat", "1", "", 0, "xxx", 0, ""]


def test_what_waits_for_a_reader_who_does_not_read_is_bounded() -> None:
    line = Line()
    for _ in range(10_000):
        line.broadcast(1000)
    assert line.most <= LIMIT_BYTES
    assert len(line.held) < 300
    assert line.outbox.state == "lagging"


def test_after_a_lag_the_next_thing_is_a_reset_and_then_all_goes_on() -> None:
    line = Line()
    line.fill()
    dropped = line.sent
    line.broadcast(1)
    line.read_some(LIMIT_BYTES)
    line.broadcast(1)
    line.read_some(LIMIT_BYTES)
    assert line.seen()[-3:] == [
        ("chat", dropped - 1),
        ("reset", dropped + 1),
        ("chat", dropped + 2),
    ]
    assert (line.resyncs, line.ended) == (1, 0)


def test_nothing_slips_in_before_a_reset_that_takes_its_time() -> None:
    line = Line(at_once=False)
    line.fill()
    line.read_some(LIMIT_BYTES)
    assert (line.outbox.state, line.resyncs) == ("resyncing", 1)
    line.broadcast(1)
    line.broadcast(1)
    line.pay()
    line.broadcast(1)
    line.read_some(LIMIT_BYTES)
    last = line.sent
    assert line.seen()[-3:] == [("chat", last - 4), ("reset", last - 1), ("chat", last)]


def test_a_reset_for_another_reason_does_not_end_a_lag_that_has_not_drained() -> None:
    line = Line()
    line.fill()
    held = line.backlog()
    line.reset()
    assert (line.outbox.state, line.backlog()) == ("lagging", held)


def test_a_second_lag_soon_after_the_first_is_too_slow_at_once() -> None:
    line = Line()
    line.fill()
    line.read_some(LIMIT_BYTES)
    line.clock.pass_by(RELAPSE_SECONDS - 1)
    line.fill()
    assert (line.outbox.state, line.ended) == ("given up", 1)
    line.read_some(LIMIT_BYTES)
    line.broadcast(1)
    line.reset()
    assert (line.held, line.resyncs, line.ended) == ([b""], 1, 1)
    assert all(alarm.action is None for alarm in line.clock.alarms)


def test_a_second_lag_much_later_is_forgiven() -> None:
    line = Line()
    for _ in range(3):
        line.fill()
        line.read_some(LIMIT_BYTES)
        line.clock.pass_by(RELAPSE_SECONDS + 1)
    assert (line.outbox.state, line.resyncs, line.ended) == ("flowing", 3, 0)


def test_a_reader_who_never_drains_is_too_slow_after_a_while() -> None:
    line = Line()
    line.fill()
    line.clock.pass_by(LAG_SECONDS - 1)
    line.read_some(LIMIT_BYTES // 2)
    assert line.ended == 0
    line.clock.pass_by(2)
    assert (line.outbox.state, line.ended) == ("given up", 1)
    line.read_some(LIMIT_BYTES)
    assert line.resyncs == 0


def test_a_reset_that_never_comes_ends_the_connection_too() -> None:
    line = Line(at_once=False)
    line.fill()
    line.read_some(LIMIT_BYTES)
    line.clock.pass_by(LAG_SECONDS + 1)
    assert (line.outbox.state, line.ended) == ("given up", 1)


def test_a_closed_outbox_calls_nobody() -> None:
    line = Line()
    line.fill()
    line.outbox.close()
    line.clock.pass_by(LAG_SECONDS + 1)
    line.read_some(LIMIT_BYTES)
    line.broadcast(1)
    assert (line.resyncs, line.ended, line.held) == (0, 0, [b""])


def test_a_message_larger_than_the_limit_is_not_a_lag_of_its_reader() -> None:
    line = Line()
    line.broadcast(LIMIT_BYTES)
    assert line.outbox.state == "flowing"
    line.read_some(2 * LIMIT_BYTES)
    assert line.seen() == [("chat", 1)]


def test_a_limit_below_high_water_is_refused() -> None:
    make = partial(Outbox, Line(), False, print, print, timers=Clock())
    with pytest.raises(ValueError, match="limit"):
        make(HIGH_WATER - 1)


async def test_time_is_the_loops_if_nobody_gives_another() -> None:
    line = Line()
    outbox = Outbox(line, False, line.resync, line.too_slow)
    while outbox.state == "flowing":
        outbox.send(Prepared(ServerChat("", "", 0, "x" * 1000, 0)))
    assert outbox.state == "lagging"
    outbox.close()


STEPS = st.one_of(
    st.tuples(st.just("send"), st.integers(0, 100 * KIB)),
    st.tuples(st.just("read"), st.integers(1, 300 * KIB)),
    st.tuples(st.just("pass"), st.integers(1, 40)),
    st.tuples(st.just("pay"), st.just(0)),
    st.tuples(st.just("reset"), st.integers(0, 50 * KIB)),
)


@given(st.lists(STEPS, max_size=60), st.booleans())
@settings(max_examples=examples(100, 300))
def test_whatever_happens_the_backlog_is_bounded_and_no_gap_goes_unmended(
    steps: list[tuple[str, int]], at_once: bool
) -> None:
    line = Line(at_once=at_once)
    actions: dict[str, Callable[[int], None]] = {
        "send": line.broadcast,
        "read": line.read_some,
        "pass": line.clock.pass_by,
        "pay": lambda _: line.pay(),
        "reset": line.reset,
    }
    for name, amount in steps:
        actions[name](amount)
        assert line.most <= LIMIT_BYTES
        assert line.ended <= 1
    line.read_some(line.backlog())
    line.pay()
    line.read_some(line.backlog())
    assert line.outbox.state in ("flowing", "given up")
    at = 0
    for kind, number in line.seen():
        assert kind == "reset" or number == at + 1
        at = number
    assert at == line.sent or line.ended
