"""A client that drops at any byte goes on with no gap and no repeat, and does nothing twice.

Whole games are played over a proxy that cuts connections at exact bytes, either way: in the
handshake, in a welcome, in the header of a frame, between a frame and its offers; with a command
half sent, not sent, or done and its answer lost. Everything that clients take in is noted, and the
notes are held against the log as somebody reads it who never dropped. A default run makes at least
300 drops; the variable TOWERHALL_TEST_DROPS asks for more.
"""

import asyncio
import os
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.end_to_end.games import guests_of, play_out
from tests.end_to_end.servers import ServerProcess
from tests.proxy.carrier import Direction as Way
from tests.proxy.cutting import Cut, CuttingProxy
from towerhall_client.connection import Table, connect
from towerhall_client.http import Service
from towerhall_client.line import Address
from towerhall_client.retry import Retry
from towerhall_protocol import messages as m
from towerhall_protocol import updates as u
from towerhall_protocol.codec import canonical
from towerhall_protocol.level import JSON, MSGPACK
from towerhall_protocol.merge_patch import apply
from towerhall_protocol.replay import Replay, Updates

WANTED = max(300, int(os.environ.get("TOWERHALL_TEST_DROPS", "300")))
IN_TURN = WANTED * 2 // 3
"""Drops at one offset after the other; the rest is up to Hypothesis."""
GAMES = WANTED // 75
"""So many games are cut by Hypothesis, with 25 drops each at the least."""
AT_ONCE = Retry(first_seconds=0.002, most_seconds=0.01)
LONG = 60 + WANTED // 4
PLACES = {"handshake", "header", "payload", "between frames"}


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a client did or took in."""

    kind: str
    seq: int = 0
    n: int = 0
    view: Mapping[str, Any] = {}
    mark: str = ""
    replaced: bool = False
    lost: int = 0
    floor: int = 0
    """The highest seq that anybody had an answer of when this command was given."""


class Book:
    """The notes of all clients of a room, in the order in which things happened."""

    def __init__(self) -> None:
        self.notes: dict[str, list[Note]] = {}
        self.highest = 0
        self.duplicates = 0


class MindedReplay(Replay):
    """A client core that has everything written down."""

    def __init__(self, book: Book) -> None:
        super().__init__(secrets.token_bytes, keep_frames=True)
        self._book = book
        self._notes = book.notes.setdefault(self.origin, [])

    def command(self, body: Mapping[str, Any], *, dry: bool = False) -> m.ClientCommand:
        command = super().command(body, dry=dry)
        self._notes.append(Note(kind="invoked", n=command.n, floor=self._book.highest))
        return command

    def receive(self, message: m.ServerMessage) -> Updates:
        updates = super().receive(message)
        self._book.duplicates += isinstance(message, m.ServerDuplicate)
        for update in updates:
            self._note(update)
        return updates

    def _note(self, update: u.Update) -> None:
        mark = "" if self.cursor is None else self.cursor.mark
        match update:
            case u.Synced(seq, replaced, lost):
                note = Note(kind="synced", seq=seq, replaced=replaced, lost=lost)
            case u.Reset(seq, lost):
                note = Note(kind="synced", seq=seq, replaced=True, lost=lost)
            case u.Moved(seq):
                note = Note(kind="moved", seq=seq)
            case u.Answered(n, seq):
                self._book.highest = max(self._book.highest, seq)
                self._notes.append(Note(kind="answered", seq=seq, n=n))
                return
            case u.Rejected(n):
                self._notes.append(Note(kind="rejected", n=n))
                return
            case u.Faulted():
                self._notes.append(Note(kind="faulted"))
                return
            case _:
                return
        self._notes.append(msgspec.structs.replace(note, view=self.view, mark=mark))


# What must hold


def complaints(
    origin: str, notes: Sequence[Note], frames: Sequence[m.ServerFrame]
) -> Iterator[str]:
    """What is wrong with what a client noted, if these frames are the truth."""
    views, marks = [canonical({})], [""]
    view: Mapping[str, Any] = {}
    done: dict[int, int] = {}
    for frame in frames:
        view = apply(view, frame.patch)
        views.append(canonical(view))
        marks.append(frame.mark)
        if frame.cause[1:2] == (origin,):
            if frame.cause[2] in done:
                yield f"command {frame.cause[2]} was done twice"
            done[frame.cause[2]] = frame.seq
    at, floors, open_ = 0, dict[int, int](), set[int]()
    for note in notes:
        match note.kind:
            case "synced":
                if note.lost:
                    yield f"{note.lost} commits are said to be lost"
                if note.seq < at or (note.seq > at and not note.replaced):
                    yield f"synced at {note.seq} after {at}"
            case "moved" if note.seq != at + 1:
                yield f"frame {note.seq} came after {at}"
            case "invoked":
                floors[note.n] = note.floor
                open_.add(note.n)
            case "answered":
                open_.discard(note.n)
                if done.get(note.n) != note.seq:
                    yield f"command {note.n} was acknowledged at {note.seq}, and is not there"
                if note.seq <= floors.get(note.n, 0):
                    yield f"command {note.n} is in the log before it was given"
            case "rejected":
                open_.discard(note.n)
                if note.n in done:
                    yield f"command {note.n} was refused and done"
            case "faulted":
                yield "the client saw a fault"
        if note.kind in ("synced", "moved"):
            at = note.seq
            if canonical(note.view) != views[at] or note.mark != marks[at]:
                yield f"the view at {at} is not that of the log"
    if at != len(frames):
        yield f"the client stands at {at} of {len(frames)}"
    if open_:
        yield f"nobody answered {sorted(open_)}"


# Games with accidents


class Seat(msgspec.Struct, frozen=True):
    """How somebody is connected; without a seat if it is the last of a plan."""

    subprotocol: str
    cuts: tuple[Cut, ...]


class Outcome(msgspec.Struct, frozen=True):
    drops: int
    places: Counter[tuple[str, str]]
    duplicates: int


@asynccontextmanager
async def minded(
    url: str, code: str, token: str, subprotocol: str, book: Book
) -> AsyncIterator[Table]:
    """`connect`, with a client core that has everything written down."""
    address = Address(url, code, token, "", subprotocol)
    table = Table(address, MindedReplay(book), AT_ONCE, 1.0)
    task = asyncio.create_task(table.run())
    try:
        await table.entered()
        yield table
    finally:
        task.cancel()
        await asyncio.wait((task,))


async def play_with_drops(
    server: ServerProcess, players: Sequence[Seat], watcher: Seat, bots: int, seed: int
) -> Outcome:
    """A whole game, from sitting down to its end; nobody's notes may give reason to complain."""
    service, book = Service(server.url), Book()
    guests = await guests_of(service, *(f"player {n}" for n in range(len(players))), "watcher")
    size = len(players) + bots
    made = await service.create_room(guests[0].token, "five_towers", seats=size, bot_delay_ms=0)
    async with AsyncExitStack() as stack:
        proxies, tables = [], []
        for seat, guest in zip((*players, watcher), guests, strict=True):
            proxy = await stack.enter_async_context(CuttingProxy(server.port, seat.cuts))
            joining = minded(proxy.url, made.code, guest.token, seat.subprotocol, book)
            proxies.append(proxy)
            tables.append(await stack.enter_async_context(joining))
        *seated, watching = tables
        await asyncio.gather(*(table.sit(number) for number, table in enumerate(seated)))
        await asyncio.gather(*(table.ready() for table in seated))
        for _ in range(bots):
            await seated[0].add_bot("easy")
        await seated[0].start()
        views = await play_out(seated, seed)
        await watching.until(lambda: watching.status == "over")
        clean = connect(server.url, made.code, guests[-1].token)
        truth = await stack.enter_async_context(clean)
        frames = await truth.history()
        assert [frame.seq for frame in frames] == list(range(1, truth.seq + 1))
        for table in tables:
            notes = book.notes[table.replay.origin]
            assert list(complaints(table.replay.origin, notes, frames)) == []
            assert table.replay.frames(1, truth.seq) == tuple(
                frame for frame in frames if table.replay.frames(frame.seq, frame.seq)
            )
        assert all(view == truth.view for view in views)
        places = sum((proxy.places() for proxy in proxies), Counter[tuple[str, str]]())
        return Outcome(sum(proxy.drops for proxy in proxies), places, book.duplicates)


