"""What is hidden stays hidden until the end: no byte that leaves the server tells of it.

Two ways of looking. A *scan* searches everything that a real server sends, answers, logs, stores
and publishes during a game for its secret, its seed and what else is nobody's business, in all
spellings. *Twins* are two rooms that differ only in what is hidden, through which the same commands
are sent: everybody must get the same bytes until a card is turned over that differs. Both are also
shown bugs that were made on purpose, because a search that never finds anything proves nothing.
"""

import asyncio
import json
import random
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from functools import cache
from typing import Any, TypeGuard

import msgspec
import pytest
from redis.asyncio import Redis

from tests.end_to_end.cutting_proxy import HEAD_END, CuttingProxy, split
from tests.end_to_end.games import QUICK, guests_of, play_out
from tests.end_to_end.in_process import Come, Go, Read, Say, Stage, Step, TimeOut, stage
from tests.end_to_end.servers import LIMITS, ServerProcess
from tests.end_to_end.servers import running as running_server
from tests.eventlog.engines import client, running
from tests.games import dice_duel as duel
from towerhall_client.connection import Table, connect
from towerhall_client.errors import RefusedError, ServiceError
from towerhall_client.http import Guest, NewRoom, Service
from towerhall_protocol.codec import FROM_SERVER, decode, decode_json
from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.fairness import NO_NONCE, game_seed
from towerhall_protocol.happenings import ChatSaid
from towerhall_protocol.level import JSON, MSGPACK
from towerhall_protocol.messages import ServerFrame, ServerMessage
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.eventlog.wakes import ENTRY
from towerhall_server.game import AnyGame, Rejected, Viewer
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.room import actor, core, events
from towerhall_server.room import draft as draft_module
from towerhall_server.room import view as view_module
from towerhall_server.room.events import PersonSat, RoomCreated
from towerhall_server.room.gate import key_hash
from towerhall_server.room.state import Room

# The scan

WINDOW, STRIDE = 8, 4
"""Any 11 bytes in a row of something long hold a window, at whatever place they were cut out."""


