"""Any order of sitting, leaving, kicking, passing on, giving up and reconnecting, with and without
sense: seats stay in order, and there is always a way on.

The room is pure and its audience is real. After each rule the laws are looked at; in the end the
people who are left play the room to its end, whatever was done to it, and its record is checked.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any, get_args

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.examples import examples
from tests.games.tile_duel import GAME as TILE_DUEL
from tests.room.pure_rooms import (
    GAMES,
    PEOPLE,
    REMATCH,
    SECRET,
    SECRET_DUEL,
    Looker,
    PureRoom,
    Stage,
    lived,
    open_nonce,
    pass_host,
    sealed_nonce,
)
from towerhall_server.game import LEVELS, Rejected
from towerhall_server.live.record_store import make_record
from towerhall_server.live.replica import Replica
from towerhall_server.record.verify import verify
from towerhall_server.room import steps
from towerhall_server.room.commands import ROOM_COMMANDS
from towerhall_server.room.commits import Cause
from towerhall_server.room.decision import step_of
from towerhall_server.room.seats import Known, Person
from towerhall_server.room.state import Room
from towerhall_server.room.table import SeatHolder, Status
from towerhall_server.room.view import view, view_class

people = st.sampled_from(PEOPLE)
askers = st.integers(0, 9)
"""Who asks: the host, whoever has one of the seats, or anybody; see `TableMachine.asker`."""
hosts = st.sampled_from((0, 0, 0, 5))
"""Mostly the host."""
seats = st.sampled_from((0, 1, 2, 0, 1, -1, 3))
levels = st.sampled_from((*LEVELS, "best"))
commands = st.sampled_from(tuple(ROOM_COMMANDS))


def at(status: str) -> Callable[["TableMachine"], bool]:
    """Where a rule makes sense."""
    return lambda machine: machine.pure.room.table.status == status


waiting, sealed, playing, over = map(at, get_args(Status))
WINDOWS = 3
"""Connections of one person that are open at most."""


def seats_are_in_order(room: Room) -> None:
    table = room.table
    held = [holder.identity for holder in table.seats if holder and holder.identity]
    assert len(held) == len(set(held)), "somebody holds two seats"
    assert not set(held) & set(table.kicked), "a kicked person has a seat"
    for seat, holder in enumerate(table.seats):
        assert holder is None or holder.is_bot or table.seated.get(holder.identity) == seat
        assert holder is None or bool(holder.identity) != bool(holder.level)
        owner = table.reserved[seat] if table.is_reserved(seat) else ""
        assert not owner or holder is None or holder.identity == owner
        assert not owner or table.seated.get(owner) in (None, seat)


def nobody_gets_a_second_seat(room: Room) -> None:
    """Whoever has a seat and asks for another one, at any moment."""
    for seat, holder in enumerate(room.table.seats):
        if holder and holder.identity:
            person = Person(holder.identity, holder.name)
            cause = Cause(seat, holder.identity, "another origin", 1)
            answer = step_of(room, person, cause, {"command": "sit"}, "")
            assert answer == Rejected("already_seated", "P-56", {"seat": seat})


def there_is_a_way_on(room: Room) -> None:
    """Somebody may act, or something is due, and nothing waits for who has gone."""
    table = room.table
    assert steps.due(room).ms < 40 * 86_400_000
    if room.playing:
        assert all(table.seats), "a game with an empty seat"
        acting = room.to_act()
        assert acting
        if steps.bot_to_act(room) is None:
            assert room.is_played(acting[0])
            assert room.rules.offers(room.game, acting[0])
        voices = [holder.wants_end for holder in table.seats if holder and not holder.plays_as]
        assert not voices or not all(voices), "all want the end, and it goes on"
    if table.status == "waiting":
        assert table.host in {person.id for person in PEOPLE}


def do(pure: PureRoom, person: Person, command: str, **fields: Any) -> None:
    """What is asked for, if it is allowed."""
    answer = pure.ask(person, {"command": command, **fields})
    if not isinstance(answer, Rejected):
        pure.append(answer)


def begin(pure: PureRoom) -> None:
    """Free seats go to bots, everybody is ready, and whoever is host starts."""
    host = next(person for person in PEOPLE if person.id == pure.room.table.host)
    for _ in pure.room.table.free_seats():
        do(pure, host, "add_bot")
    for holder in pure.room.table.seats:
        if holder and not holder.is_bot:
            do(pure, Person(holder.identity, holder.name), "ready")
    do(pure, host, "start")


def play_to_the_end(pure: PureRoom) -> None:
    """The people who are left can do that, whatever has been done; and the record holds."""
    for _ in range(40):
        match pure.room.table.status:
            case "waiting":
                begin(pure)
            case "sealed":
                for person in PEOPLE:
                    do(pure, person, "open", nonce=open_nonce(person, pure.room.table.deal))
                if steps.due(pure.room).errand == "open":
                    pure.wait()
            case "playing":
                pure.play_on()
    table = pure.room.table
    assert table.status == "over", "there was no way on"
    if table.result is not None:
        gone = [holder is not None and holder.resigned for holder in table.seats]
        ranks = list(zip(gone, table.result.places, strict=True))
        assert all(not (a[0] < b[0] and a[1] >= b[1]) for a in ranks for b in ranks)
    found = verify(make_record(GAMES, SECRET, pure.entries), GAMES)
    assert found == (), found


class TableMachine(RuleBasedStateMachine):
    """One room, five people, and their windows."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.lookers: list[Looker] = []

    @initialize(
        hidden=st.booleans(),
        size=st.sampled_from((2, 3)),
        seconds=st.sampled_from((0, 20, 3600)),
        quick=st.booleans(),
        kept_for=st.one_of(st.none(), people),
        begun=st.sampled_from(("empty", "half", "half", "seated", "playing")),
    )
    def found(
        self,
        hidden: bool,
        size: int,
        seconds: int,
        quick: bool,
        kept_for: Person | None,
        begun: str,
    ) -> None:
        rules = SECRET_DUEL if hidden else TILE_DUEL
        reserved = () if kept_for is None else ("",) * (size - 1) + (kept_for.id,)
        self.pure = PureRoom(rules, size, turn_seconds=seconds, quick=quick, reserved=reserved)
        self.pure.known = Known(rematch=REMATCH)
        if begun != "empty":
            for person in PEOPLE[: size - 1 if begun == "half" else size]:
                self.say(person, "sit")
        if begun == "playing":
            begin(self.pure)
        self.stage = Stage(self.pure)

    def asker(self, number: int) -> Person:
        table = self.pure.room.table
        if number == 0:
            return next(person for person in PEOPLE if person.id == table.host)
        holder = table.seats[number % len(table.seats)]
        if number > 5 or holder is None or holder.is_bot:
            return PEOPLE[number % len(PEOPLE)]
        return Person(holder.identity, holder.name)

    def holders(self) -> list[SeatHolder]:
        return [holder for holder in self.pure.room.table.seats if holder is not None]

    # What people do

    def say(self, person: Person, command: str, **fields: Any) -> None:
        answer = self.pure.ask(person, {"command": command, **fields})
        if not isinstance(answer, Rejected):
            self.pure.append(answer)
            self.follow()

    def follow(self) -> None:
        async def shown() -> None:
            self.stage.follow()

        if hasattr(self, "stage"):
            self.runner.run(shown())

    @precondition(lambda self: waiting(self) and self.pure.room.table.free_seats())
    @rule(asker=askers, pick=st.integers(0, 3), shows=st.booleans())
    def sit(self, asker: int, pick: int, shows: bool) -> None:
        """At a free seat, by whoever has one already too: that is what must not be."""
        person, table = self.asker(asker), self.pure.room.table
        shown = {"nonce": sealed_nonce(person, table.deal + 1)} if shows else {}
        free = table.free_seats()
        self.say(person, "sit", **shown, **({"seat": free[pick % len(free)]} if pick else {}))

    @precondition(waiting)
    @rule(asker=askers)
    def stand(self, asker: int) -> None:
        self.say(self.asker(asker), "stand")

    @precondition(waiting)
    @rule(asker=askers, ready=st.booleans())
    def ready(self, asker: int, ready: bool) -> None:
        self.say(self.asker(asker), "ready", ready=ready)

    @precondition(waiting)
    @rule(asker=hosts, seat=seats)
    def kick(self, asker: int, seat: int) -> None:
        self.say(self.asker(asker), "kick", seat=seat)

    @precondition(waiting)
    @rule(asker=hosts, preset=st.sampled_from(("standard", "quick", "none")))
    def set_options(self, asker: int, preset: str) -> None:
        self.say(self.asker(asker), "set_options", options={"preset": preset})

    @precondition(waiting)
    @rule(asker=hosts, level=levels)
    def add_bot(self, asker: int, level: str) -> None:
        self.say(self.asker(asker), "add_bot", level=level)

    @precondition(waiting)
    @rule(asker=hosts, seat=seats)
    def remove_bot(self, asker: int, seat: int) -> None:
        self.say(self.asker(asker), "remove_bot", seat=seat)

    @precondition(waiting)
    @rule()
    def begin(self) -> None:
        """Everybody wants to play: the game starts if it can."""
        begin(self.pure)
        self.follow()

    @precondition(sealed)
    @rule(person=people)
    def open(self, person: Person) -> None:
        self.say(person, "open", nonce=open_nonce(person, self.pure.room.table.deal))

    @precondition(playing)
    @rule(asker=askers, level=levels)
    def leave(self, asker: int, level: str) -> None:
        self.say(self.asker(asker), "leave", level=level)

    @precondition(lambda self: playing(self) and any(h.stand_in for h in self.holders()))
    @rule(asker=askers)
    def take_back(self, asker: int) -> None:
        self.say(self.asker(asker), "take_back")

    @precondition(playing)
    @rule(asker=askers, seat=seats, absent=st.sets(seats))
    def call_bot(self, asker: int, seat: int, absent: set[int]) -> None:
        self.pure.known = Known(absent=absent, rematch=REMATCH)
        self.say(self.asker(asker), "call_bot", seat=seat)

    @precondition(playing)
    @rule(asker=askers)
    def resign(self, asker: int) -> None:
        self.say(self.asker(asker), "resign")

    @precondition(playing)
    @rule(asker=askers, wanted=st.booleans())
    def want_end(self, asker: int, wanted: bool) -> None:
        self.say(self.asker(asker), "want_end", wanted=wanted)

    @precondition(lambda self: over(self) and not self.pure.room.table.rematch)
    @rule(asker=askers)
    def rematch(self, asker: int) -> None:
        self.say(self.asker(asker), "rematch")

    @rule(asker=askers, command=commands, seat=seats)
    def say_anything(self, asker: int, command: str, seat: int) -> None:
        """Whether it makes sense now or not."""
        self.say(self.asker(asker), command, seat=seat)

    @precondition(playing)
    @rule(moves=st.integers(1, 4))
    def play(self, moves: int) -> None:
        self.pure.play_on(moves)
        self.follow()

    # What the room does by itself

    @precondition(lambda self: steps.due(self.pure.room).errand in ("open", "turn", "bot"))
    @rule()
    def wait(self) -> None:
        self.pure.wait()
        self.follow()

    @precondition(waiting)
    @rule(pick=st.integers(0, 5))
    def host_away(self, pick: int) -> None:
        pass_host(self.pure, pick)
        self.follow()

    # Who looks

    @rule(person=people, window=st.integers(0, 1))
    def connect(self, person: Person, window: int) -> None:
        origins = ("", f"another window of {person.name}")

        async def entered() -> Looker:
            return self.stage.enter(person, origins[window])

        if Counter(looker.person for looker in self.lookers)[person] < WINDOWS:
            self.lookers.append(self.runner.run(entered()))
            self._forget_closed()

    @precondition(lambda self: self.lookers)
    @rule(pick=st.integers(0, 30))
    def disconnect(self, pick: int) -> None:
        looker = self.lookers.pop(pick % len(self.lookers))

        async def left() -> None:
            self.stage.audience.remove(looker)

        self.runner.run(left())

    def _forget_closed(self) -> None:
        self.lookers = [looker for looker in self.lookers if not looker.closed]

    # Laws

    @invariant()
    def seats_are_in_order_and_somebody_may_act(self) -> None:
        seats_are_in_order(self.pure.room)
        nobody_gets_a_second_seat(self.pure.room)
        there_is_a_way_on(self.pure.room)

    @invariant()
    def the_log_leads_to_the_room(self) -> None:
        replica = Replica.load(GAMES, SECRET, self.pure.entries)
        assert replica.room == self.pure.room

    @invariant()
    def everybody_sees_with_their_own_eyes_and_a_seat_has_one_connection(self) -> None:
        self._forget_closed()
        room = self.pure.room
        for looker in self.lookers:
            assert looker.seat == room.table.seated.get(looker.person.id)
            name = view_class(room.rules, looker.seat)
            assert looker.view == plain(view(room, name))
        taken = Counter(looker.seat for looker in self.lookers if looker.seat is not None)
        assert all(count == 1 for count in taken.values())

    def teardown(self) -> None:
        if hasattr(self, "pure"):
            play_to_the_end(self.pure)
        self.runner.close()


def plain(document: object) -> object:
    """As it comes over the wire."""
    match document:
        case dict():
            return {key: plain(value) for key, value in document.items()}
        case list() | tuple():
            return [plain(value) for value in document]
    return document


TestTables = TableMachine.TestCase
TestTables.settings = settings(max_examples=examples(30, 80), stateful_step_count=60, deadline=None)


@pytest.mark.parametrize("seed", range(examples(40, 100)))
def test_so_it_is_in_any_history(seed: int) -> None:
    pure = lived(SECRET_DUEL if seed % 2 else TILE_DUEL, seed, 100)
    for room in pure.rooms:
        seats_are_in_order(room)
        nobody_gets_a_second_seat(room)
        there_is_a_way_on(room)
    play_to_the_end(pure)


def test_a_host_who_is_passed_over_is_no_host() -> None:
    """The one law that is about an event, not about a state."""
    pure = PureRoom(TILE_DUEL, 3)
    pure.say(PEOPLE[1], "sit")
    pass_host(pure, 0)
    assert pure.room.table.host == PEOPLE[1].id
    pass_host(pure, 0)
    assert pure.seq == 3, "there is nobody else"