LAST: dict[Way, int] = {"down": 900, "up": 660}
"""Bytes of a connection in which a player comes in and makes several moves."""
STEP = 23
"""Between two cuts of one game; the next game's lie beside them."""


def cuts_in_turn(way: Way, game: int) -> tuple[Cut, ...]:
    """Every so many bytes, and besides around the beginnings of frames."""
    bytes_apart = (Cut(way, offset) for offset in range(game * 5 % STEP, LAST[way], STEP))
    edges = (Cut(way, game % 2 + 2 * half, frame) for frame in range(1, 6) for half in range(2))
    return (*bytes_apart, *edges)


@pytest.mark.timeout(LONG)
@pytest.mark.parametrize("subprotocol", [MSGPACK, JSON])
@pytest.mark.parametrize("way", ["down", "up"])
async def test_a_player_who_drops_at_one_byte_after_the_other_misses_and_repeats_nothing(
    shared: ServerProcess, way: Way, subprotocol: str
) -> None:
    """In all four cases together at least 200 drops in a default run."""
    drops, places = 0, Counter[tuple[str, str]]()
    for game in range(STEP):
        players = (Seat(subprotocol, cuts_in_turn(way, game)), Seat(JSON, ()))
        outcome = await play_with_drops(shared, players, Seat(MSGPACK, ()), bots=1, seed=game)
        drops, places = drops + outcome.drops, places + outcome.places
        if drops >= IN_TURN / 4:
            break
    assert drops >= min(IN_TURN / 4, LAST[way] / 2), places
    assert {place for _, place in places} >= {"handshake", "payload", "header"}, places


