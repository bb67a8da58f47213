"""A client that is cut off anywhere comes back without a gap, a repeat or a command done twice."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.protocol.documents import documents
from tests.protocol.model_server import ORIGIN, ModelServer, from_client, from_server, pack
from towerhall_protocol import updates as u
from towerhall_protocol.codec import CodecError, canonical
from towerhall_protocol.level import SUBPROTOCOLS
from towerhall_protocol.messages import ClientMessage
from towerhall_protocol.replay import Replay


class Pair:
    """A client core and a model server, joined by bytes that can be cut anywhere."""

    def __init__(self, subprotocol: str) -> None:
        self.subprotocol = subprotocol
        self.server = ModelServer()
        self.client = Replay(bytes, origin=ORIGIN, keep_frames=True)
        self.to_server: list[bytes] = []
        self.connected = False
        self.seen: list[u.Update] = []
        self.asked: list[int] = []

    def connect(self) -> None:
        self.send(self.client.hello("token"))
        self.connected = True

    def send(self, message: ClientMessage) -> None:
        self.to_server.append(pack(message, self.subprotocol))

    def command(self, name: str, *, dry: bool = False) -> None:
        if self.client.is_full:
            return
        command = self.client.command({"command": name}, dry=dry)
        if name == "bid" and not dry:
            self.asked.append(command.n)
        if self.connected and self.client.welcomed:
            self.send(command)

    def serve(self, count: int = 1 << 30) -> None:
        """The server reads that many messages."""
        for data in self.to_server[:count]:
            self.server.receive(from_client(data, self.subprotocol))
        del self.to_server[:count]

    def deliver(self, count: int = 1 << 30) -> None:
        """The client reads that many messages."""
        for message in self.server.outbox[:count]:
            self.take(pack(message, self.subprotocol))
        del self.server.outbox[:count]

    def take(self, data: bytes) -> None:
        for update in self.client.receive(from_server(data, self.subprotocol)):
            self.seen.append(update)
            assert not isinstance(update, u.Faulted), update.reason
            if isinstance(update, u.Synced | u.Reset):
                for command in self.client.resend():
                    self.send(command)

    def cut(self, inside: int = 0) -> None:
        """The connection ends; so many bytes of the next message still come."""
        if self.server.outbox and inside:
            whole = pack(self.server.outbox[0], self.subprotocol)
            part = whole[: min(inside, len(whole) - 1)]
            with pytest.raises(CodecError):
                from_server(part, self.subprotocol)
        self.to_server.clear()
        self.server.disconnect()
        self.connected = False

    def settle(self) -> None:
        if not self.connected:
            self.connect()
        while self.to_server or self.server.outbox:
            self.serve()
            self.deliver()

    def check(self) -> None:
        client, server = self.client, self.server
        assert canonical(client.view) == canonical(server.view)
        assert client.cursor == server.cursor
        assert client.unanswered == ()
        for _ in seqs_without_gap(self.seen):
            pass
        assert sorted(server.done, key=server.done.__getitem__) == sorted(server.done)


def seqs_without_gap(seen: list[u.Update]) -> Iterator[int]:
    seq: int | None = None
    for update in seen:
        match update:
            case u.Synced(at, replaced, _):
                assert replaced or seq == at
                seq = at
            case u.Reset(at, _):
                seq = at
            case u.Moved(at):
                assert seq is not None
                assert at == seq + 1
                seq = at
                yield at


steps = st.one_of(
    st.tuples(st.just("commit"), documents),
    st.tuples(st.just("command"), st.sampled_from(["bid", "bid", "bid", "refuse", "dry"])),
    st.tuples(st.just("serve"), st.integers(1, 4)),
    st.tuples(st.just("deliver"), st.integers(1, 4)),
    st.tuples(st.just("cut"), st.integers(0, 400)),
    st.tuples(st.just("connect"), st.booleans()),
    st.tuples(st.just("reset"), st.none()),
)
losses = st.tuples(st.just("lose"), st.integers(1, 3))


def run(pair: Pair, script: list[tuple[str, Any]]) -> None:
    for name, value in script:
        match name:
            case "commit":
                pair.server.commit(value)
            case "command":
                pair.command("bid" if value == "dry" else value, dry=value == "dry")
            case "serve":
                pair.serve(value)
            case "deliver":
                pair.deliver(value)
            case "cut":
                pair.cut(value)
            case "connect":
                if not pair.connected:
                    pair.server.snapshots = value
                    pair.connect()
            case "reset":
                pair.server.reset()
            case "lose":
                pair.server.lose(value)
    pair.settle()


@pytest.mark.parametrize("subprotocol", SUBPROTOCOLS)
@given(script=st.lists(steps, max_size=40))
def test_every_commit_is_applied_once_and_every_command_done_once(
    subprotocol: str, script: list[tuple[str, Any]]
) -> None:
    pair = Pair(subprotocol)
    run(pair, script)
    pair.check()
    assert sorted(pair.server.done) == pair.asked
    answered = [each.n for each in pair.seen if isinstance(each, u.Answered)]
    assert set(pair.asked) <= set(answered)


LOST_BEFORE_A_LATER_COMMAND: list[tuple[str, Any]] = [
    ("command", "bid"),
    ("command", "bid"),
    ("connect", False),
    ("serve", 1),
    ("reset", None),
    ("deliver", 1),
    ("serve", 1),
    ("lose", 1),
]


@example(script=LOST_BEFORE_A_LATER_COMMAND)
@given(script=st.lists(steps | losses, max_size=40))
def test_a_lost_tail_leaves_the_client_with_what_the_server_has(
    script: list[tuple[str, Any]],
) -> None:
    pair = Pair(SUBPROTOCOLS[0])
    run(pair, script)
    pair.check()
    assert set(pair.server.done) <= set(pair.asked)


@given(script=st.lists(steps | losses, max_size=40))
def test_kept_frames_lead_to_the_view_at_any_seq(script: list[tuple[str, Any]]) -> None:
    pair = Pair(SUBPROTOCOLS[0])
    run(pair, script)
    pages = 0
    while (gap := pair.client.missing()) is not None:
        pair.server.receive(from_client(_history(*gap), SUBPROTOCOLS[0]))
        pair.deliver()
        pages += 1
        assert pages <= pair.server.seq
    for seq, view in enumerate(pair.server.views):
        kept = pair.client.view_at(seq)
        assert kept is not None
        assert canonical(kept) == canonical(view)


def _history(first: int, last: int) -> bytes:
    return pack(["history", first, last], SUBPROTOCOLS[0])


def a_game(subprotocol: str) -> Pair:
    """Everything under way at once: missed frames, answers of all kinds, offers, a reset."""
    pair = Pair(subprotocol)
    pair.server.commit({"room": {"status": "waiting"}, "ü": "☃"})
    pair.settle()
    pair.server.commit({"room": {"status": "playing"}, "game": {"turn": 0}})
    pair.deliver()
    for name in ("bid", "refuse", "bid"):
        pair.command(name)
    pair.command("bid", dry=True)
    pair.serve(2)
    pair.server.commit({"room": {"status": "playing"}, "game": {"turn": 1, "calls": [1, 2]}})
    pair.server.reset()
    pair.serve()
    pair.server.commit({"room": {"status": "over"}})
    return pair


@pytest.mark.parametrize("subprotocol", SUBPROTOCOLS)
@pytest.mark.parametrize("snapshots", [False, True])
def test_a_game_cut_at_every_byte_goes_on_as_if_it_had_not_been(
    subprotocol: str, snapshots: bool
) -> None:
    whole = a_game(subprotocol)
    sizes = [len(pack(message, subprotocol)) for message in whole.server.outbox]
    assert sum(sizes) > 300
    for messages, size in enumerate(sizes):
        for inside in range(size):
            pair = a_game(subprotocol)
            pair.server.snapshots = snapshots
            pair.deliver(messages)
            pair.cut(inside)
            pair.settle()
            pair.check()
            assert sorted(pair.server.done) == pair.asked
            assert canonical(pair.client.view) == canonical(whole.server.view)


@pytest.mark.parametrize("sent", range(5))
def test_commands_cut_on_their_way_are_sent_again_in_order_with_their_numbers(sent: int) -> None:
    pair = a_game(SUBPROTOCOLS[0])
    pair.settle()
    for _ in range(5):
        pair.command("bid")
    numbers = list(pair.client.unanswered)
    pair.serve(sent)
    pair.cut()
    pair.connect()
    pair.serve()
    pair.deliver()
    assert list(pair.client.unanswered) == numbers[sent:]
    again = [from_client(data, SUBPROTOCOLS[0]) for data in pair.to_server]
    assert [getattr(command, "n", None) for command in again] == numbers
    pair.settle()
    pair.check()
    assert sorted(pair.server.done) == pair.asked
