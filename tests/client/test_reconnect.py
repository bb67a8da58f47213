"""Breaks of all kinds: the client comes back when it may, as late as it must, and loses nothing."""

import asyncio

import pytest

from tests.client.fake_server import PLAYING, Sleeps, Visit, fake_server, joined
from tests.sockets import free_port
from towerhall_client.connection import Disconnected, connect
from towerhall_client.errors import TableClosedError
from towerhall_client.retry import Backoff, Retry, may_ask_again, may_return
from towerhall_protocol import messages as m
from towerhall_protocol import updates as u
from towerhall_protocol.errors import CLOSES
from towerhall_protocol.level import SUBPROTOCOLS

SOON_SECONDS = 5.0


async def back(visit: Visit) -> None:
    """Go on, and answer every command."""
    await visit.welcome_back()
    while True:
        await visit.do(await visit.command())


async def anew(visit: Visit) -> None:
    await visit.welcome(PLAYING, 9)
    await visit.stay()


@pytest.mark.parametrize("subprotocol", SUBPROTOCOLS)
async def test_unanswered_commands_are_sent_again_in_order_after_every_break(
    subprotocol: str,
) -> None:
    async def first(visit: Visit) -> None:
        await visit.welcome(PLAYING)
        first = await visit.command()
        await visit.do(first, game={"turn": 1})
        assert [(await visit.command()).n for _ in range(3)] == [2, 3, 4]
        await visit.drop()

    async def second(visit: Visit) -> None:
        await visit.welcome_back()
        assert visit.greeting.cursor == m.Cursor("base", 2, "mark2")
        assert [(await visit.command()).n for _ in range(2)] == [2, 3]
        await visit.send(m.ServerDuplicate(2, 2))
        await visit.drop()

    async def third(visit: Visit) -> None:
        await visit.welcome_back()
        for number in (3, 4):
            command = await visit.command()
            assert (command.n, command.body) == (number, {"command": "start"})
            await visit.do(command, game={"turn": number})
        await visit.stay()

    async with (
        fake_server(first, second, third) as server,
        joined(server, subprotocol=subprotocol) as table,
    ):
        answers = await asyncio.gather(*(table.start() for _ in range(4)))
        assert [(answer.n, answer.seq) for answer in answers] == [
            (1, 2),
            (2, 2),
            (3, 3),
            (4, 4),
        ]
        assert table.view["game"] == {"turn": 4}
        origins = {visit.greeting.origin for visit in server.visits}
        assert len(origins) == 1


async def test_what_is_commanded_while_away_is_sent_on_return() -> None:
    gone = asyncio.Event()

    async def first(visit: Visit) -> None:
        await visit.welcome()
        await visit.drop()

    class Slow(Sleeps):
        async def __call__(self, seconds: float) -> None:
            gone.set()
            await asyncio.sleep(0.05)

    async with fake_server(first, back) as server, joined(server, Slow()) as table:
        await gone.wait()
        assert not table.is_up
        assert (await asyncio.gather(table.start(), table.stand()))[1].seq == 3


async def test_what_is_left_of_a_connection_does_not_go_out_before_the_next_hello() -> None:
    async def first(visit: Visit) -> None:
        await visit.welcome()
        await visit.receive()
        await visit.drop()

    async with fake_server(first, back) as server:

        async def sleep(seconds: float) -> None:
            # As if the connection had broken before this could be written.
            table._line._outgoing.append(m.ClientChat("left over"))
            table._line._posted.set()
            await asyncio.sleep(0)

        async with joined(server, retry=Retry(sleep=sleep)) as table:
            await table.chat("break")
            assert (await table.start()).seq == 2


async def test_commands_are_sent_again_after_a_reset() -> None:
    async def resetting(visit: Visit) -> None:
        await visit.welcome(PLAYING, 5)
        assert [(await visit.command()).n for _ in range(2)] == [1, 2]
        visit.seq = 3
        await visit.send(m.ServerReset(m.Cursor("base", 3, "other3"), PLAYING, 2))
        for number in (1, 2):
            command = await visit.command()
            assert command.n == number
            await visit.do(command)
        await visit.stay()

    async with fake_server(resetting) as server, joined(server) as table:
        updates = aiter(table)
        answers = await asyncio.gather(table.start(), table.start())
        assert [answer.seq for answer in answers] == [4, 5]
        assert await anext(updates) == u.Reset(3, 2)


