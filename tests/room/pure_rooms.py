"""Rooms in memory, for tests that need neither a store nor a network.

A `PureRoom` is a room with its log and every moment of it: each commit comes from `core`, gets a
place in the log, and enters the room the way a replica takes it in. `histories` are rooms that
several persons have talked to, with sense and without. A `Looker` is a viewer that keeps what it
is sent and applies it as a client would; a `Stage` shows a room to lookers.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from hashlib import blake2b, sha256
from itertools import count
from typing import Any, TypeVar, cast

from hypothesis import strategies as st

from tests.games import tile_duel as duel
from tests.games.lawbook import copied
from tests.games.tile_duel import GAME as TILE_DUEL
from towerhall_protocol.codec import FROM_SERVER, decode
from towerhall_protocol.commands import base64url
from towerhall_protocol.fairness import UID_BYTES, nonce_hash
from towerhall_protocol.level import LEVEL
from towerhall_protocol.merge_patch import apply
from towerhall_protocol.messages import (
    Cursor,
    ServerFrame,
    ServerMessage,
    ServerReset,
    ServerSeat,
    ServerWelcome,
)
from towerhall_protocol.wire import read_server
from towerhall_server.eventlog.entry import (
    COMMIT_ID_BYTES,
    START,
    Entry,
    Point,
    Stamps,
    entry_after,
    mark,
)
from towerhall_server.frames import Prepared
from towerhall_server.game import AnyGame, Perspective, Rejected, Seat
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.live.audience import Audience
from towerhall_server.live.guests import Guests
from towerhall_server.live.replica import Replica, follow
from towerhall_server.room import steps
from towerhall_server.room.closing import abandon_step, close_step
from towerhall_server.room.commits import THE_ROOM, Cause, Commit, encode_commit
from towerhall_server.room.decision import step_of
from towerhall_server.room.events import Settings, TimedOut
from towerhall_server.room.seats import Known, Person
from towerhall_server.room.state import Room, entered, happen
from towerhall_server.room.steps import Plan, Step
from towerhall_server.room.view import NOTHING, SHARED, WATCHING, frame, view


def id_of(name: str) -> str:
    """The id of a person, the same in every test."""
    return base64url(blake2b(name.encode(), digest_size=8).digest())


PEOPLE = tuple(Person(id_of(name), name) for name in ("Ada", "Ben", "Cyd", "Döra", "Zoe"))
ADA, BEN, CYD, DORA, ZOE = PEOPLE
HOST = ADA
CODE = "QJXKZB"
REMATCH = "REMATC"
CLAIMS = count(1)
KEY_HASH = sha256(b"the hash of a key").digest()
SECRET = sha256(b"what only the server knows").digest()
UID = sha256(b"a room").digest()[:UID_BYTES]
Message = TypeVar("Message", bound=ServerMessage)


def _own_columns(state: duel.State, viewer: Perspective) -> dict[str, object]:
    own = {} if viewer is None else {str(viewer): state.columns[viewer]}
    return {**duel.view(state, viewer), "columns": own, "carving": "x" * 3000}


SHARED_DUEL: AnyGame = replace(TILE_DUEL, name="shared_duel", shared_view=True)
SECRET_DUEL: AnyGame = replace(TILE_DUEL, name="secret_duel", view=_own_columns)
"""Here viewers do not see the same: columns are for those who own them. Views are large, too."""
GAMES: Mapping[str, AnyGame] = {
    game.name: game for game in (FIVE_TOWERS, TILE_DUEL, SHARED_DUEL, SECRET_DUEL)
}


def classes(room: Room) -> tuple[str, ...]:
    """All classes of viewers that the room can have."""
    if room.rules.shared_view:
        return (SHARED,)
    return (WATCHING, *map(str, range(len(room.table.seats))))


def nonce_of(person: Person, deal: int = 1) -> bytes:
    """What this person's client keeps for a deal."""
    return sha256(f"{person.id} {deal}".encode()).digest()


def sealed_nonce(person: Person, deal: int = 1) -> str:
    """What it shows before the deal is sealed."""
    return base64url(nonce_hash(UID, nonce_of(person, deal)))


