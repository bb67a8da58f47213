"""The live list on real stores, with two nodes: what is read, what is heard, and who is told."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis

from tests.live.live_rooms import DUEL, FakeViewer, LiveNode, live_node
from tests.proxy.store import Proxy
from towerhall_protocol.lobby import Filter, LobbyPatch, LobbyReset
from towerhall_protocol.merge_patch import apply
from towerhall_protocol.messages import ServerGo, ServerPaused
from towerhall_server.eventlog.keys import room_keys, shard_of
from towerhall_server.eventlog.notifications import Listed, Missed, Wake, listen
from towerhall_server.frames import Prepared
from towerhall_server.lobby import board as board_module
from towerhall_server.lobby.board import Board, Source
from towerhall_server.store.errors import StoreError

PATIENCE_SECONDS = 20.0


class Looker:
    """Somebody who looks at the list and minds every message."""

    def __init__(self) -> None:
        self.list: dict[str, Any] = {}
        self.got: list[Prepared] = []
        self.closed = ""
        self._came = asyncio.Event()

    def look(self, board: Board, wanted: Filter) -> "Looker":
        self.list = dict(board.add(self, wanted))
        return self

    def send(self, *messages: Prepared) -> None:
        self.got += messages
        for prepared in messages:
            match prepared.message:
                case LobbyPatch(patch):
                    assert patch, "nothing has changed"
                    self.list = apply(self.list, patch)
                case LobbyReset(whole):
                    self.list = dict(whole)
        self._came.set()

    def close(self, reason: str) -> None:
        self.closed = reason

    @property
    def codes(self) -> set[str]:
        return set(self.list["rooms"])

    async def until(self, ready: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not ready():
                self._came.clear()
                await self._came.wait()


@asynccontextmanager
async def live_board(url: str, node: LiveNode) -> AsyncIterator[Board]:
    """The list of one node that hears the news."""
    board = Board(node.log, gather_seconds=0.01)
    subscribed = asyncio.Event()

    async def hear() -> None:
        async for wake in board.tapped(listen(url, "board")):
            if isinstance(wake, Missed):
                subscribed.set()

    tasks = [asyncio.create_task(hear()), asyncio.create_task(board.run())]
    try:
        await subscribed.wait()
        yield board
    finally:
        board.close("restart")
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def stop_reading(board: Board, node: LiveNode, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the list lives by what it is told, and by nothing else."""
    await board.ready()

    async def never(heard: Callable[[int, dict[str, bytes]], None]) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(node.log, "each_lobby", never)


