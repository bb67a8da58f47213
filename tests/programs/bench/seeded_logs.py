"""Logs of whole rooms, made without a store: the same ones every time, for figures about bytes.

Four persons sit down, get ready and start; then each move is picked by a policy. Everything goes
through the server's own pure steps, so the commits are those of a real room.
"""

from collections.abc import Callable, Mapping
from hashlib import blake2b
from random import Random
from typing import Any, TypeAlias

import msgspec

from tests.programs.bench.players import SEATS
from towerhall_protocol import commands
from towerhall_protocol.fairness import UID_BYTES
from towerhall_server.cli.arena import match_seed
from towerhall_server.eventlog.entry import (
    COMMIT_ID_BYTES,
    START,
    Entry,
    Point,
    Stamps,
    entry_after,
    mark,
)
from towerhall_server.game import AnyGame, Rejected, Seat, discover
from towerhall_server.room import steps
from towerhall_server.room.codes import CODE_LENGTH, CODE_LETTERS
from towerhall_server.room.commits import Cause, encode_commit
from towerhall_server.room.decision import manage
from towerhall_server.room.events import Settings
from towerhall_server.room.seats import Person
from towerhall_server.room.state import Room, entered

GAME = "five_towers"
WALL_MS = 1_800_000_000_000
SERVED_MS = 10_000_000_000
"""Four months of service: clocks then take nine bytes, as they will from the second month on."""
STEP_MS = 3_000
PASSES = 192
"""Of 256 random bytes so many mean that a cautious player passes."""
NAMES = ("Ada", "Grace", "Katherine", "Dorothy")

Policy: TypeAlias = Callable[[AnyGame, Any, Seat, bytes], Mapping[str, Any]]
"""(game, state, seat, entropy): the command."""


class Written(msgspec.Struct, frozen=True):
    """One commit: the entry that holds it, and the room before and after."""

    entry: Entry
    before: Room | None
    after: Room
    step: steps.Step

    @property
    def mark(self) -> str:
        return mark(self.entry.chain)


class SeededLog:
    """A room whose commits are written one after the other."""

    def __init__(self, seed: int, number: int, settings: Settings) -> None:
        self._seed = match_seed(seed, number)
        self.secret = self._derive("secret", 32)
        letters = Random(self._seed)
        self.code = "".join(letters.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))
        self.people = [Person(self._text(f"person {name}", 8), name) for name in NAMES]
        self.origins = [self._text(f"origin {name}", 8) for name in NAMES]
        self.commits: list[Written] = []
        self._numbers = [0] * SEATS
        rules = discover()[GAME]
        plan = steps.Plan(rules, rules.presets["standard"], SEATS, settings, self.people[0].id)
        self._write(steps.found(plan, self.code, self._derive("uid", UID_BYTES), self.secret))

    @property
    def room(self) -> Room:
        return self.commits[-1].after

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(written.entry for written in self.commits)

    def sit_and_start(self, pauses: int = 0) -> None:
        """Four sit and get ready, one of them after some hesitation, and the host starts."""
        for seat in range(SEATS):
            self._manage(seat, commands.sit(seat))
        for number in range(pauses):
            self._manage(1, commands.ready(is_ready=number % 2 == 0))
        for seat in range(SEATS):
            self._manage(seat, commands.ready())
        self._manage(0, commands.start())

    def play_on(self, pick: Policy, most: int | None = None) -> None:
        """To the end of the game, or up to a number of commits."""
        while (seats := self.room.to_act()) and len(self.commits) != most:
            seat, room = seats[0], self.room
            body = pick(room.rules, room.game, seat, self._derive(f"{len(self.commits)}", 32))
            events = room.rules.decide(room.game, seat, body)
            if isinstance(events, Rejected):
                raise TypeError(f"the policy picked what is refused: {events}")
            self._write(steps.play(room, self._cause(seat), body, events))

    def _manage(self, seat: int, body: dict[str, object]) -> None:
        step = manage(self.room, self.people[seat], self._cause(seat), body)
        if isinstance(step, Rejected):
            raise TypeError(f"{body} was refused: {step}")
        self._write(step)

    def _cause(self, seat: int) -> Cause:
        self._numbers[seat] += 1
        return Cause(seat, self.people[seat].id, self.origins[seat], self._numbers[seat])

    def _write(self, step: steps.Step) -> None:
        before = self.commits[-1].after if self.commits else None
        point: Point = self.commits[-1].entry.point if self.commits else START
        seq = point.seq + 1
        blob, commit_id = encode_commit(step.commit), self._derive(f"id {seq}", COMMIT_ID_BYTES)
        stamps = Stamps(WALL_MS + seq * STEP_MS, SERVED_MS + seq * STEP_MS)
        entry = entry_after(point, stamps, commit_id, blob)
        after = entered(
            before or step.after,
            step.after,
            step.commit,
            seq,
            mark(entry.chain),
            stamps.served_ms,
        )
        self.commits.append(Written(entry, before, after, step))

    def _derive(self, purpose: str, size: int) -> bytes:
        return blake2b(self._seed + purpose.encode(), digest_size=size).digest()

    def _text(self, purpose: str, size: int) -> str:
        return commands.base64url(self._derive(purpose, size))


def by_planner(game: AnyGame, state: Any, seat: Seat, entropy: bytes) -> Mapping[str, Any]:
    """As the strongest bot plays."""
    return game.bots["planner"](game.view(state, seat), game.offers(state, seat), entropy)


def by_caution(game: AnyGame, state: Any, seat: Seat, entropy: bytes) -> Mapping[str, Any]:
    """Passes mostly, and bids the least that is allowed: this makes the longest games."""
    offers = game.offers(state, seat)
    offer = offers[-1] if entropy[0] < PASSES else offers[0]
    body: dict[str, Any] = {"command": offer.command}
    body.update((name, numbers.least) for name, numbers in offer.ranges.items())
    if offer.choices:
        body.update(offer.choices[entropy[1] % len(offer.choices)].parameters)
    return body
