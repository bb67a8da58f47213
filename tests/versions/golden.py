"""Golden logs: rooms as a released version wrote them, which every later version must read.

`python -m tests.versions.golden` (or `make golden`) plays rooms of every game that is installed,
under each preset and each option, and writes what the present version does not have yet to
`golden/<version>/`. What is there stays: each file is pinned in `golden/SHA256SUMS`, and none is
ever written anew. A log has what a store has of a room; `shown` is a hash, for each commit, of the
frame and the view that a spectator got. One game per set of rules is kept as a whole record, the
way it is downloaded.
"""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import blake2b, sha256
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec

from tests.record.record_games import HOST, PEOPLE, Tape, cancel_a_deal, deal, seat_everybody
from towerhall_protocol.codec import canonical
from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.record import Row, read
from towerhall_server.eventlog.entry import Entry, Stamps
from towerhall_server.game import STANDARD, AnyGame, discover, option_fields
from towerhall_server.live.record_store import make_record
from towerhall_server.live.replica import follow
from towerhall_server.record.format import entries_of, rows_of
from towerhall_server.room import steps
from towerhall_server.room.closing import close_step
from towerhall_server.room.events import Settings
from towerhall_server.room.seats import Person
from towerhall_server.room.state import Room
from towerhall_server.room.steps import Plan
from towerhall_server.room.table import SeatHolder
from towerhall_server.room.view import NOTHING, frame, view, view_class

FOLDER = Path(__file__).parent / "golden"
SUMS = FOLDER / "SHA256SUMS"
MOVES = 30
"""After so many a room is closed, unless it is the one of its game that is played to its end."""
SHOWN_BYTES = 6


class Golden(msgspec.Struct, frozen=True):
    """A whole log, and what it led to."""

    game: str
    rules: int
    secret: str
    ending: str
    """The scores, or why there are none."""
    shown: tuple[str, ...]
    commits: tuple[Row, ...]

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(
            Entry(
                row.seq,
                from_base64url(row.commit_id),
                from_base64url(row.chain),
                from_base64url(row.blob),
                Stamps(row.wall_ms, row.served_ms),
            )
            for row in self.commits
        )


def retold(secret: bytes, entries: tuple[Entry, ...]) -> tuple[Room, tuple[str, ...]]:
    """The room at the end of a log, and hashes of what a spectator gets on the way there."""
    games, room, old, shown = discover(), None, NOTHING, []
    for entry in entries:
        change = follow(games, secret, room, entry)
        room = change.after
        new = view(room, view_class(room.rules, None))
        told = frame(room.rules, change.commit, change.seq, change.mark, old, new)
        plain = msgspec.msgpack.decode(msgspec.msgpack.encode([told, new]))
        shown.append(base64url(blake2b(canonical(plain), digest_size=SHOWN_BYTES).digest()))
        old = new
    assert room is not None
    return room, tuple(shown)


def ending(room: Room) -> str:
    result = room.table.result
    return room.table.closed if result is None else " ".join(map(str, result.scores))


def read_golden(data: bytes) -> Golden:
    """From either kind of file. A record says itself what was shown: see `verify`."""
    if b'"format"' not in data:
        return msgspec.json.decode(data, type=Golden)
    record = read(data)
    scores = () if record.result is None else record.result.scores
    return Golden(
        record.game,
        record.version,
        record.proof.secret,
        record.closed or " ".join(map(str, scores)),
        retold(from_base64url(record.proof.secret), entries_of(record))[1],
        record.commits,
    )


# Rooms to be written down


class Script(NamedTuple):
    """How to play one room that is to be written down."""

    title: str
    play: Callable[[], Tape]
    as_record: bool = False


def rooms_of(rules: AnyGame) -> Iterator[Script]:
    """Every number of seats, every preset and every option; then what happens around games."""
    variants = list(_variants(rules).items())
    for number in range(max(len(variants), len(rules.seats))):
        name, options = variants[number] if number < len(variants) else variants[0]
        seats = rules.seats[number % len(rules.seats)]
        title = f"{rules.name}-{rules.version}-{name}-{seats}"
        whole = name == STANDARD
        yield Script(title, partial(_played, rules, options, number, title, whole=whole), whole)
    if rules.seats[-1] == 1:
        return  # The others are about two people in one room.
    title = f"{rules.name}-{rules.version}"
    yield Script(f"{title}-waiting", partial(_never_played, rules))
    yield Script(f"{title}-leaving", partial(_left, rules))
    yield Script(f"{title}-agreed", partial(_agreed, rules))
    yield Script(f"{title}-moderated", partial(_moderated, rules))
    yield Script(f"{title}-renamed", partial(_renamed, rules))
    yield Script(f"{title}-invited", partial(_invited, rules))