def too_many(n: int) -> m.ServerError:
    return m.ServerError("too_many_unanswered", {"most": 8, "n": n}, "wait for answers")


async def test_p44_what_the_server_turned_away_is_sent_again_before_any_later_command() -> None:
    async def full(visit: Visit) -> None:
        await visit.welcome(PLAYING)
        first, second, *_ = [await visit.command() for _ in range(8)]
        for n in (7, 8):
            await visit.send(too_many(n))
        await visit.commit((1,), game={"turn": 5})
        await visit.do(first)
        again = [await visit.command() for _ in range(2)]
        assert [command.n for command in again] == [7, 8]
        await visit.do(second)
        later = await visit.command()
        assert later.n == 9
        for n in (3, 4, 5, 6, 7, 8, 9):
            await visit.send(m.ServerDuplicate(n, 2))
        await visit.stay()

    async with fake_server(full) as server, joined(server) as table:
        async with asyncio.timeout(SOON_SECONDS):
            answers = await asyncio.gather(*(table.start() for _ in range(9)))
        assert [answer.n for answer in answers] == list(range(1, 10))
        assert len(server.visits) == 1


async def test_p44_a_lone_command_that_was_turned_away_waits_for_a_sign_of_life() -> None:
    async def wrong(visit: Visit) -> None:
        await visit.welcome(PLAYING)
        await visit.command()
        await visit.send(too_many(1))
        assert await visit.receive() == m.ClientPing(1)
        await visit.send(m.ServerPong(1, (0, 0)))
        for n in (1, 2):
            command = await visit.command()
            assert command.n == n
            await visit.do(command)
        await visit.stay()

    async with fake_server(wrong) as server, joined(server, ping_seconds=0.2) as table:
        updates = aiter(table)
        async with asyncio.timeout(SOON_SECONDS), asyncio.TaskGroup() as tasks:
            tasks.create_task(table.start())
            while not isinstance(await anext(updates), u.ErrorCame):
                pass
            later = tasks.create_task(table.start())
        assert later.result().n == 2


@pytest.mark.parametrize("name", CLOSES)
async def test_each_close_is_followed_by_what_its_table_says(name: str) -> None:
    async def closing(visit: Visit) -> None:
        await visit.welcome(PLAYING)
        await visit.close(name)

    async with fake_server(closing, back) as server, joined(server) as table:
        if CLOSES[name].may_reconnect:
            assert (await table.start()).seq == 2
            assert len(server.visits) == 2
        else:
            with pytest.raises(TableClosedError) as closed:
                await table.start()
            assert closed.value.code == name
            assert closed.value.hint == CLOSES[name].meaning
            assert len(server.visits) == 1


async def test_the_error_before_a_close_says_why() -> None:
    async def unknown(visit: Visit) -> None:
        await visit.hello()
        await visit.send(m.ServerError("unauthorized", {"detail": "old"}, "get a token: old"))
        await visit.close("unauthorized")

    async with fake_server(unknown) as server:
        with pytest.raises(TableClosedError, match="unauthorized: get a token: old"):
            async with joined(server):
                pass


async def test_an_old_error_has_nothing_to_do_with_a_close() -> None:
    async def closing(visit: Visit) -> None:
        await visit.welcome(PLAYING)
        await visit.send(m.ServerError("bad_chat", {}, "too long"))
        await visit.send(m.ServerPaused(False))
        await visit.close("replaced")

    async with fake_server(closing) as server, joined(server) as table:
        with pytest.raises(TableClosedError, match="replaced"):
            await table.turn()


async def test_waits_double_and_are_drawn_from_the_whole_range() -> None:
    async def brief(visit: Visit) -> None:
        await visit.welcome(PLAYING)
        await visit.drop()

    sleeps = Sleeps()
    async with fake_server(*[brief] * 9, anew) as server, joined(server, sleeps) as table:
        await table.until(lambda: table.seq == 9)
    assert sleeps.seconds == [0.125, 0.25, 0.5, 1, 2, 4, 7.5, 7.5, 7.5]


