"""A real server, and all that leaves it."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import msgspec
import pytest
from redis.asyncio import Redis

from tests.end_to_end.games import QUICK, guests_of, play_out
from tests.end_to_end.hidden_information.scan import leaks
from tests.end_to_end.hidden_information.twins import BAD_COMMANDS
from tests.end_to_end.servers import LIMITS, ServerProcess
from tests.end_to_end.servers import running as running_server
from tests.proxy.cutting import HEAD_END, CuttingProxy, split
from tests.store.engines import client, running
from towerhall_client.connection import Table, connect
from towerhall_client.errors import RefusedError, ServiceError
from towerhall_client.http import Guest, NewRoom, Service
from towerhall_protocol.codec import FROM_SERVER, decode, decode_json
from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.fairness import NO_NONCE, game_seed
from towerhall_protocol.level import JSON, MSGPACK
from towerhall_protocol.updates import ChatSaid
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.eventlog.notifications import ENTRY
from towerhall_server.room.aliases import secret_and_salt


@pytest.fixture(scope="module")
def store_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running("valkey", tmp_path_factory.mktemp("store")) as engine:
        yield engine.url


@pytest.fixture(scope="module")
def talkative(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that logs whatever it can, on a store that the test can look into."""
    keys = {"TOWERHALL_TOKEN_KEYS": random.Random(8).randbytes(32).hex()}
    flags = ("--redis-url", store_url, "--log-level", "debug")
    folder = tmp_path_factory.mktemp("talkative") / "data"
    with running_server(folder, *flags, limits=LIMITS | keys) as process:
        yield process


class Published:
    """All that the store tells those who listen, in order."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []

    async def listen(self, channel: Any) -> None:
        async for message in channel.listen():
            if message["type"] == "pmessage":
                self.messages.append(message["data"])


@asynccontextmanager
async def listening(redis: Redis) -> AsyncIterator[Published]:
    published = Published()
    async with redis.pubsub() as channel:
        await channel.psubscribe("towerhall:*")
        task = asyncio.create_task(published.listen(channel))
        try:
            yield published
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def stored(redis: Redis) -> dict[str, list[bytes]]:
    """Everything that the store holds: by key, its values in their order."""
    keys = sorted([key async for key in redis.scan_iter(count=10_000)])
    async with redis.pipeline(transaction=False) as asking:
        for key in keys:
            asking.type(key)
        kinds = await asking.execute()
        for key, kind in zip(keys, kinds, strict=True):
            READS[kind](asking, key)
        values = await asking.execute()
    return {key.decode(): list(_parts(value)) for key, value in zip(keys, values, strict=True)}


READS: dict[bytes, Callable[[Any, bytes], object]] = {
    b"string": lambda asking, key: asking.get(key),
    b"set": lambda asking, key: asking.smembers(key),
    b"list": lambda asking, key: asking.lrange(key, 0, -1),
    b"hash": lambda asking, key: asking.hgetall(key),
    b"zset": lambda asking, key: asking.zrange(key, 0, -1),
    b"stream": lambda asking, key: asking.xrange(key),
}


def _parts(value: Any) -> Iterator[bytes]:
    """The single values of what a key holds; the fields of an entry are one."""
    match value:
        case bytes():
            yield value
        case dict():
            yield from (b" ".join(pair) for pair in value.items())
        case [(_, dict()), *_]:
            yield from (b" ".join(b" ".join(pair) for pair in row.items()) for _, row in value)
        case _:
            yield from value


def told_by(proxy: CuttingProxy, *, over: bool) -> bytes:
    """What went through: the messages that tell of a game that is over, or everything else."""
    found = []
    for traffic in proxy.traffic:
        stream = split(bytes(traffic.down))
        if not over:
            found += [stream.head, stream.rest]
        found += [data for data in stream.messages if _tells_the_end(data) == over]
    return b" ".join(found)


def _tells_the_end(data: bytes) -> bool:
    decoded: Any = decode_json(data, FROM_SERVER) if data[:1] == b"[" else decode(data, FROM_SERVER)
    match decoded:
        case ["frame", _, _, _, facts, *_]:
            return any(fact[0] == "secret_revealed" for fact in facts)
        case ["history", frames, *_]:
            return any(_tells_the_end(json.dumps(frame).encode()) for frame in frames)
        case ["welcome", {"view": view}] | ["reset", _, view, *_]:
            return bool(view["room"]["status"] == "over")
    return False


async def pry(service: Service, code: str, tables: list[Table], proxies: list[CuttingProxy]) -> int:
    """Ask for all that can be asked for, again and again; how often."""
    chance, asked = random.Random(4), 0
    await tables[2].chat("what are the cards?")
    while tables[2].status != "over":
        table = chance.choice(tables)
        with suppress(RefusedError, ServiceError):
            match chance.randrange(8):
                case 0 if table.offers:
                    await table.dry(next(iter(table.offers[0].commands())))
                case 1:
                    await table.history(max(1, table.seq - 30))
                case 2:
                    await service.room(code)
                    await service.rooms()
                case 3:
                    await service.record(code)
                case 4:
                    chance.choice(proxies).drop_all()
                case _:
                    await table.send(chance.choice(BAD_COMMANDS))
        asked += 1
    return asked


class Watched(msgspec.Struct, frozen=True):
    """A room on the talkative server, and everything that went out."""

    server: ServerProcess
    redis: Redis
    published: Published
    service: Service
    """By a way that is watched."""
    http: CuttingProxy
    room: NewRoom
    guests: list[Guest]
    tables: list[Table]
    proxies: list[CuttingProxy]

    async def kept(self) -> tuple[bytes, bytes]:
        """The room's secret, and the salt of its aliases."""
        found = await self.redis.get(room_keys(self.room.code).secret)
        assert isinstance(found, bytes)
        return secret_and_salt(found)