def _played(
    rules: AnyGame, options: msgspec.Struct, number: int, title: str, *, whole: bool
) -> Tape:
    """A game of two people and bots, with or without a clock and nonces."""
    seats = rules.seats[number % len(rules.seats)]
    settings = Settings(turn_seconds=20 if number % 2 == 0 else 0, bot_delay_ms=300)
    tape = Tape(Plan(rules, options, seats, settings, HOST.id), Random(title))
    people = seat_everybody(tape, min(2, seats), sealed=(0, 1) if number % 3 != 2 else ())
    if number % 3 == 1:
        cancel_a_deal(tape, people, people[-1])
    deal(tape, people)
    tape.play_on(10_000 if whole else MOVES)
    if tape.room.playing:
        tape.append(close_step(tape.room, "closed", "service"))
    return tape


def _variants(rules: AnyGame) -> dict[str, msgspec.Struct]:
    """All presets, and each option by itself."""
    found = dict(rules.presets)
    for name, field in option_fields(rules.options_type).items():
        for value in field.values:
            options = msgspec.structs.replace(rules.presets[STANDARD], **{name: value})
            if options not in found.values():
                found[f"{name}_{value}".lower()] = options
    return found


def _never_played(rules: AnyGame) -> Tape:
    """A private room in which people come and go, until nobody comes any more."""
    seats = max(rules.seats[0], 2)
    plan = Plan(rules, rules.presets[STANDARD], seats, Settings(), HOST.id, b"\x07" * 32)
    tape = Tape(plan, Random(f"{rules.name} waiting"))
    people = seat_everybody(tape, 2, sealed=(0, 1))
    cancel_a_deal(tape, people, people[1])
    tape.say(people[1], "ready", ready=False)
    tape.say(HOST, "stand")
    tape.say(people[1], "add_bot", level=rules.levels[-1], seat=0)
    tape.say(people[1], "remove_bot", seat=0)
    tape.wait()
    return tape


def _left(rules: AnyGame) -> Tape:
    """A rematch by correspondence: people leave, come back, stay away and give up.

    A short game may be over before all of this has happened.
    """
    ada, ben, cyd = PEOPLE[:3]
    seats = min(max(rules.seats[0], 3), rules.seats[-1])
    settings = Settings(turn_seconds=86_400)
    bots = ("",) * (seats - 1) + (rules.levels[0] if seats > 2 else "",)
    reserved = (ada.id, ben.id, *("",) * (seats - 2))
    plan = Plan(
        rules,
        rules.presets[STANDARD],
        seats,
        settings,
        cyd.id,
        reserved=reserved,
        bots=bots,
        previous="PREVUS",
    )
    tape = Tape(plan, Random(f"{rules.name} leaving"))
    for person in (ben, ada):
        tape.say(person, "sit", **tape.sealed_nonce(person))
    tape.append(steps.pass_host_step(tape.room, 0))
    while tape.room.table.free_seats():
        tape.say(ada, "add_bot", level=rules.stand_in)
    tape.say(ben, "ready")
    deal(tape, (ada, ben))
    while tape.room.playing and _held(tape, ben).timeouts == 0:
        tape.wait()
    tape.play_on(1)
    while tape.room.playing and not _held(tape, ada).stand_in:
        tape.wait()
    if tape.room.playing:
        tape.say(ada, "take_back")
        if not _held(tape, ben).stand_in:
            tape.say(ben, "leave", level=rules.levels[0])
    for _ in range(6):
        if tape.room.playing:
            tape.wait()
    if tape.room.playing:
        tape.say(ada, "want_end", wanted=False)
        tape.say(ada, "resign")
    while tape.room.playing:
        tape.wait()
    tape.say(ben, "rematch")
    return tape


def _agreed(rules: AnyGame) -> Tape:
    """A quick room whose host sends somebody away, wants another game, and then none."""
    ada, ben, cyd = PEOPLE[:3]
    seats = max(rules.seats[0], 2)
    plan = Plan(rules, rules.presets[STANDARD], seats, Settings(), ada.id, quick=True)
    tape = Tape(plan, Random(f"{rules.name} agreed"))
    for person in (ada, cyd):
        tape.say(person, "sit")
    tape.say(ada, "ready")
    tape.say(ada, "set_options", bot_delay_ms=0, turn_seconds=300)
    tape.say(ada, "kick", seat=1)
    tape.say(ben, "sit", **tape.sealed_nonce(ben))
    while tape.room.table.free_seats():
        tape.say(ada, "add_bot")
    for person in (ada, ben):
        tape.say(person, "ready")
    tape.open_nonce(ben)
    tape.play_on(MOVES)
    for person in (ben, ada):
        if tape.room.playing and _held(tape, person).stand_in:
            tape.say(person, "take_back")
    for person in (ben, ada):
        if tape.room.playing:
            tape.say(person, "want_end")
    return tape