CUTS = st.one_of(
    st.builds(Cut, st.just("down"), st.integers(0, 1200), reset=st.booleans()),
    st.builds(Cut, st.just("up"), st.integers(0, 640), reset=st.booleans()),
    st.builds(Cut, st.sampled_from(["down", "up"]), st.integers(0, 12), st.integers(1, 9)),
)
SEATS = st.builds(
    Seat, st.sampled_from([MSGPACK, JSON]), st.lists(CUTS, min_size=16, max_size=30).map(tuple)
)


@pytest.mark.timeout(LONG)
def test_whoever_drops_anywhere_in_a_whole_game_misses_and_repeats_nothing(
    shared: ServerProcess,
) -> None:
    """Everybody drops: at least 100 times together in a default run, some with an answer lost."""
    drops, duplicates, places = 0, 0, Counter[tuple[str, str]]()

    # A failure would not be found again by a shorter list of cuts: when things happen is up to the
    # network.
    @settings(max_examples=GAMES, phases=(Phase.explicit, Phase.generate), database=None)
    @given(players=st.lists(SEATS, min_size=2, max_size=3), watcher=SEATS, seed=st.integers(0))
    def play(players: list[Seat], watcher: Seat, seed: int) -> None:
        nonlocal drops, duplicates, places
        playing = play_with_drops(shared, players, watcher, bots=1, seed=seed)
        outcome = asyncio.run(playing, debug=True)
        drops, duplicates = drops + outcome.drops, duplicates + outcome.duplicates
        places += outcome.places

    play()
    assert {place for _, place in places} == PLACES, places
    assert drops >= WANTED - IN_TURN
    assert duplicates > 0, "no command was done whose answer was lost: this run proves little"


# The notes of a client that something went wrong with must be found out

FRAMES = tuple(
    m.ServerFrame(seq, f"mark {seq}", cause, (), {"game": {"round": seq}})
    for seq, cause in enumerate([(), (0, "me", 1), (1, "other", 1), (0, "me", 2)], start=1)
)


def told(seq: int, **more: Any) -> Note:
    view = {"game": {"round": seq}}
    return msgspec.structs.replace(
        Note(kind="moved", seq=seq, view=view, mark=f"mark {seq}"), **more
    )


GOOD = (
    told(1, kind="synced", replaced=True),
    Note(kind="invoked", n=1),
    told(2),
    Note(kind="answered", n=1, seq=2),
    Note(kind="invoked", n=2, floor=2),
    told(2, kind="synced"),
    told(3),
    told(4),
    Note(kind="answered", n=2, seq=4),
    Note(kind="invoked", n=3, floor=4),
    Note(kind="rejected", n=3),
)


def test_a_good_history_gives_no_reason_to_complain() -> None:
    assert list(complaints("me", GOOD, FRAMES)) == []


@pytest.mark.parametrize(
    ("place", "notes"),
    [
        pytest.param(6, (), id="a gap"),
        pytest.param(6, (told(3), told(3)), id="a repeat"),
        pytest.param(5, (told(1, kind="synced", replaced=True), told(2)), id="going back"),
        pytest.param(5, (told(3, kind="synced"),), id="a jump without a view"),
        pytest.param(5, (told(2, kind="synced", lost=1),), id="lost commits"),
        pytest.param(6, (told(3, view={"game": {"round": 9}}),), id="another view"),
        pytest.param(6, (told(3, mark="mark 9"),), id="another past"),
        pytest.param(3, (Note(kind="answered", n=1, seq=1),), id="an answer at the wrong place"),
        pytest.param(10, (Note(kind="answered", n=3, seq=3),), id="an answer to what is not done"),
        pytest.param(10, (Note(kind="rejected", n=2),), id="refused and done"),
        pytest.param(4, (Note(kind="invoked", n=2, floor=4),), id="done before it was given"),
        pytest.param(8, (), id="no answer"),
        pytest.param(7, (), id="not up to the end"),
        pytest.param(5, (Note(kind="faulted"),), id="a fault"),
    ],
)
def test_a_bad_history_is_found_out(place: int, notes: tuple[Note, ...]) -> None:
    bad = (*GOOD[:place], *notes, *GOOD[place + 1 :])
    assert list(complaints("me", bad, FRAMES)) != []


def test_a_command_that_was_done_twice_is_found_out() -> None:
    again = msgspec.structs.replace(FRAMES[2], cause=(0, "me", 1))
    assert list(complaints("me", GOOD, (*FRAMES[:2], again, FRAMES[3]))) != []
