"""Logs: three forms of the same lines, and nothing in them that is nobody's business."""

import json
import logging
import random
import re
import secrets
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.games import QUICK, guests_of, play_out
from tests.end_to_end.hidden_information.scan import leaks, spellings
from tests.end_to_end.raw import ask, bearer, connected, inside
from tests.end_to_end.servers import LIMITS, ServerProcess, running
from tests.proxy.cutting import CuttingProxy, split
from tests.sockets import free_port
from tests.telemetry.scraped import scrape
from towerhall_client.connection import connect
from towerhall_client.http import Service
from towerhall_protocol.commands import from_base64url
from towerhall_protocol.level import JSON, MSGPACK
from towerhall_server.cli.store_rooms import url_of_store
from towerhall_server.eventlog.log import EventLog
from towerhall_server.room.aliases import secret_and_salt
from towerhall_server.telemetry import logs
from towerhall_server.telemetry.logs import FORMS, set_up_logs

PAIR = re.compile(r'([a-z]+)=("(?:[^"\\]|\\.)*"|[^\s"=\\]+)(?: |$)')
WORTH_HIDING = 16
"""Shorter messages hold nothing but their name and a number."""


@pytest.fixture
def root() -> Iterator[None]:
    """What tests of logging change is put back."""
    logger = logging.getLogger()
    before = (logger.level, logger.handlers[:])
    quiet = {name: logging.getLogger(name).level for name in logs.QUIET}
    yield
    logger.setLevel(before[0])
    logger.handlers[:] = before[1]
    for name, level in quiet.items():
        logging.getLogger(name).setLevel(level)


def pairs(line: str) -> dict[str, str]:
    """A line of keys and values, read without any knowledge of how it was written."""
    found, at = {}, 0
    while at < len(line):
        match = PAIR.match(line, at)
        assert match, line[at:]
        value = match[2]
        found[match[1]] = json.loads(value) if value.startswith('"') else value
        at = match.end()
    return found