def _moderated(rules: AnyGame) -> Tape:
    """A room with aliases, whose host silences people, sends them away, and thinks better of it."""
    ada, ben, cyd = (Person(f"{name}---alias", name) for name in ("Ada", "Ben", "Cyd"))
    seats = max(rules.seats[0], 2)
    plan = Plan(rules, rules.presets[STANDARD], seats, Settings(), ada.id, aliased=True)
    tape = Tape(plan, Random(f"{rules.name} moderated"))
    for person in (ada, ben):
        tape.say(person, "sit")
    tape.say(ada, "mute", id=cyd.id)
    tape.say(ada, "mute", seat=1)
    tape.say(ada, "kick", seat=1)
    tape.say(ada, "admit", id=ben.id)
    tape.say(ben, "sit")
    while tape.room.table.free_seats():
        tape.say(ada, "add_bot")
    tape.say(ben, "ready")
    tape.say(ada, "start")
    tape.say(ada, "unmute", seat=1)
    tape.play_on(MOVES)
    if tape.room.playing:
        tape.append(close_step(tape.room, "closed", "service"))
    tape.say(ada, "unmute", id=cyd.id)
    return tape


def _renamed(rules: AnyGame) -> Tape:
    """People whose names change, until all but one have given up."""
    seats = max(rules.seats[0], 2)
    plan = Plan(rules, rules.presets[STANDARD], seats, Settings(), PEOPLE[0].id)
    tape = Tape(plan, Random(f"{rules.name} renamed"))
    people = seat_everybody(tape, seats)
    tape.say(Person(people[1].id, "Eve"), "rename")
    deal(tape, people)
    tape.play_on(MOVES)
    for person in people[1:]:
        if tape.room.playing:
            tape.say(Person(person.id, f"{person.name} again"), "rename")
            tape.say(person, "resign")
    tape.say(Person(people[0].id, "Winner"), "rename")
    return tape


def _invited(rules: AnyGame) -> Tape:
    """A room with aliases, rated for a moment, whose host invites a person and a bot account."""
    ada, ben = (Person(f"{name}---alias", name) for name in ("Ada", "Ben"))
    deep = Person("Deep--alias", "Deep", bot_account=True)
    seats = max(rules.seats[0], 2)
    settings = Settings(bot_accounts=True)
    plan = Plan(rules, rules.presets[STANDARD], seats, settings, ada.id, aliased=True)
    tape = Tape(plan, Random(f"{rules.name} invited"))
    tape.say(ada, "sit")
    tape.say(ada, "set_options", rated=True, bot_accounts=False)
    tape.say(ada, "set_options", rated=False)
    tape.say(ada, "invite", id=ben.id)
    tape.say(ada, "invite", id=deep.id)
    tape.say(deep, "sit")
    while tape.room.table.free_seats():
        tape.say(ada, "add_bot")
    tape.say(deep, "ready")
    tape.say(ada, "start")
    tape.play_on(MOVES)
    if tape.room.playing:
        tape.append(close_step(tape.room, "closed", "service"))
    return tape


def _held(tape: Tape, person: Person) -> SeatHolder:
    holder = tape.room.table.seats[tape.seat(person)]
    assert holder is not None
    return holder


def written(tape: Tape, *, as_record: bool) -> bytes:
    entries = tuple(tape.entries)
    if as_record:
        return make_record(discover(), tape.secret, entries)
    room, shown = retold(tape.secret, entries)
    log = Golden(
        room.table.game,
        room.table.version,
        base64url(tape.secret),
        ending(room),
        shown,
        rows_of(entries),
    )
    # One line for each commit, so that people can look at it.
    return msgspec.json.encode(log).replace(b"],[", b"],\n[") + b"\n"


# The files


def sums() -> dict[str, str]:
    """The pinned files and their hashes, in the form that `sha256sum -c` reads."""
    lines = SUMS.read_text().splitlines() if SUMS.exists() else []
    return {name: digest for digest, name in (line.split("  ") for line in lines)}


def wanted(release: str) -> dict[str, Script]:
    """What a version should have, by the name in `FOLDER`."""
    return {
        f"{release}/{script.title}{'.record' if script.as_record else ''}.json": script
        for game in discover().values()
        for rules in game.versions
        for script in rooms_of(rules)
    }


def main() -> int:
    pinned = sums()
    for name, script in wanted(version("towerhall")).items():
        path = FOLDER / name
        if path.exists():
            continue
        if name in pinned:
            print(f"{name} is missing, and it is never made anew: restore it", file=sys.stderr)
            return 1
        tape = script.play()
        data = written(tape, as_record=script.as_record)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        pinned[name] = sha256(data).hexdigest()
        print(f"{name}: {len(tape.entries)} commits, {len(data)} bytes")
    SUMS.write_text("".join(f"{digest}  {name}\n" for name, digest in sorted(pinned.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
