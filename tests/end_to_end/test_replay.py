"""Replaying from any cursor equals the view computed fresh: for every viewer, over real sockets.

A game is played by persons and bots before a watcher. Then visitors come with the cursor of each
of its commits, as every person and as nobody, by both subprotocols, to a server that has the
frames at hand and to one that has to make them from the log. Each must get exactly the frames that
it missed, or a whole view that is smaller than those; either way it must see in the end what
anybody sees who comes without a cursor. What is true is folded from nothing by the history.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import msgspec
import pytest
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as connect_socket
from websockets.typing import Subprotocol

from tests.end_to_end.games import QUICK, guests_of, play_out
from tests.end_to_end.servers import ServerProcess
from towerhall_client.connection import Table, connect
from towerhall_client.http import Guest, NewRoom, Service
from towerhall_client.line import Address
from towerhall_protocol import codec
from towerhall_protocol import messages as m
from towerhall_protocol.level import JSON, LEVEL, MSGPACK
from towerhall_protocol.merge_patch import apply
from towerhall_protocol.wire import read_server

View = Mapping[str, Any]
KEPT = 64
"""So many frames a server has at hand; for who missed more than that, it may give a view."""
PAGE_FRAMES, PAGE_BYTES = 100, 32 * 1024
VISITS = 15
BOTH = pytest.mark.parametrize("subprotocol", [MSGPACK, JSON])


class Played(msgspec.Struct, frozen=True):
    """A game, and who took part in it."""

    room: NewRoom
    guests: list[Guest]
    """Two who sit, one who watches."""
    base: str
    frames: tuple[m.ServerFrame, ...]
    """All of them, from the first, as the watcher got them by the history."""
    live: tuple[m.ServerFrame, ...]
    """Those that came while the watcher watched."""

    @property
    def views(self) -> list[View]:
        """The view after each commit; the first is the one before all."""
        found: list[View] = [{}]
        for frame in self.frames:
            found.append(apply(found[-1], frame.patch))
        return found

    def cursor(self, seq: int) -> m.Cursor:
        return m.Cursor(self.base, seq, self.frames[seq - 1].mark)


@asynccontextmanager
async def people(
    service: Service, bot_delay_ms: int = 0
) -> AsyncIterator[tuple[NewRoom, list[Guest], list[Table]]]:
    """Two persons and a bot at a table that has started, and a watcher."""
    guests = await guests_of(service, "Ada", "Ben", "Zoe")
    room = await service.create_room(
        guests[0].token, "five_towers", seats=3, bot_delay_ms=bot_delay_ms
    )
    async with AsyncExitStack() as stack:
        tables = []
        for guest, subprotocol in zip(guests, (MSGPACK, JSON, MSGPACK), strict=True):
            joining = connect(
                service.url,
                room.code,
                guest.token,
                subprotocol=subprotocol,
                keep_frames=True,
                retry=QUICK,
            )
            tables.append(await stack.enter_async_context(joining))
        for table in tables[:2]:
            await table.sit()
            await table.ready()
        await tables[0].add_bot("easy")
        await tables[0].start()
        yield room, guests, tables


async def outcome(room: NewRoom, guests: list[Guest], watcher: Table) -> Played:
    await watcher.until(lambda: watcher.status == "over")
    live = watcher.replay.frames(1, watcher.seq)
    cursor = watcher.replay.cursor
    assert cursor is not None
    return Played(room, guests, cursor.base, await watcher.history(), live)


async def played(service: Service) -> Played:
    """A game from its beginning to its end."""
    async with people(service) as (room, guests, tables):
        await play_out(tables[:2])
        return await outcome(room, guests, tables[2])


# Visitors


class Visitor:
    """Somebody who comes in once, with bare hands."""

    def __init__(self, socket: ClientConnection, subprotocol: str) -> None:
        self._socket = socket
        self._text = subprotocol == JSON

    async def send(self, message: m.ClientMessage) -> None:
        packed = codec.encode_json(message) if self._text else codec.encode(message)
        await self._socket.send(packed)

    async def receive(self) -> list[Any]:
        data = await self._socket.recv()
        if isinstance(data, str):
            document = codec.decode_json(data, codec.FROM_SERVER)
        else:
            document = codec.decode(data, codec.FROM_SERVER)
        assert isinstance(data, str) == self._text
        assert isinstance(document, list)
        return document

    async def until(self, name: str) -> list[list[Any]]:
        """All documents up to one of that name, which is the last of them."""
        found = [await self.receive()]
        while found[-1][0] != name:
            found.append(await self.receive())
        return found


@asynccontextmanager
async def visitor(
    server: ServerProcess, room: NewRoom, guest: Guest, cursor: m.Cursor | None, subprotocol: str
) -> AsyncIterator[Visitor]:
    url = Address(server.url, room.code, guest.token).socket_url
    offered = [Subprotocol(subprotocol)]
    async with connect_socket(url, subprotocols=offered, compression=None, proxy=None) as socket:
        coming = Visitor(socket, subprotocol)
        greeting = m.Greeting(guest.token, LEVEL, "b3JpZ2luMTE", cursor)
        await coming.send(m.ClientHello(greeting))
        yield coming


async def visit(
    server: ServerProcess, room: NewRoom, guest: Guest, cursor: m.Cursor | None, subprotocol: str
) -> list[list[Any]]:
    """What a visitor is told: the welcome, and everything that came along with it."""
    async with visitor(server, room, guest, cursor, subprotocol) as coming:
        welcome = await coming.until("welcome")
        # What belongs to the welcome was sent in the same moment, so that no answer can be earlier.
        await coming.send(m.ClientPing(0))
        *told, _ = await coming.until("pong")
        return [*welcome, *(document for document in told if document[0] != "presence")]


def follow(documents: Iterable[list[Any]], view: View, seq: int) -> dict[int, View]:
    """What a client with that view sees after each message: by seq."""
    seen: dict[int, View] = {}
    for document in documents:
        message = read_server(document)
        match message:
            case m.ServerWelcome(arrival):
                assert arrival.lost == 0
                if arrival.view is not None:
                    view, seq = arrival.view, arrival.cursor.seq
                assert arrival.cursor.seq == seq
            case m.ServerFrame():
                assert message.seq == seq + 1, "a gap, or a repetition"
                view, seq = apply(view, message.patch), message.seq
            case _:
                continue
        seen[seq] = view
    return seen


def check_visit(game: Played, documents: Sequence[list[Any]], cursor: m.Cursor) -> None:
    """The visitor of a finished game got what it missed, or less, and sees what is there."""
    views, last = game.views, len(game.frames)
    messages = [read_server(document) for document in documents]
    assert isinstance(messages[0], m.ServerWelcome)
    arrival = messages[0].arrival
    missed = game.frames[cursor.seq :]
    going_on = msgspec.structs.replace(arrival, view=None, cursor=cursor)
    anew = msgspec.structs.replace(arrival, view=views[-1], cursor=game.cursor(last))
    frames_bytes = _size(m.ServerWelcome(going_on)) + sum(map(_size, missed))
    view_bytes = _size(m.ServerWelcome(anew))
    if arrival.view is None:
        assert arrival == going_on
        assert tuple(messages[1:]) == missed
        assert frames_bytes <= view_bytes
    else:
        assert arrival == anew
        assert messages[1:] == []
        assert view_bytes < frames_bytes or len(missed) > KEPT
    assert follow(documents, views[cursor.seq], cursor.seq)[last] == views[-1]


def _size(message: m.ServerMessage) -> int:
    return len(codec.encode(message))


def _lasting(documents: Sequence[list[Any]]) -> list[Any]:
    """What does not depend on when somebody comes, and on who else is there."""
    (_, arrival), *others = documents
    passing = ("now", "online", "watchers")
    return [{key: arrival[key] for key in arrival if key not in passing}, *others]


async def test_from_every_cursor_every_viewer_gets_what_it_missed_or_less_even_after_a_restart(
    server: ServerProcess,
) -> None:
    """Some 100 commits, 4 visits at each of them, and one more when the server is a new one."""
    game = await played(Service(server.url))
    ada, ben, zoe = game.guests
    fresh = await visit(server, game.room, zoe, None, MSGPACK)
    assert follow(fresh, {}, 0) == {len(game.frames): game.views[-1]}
    went_on = 0
    for seq in range(1, len(game.frames) + 1):
        cursor = game.cursor(seq)
        twins = [await visit(server, game.room, zoe, cursor, name) for name in (MSGPACK, JSON)]
        assert _lasting(twins[0]) == _lasting(twins[1])
        of_ada = await visit(server, game.room, ada, cursor, (MSGPACK, JSON)[seq % 2])
        of_ben = await visit(server, game.room, ben, cursor, (JSON, MSGPACK)[seq % 2])
        for documents in (*twins, of_ada, of_ben):
            check_visit(game, documents, cursor)
            went_on += "view" not in documents[0][1]
    assert 0 < went_on < 4 * len(game.frames), "both answers were to be seen"
    server.kill()
    await asyncio.to_thread(server.start)
    for seq in range(len(game.frames), 0, -1):
        cursor = game.cursor(seq)
        check_visit(game, await visit(server, game.room, zoe, cursor, MSGPACK), cursor)


async def test_visitors_with_old_cursors_see_a_running_game_as_it_is(shared: ServerProcess) -> None:
    """At least 15 visits, at any moment and from any commit before it."""
    chance = random.Random(3)
    seen: list[dict[int, View]] = []
    visits: list[tuple[int, list[list[Any]]]] = []
    async with people(Service(shared.url), bot_delay_ms=20) as (room, guests, tables):
        watcher = tables[2]
        playing = asyncio.ensure_future(play_out(tables[:2]))
        late = (await guests_of(Service(shared.url), "Late"))[0]
        while not playing.done():
            newest = watcher.replay.cursor
            assert newest is not None
            seq = max(2, newest.seq - chance.choice([0, 1, 2, 5, 20, 60]))
            kept = watcher.replay.frames(seq, seq)
            cursor = m.Cursor(newest.base, seq, kept[0].mark)
            subprotocol = chance.choice([MSGPACK, JSON])
            visits.append((seq, await visit(shared, room, late, cursor, subprotocol)))
        await playing
        game = await outcome(room, guests, watcher)
    views = game.views
    for seq, documents in visits:
        seen.append(follow(documents, views[seq], seq))
        assert all(view == views[at] for at, view in seen[-1].items())
    assert len(visits) >= VISITS
    assert any(max(found) < len(game.frames) for found in seen)


@BOTH
async def test_pages_of_history_make_up_the_whole_game_from_nothing(
    shared: ServerProcess, subprotocol: str
) -> None:
    game = await played(Service(shared.url))
    last = len(game.frames)
    for first in (1, 2, last // 2, last):
        async with visitor(shared, game.room, game.guests[2], None, subprotocol) as reader:
            await reader.until("welcome")
            frames: list[m.ServerFrame] = []
            while len(frames) <= last - first:
                await reader.send(m.ClientHistory(first + len(frames), last + 100))
                page = read_server((await reader.until("history"))[-1])
                assert isinstance(page, m.ServerHistory)
                assert page.last == last
                assert 0 < len(page.frames) <= PAGE_FRAMES
                assert sum(map(_size, page.frames[:-1])) <= PAGE_BYTES
                frames += page.frames
        assert tuple(frames) == game.frames[first - 1 :]
    view: View = {}
    for frame in game.frames:
        view = apply(view, frame.patch)
    fresh = await visit(shared, game.room, game.guests[0], None, subprotocol)
    assert fresh[0][1]["view"] == view


async def test_frames_are_the_same_live_in_the_history_and_in_the_record(
    shared: ServerProcess,
) -> None:
    service = Service(shared.url)
    game = await played(service)
    assert game.live == game.frames[-len(game.live) :]
    assert len(game.live) > len(game.frames) - 3
    record = await service.record(game.room.code)
    assert tuple(map(read_server, record["frames"])) == game.frames