READ: dict[str, Any] = {"json": json.loads, "keyvalue": pairs}


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize("form", READ)
@pytest.mark.parametrize(
    "message",
    ["plain", "two words", 'with "quotes" and \\', "a=b", "line\nbreak\ttab", "Zoë ✓", "", "{}"],
)
def test_whatever_is_said_is_one_line_that_can_be_read(
    form: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up_logs(form, "info")
    logging.getLogger("towerhall_server.x").warning("%s", message)
    (line,) = capsys.readouterr().err.split("\n")[:-1]
    document = READ[form](line)
    assert document["message"] == message
    assert (document["level"], document["logger"]) == ("warning", "towerhall_server.x")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}", document["time"])


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize("form", READ)
def test_a_fault_is_told_with_its_trace_in_the_same_line(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up_logs(form, "info")
    try:
        raise ValueError("on purpose")
    except ValueError:
        logging.getLogger("x").exception("it failed")
    (line,) = capsys.readouterr().err.split("\n")[:-1]
    document = READ[form](line)
    assert document["message"] == "it failed"
    assert document["trace"].endswith("ValueError: on purpose")


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize("form", FORMS)
def test_what_others_tell_in_detail_is_never_told(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up_logs(form, "debug")
    for name in ("uvicorn.error", "websockets.server", "asyncio"):
        logging.getLogger(name).debug("< TEXT 'the token'")
    logging.getLogger("towerhall_server.x").debug("heard")
    err = capsys.readouterr().err
    assert "heard" in err
    assert "token" not in err
    assert sys.stderr is not None


# A whole game, with everything that may go wrong in it


class Game:
    """What must not be in a log, and everything that was said."""

    def __init__(self) -> None:
        self.hidden: dict[str, bytes] = {}
        self.messages: list[bytes] = []
        self.words: list[str] = []


async def play_and_disturb(server: ServerProcess, data: Path) -> Game:
    """One private game: two persons with nonces, a bot, chat, nonsense, cuts, wrong tokens."""
    game = Game()
    service = Service(server.url)
    *guests, eve = await guests_of(service, "Ada", "Ben", "Eve")
    made = await service.create_room(
        guests[0].token, "five_towers", seats=3, private=True, bot_delay_ms=0
    )
    headers = {"towerhall-key": made.key}
    async with EventLog(url_of_store("", data)) as log:
        kept = await log.secret(made.code)
    assert kept is not None
    secret, salt = secret_and_salt(kept)
    async with AsyncExitStack() as stack:
        proxies = [await stack.enter_async_context(CuttingProxy(server.port)) for _ in guests]
        tables = []
        for guest, proxy, form in zip(guests, proxies, (MSGPACK, JSON), strict=True):
            table = await stack.enter_async_context(
                connect(
                    proxy.url,
                    made.code,
                    guest.token,
                    key=made.key,
                    retry=QUICK,
                    subprotocol=form,
                    keep_frames=True,
                )
            )
            await table.sit()
            await table.ready()
            tables.append(table)
        await tables[0].add_bot("easy")
        await tables[0].start()
        await tables[1].chat("between you and me")
        proxies[0].drop_all()
        await spoil(server, made.code, eve.token, headers)
        await play_out(tables)
        frames = await tables[0].history()
    for proxy in proxies:
        for traffic in proxy.traffic:
            for way in (traffic.down, traffic.up):
                game.messages += split(bytes(way)).messages
    opened = [fact for frame in frames for fact in frame.facts if fact[0] == "nonce_opened"]
    assert len(opened) == 2
    game.hidden = {
        "secret": secret,
        "salt": salt,
        **{f"nonce {seat}": from_base64url(nonce) for _, seat, nonce in opened},
        "key": made.key.encode(),
        **{f"token of {guest.name}": guest.token[-40:].encode() for guest in (*guests, eve)},
    }
    game.words = [frame.mark for frame in frames]
    game.words += ["between you and me", *(guest.token for guest in (*guests, eve))]
    game.words += [guest.id for guest in (*guests, eve)]
    return game


async def spoil(server: ServerProcess, code: str, token: str, headers: dict[str, str]) -> None:
    """What an honest client never does."""
    ask(server.url, "GET", f"/v1/rooms/{code}", None, headers | bearer(token))
    ask(server.url, "GET", f"/v1/rooms/{code}?token={secrets.token_hex(8)}")
    ask(server.url, "POST", "/v1/rooms", b"{" + token.encode(), bearer(token))
    ask(server.url, "POST", "/v1/rooms", {"game": "five_towers"}, bearer(token + "x"))
    async with connected(server.url, code) as raw:
        await raw.hello(token, key="a wrong key of this room")
        await raw.end()
    async with connected(server.url, code) as raw:
        await raw.hello(token + "x")
        await raw.end()
    async with inside(server.url, code, token, key=headers["towerhall-key"]) as raw:
        await raw.throw(b"\xc1" + token.encode())
        await raw.say("hello", {"token": token})
        await raw.refused("bid", number=99)
        await raw.refused("open", nonce="A" * 43)
        await raw.throw(token, text=True)
        await raw.quiet()


def told(log: bytes, game: Game) -> set[str]:
    """What of it a log tells, in whatever spelling."""
    found = leaks(log, game.hidden)
    found |= {word for word in game.words if word.encode() in log}
    for message in game.messages:
        if len(message) >= WORTH_HIDING and any(text in log for text in spellings(message)):
            found.add(f"message {message!r}")
    return found


@pytest.mark.parametrize("form", FORMS)
async def test_the_log_of_a_whole_game_at_debug_level_tells_nothing(
    form: str, tmp_path: Path
) -> None:
    port, data = free_port(), tmp_path / "data"
    keys = {"TOWERHALL_TOKEN_KEYS": random.Random(8).randbytes(32).hex()}
    flags = ("--log-level", "debug", "--log-format", form, "--metrics-port", str(port))
    with running(data, *flags, limits=LIMITS | keys) as server:
        game = await play_and_disturb(server, data)
        metrics = scrape(port).text
        assert server.stop() == 0
        log = server.log
    assert len(log) > 1000
    assert "Traceback" not in log
    assert len(game.messages) > 100
    assert told(log.encode(), game) == set()
    assert told(metrics.encode(), game) == set()
    assert keys["TOWERHALL_TOKEN_KEYS"] not in log
    if form in READ:
        for line in log.splitlines():
            assert READ[form](line)["message"]
    # The search finds what it looks for.
    message = next(each for each in game.messages[40:] if len(each) >= WORTH_HIDING)
    for planted in (message, game.hidden["nonce 0"], game.words[3].encode()):
        assert told(log.encode() + repr(planted).encode(), game) != set()
