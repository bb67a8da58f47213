"""Ends of games without games: people, results, and all that the store holds of them."""

import random
from collections.abc import Callable, Iterable
from functools import cache
from itertools import islice, product
from typing import Any, Final

from tests.room.pure_rooms import id_of
from towerhall_server.eventlog.keys import shard_of
from towerhall_server.eventlog.log import EventLog
from towerhall_server.regulars.consumer import Consumer
from towerhall_server.regulars.ends import End, Seat
from towerhall_server.regulars.journal import Journal
from towerhall_server.regulars.people import PeopleStore
from towerhall_server.room.codes import is_code
from towerhall_server.store.batch import Call

NAMES: Final = ("ada", "ben", "cyd", "dan", "eve", "fay", "gil")
FEW_SHARDS: Final = 8
ID_LENGTH: Final = 11
GAMES: Final = ("five_towers", "nikitin_towers")


def person(name: str) -> str:
    """The id of a person: some are ids already."""
    return name if len(name) == ID_LENGTH else id_of(name)


def end(
    number: int,
    *names: str,
    game: str = "five_towers",
    places: Iterable[int] | None = None,
    rated: bool = True,
    private: bool = False,
    bot: str = "",
) -> End:
    """The end of game number `number`: the names in the order of their places, then perhaps a
    bot."""
    held = [*names, *(["bot"] if bot else [])]
    seats = tuple(
        Seat(
            identity="" if name == "bot" else person(name),
            name=name.capitalize(),
            place=place,
            score=50 - place,
            level=bot if name == "bot" else "",
            stand_in=False,
            resigned=False,
        )
        for name, place in zip(held, places or range(1, len(held) + 1), strict=True)
    )
    code = code_of(number)
    assert is_code(code)
    ended_ms = 1_000_000 + 1000 * number
    return End(number.to_bytes(16, "big"), code, game, 1, ended_ms, rated, private, seats)


@cache
def code_of(number: int) -> str:
    """A room code for each number, in one of few shards: so looks at all of them are quick."""
    codes = ("".join(letters) for letters in product("BCDFGHJKLMNPQRSTVWXZ", repeat=6))
    return next(islice((code for code in codes if shard_of(code) < FEW_SHARDS), number, None))


def some_ends(count: int, seed: int = 1) -> list[End]:
    """Games of 2 to 5 people; some with a bot, some not rated."""
    chance = random.Random(seed)
    ends = []
    for number in range(1, count + 1):
        names = chance.sample(NAMES, chance.randint(2, 5))
        ends.append(
            end(
                number,
                *names,
                game=chance.choice(GAMES),
                rated=chance.random() < 0.8,
                bot="easy" if chance.random() < 0.2 else "",
            )
        )
    return ends


class Table:
    """A journal with a consumer, and rooms that have ended."""

    def __init__(self, log: EventLog, ends: Iterable[End] = (), batch: int = 128) -> None:
        self.log = log
        self.ends = {each.code: each for each in ends}
        self.journal, self.people = Journal(log), PeopleStore(log)
        self.batch = batch

    async def read(self, room: str) -> End | None:
        return self.ends.get(room)

    def consumer(self, name: str = "one") -> Consumer:
        return Consumer(self.journal, self.people, self.read, name, self.batch)

    async def announce(self, *ends: End) -> None:
        for each in ends or self.ends.values():
            self.ends[each.code] = each
            await self.journal.announce(each.code)

    async def settle(self) -> None:
        """A new consumer does all that there is to do."""
        consumer = self.consumer()
        while await consumer.step():
            pass

    async def play(self, *ends: End) -> None:
        """These games end, one after the other."""
        for each in ends:
            await self.announce(each)
            await self.settle()

    async def handle(self, name: str) -> str:
        return await self.people.handle_of(person(name))


class Killed(BaseException):
    """The process was killed here: no handler may catch this."""


def killed_before(log: EventLog, number: int) -> Callable[[], None]:
    """Let no call from that number on reach the store, but for the looks at all shards. Returns how
    to undo this."""
    count, call = 0, log.call

    def counted(wanted: Call) -> Any:
        nonlocal count
        count += b"SMEMBERS" not in wanted.command
        if count > number:
            raise Killed
        return call(wanted)

    log.call = counted  # type: ignore[assignment,method-assign]

    def undo() -> None:
        log.call = call  # type: ignore[method-assign]

    return undo


async def projections(redis: Any, people: PeopleStore) -> dict[str, Any]:
    """All projections in the store, with people by id instead of their random handles."""
    found: dict[str, Any] = {}
    names: dict[str, str] = {}
    for key in await redis.keys("towerhall:{p:*}:who"):
        handle = key.decode().split("{p:")[1].split("}")[0]
        if await redis.pttl(key) > 0:
            continue  # made by a consumer that died before the id led there
        names[handle] = (await redis.hget(key, "id")).decode()

    def named(handle: bytes) -> str:
        return names.get(handle.decode(), handle.decode())

    for handle, identity in names.items():
        tag = f"towerhall:{{p:{handle}}}"
        sums = await redis.hgetall(f"{tag}:sums")
        sums.pop(b"generation", None)
        found[identity] = {
            "sums": sums,
            "past": await redis.lrange(f"{tag}:past", 0, -1),
            "met": {
                named(other): number
                for other, number in await redis.zrange(f"{tag}:met", 0, -1, withscores=True)
            },
        }
    for key in await redis.keys("towerhall:{ends}:board:*"):
        board = await redis.zrange(key, 0, -1, withscores=True)
        found[key.decode()] = {named(handle): score for handle, score in board}
    found["place"] = int(await redis.hget("towerhall:{ends}:place", "place") or 0)
    return found
