"""Every limit of the service, met by real requests to two nodes of one store, on every engine.

One table: how often something may be done, and what whoever does it once more is told. What is
shared is asked of both nodes in turn, and both together let no more through than one. Each row
comes from addresses of its own, which the nodes believe of their proxy.
"""

import asyncio
import itertools
import json
import os
import secrets
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from tests.end_to_end.raw import MSGPACK, SECONDS, Answer, Raw, ask, bearer
from tests.end_to_end.servers import ServerProcess, running
from tests.store.engines import KINDS
from tests.store.engines import running as running_engine
from towerhall_protocol.commands import base64url
from towerhall_server.access.rates import Limits
from towerhall_server.accounts.codes import account_name, recovery_code

SMALL = {
    "MESSAGE_BYTES": "2048",
    # As long as a busy machine may need for all connections of a row: the first ones must last.
    "HELLO_SECONDS": "3",
    "REQUEST_SECONDS": "4",
    "HEADER_BYTES": "2000",
    "PATH_BYTES": "1000",
    "CONNECTIONS_PER_IP": "3",
    "COMMANDS": "3/min burst 4",
    "CHAT": "2/min burst 2",
    "WATCHER_CHAT": "2/min burst 2",
    "WATCHER_CHAT_PER_ROOM": "3/min burst 3",
    "GETS_PER_IP": "4/min burst 4",
    "HISTORY": "2/min burst 3",
    "SIGNATURES": "2/min burst 3",
    "BAD_MESSAGES": "2/min burst 3",
    "SOCKETS_PER_IP": "5",
    "SOCKETS_PER_IDENTITY": "2",
    "SOCKETS_PER_BOT": "3",
    "SPECTATORS_PER_ROOM": "3",
    "ROOMS_PER_IDENTITY": "3/h",
    "ROOMS_PER_IP": "5/h",
    "GUESTS_PER_IP": "6/h",
    "BOTS_PER_IP": "2/h",
    "INVITATIONS_PER_IDENTITY": "3/h",
    "REPORTS_PER_IDENTITY": "2/h",
    "RECOVERIES_PER_IP": "4/h",
    "SIGN_INS_PER_ACCOUNT": "3/h",
    "QUESTIONS_PER_IDENTITY": "4/h",
    "REVOCATIONS_PER_IP": "3/h",
    "OPERATOR_REQUESTS": "4/h",
}
ADDRESSES = (f"198.51.100.{number}" for number in itertools.count(1))
NOWHERE = "ZZZZZZ"
DIRECT = "127.0.0.2"
"""Of this address the nodes believe nothing."""
GAME = {"game": "five_towers"}


class Refused(NamedTuple):
    """What somebody is told who exceeds a limit."""

    code: str
    retry_ms: int | None
    close: int | None = None


class Visit:
    """One visitor's address, and two nodes to go to."""

    def __init__(self, nodes: list[str], stack: AsyncExitStack) -> None:
        self.address = next(ADDRESSES)
        self.stack = stack
        self.nodes = nodes
        self._turn = itertools.cycle(nodes)
        self.raw: Raw | None = None
        self.kept: dict[str, Any] = {}

    async def ask(self, method: str, path: str, body: object, token: str = "") -> Answer:
        """Ask one node, and the other one next time."""
        return await asyncio.to_thread(
            ask,
            next(self._turn),
            method,
            path,
            body,
            {"x-forwarded-for": self.address} | (bearer(token) if token else {}),
        )

    async def guest(self, **more: bool) -> str:
        """Somebody new, from elsewhere: only rows about guests count them."""
        away = Visit(self.nodes, self.stack)
        made = await away.ask("POST", "/v1/guests", {"name": "Ada", **more})
        return str(made.document["token"])

    async def room(self) -> str:
        away = Visit(self.nodes, self.stack)
        made = await away.ask("POST", "/v1/rooms", GAME, await away.guest())
        return str(made.document["code"])

    async def socket(self, code: str, node: int = 0) -> Raw:
        """A connection that stays until the row is done."""
        opened = await self.stack.enter_async_context(
            connect(
                f"ws://{urlsplit(self.nodes[node]).netloc}/v1/rooms/{code}",
                subprotocols=[Subprotocol(MSGPACK)],
                additional_headers={"x-forwarded-for": self.address},
                compression=None,
                close_timeout=1,
                ping_interval=None,
                proxy=None,
            )
        )
        return Raw(opened)

    async def inside(self, code: str, token: str, node: int = 0) -> Raw:
        raw = await self.socket(code, node)
        await raw.hello(token)
        return raw

    async def talk(self) -> Raw:
        """One connection inside a room, the same every time."""
        if self.raw is None:
            self.raw = await self.inside(await self.room(), await self.guest())
            assert (await self.raw.hear())[0] == "welcome"
        return self.raw