async def test_what_happens_on_another_node_is_seen_at_once_by_those_whom_it_concerns(
    url: str, one: LiveNode, other: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with live_board(url, one) as board:
        await stop_reading(board, one, monkeypatch)
        everything = Looker().look(board, Filter())
        chess = Looker().look(board, Filter(game="chess"))
        waiting = Looker().look(board, Filter(status="waiting", free=1))
        assert everything.list == {"rooms": {}}
        ann = await FakeViewer("ann").enter(await other.found(DUEL, 2))
        await waiting.until(lambda: waiting.codes == {ann.code})
        assert everything.list == waiting.list
        bob = await other.enter(ann.code, "bob")
        await ann.do("sit")
        await bob.do("sit")
        await waiting.until(lambda: not waiting.codes)
        await everything.until(lambda: everything.list["rooms"][ann.code]["taken"] == 2)
        await bob.do("ready")
        await ann.do("start")
        await everything.until(lambda: everything.list["rooms"][ann.code]["status"] == "playing")
        assert chess.got == []
        before = len(everything.got)
        await asyncio.gather(ann.move(), bob.move())
        late = Looker().look(board, Filter())
        assert late.list == everything.list
        assert len(everything.got) == before


async def test_a_room_that_ends_or_goes_leaves_the_list(
    url: str, redis: Redis, one: LiveNode, other: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with live_board(url, one) as board:
        await stop_reading(board, one, monkeypatch)
        looker = Looker().look(board, Filter())
        empty = await other.found(DUEL, 2)
        await looker.until(lambda: looker.codes == {empty.code})
        await other.log.remove(empty.code, empty.follower.replica.point)
        await looker.until(lambda: not looker.codes)
        assert await redis.hgetall(room_keys(empty.code).shard.lobby) == {}


async def test_rooms_that_are_there_are_read_once_however_many_come(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    codes = {(await other.found(DUEL, 2)).code for _ in range(3)}
    reads = 0
    read = one.log.each_lobby

    async def counted(heard: Callable[[int, dict[str, bytes]], None]) -> None:
        nonlocal reads
        reads += 1
        await read(heard)

    async with live_board(url, one) as board:
        one.log.each_lobby = counted  # type: ignore[method-assign]
        await asyncio.gather(*(board.ready() for _ in range(50)))
        lookers = [Looker().look(board, Filter()) for _ in range(50)]
        assert reads == 1
        assert all(looker.codes == codes for looker in lookers)


async def test_many_who_want_the_same_get_the_same_bytes(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    async with live_board(url, one) as board:
        await board.ready()
        lookers = [Looker().look(board, Filter(free=1)) for _ in range(20)]
        others = [Looker().look(board, Filter()) for _ in range(20)]
        await other.found(DUEL, 2)
        for looker in (*lookers, *others):
            await looker.until(partial(getattr, looker, "codes"))
        assert len({id(looker.got[0]) for looker in (*lookers, *others)}) == 2


async def test_news_that_were_lost_are_found_when_the_list_is_read_again(
    url: str, proxy: Proxy, other: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        live_node(proxy.url, "one", listens=False) as one,
        live_board(proxy.url, one) as board,
    ):
        await board.ready()
        looker = Looker().look(board, Filter())
        monkeypatch.setattr(board, "hear", lambda wake: None)
        room = await other.found(DUEL, 2)
        await asyncio.sleep(0.2)
        assert looker.codes == set()
        Board.hear(board, Missed())
        await looker.until(lambda: looker.codes == {room.code})


async def test_a_store_that_is_silent_is_told_and_what_was_missed_comes_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(board_module, "RETRY_SECONDS", 0.05)
    source = FakeSource()
    board = Board(source, gather_seconds=0)
    running = asyncio.create_task(board.run())
    await board.ready()
    looker = Looker().look(board, Filter())
    source.fails = True
    board.hear(Missed())
    await looker.until(lambda: [each.message for each in looker.got] == [ServerPaused(True)])
    with pytest.raises(StoreError):
        await Board(source).ready()
    with pytest.raises(StoreError):
        await board.page(Filter())
    source.fails = False
    source.rooms["AAAAAA"] = b'{"code":"AAAAAA"}'
    await looker.until(lambda: looker.codes == {"AAAAAA"})
    await looker.until(lambda: ServerPaused(False) in [each.message for each in looker.got])
    assert await board.page(Filter()) == {"rooms": {"AAAAAA": {"code": "AAAAAA"}}}
    running.cancel()
    await asyncio.wait((running,))


class FakeSource(Source):
    """A store whose answers can be held back."""

    def __init__(self) -> None:
        self.rooms: dict[str, bytes] = {}
        self.fails = False
        self.asked = 0
        self.hold: asyncio.Event | None = None

    async def each_lobby(self, heard: Callable[[int, dict[str, bytes]], None]) -> None:
        self.asked += 1
        found: dict[int, dict[str, bytes]] = {}
        for code, summary in self.rooms.items():
            found.setdefault(shard_of(code), {})[code] = summary
        if self.hold is not None:
            await self.hold.wait()
        if self.fails:
            raise StoreError("silent")
        for shard, rooms in found.items():
            heard(shard, rooms)
            await asyncio.sleep(0)


def shown(number: int) -> bytes:
    return b'{"code":"AAAAAA","taken":%d}' % number


async def test_news_that_come_while_the_list_is_read_are_newer_than_it() -> None:
    source = FakeSource()
    source.rooms["AAAAAA"] = shown(1)
    source.hold = asyncio.Event()
    board = Board(source)
    ready = asyncio.create_task(board.ready())
    while not source.asked:  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0)
    board.hear(Listed("AAAAAA", shown(2)))
    source.hold.set()
    await ready
    assert Looker().look(board, Filter()).list["rooms"]["AAAAAA"]["taken"] == 2


async def test_a_doubt_while_the_list_is_read_leads_to_another_reading() -> None:
    source = FakeSource()
    source.hold = asyncio.Event()
    board = Board(source, gather_seconds=0)
    running = asyncio.create_task(board.run())
    ready = asyncio.create_task(board.ready())
    while not source.asked:  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0)
    board.hear(Missed())
    source.rooms["AAAAAA"] = shown(1)
    source.hold.set()
    await ready
    looker = Looker().look(board, Filter())
    await looker.until(lambda: looker.codes == {"AAAAAA"})
    running.cancel()
    await asyncio.wait((running,))


async def test_what_is_no_summary_is_not_shown_and_harms_nobody() -> None:
    source = FakeSource()
    source.rooms = {"AAAAAA": b"\xff", "BBBBBB": b"[1]", "CCCCCC": shown(1)}
    board = Board(source, gather_seconds=0)
    await board.ready()
    looker = Looker().look(board, Filter())
    assert looker.codes == {"CCCCCC"}
    board.hear(Listed("AAAAAA", b'{"code":"AAAAAA"}'))
    await looker.until(lambda: looker.codes == {"AAAAAA", "CCCCCC"})
    board.hear(Listed("AAAAAA", b"nonsense"))
    await looker.until(lambda: looker.codes == {"CCCCCC"})
    board.hear(Listed("AAAAAA", b""))
    board.hear(Listed("AAAAAA", b'{"code":"AAAAAA"}'))
    await looker.until(lambda: looker.codes == {"AAAAAA", "CCCCCC"})


async def test_nothing_is_kept_when_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    source = FakeSource()
    source.rooms["AAAAAA"] = shown(1)
    board = Board(source)
    await board.ready()
    looker = Looker().look(board, Filter())
    board.remove(looker)
    board.remove(looker)
    monkeypatch.setattr(board_module, "REFRESH_SECONDS", 0.01)
    running = asyncio.create_task(board.run())
    await asyncio.sleep(0.05)
    board.hear(Listed("BBBBBB", shown(2)))
    running.cancel()
    await asyncio.wait((running,))
    assert (len(board), board._groups, len(board._rooms), board._heard) == (0, {}, 0, set())
    await board.ready()
    assert source.asked == 2


async def test_another_filter_gets_another_list_and_slow_readers_a_whole_one() -> None:
    source = FakeSource()
    source.rooms = {"AAAAAA": b'{"code":"AAAAAA","game":"duel"}', "BBBBBB": b'{"code":"BBBBBB"}'}
    board = Board(source)
    await board.ready()
    looker = Looker().look(board, Filter())
    board.choose(looker, Filter(game="duel"))
    assert looker.codes == {"AAAAAA"}
    board.resync(looker)
    assert isinstance(looker.got[-1].message, LobbyReset)
    assert looker.got[-1] is looker.got[-2]
    board.hear(Listed("BBBBBB", b'{"code":"BBBBBB","game":"duel"}'))
    await looker.until(lambda: looker.codes == {"AAAAAA", "BBBBBB"})
    board.resync(looker)
    assert looker.codes == {"AAAAAA", "BBBBBB"}
    board.remove(looker)
    board.choose(looker, Filter())
    board.resync(looker)
    assert len(looker.got) == 4
    assert len(board) == 0


async def test_draining_tells_everybody_and_sends_away_who_stays() -> None:
    board = Board(FakeSource())
    await board.ready()
    goes, stays = Looker().look(board, Filter()), Looker().look(board, Filter(free=1))
    asyncio.get_running_loop().call_later(0.01, board.remove, goes)
    await board.drain(100)
    assert [each.message for each in goes.got] == [ServerGo(100)]
    assert (goes.closed, stays.closed) == ("", "restart")


steps = st.lists(
    st.tuples(
        st.sampled_from(["news", "lost", "read", "come", "leave", "choose", "slow", "wait"]),
        st.sampled_from(["AAAAAA", "BBBBBB", "CCCCCC"]),
        st.integers(0, 3),
    ),
    max_size=40,
)


@settings(max_examples=60)
@given(steps)
def test_whatever_happens_all_lists_are_right_once_all_is_read(
    history: list[tuple[str, str, int]],
) -> None:
    asyncio.run(live_through(history))


async def live_through(history: list[tuple[str, str, int]]) -> None:
    source = FakeSource()
    board = Board(source, most=2, gather_seconds=0)
    running = asyncio.create_task(board.run())
    lookers: list[tuple[Looker, Filter]] = []
    filters = [Filter(), Filter(status="waiting"), Filter(free=1), Filter(game="duel", free=2)]
    for what, code, number in history:
        match what:
            case "news" | "lost":
                summary = b"" if number == 0 else room(code, number)
                source.rooms.pop(code, None)
                if summary:
                    source.rooms[code] = summary
                if what == "news":
                    board.hear(Listed(code, summary))
            case "read":
                board.hear(Missed())
            case "come":
                await board.ready()
                looker = Looker().look(board, filters[number])
                lookers.append((looker, filters[number]))
            case "leave" if lookers:
                board.remove(lookers.pop(number % len(lookers))[0])
            case "choose" if lookers:
                looker, _ = lookers[number % len(lookers)]
                lookers[number % len(lookers)] = (looker, filters[number])
                board.choose(looker, filters[number])
            case "slow" if lookers:
                board.resync(lookers[number % len(lookers)][0])
            case "wait":
                await asyncio.sleep(0)
    board.hear(Missed())
    await asyncio.sleep(0.005)
    for looker, wanted in lookers:
        fresh = Board(source, most=2)
        await fresh.ready()
        assert looker.list == fresh.add(looker, wanted)
    running.cancel()
    await asyncio.wait((running,))


def room(code: str, taken: int) -> bytes:
    status = "waiting" if taken < 3 else "playing"
    text = f'{{"code":"{code}","game":"duel","status":"{status}","seats":3,"taken":{taken}}}'
    return text.encode()


def wakes_of(*wakes: Wake) -> AsyncIterator[Wake]:
    async def give() -> AsyncIterator[Wake]:
        for wake in wakes:
            yield wake

    return give()


async def test_news_for_others_pass_by_unchanged() -> None:
    board = Board(FakeSource())
    wakes = (Missed(), Listed("AAAAAA", b""))
    assert tuple([wake async for wake in board.tapped(wakes_of(*wakes))]) == wakes