@asynccontextmanager
async def watched(server: ServerProcess, store_url: str) -> AsyncIterator[Watched]:
    """Two persons and a bot sit, a watcher watches; each has a line of their own."""
    guests = await guests_of(Service(server.url), "Ada", "Ben", "Zoe")
    async with AsyncExitStack() as stack:
        redis = await stack.enter_async_context(client(store_url))
        published = await stack.enter_async_context(listening(redis))
        http = await stack.enter_async_context(CuttingProxy(server.port))
        service = Service(http.url)
        room = await service.create_room(guests[0].token, "five_towers", seats=3, bot_delay_ms=15)
        tables, proxies = [], []
        for guest, subprotocol in zip(guests, (MSGPACK, JSON, JSON), strict=True):
            proxy = await stack.enter_async_context(CuttingProxy(server.port))
            joining = connect(
                proxy.url, room.code, guest.token, subprotocol=subprotocol, retry=QUICK
            )
            tables.append(await stack.enter_async_context(joining))
            proxies.append(proxy)
        for table in tables[:2]:
            await table.sit()
            await table.ready()
        await tables[0].add_bot("easy")
        yield Watched(server, redis, published, service, http, room, guests, tables, proxies)


async def test_nothing_hidden_leaves_the_server_before_the_end_of_a_game(
    talkative: ServerProcess, store_url: str
) -> None:
    """Sockets, HTTP answers, the log at debug level, the store and what it publishes."""
    async with watched(talkative, store_url) as game:
        await game.tables[0].start()
        prying = asyncio.create_task(pry(game.service, game.room.code, game.tables, game.proxies))
        await play_out(game.tables[:2])
        asked = await prying
        assert asked >= 30
        assert sum(proxy.drops for proxy in game.proxies) >= 3
        (secret, salt), view = await game.kept(), dict[str, Any](game.tables[2].view)
        frames = await game.tables[2].history()
        record = await Service(talkative.url).record(game.room.code)
        kept = await stored(game.redis)
    told = [fact for frame in frames for fact in frame.facts]
    nonces = {seat: from_base64url(nonce) for name, seat, nonce in _of(told, "nonce_opened")}
    assert sorted(nonces) == [0, 1]
    uid = from_base64url(game.room.uid)
    seed = game_seed(secret, uid, 1, (nonces[0], nonces[1], NO_NONCE))
    hidden = {"secret": secret, "seed": seed}

    # At the end everybody learns it.
    assert _of(told, "secret_revealed") == [("secret_revealed", base64url(secret))]
    assert view["room"]["secret"] == base64url(secret)
    assert (record["proof"]["secret"], record["proof"]["deals"][0]["seed"]) == (
        base64url(secret),
        base64url(seed),
    )
    for proxy in game.proxies:
        assert leaks(told_by(proxy, over=True), hidden) == {"secret"}

    # Before that it is not told, and some things never are: the salt of the aliases, the people.
    persons = {guest.name: guest.id.encode() for guest in game.guests}
    persons |= {f"bytes of {guest.name}": from_base64url(guest.id) for guest in game.guests}
    never = {"salt": salt} | persons
    assert leaks(msgspec.json.encode(record), never) == set()
    for row in record["commits"]:
        assert leaks(from_base64url(row[3]), never) == set()
    ids = {f"commit {row[0]}": from_base64url(row[1]) for row in record["commits"][::5]}
    signed = {f"token of {guest.name}": guest.token[-40:].encode() for guest in game.guests}
    for proxy in game.proxies:
        assert leaks(told_by(proxy, over=False), hidden | ids | signed | never) == set()
        assert leaks(told_by(proxy, over=True), {"seed": seed} | ids | signed | never) == set()
    answers = [bytes(traffic.down).partition(HEAD_END) for traffic in game.http.traffic]
    assert any(b"record_not_ready" in body for _, _, body in answers)
    for head, _, body in answers:
        if b"attachment" in head:
            assert json.loads(body) == record, "a record was given before all was in it"
        else:
            assert leaks(head + body, hidden | ids | signed | never) == set()
    assert len(talkative.log) > 1_000
    assert leaks(talkative.log.encode(), hidden | ids | signed | never) == set()

    # The store keeps the secret in a key of its own, and in the last commit.
    assert kept.pop(room_keys(game.room.code).secret) == [secret + salt]
    *before, last = kept.pop(room_keys(game.room.code).log)
    assert leaks(last, hidden | never) == {"secret"}
    assert leaks(b" ".join(before), hidden | signed | never) == set()
    assert {key.split(":")[-1] for key in kept} >= {"clock", "due"}
    for key, values in kept.items():
        # What is kept of each person names them, in keys of their own.
        known = {} if key.startswith(("towerhall:mine:", "towerhall:{p:")) else persons
        assert leaks(b" ".join(values), hidden | signed | {"salt": salt} | known) == set(), key
    about_it = f" {game.room.code} ".encode()
    news = [data for data in game.published.messages if about_it in data]
    *before, last = [data for data in news if data.partition(about_it)[2].startswith(ENTRY)]
    # A node that takes itself for alone for a moment publishes nothing.
    assert len(before) > len(frames) // 2
    assert leaks(last, hidden) == {"secret"}
    rest = [data for data in game.published.messages if data is not last]
    assert leaks(b" ".join(rest), hidden | signed) == set()