def open_nonce(person: Person, deal: int = 1) -> str:
    """What it shows after that."""
    return base64url(nonce_of(person, deal))


def due_step(room: Room) -> Step:
    """What a room does by itself next."""
    match steps.due(room).errand:
        case "open":
            return accepted(steps.cancel_step(room))
        case "turn":
            return accepted(steps.timeout_step(room))
        case "bot":
            bot = steps.bot_to_act(room)
            assert bot is not None
            return accepted(steps.bot_step(room, bot))
    return accepted(abandon_step(room))


def accepted(answer: Step | Rejected) -> Step:
    assert not isinstance(answer, Rejected), answer
    return answer


class PureRoom:
    """A room, its log and its clock."""

    def __init__(
        self,
        rules: AnyGame = FIVE_TOWERS,
        seats: int = 2,
        *,
        turn_seconds: int = 0,
        bot_delay_ms: int = Settings().bot_delay_ms,
        beat_ms: int = 0,
        sandbox: int = 0,
        salt: str = "",
        host: str = HOST.id,
        **plan: Any,
    ) -> None:
        """Logs with another salt have other chains."""
        self._salt = salt
        self._numbers: dict[str, int] = {}
        self.now_ms = 1_000
        self.entries: list[Entry] = []
        self.rooms: list[Room] = []
        """As they were after each commit."""
        self.known = Known(rematch=REMATCH)
        """What no log tells: who is away, and a room for a rematch."""
        self.answers: list[tuple[Room, Step | Rejected]] = []
        """All that was asked for, and of which room."""
        options = rules.presets["standard"]
        settings = Settings(turn_seconds, bot_delay_ms, beat_ms, sandbox=sandbox)
        planned = Plan(rules, options, seats, settings, host, KEY_HASH, **plan)
        self.append(steps.found(planned, CODE, UID, SECRET))

    @property
    def room(self) -> Room:
        return self.rooms[-1]

    @property
    def seq(self) -> int:
        return len(self.entries)

    @property
    def point(self) -> Point:
        return self.entries[-1].point if self.entries else START

    def append(self, step: Step, *, after_ms: int = 100) -> None:
        """Put a step into the log."""
        self.now_ms += after_ms
        seq, blob = self.seq + 1, encode_commit(step.commit)
        commit_id = sha256(f"{self._salt}{seq}".encode()).digest()[:COMMIT_ID_BYTES]
        stamps = Stamps(1_700_000_000_000 + self.now_ms, self.now_ms)
        entry = entry_after(self.point, stamps, commit_id, blob)
        before = self.room if self.rooms else step.after
        after = entered(before, step.after, step.commit, seq, mark(entry.chain), self.now_ms)
        self.rooms.append(after)
        self.entries.append(entry)

    def ask(self, person: Person, body: Mapping[str, Any], tag: str | None = None) -> Any:
        """What a command leads to as an actor decides it: a step, or a refusal."""
        room, before = self.room, repr(self.room)
        self._numbers[person.id] = number = self._numbers.get(person.id, 0) + 1
        seat = room.table.seated.get(person.id)
        cause = Cause(-1 if seat is None else seat, person.id, f"origin of {person.name}", number)
        answer = step_of(room, person, cause, body, room.tag if tag is None else tag, self.known)
        assert repr(room) == before, f"deciding {body} changed the room"
        self.answers.append((room, answer))
        return answer

    def say(self, person: Person, command: str, **fields: Any) -> Step:
        """A command that is accepted and enters the log."""
        step = accepted(self.ask(person, {"command": command, **fields}))
        self.append(step)
        return step

    def refused(self, person: Person, command: str, **fields: Any) -> str:
        """The code with which a command is refused."""
        answer = self.ask(person, {"command": command, **fields})
        assert isinstance(answer, Rejected), f"accepted: {answer.commit}"
        return answer.code

    def wait(self, late_ms: int = 0) -> Step:
        """Let the room do by itself what is due."""
        room, step = self.room, due_step(self.room)
        self.answers.append((room, step))
        after_ms = max(0, steps.deadline_ms(room) - self.now_ms) + late_ms
        self.append(step, after_ms=after_ms)
        return step

    def mutter(self, after_ms: int = 100) -> None:
        """A commit that leads to no other decision."""
        event = TimedOut(0)
        after = happen(self.room, (event,), ())
        self.append(Step(Commit(THE_ROOM, (event,)), after), after_ms=after_ms)

    def offered(self, seat: Seat, pick: int) -> dict[str, Any]:
        """One of the commands that a seat is offered."""
        offers = self.room.rules.offers(self.room.game, seat)
        commands = [each for o in offers if not o.unsure for each in o.commands()]
        return dict(commands[pick % len(commands)])

    def holder(self, seat: int) -> Person:
        held = self.room.table.seats[seat]
        assert held is not None
        return Person(held.identity, held.name)

    # Longer stretches

    def seat_people(self, *people: Person, sealed: bool = True) -> "PureRoom":
        """They sit down in this order and are ready; bots take the other seats."""
        for person in people:
            self.say(person, "sit", **({"nonce": sealed_nonce(person)} if sealed else {}))
        for _ in self.room.table.free_seats():
            self.say(HOST, "add_bot", level=self.room.rules.levels[0])
        for person in people:
            self.say(person, "ready")
        return self

    def deal(self) -> "PureRoom":
        """Start, and open whatever is sealed."""
        self.say(HOST, "start")
        for seat, holder in enumerate(self.room.table.seats):
            if holder is not None and holder.owes_nonce:
                person = self.holder(seat)
                self.say(person, "open", nonce=open_nonce(person, self.room.table.deal))
        return self

    def play_on(self, moves: int = 1_000) -> "PureRoom":
        """Bots move, and persons take one offer or another."""
        for number in range(moves):
            if not self.room.to_act():
                break
            seat = self.room.to_act()[0]
            if steps.bot_to_act(self.room) == seat:
                self.wait()
            else:
                body = self.offered(seat, 7 * number)
                self.say(self.holder(seat), body.pop("command"), **body)
        return self


