"""People as rooms know them: the same all over one room, strangers in the next; heard or not."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack
from typing import Any, get_args

import msgpack
import msgspec
import pytest

from tests.end_to_end.games import QUICK, guests_of, seated
from tests.end_to_end.servers import ServerProcess
from tests.proxy.cutting import CuttingProxy, split
from towerhall_client.connection import Table, connect
from towerhall_client.errors import RefusedError, TableClosedError
from towerhall_client.http import Guest, Service
from towerhall_client.line import Disconnected
from towerhall_protocol.codec import FROM_SERVER, decode
from towerhall_protocol.commands import from_base64url
from towerhall_protocol.messages import ServerMessage
from towerhall_protocol.updates import ChatSaid, EmoteCame, ErrorCame, Update
from towerhall_server.game import discover
from towerhall_server.record.verify import verify

PATIENCE_SECONDS = 10.0


async def told(heard: AsyncIterator[Update | Disconnected], kind: type[Any]) -> Any:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not isinstance(update := await anext(heard), kind):
            pass
    return update


def seen(table: Table) -> dict[str, Any]:
    document: Any = table.view["room"]
    return dict(document)


# One person in two rooms


def words(document: object) -> Iterator[str]:
    """Every text and all bytes anywhere in a document, and in what is stored inside it."""
    match document:
        case str():
            yield document
        case bytes():
            yield document.hex()
        case dict():
            for key, value in document.items():
                yield str(key)
                yield from words(value)
        case list():
            for value in document:
                yield from words(value)


async def evening(service: Service, server: ServerProcess, people: Sequence[Guest]) -> set[str]:
    """All words that left the server about a room of two people who talk and then go home."""
    made = await service.create_room(people[0].token, "five_towers", seats=2)
    async with AsyncExitStack() as stack:
        proxies = [await stack.enter_async_context(CuttingProxy(server.port)) for _ in people]
        tables = [
            await stack.enter_async_context(
                connect(proxy.url, made.code, person.token, retry=QUICK)
            )
            for proxy, person in zip(proxies, people, strict=True)
        ]
        hearing = aiter(tables[0])
        for table in tables:
            await table.sit()
            await table.ready()
            await table.chat("good evening")
            await told(hearing, ChatSaid)
        await tables[1].emote("hello")
        await told(hearing, EmoteCame)
        await tables[0].mute(1)
        await tables[0].unmute(1)
        await tables[0].start()
        await tables[1].until(lambda: tables[1].status == "playing")
        for table in tables:
            await table.want_end()
        await tables[0].history()
        await tables[1].until(lambda: tables[1].status == "over")
    found: set[str] = set()
    for proxy in proxies:
        for traffic in proxy.traffic:
            for message in split(bytes(traffic.down)).messages:
                found |= set(words(decode(message, FROM_SERVER)))
    record = await service.record(made.code)
    assert verify(json.dumps(record).encode(), discover()) == ()
    found |= set(words(msgspec.json.decode(json.dumps(record))))
    for row in record["commits"]:
        found |= set(words(msgpack.unpackb(from_base64url(row[3]))))
    return found


async def test_two_rooms_share_nothing_by_which_one_person_could_be_known_again(
    shared: ServerProcess,
) -> None:
    service = Service(shared.url)
    *regulars, cyd, dan = await guests_of(service, "Ann", "Ben", "Cyd", "Dan")
    first, second = [await evening(service, shared, regulars) for _ in range(2)]
    others = await evening(service, shared, (cyd, dan))
    # Which of these come in time is chance.
    others |= {str(kind.__struct_config__.tag) for kind in get_args(ServerMessage)}
    common = {word for word in (first & second) - others if not word.isdigit()}
    assert common == {"Ann", "Ben"}, "people choose their names, and all else tells nothing"
    assert len(first - second) > 50
    for guest in regulars:
        assert not any(guest.id in word for word in first | second)


async def test_a_rematch_knows_its_people_by_new_names_and_keeps_their_seats(
    shared: ServerProcess,
) -> None:
    service, (url, seats) = Service(shared.url), (shared.url, range(2))
    people = await guests_of(service, "Ann", "Ben")
    made = await service.create_room(people[0].token, "five_towers", seats=2)
    async with AsyncExitStack() as stack:
        tables = [
            await stack.enter_async_context(connect(url, made.code, person.token, retry=QUICK))
            for person in people
        ]
        for table in tables:
            await table.sit()
            await table.ready()
        await tables[0].start()
        await tables[1].until(lambda: tables[1].status == "playing")
        for table in tables:
            await table.want_end()
        code = await tables[0].rematch()
        before = {str(seat): tables[seat].replay.you for seat in seats}
        assert {seat: held["id"] for seat, held in seen(tables[0])["seats"].items()} == before
    (zoe,) = await guests_of(service, "Zoe")
    async with connect(url, code, zoe.token) as stranger:
        assert seen(stranger)["reserved"] == [0, 1]
        with pytest.raises(RefusedError, match="seat_reserved"):
            await stranger.sit()
    for person, seat in zip(people, (1, 0), strict=True):
        async with connect(url, code, person.token) as table:
            await table.sit()
            await table.until(lambda: table.seat is not None)
            assert table.seat == seat
            assert table.replay.you not in before.values()


# Heard, or not


async def test_whoever_is_silenced_is_told_so_and_heard_by_nobody(shared: ServerProcess) -> None:
    async with seated(Service(shared.url), 2) as (_, (ann, ben)):
        own, heard = aiter(ben), aiter(ann)
        await ann.mute(ben.replay.you)
        await ben.until(lambda: seen(ben).get("muted") == {ben.replay.you: True})
        await ben.stand()
        await ben.chat("nobody hears this")
        error = await told(own, ErrorCame)
        assert (error.code, error.params) == ("muted", {"text": "nobody hears this"})
        await ben.emote("laugh")
        assert (await told(own, ErrorCame)).code == "muted"
        await ann.unmute(ben.replay.you)
        await ben.until(lambda: "muted" not in seen(ben))
        await ben.emote("sorry")
        emote = await told(heard, EmoteCame)
        assert (emote.emote, emote.who) == ("sorry", ben.replay.you)
        await ben.chat("good evening")
        line = await told(heard, ChatSaid)
        assert (line.text, line.seat, line.who) == ("good evening", None, ben.replay.you)


async def test_whoever_is_sent_away_stays_away_until_the_host_thinks_better_of_it(
    shared: ServerProcess,
) -> None:
    service = Service(shared.url)
    ann, ben = await guests_of(service, "Ann", "Ben")
    made = await service.create_room(ann.token, "five_towers", seats=2)
    async with connect(shared.url, made.code, ann.token, retry=QUICK) as host:
        await host.sit()
        async with connect(shared.url, made.code, ben.token, retry=QUICK) as guest:
            await guest.sit()
            await guest.chat("I am here")
            await host.kick(1)
            with pytest.raises(TableClosedError, match="kicked"):
                await guest.until(lambda: False)
        (alias,) = seen(host)["kicked"]
        assert seen(host)["kicked"] == {alias: "Ben"}
        with pytest.raises(TableClosedError, match="kicked"):
            async with connect(shared.url, made.code, ben.token, retry=QUICK):
                pass
        await host.admit(alias)
        async with connect(shared.url, made.code, ben.token, retry=QUICK) as guest:
            assert guest.replay.you == alias
            heard = aiter(host)
            await guest.chat("and here again")
            while (await told(heard, ChatSaid)).text != "and here again":
                pass
            await guest.sit()
