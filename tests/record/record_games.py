"""Whole rooms played in memory, as a server would have written them: for records and their lies.

A `Tape` is a log without a store. Every commit on it comes from `core`, gets an id, a link and
stamps, and is folded the way a replica folds it.
"""

import random
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from tests.games.tile_duel import GAME as TILE_DUEL
from tests.room.pure_rooms import accepted, due_step
from towerhall_protocol.chain import seal
from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.fairness import NONCE_BYTES, SECRET_BYTES, UID_BYTES, nonce_hash
from towerhall_server.eventlog.entry import (
    COMMIT_ID_BYTES,
    START,
    Entry,
    Point,
    Stamps,
    entry_after,
    mark,
)
from towerhall_server.game import AnyGame, Seat
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.live.record_store import make_record
from towerhall_server.record.format import rows_of
from towerhall_server.room import steps
from towerhall_server.room.commits import Cause, Commit, decode_commit, encode_commit
from towerhall_server.room.decision import step_of
from towerhall_server.room.events import Settings
from towerhall_server.room.seats import Known, Person
from towerhall_server.room.state import Room, entered
from towerhall_server.room.steps import Plan, Step

GAMES: Mapping[str, AnyGame] = {game.name: game for game in (FIVE_TOWERS, TILE_DUEL)}
PEOPLE = tuple(Person(f"guest-{name.lower()}", name) for name in ("Ada", "Ben", "Cyd", "Dö", "Eve"))
HOST = PEOPLE[0]
DAY_BEFORE_YESTERDAY_MS = 1_700_000_000_000


class Tape:
    """A room, its log and its clock."""

    def __init__(self, plan: Plan, chance: random.Random, code: str = "ABCDEF") -> None:
        self.chance = chance
        self.secret = chance.randbytes(SECRET_BYTES)
        self.entries: list[Entry] = []
        self.nonces: dict[str, bytes] = {}
        self._numbers: dict[str, int] = {}
        self._wall_ms, self._served_ms = DAY_BEFORE_YESTERDAY_MS, 5_000
        step = steps.found(plan, code, chance.randbytes(UID_BYTES), self.secret)
        self.room: Room = step.after
        self.append(step)

    @property
    def point(self) -> Point:
        return self.entries[-1].point if self.entries else START

    def append(self, step: Step, served_ms: int = 0) -> None:
        passed_ms = max(self.chance.randrange(900), served_ms - self._served_ms)
        self._served_ms += passed_ms
        self._wall_ms += passed_ms + self.chance.randrange(1_100)
        blob, commit_id = encode_commit(step.commit), self.chance.randbytes(COMMIT_ID_BYTES)
        stamps = Stamps(self._wall_ms, self._served_ms)
        entry = entry_after(self.point, stamps, commit_id, blob)
        self.entries.append(entry)
        self.room = entered(
            self.room, step.after, step.commit, entry.seq, mark(entry.chain), stamps.served_ms
        )

    def pass_time(self, ms: int) -> None:
        """Nothing happens for that long."""
        self._wall_ms += ms
        self._served_ms += ms

    def say(self, person: Person, name: str, **fields: Any) -> None:
        """A command of a person, to the room or to the game."""
        self._numbers[person.id] = n = self._numbers.get(person.id, 0) + 1
        seat = self.room.table.seated.get(person.id)
        cause = Cause(-1 if seat is None else seat, person.id, f"o-{person.name}", n)
        body = {"command": name, **fields}
        known = Known(absent=range(len(self.room.table.seats)), rematch="REMATC")
        self.append(accepted(step_of(self.room, person, cause, body, self.room.tag, known)))

    def sealed_nonce(self, person: Person) -> dict[str, str]:
        """A fresh nonce, as the field of a command that shows its hash."""
        self.nonces[person.id] = nonce = self.chance.randbytes(NONCE_BYTES)
        return {"nonce": base64url(nonce_hash(self.room.table.uid, nonce))}

    def open_nonce(self, person: Person) -> None:
        self.say(person, "open", nonce=base64url(self.nonces[person.id]))

    def move(self, person: Person) -> None:
        """Whatever the game's own bot would do in that seat."""
        body = self.choice(self.seat(person))
        self.say(person, **{"name": body.pop("command"), **body})

    def seat(self, person: Person) -> Seat:
        seat = self.room.table.seated.get(person.id)
        assert seat is not None
        return seat

    def choice(self, seat: Seat) -> dict[str, Any]:
        rules, game = self.room.rules, self.room.game
        choose = rules.bots.get("random", rules.bots[rules.levels[0]])
        return choose(rules.view(game, seat), rules.offers(game, seat), self.chance.randbytes(32))

    def wait(self) -> None:
        """Let the room do by itself what is due."""
        at_ms = steps.deadline_ms(self.room) + self.chance.randrange(3)
        self.append(due_step(self.room), at_ms)

    def play_on(self, moves: int = 10_000) -> None:
        """Persons move, unless they sleep where there is a clock; bots move."""
        timed = self.room.table.settings.turn_seconds > 0
        for _ in range(moves):
            acting = self.room.to_act()
            if not acting:
                return
            holder = self.room.table.seats[acting[0]]
            assert holder is not None
            if holder.plays_as or (timed and self.chance.random() < 0.3):
                self.wait()
            else:
                self.move(Person(holder.identity, holder.name))

    def record(self) -> bytes:
        return make_record(GAMES, self.secret, self.entries)