def over_http(answer: Answer) -> Refused | None:
    if answer.status < 300:
        return None
    assert answer.status == 429
    retry_ms = answer.document["error"]["params"]["retry_ms"]
    assert int(answer.headers["retry-after"]) == -(-retry_ms // 1000)
    return Refused(answer.code, retry_ms)


async def end_of(raw: Raw) -> Refused:
    end = await raw.end()
    _, code, params, *_ = end.messages[-1] if end.messages else ("", end.reason, {}, "")
    return Refused(code, params.get("retry_ms"), end.code)


# What may be done so often


async def guest(visit: Visit) -> Refused | None:
    return over_http(await visit.ask("POST", "/v1/guests", {"name": "Ada"}))


async def bot_of_one_address(visit: Visit) -> Refused | None:
    wanted = {"name": "Deep", "bot_account": True}
    return over_http(await visit.ask("POST", "/v1/guests", wanted))


async def invitation_of_one_person(visit: Visit) -> Refused | None:
    """Each of somebody else, to the same room."""
    if "code" not in visit.kept:
        visit.kept["token"] = await visit.guest()
        made = await visit.ask("POST", "/v1/rooms", GAME, visit.kept["token"])
        visit.kept["code"] = made.document["code"]
    path = f"/v1/rooms/{visit.kept['code']}/invitations"
    wanted = {"id": base64url(secrets.token_bytes(8))}
    return over_http(await visit.ask("POST", path, wanted, visit.kept["token"]))


async def report_of_one_person(visit: Visit) -> Refused | None:
    """Each of somebody who is not there: it counts all the same."""
    if "code" not in visit.kept:
        visit.kept["token"] = await visit.guest()
        made = await visit.ask("POST", "/v1/rooms", GAME, visit.kept["token"])
        visit.kept["code"] = made.document["code"]
    wanted = {"room": visit.kept["code"], "reason": "name", "id": base64url(secrets.token_bytes(8))}
    answer = await visit.ask("POST", "/v1/me/reports", wanted, visit.kept["token"])
    return None if answer.status == 404 else over_http(answer)


async def recovery_of_one_address(visit: Visit) -> Refused | None:
    """Each of another account, and none of them exists: it counts all the same."""
    return await recovery(visit, account_name(secrets.token_bytes(16)))


async def sign_in_to_one_account(visit: Visit) -> Refused | None:
    """Each from another address."""
    visit.address = next(ADDRESSES)
    return await recovery(visit, visit.kept.setdefault("account", account_name(bytes(16))))


async def recovery(visit: Visit, account: str) -> Refused | None:
    code = str(recovery_code(account, secrets.token_bytes(16)))
    wanted = {"code": code, "nonce": base64url(secrets.token_bytes(16))}
    answer = await visit.ask("POST", "/v1/sign-in/recovery", wanted)
    if answer.status == 403:
        assert answer.document["error"]["code"] == "bad_recovery_code"
        return None
    return over_http(answer)


async def room_of_one_person(visit: Visit) -> Refused | None:
    """Each from another address."""
    token = visit.kept.setdefault("token", None) or await visit.guest()
    visit.kept["token"] = token
    visit.address = next(ADDRESSES)
    return over_http(await visit.ask("POST", "/v1/rooms", GAME, token))


async def question_of_one_person(visit: Visit) -> Refused | None:
    """Which rooms are mine? Each time from another address."""
    token = visit.kept.setdefault("token", None) or await visit.guest()
    visit.kept["token"] = token
    visit.address = next(ADDRESSES)
    return over_http(await visit.ask("GET", "/v1/me/rooms", None, token))


async def revocation_of_one_address(visit: Visit) -> Refused | None:
    """Each by another person, whom the address may well share."""
    token = await visit.guest()
    return over_http(await visit.ask("POST", "/v1/me/revoke", {}, token))


async def wrong_key_of_one_address(visit: Visit) -> Refused | None:
    """It is refused in any case, and after some attempts for being too many. Each node counts for
    itself, so only one is asked."""
    node = visit.nodes[0]
    headers = {"x-forwarded-for": visit.address} | bearer("no operator has this key")
    found = await asyncio.to_thread(ask, node, "GET", "/v1/operator/bans", None, headers)
    return None if found.status == 401 else over_http(found)


async def room_of_one_address(visit: Visit) -> Refused | None:
    """Each by another person."""
    return over_http(await visit.ask("POST", "/v1/rooms", GAME, await visit.guest()))


async def socket_of_one_address(visit: Visit) -> Refused | None:
    try:
        await visit.socket(NOWHERE)
    except InvalidStatus as error:
        headers = {name.lower(): value for name, value in error.response.headers.raw_items()}
        found = Answer(error.response.status_code, headers, bytes(error.response.body or b""))
        return over_http(found)
    return None


async def socket_of_one_person(visit: Visit) -> Refused | None:
    token = visit.kept.get("token") or await visit.guest()
    visit.kept["token"] = token
    raw = await visit.inside(await visit.room(), token)
    return None if (first := await raw.hear())[0] == "welcome" else await _closed(raw, first)


async def socket_of_one_bot(visit: Visit) -> Refused | None:
    if "token" not in visit.kept:
        visit.kept["token"] = await visit.guest(bot_account=True)
    return await socket_of_one_person(visit)


async def spectator(visit: Visit) -> Refused | None:
    """Each another person at another address, on both nodes in turn."""
    code = visit.kept.get("code") or await visit.room()
    visit.kept["code"] = code
    visit.address = next(ADDRESSES)
    number = visit.kept["number"] = visit.kept.get("number", 0) + 1
    raw = await visit.inside(code, await visit.guest(), number % 2)
    first = await raw.hear()
    if first[0] != "welcome":
        return await _closed(raw, first)
    # Nodes tell each other of their guests a little later.
    await asyncio.sleep(0.4)
    return None


async def _closed(raw: Raw, first: list[Any]) -> Refused:
    assert first[0] == "error"
    return Refused(first[1], first[2].get("retry_ms"), (await raw.end()).code)


async def said(visit: Visit, *message: object, answer: str, text: str = "") -> Refused | None:
    raw = await visit.talk()
    await raw.say(*message)
    while True:
        heard = await raw.hear()
        if heard[0] == "error":
            return Refused(heard[1], heard[2].get("retry_ms"))
        if heard[0] == answer and (not text or text in heard):
            return None


async def ping(visit: Visit) -> Refused | None:
    return await said(visit, "ping", 1, answer="pong")


async def chat(visit: Visit) -> Refused | None:
    if visit.raw is None:
        await (await visit.talk()).done("sit")
    return await said(visit, "chat", "hm", answer="chat")


async def chat_of_one_watcher(visit: Visit) -> Refused | None:
    """By two connections in turn."""
    return await _chat_in_turn(visit, (await _once(visit, "token", visit.guest),) * 2)


async def chat_of_two_watchers(visit: Visit) -> Refused | None:
    return await _chat_in_turn(visit, [await _once(visit, n, visit.guest) for n in ("a", "b")])


async def _chat_in_turn(visit: Visit, tokens: Sequence[str]) -> Refused | None:
    code = await _once(visit, "code", visit.room)
    turn = visit.kept["turn"] = visit.kept.get("turn", -1) + 1
    if turn < len(tokens):
        raw = visit.kept[f"raw {turn}"] = await visit.inside(code, tokens[turn])
        assert (await raw.hear())[0] == "welcome"
    visit.raw = visit.kept[f"raw {turn % len(tokens)}"]
    return await said(visit, "chat", f"line {turn}", answer="chat", text=f"line {turn}")


async def _once(visit: Visit, name: str, make: Callable[[], Awaitable[str]]) -> str:
    if name not in visit.kept:
        visit.kept[name] = await make()
    return str(visit.kept[name])


async def get_of_one_address(visit: Visit) -> Refused | None:
    headers = {"x-forwarded-for": visit.address}
    return over_http(
        await asyncio.to_thread(ask, visit.nodes[0], "GET", "/v1/games", None, headers)
    )


async def history(visit: Visit) -> Refused | None:
    return await said(visit, "history", 1, 1, answer="history")


async def signature(visit: Visit) -> Refused | None:
    """These servers have no key, and say so as often as they are asked within the rate."""
    raw = await visit.talk()
    await raw.say("sign")
    _, code, params, *_ = await raw.wait_for("error")
    return None if code == "not_signed" else Refused(code, params["retry_ms"])


async def nonsense(visit: Visit) -> Refused | None:
    """It is answered, and too much of it ends the connection."""
    raw = await visit.talk()
    await raw.say("what", "is", "this")
    assert (await raw.wait_for("error"))[1] == "unknown_message"
    try:
        await raw.say("ping", 1)
        await raw.wait_for("pong")
    except Exception:  # noqa: BLE001 - whichever way it shows
        end = await raw.end()
        return Refused(end.reason, None, end.code)
    return None


async def large_message(visit: Visit) -> Refused | None:
    """The first is as large as allowed."""
    raw = await visit.talk()
    large = visit.kept["large"] = visit.kept.get("large", 2047) + 1
    text = b"\x93\xa7history\xc5" + (large - 12).to_bytes(2, "big")
    await raw.throw(text + bytes(large - len(text)))
    heard = await _next(raw)
    if heard is None:
        end = await raw.end()
        return Refused(end.reason, None, end.code)
    assert heard[1] == "malformed_message"
    return None


async def _next(raw: Raw) -> list[Any] | None:
    try:
        return await raw.wait_for("error")
    except Exception:  # noqa: BLE001 - it is closed
        return None


async def silence(visit: Visit) -> Refused | None:
    return await end_of(await visit.socket(NOWHERE))


async def connection_of_one_address(visit: Visit) -> Refused | None:
    """Each is held, and says nothing."""
    refused = await _told(visit, b"", 0.2)
    assert refused is None or refused.retry_ms
    return refused


async def half_a_request(visit: Visit) -> Refused | None:
    return await _told(visit, b"GET /healthz HTTP/1.1\r\n")


async def long_header(visit: Visit) -> Refused | None:
    return await _told(visit, b"GET / HTTP/1.1\r\nhost: h\r\nx: %b\r\n\r\n" % _more(visit, 1900))


async def long_path(visit: Visit) -> Refused | None:
    return await _told(visit, b"GET /?%b HTTP/1.1\r\nhost: h\r\n\r\n" % _more(visit, 990))


def _more(visit: Visit, bytes_: int) -> bytes:
    """The first is as large as allowed, within some bytes."""
    size: int = visit.kept.get("bytes", bytes_ - 100) + 100
    visit.kept["bytes"] = size
    return b"x" * size


async def _told(visit: Visit, data: bytes, seconds: float = SECONDS) -> Refused | None:
    """What is told to a connection that comes without a proxy, and is held."""
    parts = urlsplit(visit.nodes[0])
    opened = asyncio.open_connection(parts.hostname, parts.port, local_addr=(DIRECT, 0))
    reader, writer = await opened
    visit.stack.callback(writer.transport.abort)
    writer.write(data)
    try:
        async with asyncio.timeout(seconds):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    except TimeoutError:
        return None
    length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
    document = json.loads(await reader.readexactly(length)) if "json" in head else {}
    if "error" not in document:
        return None
    return Refused(document["error"]["code"], document["error"]["params"].get("retry_ms"))


class Row(NamedTuple):
    limit: str
    allowed: int
    attempt: Callable[[Visit], Awaitable[Refused | None]]
    code: str
    most_retry_ms: int | None
    close: int | None = None


HOUR = 3_600_000
TABLE = (
    Row("guests_per_ip", 6, guest, "too_many", HOUR // 6),
    Row("bots_per_ip", 2, bot_of_one_address, "too_many", HOUR // 2),
    Row("invitations_per_identity", 3, invitation_of_one_person, "too_many", HOUR // 3),
    Row("reports_per_identity", 2, report_of_one_person, "too_many", HOUR // 2),
    Row("recoveries_per_ip", 4, recovery_of_one_address, "too_many", HOUR // 4),
    Row("sign_ins_per_account", 3, sign_in_to_one_account, "too_many", HOUR // 3),
    Row("rooms_per_identity", 3, room_of_one_person, "too_many", HOUR // 3),
    Row("rooms_per_ip", 5, room_of_one_address, "too_many", HOUR // 5),
    Row("questions_per_identity", 4, question_of_one_person, "too_many", HOUR // 4),
    Row("revocations_per_ip", 3, revocation_of_one_address, "too_many", HOUR // 3),
    Row("operator_requests", 4, wrong_key_of_one_address, "too_many", HOUR // 4),
    Row("sockets_per_ip", 5, socket_of_one_address, "too_many", 10_000),
    Row("sockets_per_identity", 2, socket_of_one_person, "busy", 10_000, 1013),
    Row("sockets_per_bot", 3, socket_of_one_bot, "busy", 10_000, 1013),
    Row("spectators_per_room", 3, spectator, "busy", 10_000, 1013),
    Row("commands", 4, ping, "too_many", 20_000),
    Row("chat", 2, chat, "too_many", 30_000),
    Row("watcher_chat", 2, chat_of_one_watcher, "too_many", 30_000),
    Row("watcher_chat_per_room", 3, chat_of_two_watchers, "too_many", 20_000),
    Row("gets_per_ip", 4, get_of_one_address, "too_many", 15_000),
    Row("history", 3, history, "too_many", 30_000),
    Row("signatures", 3, signature, "too_many", 30_000),
    Row("bad_messages", 3, nonsense, "bad_message", None, 4400),
    Row("message_bytes", 1, large_message, "message_too_large", None, 1009),
    Row("hello_seconds", 0, silence, "hello_late", None, 4408),
    Row("request_seconds", 0, half_a_request, "request_late", None),
    Row("header_bytes", 1, long_header, "headers_too_large", None),
    Row("path_bytes", 1, long_path, "path_too_long", None),
    # The last one: a server needs a moment to see that all of these connections have ended.
    Row("connections_per_ip", 3, connection_of_one_address, "too_many", 10_000),
)


@pytest.fixture(scope="module", params=KINDS)
def nodes(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[str]]:
    """Two servers of one store."""
    folder: Path = tmp_path_factory.mktemp("nodes")
    limits = {f"TOWERHALL_LIMIT_{name}": value for name, value in SMALL.items()}
    environ = limits | {
        "TOWERHALL_TOKEN_KEYS": secrets.token_urlsafe(32),
        "TOWERHALL_TRUSTED_PROXIES": "127.0.0.1",
    }

    def node(name: str) -> Any:
        return running(folder / name, "--redis-url", engine.url, limits=environ)

    with running_engine(request.param, folder / "store") as engine, node("a") as a, node("b") as b:
        yield [a.url, b.url]


@pytest.fixture
async def visit(nodes: list[str]) -> AsyncIterator[Visit]:
    async with AsyncExitStack() as stack:
        yield Visit(nodes, stack)


@pytest.mark.parametrize("row", TABLE, ids=[row.limit for row in TABLE])
async def test_so_much_is_let_through_and_what_exceeds_it_is_told(row: Row, visit: Visit) -> None:
    for number in range(row.allowed):
        assert await row.attempt(visit) is None, f"{row.limit}: refused after {number}"
    refused = await row.attempt(visit)
    assert refused is not None, f"{row.limit}: more than {row.allowed} were let through"
    assert (refused.code, refused.close) == (row.code, row.close)
    if row.most_retry_ms is None:
        assert refused.retry_ms is None
    else:
        assert refused.retry_ms is not None
        assert 0 < refused.retry_ms <= row.most_retry_ms


def test_the_table_has_every_limit() -> None:
    every = {field.name for field in msgspec.structs.fields(Limits)}
    assert {row.limit for row in TABLE} == every == {name.lower() for name in SMALL}


async def test_others_are_not_held_to_what_one_address_did(visit: Visit, nodes: list[str]) -> None:
    async with AsyncExitStack() as stack:
        first, second = Visit(nodes, stack), Visit(nodes, stack)
        while await guest(first) is None:
            pass
        assert await guest(second) is None


async def test_a_store_that_is_gone_locks_nobody_out(tmp_path: Path) -> None:
    """Guests need no store: those that it would have let through are let through without it."""
    limits = {"TOWERHALL_LIMIT_GUESTS_PER_IP": "4/h"}
    with running(tmp_path / "data", limits=limits) as server:
        first = ask(server.url, "POST", "/v1/guests", {"name": "Ada"})
        assert first.status == 201
        engine = server.engine_pid()
        os.kill(engine, signal.SIGSTOP)
        try:
            answers = [await _guest(server) for _ in range(4)]
        finally:
            os.kill(engine, signal.SIGCONT)
    assert [answer.status for answer in answers] == [201, 201, 201, 429]
    assert answers[-1].code == "too_many"


async def _guest(server: ServerProcess) -> Answer:
    return await asyncio.to_thread(ask, server.url, "POST", "/v1/guests", {"name": "Ada"})