@cache
def whole_room(name: str, seats: int = 3) -> PureRoom:
    """One with everything in it, up to the end of its game; nobody changes it."""
    pure = PureRoom(GAMES[name], seats, turn_seconds=20)
    pure.say(ZOE, "sit", nonce=sealed_nonce(ZOE))
    pure.say(ZOE, "stand")
    pure.seat_people(ADA, BEN)
    pure.say(HOST, "start")
    pure.say(BEN, "open", nonce=open_nonce(BEN))
    pure.wait()
    pure.say(ADA, "sit", nonce=sealed_nonce(ADA, 2))
    pure.say(BEN, "ready", nonce=sealed_nonce(BEN, 2))
    pure.deal().play_on(3).wait(late_ms=5)
    pure.say(BEN, "leave")
    pure.play_on(3)
    pure.say(BEN, "take_back")
    pure.say(ADA, "want_end")
    pure.play_on()
    return pure


def frames_of(pure: PureRoom, name: str) -> list[bytes]:
    """What viewers of a class must get from seq 1 on, straight from the moments of the room."""
    views = [NOTHING, *(view(room, name) for room in pure.rooms)]
    made = []
    room: Room | None = None
    for old, new, entry in zip(views, views[1:], pure.entries, strict=False):
        change = follow(GAMES, SECRET, room, entry)
        room, commit = change.after, change.commit
        message = frame(pure.room.rules, commit, entry.seq, mark(entry.chain), old, new)
        made.append(Prepared(message).binary)
    return made


# --- rooms that anything has been said to ---

SITTING: tuple[dict[str, Any], ...] = (
    {}, {}, {"seat": 0}, {"seat": 1}, {"seat": 2}, {"seat": -1}, {"seat": True}, {"seat": "0"},
    {"nonce": "x"}, {"nonce": 7}, {"nonce": None},
)  # fmt: skip
SAYINGS = (
    "sit", "sit", "bot_sit", "invite", "stand", "ready", "ready", "unready", "start", "start",
    "open", "open", "open", "open", "add_bot", "remove_bot", "kick", "admit", "mute", "unmute",
    "set_options", "leave",
    "take_back", "call_bot", "resign", "want_end", "admit", "rename",
    "rematch", "move", "move", "move", "move", "move", "move", "stale", "nonsense", "wait", "wait",
    "wait", "wait", "close", "pass_host",
)  # fmt: skip