async def test_a_connection_that_lasts_makes_waits_short_again() -> None:
    async def brief(visit: Visit) -> None:
        await visit.welcome(PLAYING)
        await visit.drop()

    async def lasting(visit: Visit) -> None:
        await visit.welcome(PLAYING)
        await visit.receive()
        await visit.send(m.ServerPong(1, (0, 0)))
        await visit.drop()

    sleeps = Sleeps()
    async with (
        fake_server(brief, brief, lasting, anew) as server,
        joined(server, sleeps, ping_seconds=0.02) as table,
    ):
        await table.until(lambda: table.seq == 9)
    assert sleeps.seconds == [0.125, 0.25, 0.125]


async def test_a_busy_server_is_left_alone_as_long_as_it_asks() -> None:
    async def busy(visit: Visit) -> None:
        await visit.hello()
        await visit.send(m.ServerError("busy", {"retry_ms": 10_000}, "try again"))
        await visit.close("busy")

    sleeps = Sleeps()
    async with fake_server(busy, anew) as server, joined(server, sleeps):
        assert sleeps.seconds == [10.125]


@pytest.mark.parametrize("leaves_first", [True, False])
async def test_go_is_followed_at_a_random_moment_within_the_time(leaves_first: bool) -> None:
    async def going(visit: Visit) -> None:
        await visit.welcome(PLAYING)
        await visit.receive()
        await visit.send(m.ServerGo(4000))
        if leaves_first:
            await visit.socket.wait_closed()
        else:
            await visit.close("restart")

    sleeps = Sleeps()
    async with fake_server(going, back) as server, joined(server, sleeps) as table:
        updates = aiter(table)
        assert (await table.start()).seq == 2
        assert sleeps.seconds == [2.0]
        seen = [await anext(updates) for _ in range(3)]
        assert seen[0] == u.MustGo(4000)
        assert isinstance(seen[1], Disconnected)
        assert seen[2] == u.Synced(1, False, 0)


async def test_a_server_that_closes_before_the_moment_is_not_asked_again_before_it() -> None:
    closed, moment = asyncio.Event(), asyncio.Event()

    async def going(visit: Visit) -> None:
        await visit.welcome(PLAYING)
        await visit.send(m.ServerGo(4000))
        await visit.close("restart")
        closed.set()

    async def sleep(seconds: float) -> None:
        await moment.wait()

    async with (
        fake_server(going, back) as server,
        joined(server, retry=Retry(sleep=sleep)) as table,
    ):
        await closed.wait()
        await asyncio.sleep(0.05)
        assert len(server.visits) == 1
        moment.set()
        assert (await table.start()).seq == 2


async def test_whoever_is_sent_away_for_good_does_not_come_back_because_of_an_earlier_go() -> None:
    async def going(visit: Visit) -> None:
        await visit.welcome(PLAYING)
        await visit.send(m.ServerGo(60_000))
        await visit.close("replaced")

    async def really(seconds: float) -> None:
        await asyncio.sleep(seconds)

    async with (
        fake_server(going) as server,
        joined(server, retry=Retry(sleep=really)) as table,
    ):
        with pytest.raises(TableClosedError, match="replaced"):
            await table.turn()


@pytest.mark.parametrize(
    "message",
    [
        m.ServerFrame(9, "mark9", (), (), {}),
        m.ServerFrame(1, "mark1", (), (), {}),
        m.ServerWelcome(m.Arrival("p_1", "Ada", 1, (0, 0), m.Cursor("base", 1, "mark1"))),
        ["frame", "one"],
        {"no": "message"},
    ],
)
async def test_a_server_that_breaks_the_protocol_is_asked_for_everything_anew(
    message: object,
) -> None:
    async def faulty(visit: Visit) -> None:
        await visit.welcome(PLAYING)
        await visit.receive()
        await visit.send(message)  # type: ignore[arg-type]
        await visit.socket.wait_closed()

    async with fake_server(faulty, anew) as server, joined(server) as table:
        updates = aiter(table)
        await table.chat("misbehave")
        seen = await anext(updates)
        await table.until(lambda: table.seq == 9)
        assert isinstance(seen, u.Faulted | Disconnected)
        is_nonsense = not isinstance(message, m.ServerFrame | m.ServerWelcome)
        assert (server.visits[1].greeting.cursor is not None) == is_nonsense