def new_tape(
    rules: AnyGame = FIVE_TOWERS,
    seats: int = 3,
    *,
    seed: int = 0,
    preset: str = "standard",
    turn_seconds: int = 0,
    beat_ms: int = 0,
    sandbox: int = 0,
) -> Tape:
    settings = Settings(turn_seconds, bot_delay_ms=300, beat_ms=beat_ms, sandbox=sandbox)
    plan = Plan(rules, rules.presets[preset], seats, settings, HOST.id)
    return Tape(plan, random.Random(seed))


def seat_everybody(tape: Tape, persons: int, *, sealed: Sequence[int] = ()) -> tuple[Person, ...]:
    """So many persons, some of them with nonces; bots in the other seats. All are ready."""
    people = PEOPLE[:persons]
    for place, person in enumerate(people):
        tape.say(person, "sit", **(tape.sealed_nonce(person) if place in sealed else {}))
    levels = tape.room.rules.levels[:2]
    for place in range(len(tape.room.table.free_seats())):
        tape.say(HOST, "add_bot", level=levels[place % len(levels)])
    for person in people[1:]:
        tape.say(person, "ready")
    return people


def cancel_a_deal(tape: Tape, people: Sequence[Person], sleeper: Person) -> None:
    """All but one open in time. The one who is unseated comes back, and all bring new nonces."""
    tape.say(HOST, "start")
    for person in people:
        if person.id in tape.nonces and person is not sleeper:
            tape.open_nonce(person)
    tape.wait()
    tape.say(sleeper, "sit", **tape.sealed_nonce(sleeper))
    for person in people:
        again = tape.sealed_nonce(person) if person.id in tape.nonces else {}
        tape.say(person, "ready", **again)


def deal(tape: Tape, people: Sequence[Person]) -> None:
    tape.say(HOST, "start")
    for person in tape.chance.sample(people, len(people)):
        if person.id in tape.nonces:
            tape.open_nonce(person)
    assert tape.room.playing


class Story(msgspec.Struct, frozen=True):
    """How a room went."""

    game: str = "five_towers"
    seats: int = 3
    persons: int = 2
    sealed: tuple[int, ...] = (0, 1)
    cancelled: int = 0
    preset: str = "standard"
    turn_seconds: int = 0
    beat_ms: int = 0
    seed: int = 0


@cache
def told(story: Story) -> Tape:
    """A whole room, as it was told; nobody changes it."""
    tape = new_tape(
        GAMES[story.game],
        story.seats,
        seed=story.seed,
        preset=story.preset,
        turn_seconds=story.turn_seconds,
        beat_ms=story.beat_ms,
    )
    people = seat_everybody(tape, story.persons, sealed=story.sealed)
    for _ in range(story.cancelled):
        cancel_a_deal(tape, people, people[story.sealed[-1]])
    deal(tape, people)
    tape.play_on()
    return tape


@cache
def record_of_story(story: Story) -> bytes:
    return told(story).record()


STORIES = (
    Story(seats=2, persons=2, sealed=(0, 1), turn_seconds=20, seed=1),
    Story(seats=3, persons=2, sealed=(0, 1), cancelled=2, seed=2),
    Story(seats=4, persons=4, sealed=(1, 3), cancelled=1, preset="printed", seed=43),
    Story(seats=5, persons=1, sealed=(), preset="spanish", turn_seconds=5, seed=4),
    Story(seats=5, persons=5, sealed=(0, 1, 2, 3, 4), preset="spanish", seed=5),
    Story(game="tile_duel", seats=2, persons=1, sealed=(0,), turn_seconds=10, seed=16),
    Story(game="tile_duel", seats=3, persons=3, sealed=(1,), preset="quick", cancelled=1, seed=7),
)
SMALL = Story(
    game="tile_duel", seats=2, persons=2, sealed=(0, 1), cancelled=1, preset="quick",
    turn_seconds=7, seed=8,
)  # fmt: skip
"""A short one with everything in it, for tests that look at every byte."""


# --- lies ---


def relinked(entries: Sequence[Entry]) -> list[Entry]:
    """The same commits and times, numbered and linked as if they had been written like this."""
    place, links = START, []
    for entry in entries:
        links.append(entry_after(place, entry.stamps, entry.commit_id, entry.blob))
        place = links[-1].point
    return links


def commits_of(tape: Tape) -> list[Commit]:
    return [decode_commit(entry.blob, tape.room.rules) for entry in tape.entries]


def forged(tape: Tape, changes: Mapping[int, Commit]) -> list[Entry]:
    """The log with other commits at some seqs, and every link made to fit."""
    return relinked(
        [
            msgspec.structs.replace(entry, blob=encode_commit(changes[entry.seq]))
            if entry.seq in changes
            else entry
            for entry in tape.entries
        ]
    )


def written(record: bytes, entries: Sequence[Entry]) -> bytes:
    """The record with another log in it, and with an end of the chain that fits."""
    document = msgspec.json.decode(record)
    place = entries[-1].point
    document["commits"] = rows_of(tuple(entries))
    document["chain"] = base64url(place.chain)
    return resealed(msgspec.to_builtins(document))


def resealed(document: Mapping[str, Any]) -> bytes:
    """A record that was changed, with the seal that fits it again."""
    new = seal(from_base64url(document["chain"]), document)
    return msgspec.json.encode({**document, "seal": base64url(new)})