def _body(pure: PureRoom, person: Person, what: str, pick: int) -> dict[str, Any]:
    deal, seat = pure.room.table.deal, pure.room.table.seated.get(person.id)
    shown = {"nonce": sealed_nonce(person, deal + 1)} if pick % 2 else {}
    match what:
        case "sit" | "bot_sit":
            return {"command": "sit", **shown, **SITTING[pick % len(SITTING)]}
        case "invite":
            return {"command": "invite", "id": PEOPLE[pick % len(PEOPLE)].id}
        case "ready" | "unready":
            return {"command": "ready", "ready": what == "ready", **shown}
        case "open":
            return {"command": "open", "nonce": open_nonce(person, deal + (pick % 5 == 0))}
        case "add_bot":
            level = ("easy", "medium", "hard", "best")[pick % 4]
            return {"command": "add_bot", "level": level, **SITTING[pick % 4]}
        case "remove_bot" | "kick" | "call_bot":
            return {"command": what, "seat": pick % 3}
        case "admit" if pure.room.table.kicked:
            return {"command": what, "id": next(iter(pure.room.table.kicked))}
        case "admit" | "mute" | "unmute" if what == "admit" or pick % 2:
            return {"command": what, "id": PEOPLE[pick % len(PEOPLE)].id}
        case "mute" | "unmute":
            return {"command": what, "seat": pick % 3}
        case "set_options":
            seconds = {"turn_seconds": (0, 20, 3600, 3)[pick % 4]}
            bots = {"bot_accounts": pick % 3 > 0}
            return {"command": what, "options": {"preset": "standard"}, **seconds, **bots}
        case "want_end":
            return {"command": what, "wanted": pick % 4 > 0}
        case "move" | "stale" if seat is not None and seat in pure.room.to_act():
            return pure.offered(seat, pick)
    return {"command": what, "number": pick} if pick % 8 == 0 else {"command": what}


def _tell(pure: PureRoom, person: Person, what: str, pick: int) -> None:
    acting = pure.room.to_act()
    if what == "admit":
        person = next((each for each in PEOPLE if each.id == pure.room.table.host), HOST)
    if what in ("move", "stale") and acting and steps.bot_to_act(pure.room) is None and pick % 8:
        person = pure.holder(acting[0])
    if what == "wait":
        if steps.due(pure.room).errand in ("open", "turn", "bot"):
            pure.wait(late_ms=pick)
    elif what == "close":
        if pick % 16 == 0 and pure.room.table.status != "over":
            pure.append(close_step(pure.room, "maintenance", "service"))
    elif what == "pass_host":
        pass_host(pure, pick)
    else:
        body = _body(pure, person, what, pick)
        if what == "rename":
            person = Person(person.id, f"{person.name} {pick % 3}")
        if what == "bot_sit":
            person = Person(person.id, person.name, bot_account=True)
        answer = pure.ask(person, body, "another" if what == "stale" else None)
        if not isinstance(answer, Rejected):
            pure.append(answer, after_ms=pick)


def pass_host(pure: PureRoom, pick: int) -> None:
    """The host is away, as far as anybody can tell, and somebody in a seat becomes host."""
    table = pure.room.table
    heirs = [s for s, held in enumerate(table.seats) if held and not held.is_bot]
    heirs = [seat for seat in heirs if pure.holder(seat).id != table.host]
    if heirs and table.status == "waiting":
        pure.append(steps.pass_host_step(pure.room, heirs[pick % len(heirs)]))


def lived(rules: AnyGame, seed: int, sayings: int) -> PureRoom:
    """A room to which several persons have said this and that."""
    chance = random.Random(seed)
    seats = chance.choice((2, 3))
    reserved = ("",) * (seats - 1) + (chance.choice(("", "", ADA.id)),)
    begun = chance.choice(("fresh", "quick", "seated", "with nonces", "sealed", "playing"))
    seconds, quick = chance.choice((0, 20)), begun == "quick"
    pure = PureRoom(
        rules, seats, turn_seconds=seconds, quick=quick, reserved=reserved, aliased=seed % 4 > 0
    )
    pure.known = Known(absent=range(1, seats), rematch=REMATCH)
    if begun not in ("fresh", "quick"):
        pure.seat_people(ADA, BEN, sealed=begun != "seated")
    if begun == "sealed":
        pure.say(HOST, "start")
    if begun == "playing":
        pure.deal()
    for _ in range(sayings):
        _tell(pure, chance.choice((HOST, *PEOPLE)), chance.choice(SAYINGS), chance.randrange(1000))
    return pure


