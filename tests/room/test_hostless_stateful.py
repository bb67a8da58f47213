"""Rooms without a host, as operators open them: whatever people do there, no seat is held twice,
nobody gets a host's powers, and those for whom seats are kept can always play to the end."""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.games.tile_duel import GAME as TILE_DUEL
from tests.room.pure_rooms import (
    GAMES,
    PEOPLE,
    REMATCH,
    SECRET,
    PureRoom,
    open_nonce,
    sealed_nonce,
)
from tests.room.test_tables_stateful import do, playing, seats_are_in_order, waiting
from towerhall_server.game import Rejected
from towerhall_server.live.record_store import make_record
from towerhall_server.record.verify import verify
from towerhall_server.room import steps
from towerhall_server.room.commands import ROOM_COMMANDS
from towerhall_server.room.decision import refuse
from towerhall_server.room.seats import Known, Person
from towerhall_server.room.steps import IDLE_MS

people = st.sampled_from(PEOPLE)
seats = st.integers(-1, 3)
kinds = st.lists(st.sampled_from(("kept", "kept", "bot", "free")), min_size=2, max_size=3)
OF_HOSTS = [row for row in ROOM_COMMANDS.values() if row.role == "host"]


class HostlessMachine(RuleBasedStateMachine):
    """One room of an operator's, and five people, some of whom it is for."""

    @initialize(
        kinds=kinds.filter(lambda kinds: set(kinds) != {"bot"}),
        seconds=st.sampled_from((0, 20)),
    )
    def found(self, kinds: list[str], seconds: int) -> None:
        self.reserved = tuple(
            PEOPLE[seat].id if kind == "kept" else "" for seat, kind in enumerate(kinds)
        )
        bots = tuple("easy" if kind == "bot" else "" for kind in kinds)
        self.pure = PureRoom(
            TILE_DUEL,
            len(kinds),
            turn_seconds=seconds,
            host="",
            reserved=self.reserved if any(self.reserved) else (),
            bots=bots if any(bots) else (),
            quick=True,
            operator="acme",
        )
        self.pure.known = Known(rematch=REMATCH)

    def say(self, person: Person, command: str, **fields: Any) -> None:
        do(self.pure, person, command, **fields)

    @precondition(waiting)
    @rule(person=people, seat=seats, shows=st.booleans())
    def sit(self, person: Person, seat: int, shows: bool) -> None:
        shown = {"nonce": sealed_nonce(person, self.pure.room.table.deal + 1)} if shows else {}
        self.say(person, "sit", **shown, **({} if seat < 0 else {"seat": seat}))

    @precondition(waiting)
    @rule(person=people, ready=st.booleans())
    def ready(self, person: Person, ready: bool) -> None:
        self.say(person, "ready", ready=ready)

    @rule(person=people)
    def open(self, person: Person) -> None:
        self.say(person, "open", nonce=open_nonce(person, self.pure.room.table.deal))

    @rule(
        person=people,
        command=st.sampled_from(tuple(ROOM_COMMANDS)),
        seat=seats,
        absent=st.sets(st.integers(0, 2)),
    )
    def say_anything(self, person: Person, command: str, seat: int, absent: set[int]) -> None:
        self.pure.known = Known(absent=absent, rematch=REMATCH)
        self.say(person, command, seat=seat)

    @precondition(playing)
    @rule(moves=st.integers(1, 3))
    def play(self, moves: int) -> None:
        self.pure.play_on(moves)

    @precondition(lambda self: steps.due(self.pure.room).errand in ("open", "turn", "bot"))
    @rule()
    def wait(self) -> None:
        self.pure.wait()

    @invariant()
    def seats_are_in_order_and_nobody_is_host(self) -> None:
        table = self.pure.room.table
        seats_are_in_order(self.pure.room)
        assert table.host == ""
        assert table.operator == "acme"
        for person in PEOPLE:
            for right in OF_HOSTS:
                assert refuse(table, person.id, right) == Rejected("not_host", "P-56")

    @invariant()
    def a_room_that_is_full_and_ready_does_not_wait(self) -> None:
        room = self.pure.room
        if room.table.status == "waiting":
            assert not all(holder and holder.ready for holder in room.table.seats)
            assert steps.due(room) == steps.Due("close", IDLE_MS, "commit")

    def teardown(self) -> None:
        if hasattr(self, "pure"):
            self.play_to_the_end()

    def play_to_the_end(self) -> None:
        """Those who are awaited come, whoever likes takes the rest, and all are ready."""
        pure = self.pure
        for _ in range(40):
            match pure.room.table.status:
                case "waiting":
                    # Whoever took a free seat and not the own one makes room for others.
                    for person in PEOPLE:
                        do(pure, person, "stand")
                    for person in PEOPLE:
                        do(pure, person, "sit")
                    for person in PEOPLE:
                        do(pure, person, "ready")
                case "sealed":
                    for person in PEOPLE:
                        do(pure, person, "open", nonce=open_nonce(person, pure.room.table.deal))
                    if steps.due(pure.room).errand == "open":
                        pure.wait()
                case "playing":
                    pure.play_on()
        assert pure.room.table.status == "over", "there was no way on"
        assert verify(make_record(GAMES, SECRET, pure.entries), GAMES) == ()


TestHostless = HostlessMachine.TestCase
TestHostless.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