@cache
def spellings(value: bytes) -> tuple[bytes, ...]:
    """How bytes may be written, forwards and backwards."""
    found: dict[bytes, None] = {}
    for data in (value, value[::-1]):
        found[data] = None
        found[data.hex().encode()] = None
        found[data.hex().upper().encode()] = None
        found[repr(data)[2:-1].encode()] = None
        found[json.dumps(data.decode("latin-1"))[1:-1].encode()] = None
        for separator in (", ", ","):
            found[separator.join(map(str, data)).encode()] = None
        for shift in range(3):
            # Inside a longer text the same bytes look different: whole characters of ours count.
            text = b64encode(bytes(shift) + data + bytes(2))
            ours = text[-(-8 * shift // 6) : 8 * (shift + len(data)) // 6]
            found[ours] = None
            found[ours.translate(bytes.maketrans(b"+/", b"-_"))] = None
    return tuple(found)


def windows(value: bytes) -> Iterator[bytes]:
    last = max(len(value) - WINDOW, 0)
    for start in {*range(0, last, STRIDE), last}:
        yield value[start : start + WINDOW]


def leaks(data: bytes, hidden: Mapping[str, bytes]) -> set[str]:
    """Which of the hidden things can be read from the data, wholly or in part."""
    return {
        name
        for name, value in hidden.items()
        if any(text in data for window in windows(value) for text in spellings(window))
    }


SECRET = random.Random(5).randbytes(32)
WRITINGS: list[Callable[[bytes], bytes]] = [
    bytes,
    lambda secret: secret.hex().encode(),
    lambda secret: secret.hex().upper().encode(),
    b64encode,
    lambda secret: b64encode(b"x" + secret + b"y"),
    lambda secret: b64encode(b"xy" + secret + b"z"),
    lambda secret: base64url(secret).encode(),
    lambda secret: base64url(b"\x91" + secret).encode(),
    lambda secret: secret[::-1],
    lambda secret: secret[::-1].hex().encode(),
    lambda secret: repr(secret).encode(),
    lambda secret: repr(list(secret)).encode(),
    lambda secret: secret[5:16],
    lambda secret: secret.hex()[-24:].encode(),
    lambda secret: base64url(secret)[:16].encode(),
    msgspec.msgpack.encode,
    msgspec.json.encode,
]


@pytest.mark.parametrize("write", WRITINGS)
def test_the_scan_finds_a_secret_however_it_is_written(write: Callable[[bytes], bytes]) -> None:
    before, after = random.Random(6).randbytes(1000), random.Random(7).randbytes(1000)
    assert leaks(before + write(SECRET) + after, {"S": SECRET}) == {"S"}
    assert leaks(before + after, {"S": SECRET}) == set()


# A real server, and all that leaves it


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


BAD_COMMANDS: list[dict[str, Any]] = [
    {"command": "bid", "number": 99},
    {"command": "build", "cards": ["sand:1", "sand:1"]},
    {"command": "build", "cards": [], "demolish": "sand"},
    {"command": "nonsense"},
    {"command": "open", "nonce": "A" * 43},
    {"command": "sit", "seat": 9},
    {"command": "start"},
    {"command": "pass", "why": "because"},
]


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
                    await table.choose(chance.choice(BAD_COMMANDS))
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

    async def secret(self) -> bytes:
        found = await self.redis.get(room_keys(self.room.code).secret)
        assert isinstance(found, bytes)
        return found


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
        secret, view = await game.secret(), dict[str, Any](game.tables[2].view)
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

    # Before that nobody does, nor of what is never told.
    ids = {f"commit {row[0]}": from_base64url(row[1]) for row in record["commits"][::5]}
    signed = {f"token of {guest.name}": guest.token[-40:].encode() for guest in game.guests}
    for guest, proxy in zip(game.guests, game.proxies, strict=True):
        others = {other.name: other.id.encode() for other in game.guests if other is not guest}
        assert leaks(told_by(proxy, over=False), hidden | ids | signed | others) == set()
        assert leaks(told_by(proxy, over=True), {"seed": seed} | ids | signed | others) == set()
    persons = {guest.name: guest.id.encode() for guest in game.guests}
    answers = [bytes(traffic.down).partition(HEAD_END) for traffic in game.http.traffic]
    assert any(b"record_not_ready" in body for _, _, body in answers)
    for head, _, body in answers:
        if b"attachment" in head:
            assert json.loads(body) == record, "a record was given before all was in it"
        else:
            assert leaks(head + body, hidden | ids | signed | persons) == set()
    assert len(talkative.log) > 1_000
    assert leaks(talkative.log.encode(), hidden | ids | signed) == set()

    # The store keeps the secret in a key of its own, and in the last commit.
    assert kept.pop(room_keys(game.room.code).secret) == [secret]
    *before, last = kept.pop(room_keys(game.room.code).log)
    assert leaks(last, hidden) == {"secret"}
    assert leaks(b" ".join(before), hidden | signed) == set()
    assert {key.split(":")[-1] for key in kept} >= {"clock", "due"}
    for key, values in kept.items():
        assert leaks(b" ".join(values), hidden | signed) == set(), key
    about_it = f" {game.room.code} ".encode()
    news = [data for data in game.published.messages if about_it in data]
    *before, last = [data for data in news if data.partition(about_it)[2].startswith(ENTRY)]
    assert len(before) > len(frames) - 3
    assert leaks(last, hidden) == {"secret"}
    rest = [data for data in game.published.messages if data is not last]
    assert leaks(b" ".join(rest), hidden | signed) == set()


def _of(facts: Iterable[tuple[Any, ...]], name: str) -> list[tuple[Any, ...]]:
    return [fact for fact in facts if fact[0] == name]


async def test_a_secret_that_is_planted_into_chat_or_a_name_is_found_wherever_it_goes(
    talkative: ServerProcess, store_url: str
) -> None:
    async with watched(talkative, store_url) as game:
        secret = await game.secret()
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


# Twins

Names = tuple[str, str, str]
NAMES: Names = ("ada", "ben", "zoe")
SITTING = NAMES[:2]
REVEALING = {"game_started", "round_started", "rolled", "secret_revealed"}
"""Facts that turn over what was hidden before."""
KEY_HASH = key_hash("the key of this room")


class Cast(msgspec.Struct, frozen=True):
    """What is played, and by how many bots besides ada and ben."""

    rules: AnyGame
    bots: int
    turn_seconds: int = 0

    def stage(self) -> Any:
        return stage(
            self.rules,
            len(SITTING) + self.bots,
            NAMES,
            turn_seconds=self.turn_seconds,
            key_hash=KEY_HASH,
        )


def _own_columns(state: duel.State, viewer: Viewer) -> dict[str, object]:
    own = {} if viewer is None else {str(viewer): state.columns[viewer]}
    return {**duel.view(state, viewer), "columns": own}


TOWERS = Cast(FIVE_TOWERS, bots=1)
TIMED_TOWERS = Cast(FIVE_TOWERS, bots=0, turn_seconds=30)
DUEL = Cast(replace(duel.GAME, view=_own_columns), bots=0)
"""Here everybody sees something else. Its timeouts are drawn by lot, so they would be news."""


def next_steps(on: Stage, chance: random.Random, timed: bool) -> list[Step]:
    """Something that somebody does: mostly a move, often something that tempts the server."""
    acting = [who for who in SITTING if on.taps[who].seat in on.room.to_act()]
    who = chance.choice(NAMES)
    tap = on.taps[who]
    roll = chance.random()
    if acting and roll < 0.55:
        offers = on.taps[acting[0]].offers
        body = chance.choice([body for offer in offers for body in offer.commands()])
        return [on.command(acting[0], body, dry=roll < 0.1)]
    if roll < 0.7:
        return [on.command(who, chance.choice(BAD_COMMANDS), dry=roll < 0.6)]
    if roll < 0.8:
        last = on.log.entries[-1].seq
        return [Read(who, chance.randint(1, last), last)]
    if roll < 0.92:
        return [Go(who), Come(who, chance.choice([tap.cursor, None]))]
    return [TimeOut()] if timed else [Say(who, "hm")]


async def improvise(on: Stage, cast: Cast, moves: int, seed: int) -> list[Step]:
    """Play as it comes; what was done."""
    chance = random.Random(seed)
    done = on.opening(SITTING, cast.bots)
    for step in done:
        await on.perform(step)
    assert on.room.playing
    while len(done) < moves and on.room.playing:
        for step in next_steps(on, chance, bool(cast.turn_seconds)):
            await on.perform(step)
            done.append(step)
    return done


class Compared(msgspec.Struct, frozen=True):
    """What two twins have come to."""

    complaints: list[str]
    differ_at: int | None
    """The commit with the first fact that differs."""


def compare(one: Stage, other: Stage) -> Compared:
    """The first thing that differs for anybody must be a card that was turned over."""
    complaints: list[str] = []
    places: dict[str, int | None] = {}
    for who in NAMES:
        pairs = zip(one.taps[who].got, other.taps[who].got, strict=False)
        first = next(((a, b) for a, b in pairs if a != b), None)
        if first is None:
            places[who] = None
            if len(one.taps[who].got) != len(other.taps[who].got):
                complaints.append(f"{who} can tell twins apart by a message that one did not send")
            continue
        (a, *_), (b, *_) = first
        if is_turned_over(a, b):
            places[who] = a.seq
        else:
            complaints.append(f"{who} can tell twins apart by {a} and {b}")
    if len(set(places.values())) > 1:
        complaints.append(f"twins differ for some and not for others: {places}")
    known = [seq for seq in places.values() if seq is not None]
    until = min(known) - 1 if known else max(len(one.log.asked), len(other.log.asked))
    if one.log.asked[:until] != other.log.asked[:until]:
        complaints.append("twins ask other things of the store")
    return Compared(complaints, min(known, default=None))


def is_turned_over(a: ServerMessage, b: ServerMessage) -> TypeGuard[ServerFrame]:
    """Whether two messages are the same commit, apart from what was turned over in it."""
    if not (isinstance(a, ServerFrame) and isinstance(b, ServerFrame)):
        return False
    pairs = zip(a.facts, b.facts, strict=False)
    first = next(((x, y) for x, y in pairs if x != y), None)
    if (a.seq, a.cause) != (b.seq, b.cause) or first is None:
        return False
    return first[0][0] == first[1][0] and first[0][0] in REVEALING


async def twins(
    cast: Cast, seed: int, swaps: Iterable[float], moves: int = 60
) -> AsyncIterator[Compared]:
    """One room, and beside it others in which something else is hidden from a step on."""
    async with cast.stage() as one:
        steps = await improvise(one, cast, moves, seed)
    for swap in swaps:
        async with cast.stage() as other:
            for number, step in enumerate(steps):
                if number == int(swap * len(steps)):
                    other.hide_differently(random.Random(f"{seed}/{swap}"))
                await other.perform(step)
        yield compare(one, other)


NEVER = 2.0
SWAPS = (0.0, 0.15, 0.3, 0.5, 0.8, NEVER)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("cast", [TOWERS, TIMED_TOWERS, DUEL], ids=["towers", "timed", "duel"])
async def test_twins_cannot_be_told_apart_before_a_card_is_turned_over(
    cast: Cast, seed: int
) -> None:
    """All bytes of all viewers are the same, and so are all that the store is asked for."""
    found = [each async for each in twins(cast, seed, SWAPS)]
    assert [complaint for each in found for complaint in each.complaints] == []
    assert found[-1].differ_at is None, "the same room played twice is not the same"
    differing = [each.differ_at for each in found if each.differ_at is not None]
    assert len(set(differing)) > 1, "nothing that was hidden ever came to light: no proof"


# Bugs that were made on purpose


def scanned(on: Stage) -> set[str]:
    """What the viewers of a room can read that they should not."""
    ids = {f"commit {entry.seq}": entry.commit_id for entry in on.log.entries}
    hidden = {"secret": on.log.kept, "seed": on.room.game.seed, "key": KEY_HASH} | ids
    found = set()
    for who, tap in on.taps.items():
        others = {other: on.taps[other].person.id.encode() for other in NAMES if other != who}
        found |= leaks(tap.data, hidden | others)
    return found


async def scan_of(cast: Cast) -> set[str]:
    async with cast.stage() as on:
        await improvise(on, cast, 40, 1)
        await on.perform(Read("zoe", 1, len(on.log.entries)))
        assert on.room.playing
        return scanned(on)


async def complaints_of(cast: Cast) -> list[str]:
    """Of the first twins that can be told apart."""
    for seed in (1, 2, 3):
        async for each in twins(cast, seed, (number / 10 for number in range(2, 10))):
            if each.complaints:
                return each.complaints
    return []


async def test_without_a_bug_neither_scan_nor_twins_complain() -> None:
    assert await scan_of(TOWERS) == set()
    assert await complaints_of(TOWERS) == []


async def test_a_secret_in_the_view_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def leaking(room: Room, name: str) -> dict[str, object]:
        seen = view_module.view(room, name)
        return {**seen, "hint": base64url(room.secret)}

    monkeypatch.setattr(draft_module, "view", leaking)
    assert await scan_of(TOWERS) == {"secret"}
    assert await complaints_of(TOWERS) != []


@pytest.mark.parametrize(
    ("event", "found"), [(PersonSat, {"ada", "ben"}), (RoomCreated, {"ada", "key"})]
)
async def test_an_event_that_is_not_redacted_is_found(
    monkeypatch: pytest.MonkeyPatch, event: Any, found: set[str]
) -> None:
    monkeypatch.setitem(events.PUBLIC_FIELDS, event, event.__struct_fields__)
    assert await scan_of(TOWERS) == found


async def test_a_seed_in_an_error_message_is_found() -> None:
    def decide(state: Any, seat: Any, command: object) -> Any:
        answer = FIVE_TOWERS.decide(state, seat, command)
        if isinstance(answer, Rejected):
            return msgspec.structs.replace(answer, params={"detail": f"seed {state.seed!r}"})
        return answer

    buggy = Cast(replace(FIVE_TOWERS, decide=decide), bots=1)
    assert await scan_of(buggy) == {"seed"}
    assert await complaints_of(buggy) != []


async def test_a_view_whose_size_depends_on_the_next_card_is_found() -> None:
    """No scan can see that."""

    def view(state: Any, viewer: Viewer) -> dict[str, object]:
        seen = FIVE_TOWERS.view(state, viewer)
        return {**seen, "padding": "x" * (sum(map(ord, "".join(state.pile[:3]))) % 50)}

    buggy = Cast(replace(FIVE_TOWERS, view=view), bots=1)
    assert await scan_of(buggy) == set()
    assert await complaints_of(buggy) != []


async def test_a_dry_run_that_tells_the_next_card_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def effect_of(room: Room, seat: Any, body: Any) -> Mapping[str, object]:
        return {"next": list(room.game.pile[:1])}

    monkeypatch.setattr(actor, "effect_of", effect_of)
    assert await complaints_of(TOWERS) != []


async def test_a_chain_over_something_hidden_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Marks are for everybody: what they are made of must be known, or random."""

    sane = core.play

    def play(room: Room, cause: Any, body: Mapping[str, Any], *rest: Any) -> core.Step:
        step = sane(room, cause, body, *rest)
        if room.game is None:
            return step
        known = step.commit.command | {"card": room.game.pile[0]}
        commit = msgspec.structs.replace(step.commit, command=known)
        return msgspec.structs.replace(step, commit=commit)

    monkeypatch.setattr(core, "play", play)
    assert await complaints_of(TOWERS) != []