def histories(rules: AnyGame) -> st.SearchStrategy[PureRoom]:
    """Any of those. All follows from a seed, so that no two are alike; their length shrinks."""
    return st.builds(lived, st.just(rules), st.integers(0, 1 << 32), st.integers(1, 40))


# --- those who look ---


class Looker:
    """A viewer that keeps what it is sent, and has the view that a client would have."""

    def __init__(self, person: Person, origin: str = "") -> None:
        """By default its commands are those that `PureRoom.say` gives for the person."""
        self.person = person
        self.origin = origin or f"origin of {person.name}"
        self.level = LEVEL
        self.seat: Seat | None = None
        self.claim = next(CLAIMS)
        self.unanswered: set[int] = set()
        self.alive = True
        self.lags = False
        self.sent: list[Prepared] = []
        self.closed: list[str] = []
        self.view: dict[str, object] = {}
        self.cursor: Cursor | None = None

    def answered(self, n: int) -> None:
        self.unanswered.discard(n)

    def send(self, *messages: Prepared) -> None:
        for message in messages:
            self._send(message)

    def _send(self, message: Prepared) -> None:
        self.sent.append(message)
        match read(message):
            case ServerWelcome(arrival):
                if arrival.view is None:
                    assert arrival.cursor == self.cursor, "goes on from another place (P-21)"
                else:
                    self.cursor, self.view = arrival.cursor, copied(arrival.view)
            case ServerReset(cursor, document, _):
                self.cursor, self.view = cursor, copied(document)
            case ServerFrame(seq, short, _, _, patch):
                assert self.cursor is not None, "a frame before anything else"
                assert seq == self.cursor.seq + 1, "a frame that does not follow (P-25)"
                self.cursor = Cursor(self.cursor.base, seq, short)
                self.view = apply(self.view, copied(patch))

    def close(self, reason: str) -> None:
        self.closed.append(reason)

    def told(self, kind: type[Message]) -> list[Message]:
        """The messages of one kind, in order."""
        return [found for each in self.sent if isinstance(found := read(each), kind)]

    def names(self) -> list[str]:
        """What kinds of messages came, in order."""
        return [type(read(each)).__name__.removeprefix("Server").lower() for each in self.sent]

    def forget(self) -> None:
        self.sent.clear()

    @property
    def seats_told(self) -> list[int]:
        return [message.seat for message in self.told(ServerSeat)]


class Stage:
    """A room that is being followed and shown."""

    def __init__(
        self,
        pure: PureRoom,
        seq: int | None = None,
        tell_others: Callable[[Guests], None] = lambda _: None,
    ) -> None:
        """Up to that seq it was read from the log, with nobody there."""
        self.pure = pure
        rules = pure.room.rules
        self.replica = Replica.load({**GAMES, rules.name: rules}, SECRET, pure.entries[:seq])
        self.audience = Audience(tell_others)

    def enter(self, person: Person, origin: str = "") -> Looker:
        looker = Looker(person, origin)
        self.audience.add(self.replica.room, looker)
        self.audience.fan_out.snapshot(self.replica.place, looker)
        return looker

    def follow(self, seq: int | None = None) -> None:
        """Show what the log holds beyond this, up to that seq."""
        for entry in self.pure.entries[self.replica.point.seq : seq]:
            shown = self.audience.show(self.replica.follow(entry))
            for name, (_, prepared) in shown.views.items():
                self.replica.keep_frame(name, entry.seq, prepared)


def read(prepared: Prepared) -> ServerMessage:
    """What was sent. Of kept frames there are only the bytes."""
    if prepared.message is not None:
        return cast(ServerMessage, prepared.message)
    message = read_server(decode(prepared.binary[-prepared.size :], FROM_SERVER))
    assert message is not None
    return message