def _of(facts: Iterable[tuple[Any, ...]], name: str) -> list[tuple[Any, ...]]:
    return [fact for fact in facts if fact[0] == name]


async def test_a_secret_that_is_planted_into_chat_or_a_name_is_found_wherever_it_goes(
    talkative: ServerProcess, store_url: str
) -> None:
    async with watched(talkative, store_url) as game:
        secret, _ = await game.kept()
        hidden = {"secret": secret}
        assert leaks(told_by(game.proxies[2], over=False), hidden) == set()
        hearing = [aiter(table) for table in game.tables]
        await game.tables[0].chat(f"it is {base64url(secret)}")
        for heard in hearing:
            while not isinstance(await anext(heard), ChatSaid):
                pass
        for proxy in game.proxies:
            assert leaks(told_by(proxy, over=False), hidden) == {"secret"}
        assert leaks(b" ".join(game.published.messages), hidden) == {"secret"}
        kept = await stored(game.redis)
        holding = {key for key, values in kept.items() if leaks(b" ".join(values), hidden)}
        keys = room_keys(game.room.code)
        assert holding == {keys.secret, keys.chat}
        (spy,) = await guests_of(game.service, secret.hex()[:24])
        assert leaks(bytes(game.http.traffic[-1].down), hidden) == {"secret"}
        async with connect(game.proxies[1].url, game.room.code, spy.token):
            last = split(bytes(game.proxies[1].traffic[-1].down))
            assert leaks(last.messages[0], hidden) == {"secret"}
