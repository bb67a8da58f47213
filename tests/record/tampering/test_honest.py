"""Honest records stay believed: rooms in which people do all that they may, at any time."""

import random
from collections import Counter

from tests.examples import examples
from tests.games.tile_duel import GAME as TILE_DUEL
from tests.record.record_games import GAMES, HOST, PEOPLE, Tape, cancel_a_deal, deal, seat_everybody
from towerhall_server.game import Rejected, Seat
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.live.record_store import make_record
from towerhall_server.record.verify import check
from towerhall_server.room import steps
from towerhall_server.room.closing import Closer, close_step
from towerhall_server.room.commits import Cause
from towerhall_server.room.decision import step_of
from towerhall_server.room.events import Settings
from towerhall_server.room.seats import Known, Person
from towerhall_server.room.steps import Plan

ROOMS = examples(30, 1_000)
HOUR_MS = 3_600_000


class Life(Tape):
    """A room whose people do as they like."""

    done: Counter[str]

    def tries(self, person: Person, name: str, **fields: object) -> None:
        """A command that may be refused, as to a server."""
        self._numbers[person.id] = n = self._numbers.get(person.id, 0) + 1
        seat = self.room.table.seated.get(person.id)
        cause = Cause(-1 if seat is None else seat, person.id, f"o-{person.name}", n)
        known = Known(absent=range(len(self.room.table.seats)), rematch="REMATC")
        body = {"command": name, **fields}
        step = step_of(self.room, person, cause, body, self.room.tag, known)
        if not isinstance(step, Rejected):
            self.append(step)
            self.done[name] += 1

    def happens(self) -> None:
        """Something that people do beside the game, or that befalls the servers."""
        person = self.chance.choice(PEOPLE[: len(self.room.table.seats)])
        seat = self.chance.randrange(len(self.room.table.seats))
        match self.chance.randrange(10):
            case 0:
                self.tries(person, "leave", level=self.chance.choice(self.room.rules.levels))
            case 1 | 2 | 3:
                self.tries(person, "take_back")
            case 4:
                self.tries(person, "call_bot", seat=seat)
            case 5:
                self.tries(person, "resign")
            case 6:
                self.tries(person, "want_end", wanted=self.chance.random() < 0.5)
            case 7:
                self._wall_ms += self.chance.randrange(10 * HOUR_MS)
                self.done["outage"] += 1
            case 8:
                self.tries(Person(person.id, f"{person.name} {seat}"), "rename")
            case 9 if self.chance.random() < 0.1:
                by: Closer = "operator" if self.room.table.operator else "service"
                self.append(close_step(self.room, "maintenance", by))
                self.done["close"] += 1

    def lives(self) -> None:
        """The game, to its end."""
        turn_seconds = self.room.table.settings.turn_seconds
        while self.room.playing:
            if self.chance.random() < 0.15:
                self.happens()
                continue
            acting = self.room.to_act()[0]
            if steps.bot_to_act(self.room) is not None:
                self.wait()
            elif turn_seconds and self.chance.random() < 0.3:
                self.wait()
                self.done["timeout"] += 1
            else:
                self.thinks(acting)

    def thinks(self, acting: Seat) -> None:
        """A person moves within their time, or after any time where there is none."""
        holder = self.room.table.seats[acting]
        assert holder is not None
        if not self.room.table.settings.turn_seconds:
            self.pass_time(self.chance.choice((0, 0, 0, 3 * HOUR_MS)))
        self.move(Person(holder.identity, holder.name))


def lived(seed: int, done: Counter[str]) -> Life:
    chance = random.Random(seed)
    rules = chance.choice((FIVE_TOWERS, TILE_DUEL))
    seats = chance.choice(rules.seats)
    settings = Settings(
        turn_seconds=chance.choice((0, 5, 20)), bot_delay_ms=chance.choice((0, 600))
    )
    operator = chance.choice(("", "acme"))
    options = rules.presets[chance.choice(sorted(rules.presets))]
    life = Life(Plan(rules, options, seats, settings, HOST.id, operator=operator), chance)
    life.done = done
    persons = chance.randrange(1, seats + 1)
    sealed = sorted(chance.sample(range(persons), chance.randrange(persons + 1)))
    people = seat_everybody(life, persons, sealed=sealed)
    if sealed and chance.random() < 0.4:
        cancel_a_deal(life, people, people[sealed[-1]])
        done["cancelled deal"] += 1
    deal(life, people)
    life.lives()
    if life.room.table.result is not None or chance.random() < 0.5:
        life.tries(HOST, "rematch")
    return life


def test_whatever_people_do_their_record_is_believed() -> None:
    done: Counter[str] = Counter()
    actors: Counter[str] = Counter()
    for seed in range(ROOMS):
        life = lived(seed, done)
        report = check(make_record(GAMES, life.secret, life.entries), GAMES)
        assert report.findings == (), seed
        assert report.summary is not None
        actors.update(report.summary.actors)
    print(f"\n{ROOMS} rooms, all believed: {dict(actors)}; {dict(done)}")
    assert set(actors) == {"person", "bot", "timer", "room", "closer"}
    assert set(done) >= {
        *("leave", "take_back", "call_bot", "resign", "want_end", "rematch", "rename"),
        *("outage", "close", "timeout", "cancelled deal"),
    }
