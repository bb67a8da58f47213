"""Any order of sitting, leaving, kicking, passing on, giving up and reconnecting, with and without
sense: seats stay in order, and there is always a way on.

The room is pure and its audience is real. After each rule the laws are looked at; in the end the
people who are left play the room to its end, whatever was done to it, and its record is checked.
"""

import asyncio
from collections import Counter
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.games.dice_duel import GAME as DICE_DUEL
from tests.room.pure_rooms import (
    GAMES,
    PEOPLE,
    REMATCH,
    SECRET,
    SECRET_DUEL,
    Looker,
    PureRoom,
    Stage,
    open_nonce,
    pass_host,
    sealed_nonce,
)
from towerhall_server.game import LEVELS, Rejected
from towerhall_server.room import core
from towerhall_server.room.record import make_record
from towerhall_server.room.replica import Replica
from towerhall_server.room.seats import Known, Person
from towerhall_server.room.verify import verify
from towerhall_server.room.view import view, view_class

people = st.sampled_from(PEOPLE)
seats = st.integers(-1, 3)
levels = st.sampled_from((*LEVELS, "best"))
WINDOWS = 3
"""Connections of one person that are open at most."""


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
    )
    def found(
        self, hidden: bool, size: int, seconds: int, quick: bool, kept_for: Person | None
    ) -> None:
        rules = SECRET_DUEL if hidden else DICE_DUEL
        reserved = () if kept_for is None else ("",) * (size - 1) + (kept_for.id,)
        self.pure = PureRoom(rules, size, turn_seconds=seconds, quick=quick, reserved=reserved)
        self.pure.known = Known(rematch=REMATCH)
        self.stage = Stage(self.pure)

    # What people do

    def say(self, person: Person, command: str, **fields: Any) -> None:
        answer = self.pure.ask(person, {"command": command, **fields})
        if not isinstance(answer, Rejected):
            self.pure.append(answer)
            self.follow()

    def follow(self) -> None:
        async def shown() -> None:
            self.stage.follow()

        self.runner.run(shown())

    @rule(person=people, seat=seats, sealed=st.booleans())
    def sit(self, person: Person, seat: int, sealed: bool) -> None:
        deal = self.pure.room.table.deal + 1
        shown = {"nonce": sealed_nonce(person, deal)} if sealed else {}
        self.say(person, "sit", **shown, **({} if seat < 0 else {"seat": seat}))

    @rule(person=people)
    def stand(self, person: Person) -> None:
        self.say(person, "stand")

    @rule(person=people, ready=st.booleans())
    def ready(self, person: Person, ready: bool) -> None:
        self.say(person, "ready", ready=ready)

    @rule(person=people, seat=seats)
    def kick(self, person: Person, seat: int) -> None:
        self.say(person, "kick", seat=seat)

    @rule(person=people, preset=st.sampled_from(("standard", "quick", "none")))
    def set_options(self, person: Person, preset: str) -> None:
        self.say(person, "set_options", options={"preset": preset})

    @rule(person=people, level=levels)
    def add_bot(self, person: Person, level: str) -> None:
        self.say(person, "add_bot", level=level)

    @rule(person=people, seat=seats)
    def remove_bot(self, person: Person, seat: int) -> None:
        self.say(person, "remove_bot", seat=seat)

    @rule()
    def begin(self) -> None:
        """Everybody wants to play: the game starts if it can."""
        self.start()

    @rule(person=people)
    def open(self, person: Person) -> None:
        self.say(person, "open", nonce=open_nonce(person, self.pure.room.table.deal))

    @rule(person=people, level=levels)
    def leave(self, person: Person, level: str) -> None:
        self.say(person, "leave", level=level)

    @rule(person=people)
    def take_back(self, person: Person) -> None:
        self.say(person, "take_back")

    @rule(person=people, seat=seats, absent=st.sets(seats))
    def call_bot(self, person: Person, seat: int, absent: set[int]) -> None:
        self.pure.known = Known(absent=absent, rematch=REMATCH)
        self.say(person, "call_bot", seat=seat)

    @rule(person=people)
    def resign(self, person: Person) -> None:
        self.say(person, "resign")

    @rule(person=people, wanted=st.booleans())
    def want_end(self, person: Person, wanted: bool) -> None:
        self.say(person, "want_end", wanted=wanted)

    @rule(person=people)
    def rematch(self, person: Person) -> None:
        self.say(person, "rematch")

    @rule(moves=st.integers(1, 4))
    def play(self, moves: int) -> None:
        self.pure.play_on(moves)
        self.follow()

    # What the room does by itself

    @precondition(lambda self: core.due(self.pure.room).errand in ("open", "turn", "bot"))
    @rule()
    def wait(self) -> None:
        self.pure.wait()
        self.follow()

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
    def seats_are_in_order(self) -> None:
        table = self.pure.room.table
        held = [holder.identity for holder in table.seats if holder and holder.identity]
        assert len(held) == len(set(held)), "somebody holds two seats"
        assert not set(held) & set(table.kicked), "a kicked person has a seat"
        for seat, holder in enumerate(table.seats):
            assert holder is None or holder.is_bot or table.seat_of(holder.identity) == seat
            assert holder is None or bool(holder.identity) != bool(holder.level)
            kept_for = table.reserved[seat] if table.reserved else ""
            assert not kept_for or not holder or holder.is_bot or holder.identity == kept_for

    @invariant()
    def somebody_may_act_or_something_is_due(self) -> None:
        room = self.pure.room
        assert core.due(room).ms < 40 * 86_400_000
        if room.playing:
            assert all(room.table.seats), "a game with an empty seat"
            acting = room.to_act()
            assert acting
            if core.bot_to_act(room) is None:
                assert room.rules.offers(room.game, acting[0])
            people = [holder for holder in room.table.seats if holder and not holder.plays_as]
            assert not people or not all(holder.wants_end for holder in people)
        if room.table.status == "waiting":
            everybody = {person.id for person in PEOPLE}
            assert room.table.host in everybody

    @invariant()
    def the_log_leads_to_the_room(self) -> None:
        replica = Replica(GAMES, SECRET)
        replica.load(self.pure.entries)
        assert replica.room == self.pure.room

    @invariant()
    def everybody_sees_with_their_own_eyes_and_a_seat_has_one_connection(self) -> None:
        self._forget_closed()
        room = self.pure.room
        for looker in self.lookers:
            assert looker.seat == room.table.seat_of(looker.person.id)
            name = view_class(room.rules, looker.seat)
            assert looker.view == plain(view(room, name))
        taken = Counter(looker.seat for looker in self.lookers if looker.seat is not None)
        assert all(count == 1 for count in taken.values())

    # The end

    def start(self) -> None:
        """Free seats go to bots, everybody is ready, and whoever is host starts."""
        pure = self.pure
        host = next(person for person in PEOPLE if person.id == pure.room.table.host)
        for _ in pure.room.table.free_seats():
            self.say(host, "add_bot")
        for holder in pure.room.table.seats:
            if holder and not holder.is_bot:
                self.say(Person(holder.identity, holder.name), "ready")
        self.say(host, "start")

    def teardown(self) -> None:
        if hasattr(self, "pure"):
            self.play_to_the_end()
        self.runner.close()

    def play_to_the_end(self) -> None:
        pure = self.pure
        for _ in range(40):
            match pure.room.table.status:
                case "waiting":
                    self.start()
                case "sealed":
                    for person in PEOPLE:
                        self.open(person)
                    if pure.room.table.status == "sealed":
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


def plain(document: object) -> object:
    """As it comes over the wire."""
    match document:
        case dict():
            return {key: plain(value) for key, value in document.items()}
        case list() | tuple():
            return [plain(value) for value in document]
    return document


TestTables = TableMachine.TestCase
TestTables.settings = settings(max_examples=60, stateful_step_count=50, deadline=None)


def test_a_host_who_is_passed_over_is_no_host() -> None:
    """The one law that is about an event, not about a state."""
    pure = PureRoom(DICE_DUEL, 3)
    pure.say(PEOPLE[1], "sit")
    pass_host(pure, 0)
    assert pure.room.table.host == PEOPLE[1].id
    pass_host(pure, 0)
    assert pure.seq == 3, "there is nobody else"