@pytest.mark.parametrize("subprotocol", SUBPROTOCOLS)
async def test_a_message_of_the_wrong_kind_is_nonsense(subprotocol: str) -> None:
    async def wrong(visit: Visit) -> None:
        await visit.welcome(PLAYING)
        await visit.socket.send("[]" if subprotocol == SUBPROTOCOLS[0] else b"\x90")
        await visit.socket.wait_closed()

    async with (
        fake_server(wrong, anew) as server,
        joined(server, subprotocol=subprotocol) as table,
    ):
        await table.until(lambda: table.seq == 9)
        assert len(server.visits) == 2


def error_body(code: str, **params: int) -> bytes:
    filled = ",".join(f'"{name}":{value}' for name, value in params.items())
    return f'{{"error":{{"code":"{code}","params":{{{filled}}},"hint":"a hint"}}}}'.encode()


async def test_a_server_that_answers_by_http_is_asked_again_if_that_may_help() -> None:
    sleeps = Sleeps()
    async with fake_server(anew) as server:
        server.answers = [
            (503, error_body("draining")),
            (429, error_body("too_many", retry_ms=3000)),
            (502, b"<html>"),
        ]
        async with joined(server, sleeps):
            assert sleeps.seconds == [0.125, 3.25, 0.5]


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (403, error_body("foreign_origin"), "foreign_origin: a hint"),
        (404, b"nothing here", "bad_answer: the service answered 404"),
    ],
)
async def test_a_server_that_refuses_by_http_is_left(status: int, body: bytes, code: str) -> None:
    async with fake_server(anew) as server:
        server.answers = [(status, body)]
        with pytest.raises(TableClosedError, match=code):
            async with joined(server):
                pass


async def test_who_cannot_reach_a_server_gives_up_in_the_end() -> None:
    sleeps = Sleeps()
    retry = Retry(sleep=sleeps, chance=lambda: 1.0, patience_seconds=4.0)
    with pytest.raises(TableClosedError, match="unreachable"):
        async with connect(f"http://127.0.0.1:{free_port()}", "QJXKZB", "token", retry=retry):
            pass
    assert sleeps.seconds == [0.25, 0.5, 1, 2]


async def test_who_was_inside_once_never_gives_up() -> None:
    async def first(visit: Visit) -> None:
        await visit.welcome(PLAYING)
        await visit.drop()

    sleeps = Sleeps()
    async with fake_server(first, anew) as server:
        server.answers = []
        retry = Retry(sleep=sleeps, chance=lambda: 1.0, patience_seconds=0.1)
        async with joined(server, retry=retry) as table:
            await table.until(lambda: not table.is_up)
            server.answers = [(503, b"")] * 20
            await table.until(lambda: table.seq == 9)
            assert len(sleeps.seconds) > 20


@pytest.mark.parametrize("url", ["ftp://127.0.0.1", "nowhere", ""])
async def test_an_address_that_is_none_is_not_tried(url: str) -> None:
    with pytest.raises(TableClosedError, match="bad_address"):
        async with connect(url, "QJXKZB", "token"):
            pass


async def test_a_silent_server_is_left_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("towerhall_client.line.WELCOME_SECONDS", 0.05)

    async def silent(visit: Visit) -> None:
        await visit.socket.wait_closed()

    async with fake_server(silent, anew) as server, joined(server):
        assert len(server.visits) == 2


def test_a_wait_is_never_shorter_than_asked_for() -> None:
    backoff = Backoff(Retry(chance=lambda: 0.0))
    assert [backoff.next_seconds(), backoff.next_seconds(7.0)] == [0.0, 7.0]


def test_many_attempts_do_not_overflow() -> None:
    backoff = Backoff(Retry(chance=lambda: 1.0))
    assert [backoff.next_seconds() for _ in range(5000)][-1] == 15.0


def test_codes_of_later_levels_are_taken_for_passing_ones() -> None:
    assert may_return(1006)
    assert may_return(4999)
    assert not may_return(1000)
    assert may_ask_again(503)
    assert may_ask_again(429)
    assert not may_ask_again(404)
