"""Two rooms that differ only in what is hidden, and everything that anybody gets from them."""

import random
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from typing import Any, TypeGuard

import msgspec

from tests.end_to_end.in_process import Come, Go, Read, Say, Stage, Step, TimeOut, stage
from tests.games import tile_duel as duel
from towerhall_protocol.messages import ServerFrame, ServerMessage
from towerhall_server.game import AnyGame, Perspective
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.room.gate import key_hash

Names = tuple[str, str, str]
NAMES: Names = ("ada", "ben", "zoe")
SITTING = NAMES[:2]
REVEALING = {"game_started", "round_started", "rolled", "secret_revealed"}
"""Facts that turn over what was hidden before."""
KEY_HASH = key_hash("the key of this room")


BAD_COMMANDS: list[dict[str, Any]] = [
    {"command": "bid", "number": 99},
    {"command": "build", "cards": ["sand:1", "sand:1"]},
    {"command": "build", "cards": [], "demolish": "sand"},
    {"command": "nonsense"},
    {"command": "open", "nonce": "A" * 43},
    {"command": "sit", "seat": 9},
    {"command": "start"},
    {"command": "pass", "why": "because"},
]


class Cast(msgspec.Struct, frozen=True):
    """What is played, and by how many bots besides ada and ben."""

    rules: AnyGame
    bots: int
    turn_seconds: int = 0

    def stage(self) -> Any:
        return stage(
            self.rules,
            len(SITTING) + self.bots,
            NAMES,
            turn_seconds=self.turn_seconds,
            key_hash=KEY_HASH,
        )


def _own_columns(state: duel.State, viewer: Perspective) -> dict[str, object]:
    own = {} if viewer is None else {str(viewer): state.columns[viewer]}
    return {**duel.view(state, viewer), "columns": own}


TOWERS = Cast(FIVE_TOWERS, bots=1)
TIMED_TOWERS = Cast(FIVE_TOWERS, bots=0, turn_seconds=30)
DUEL = Cast(replace(duel.GAME, view=_own_columns), bots=0)
"""Here everybody sees something else. Its timeouts are drawn by lot, so they would be news."""


def next_steps(on: Stage, chance: random.Random, timed: bool) -> list[Step]:
    """Something that somebody does: mostly a move, often something that tempts the server."""
    acting = [who for who in SITTING if on.taps[who].seat in on.room.to_act()]
    who = chance.choice(NAMES)
    tap = on.taps[who]
    roll = chance.random()
    if acting and roll < 0.55:
        offers = on.taps[acting[0]].offers
        body = chance.choice([body for offer in offers for body in offer.commands()])
        return [on.command(acting[0], body, dry=roll < 0.1)]
    if roll < 0.7:
        return [on.command(who, chance.choice(BAD_COMMANDS), dry=roll < 0.6)]
    if roll < 0.8:
        last = on.log.entries[-1].seq
        return [Read(who, chance.randint(1, last), last)]
    if roll < 0.92:
        return [Go(who), Come(who, chance.choice([tap.cursor, None]))]
    return [TimeOut()] if timed else [Say(who, "hm")]


async def improvise(on: Stage, cast: Cast, moves: int, seed: int) -> list[Step]:
    """Play as it comes; what was done."""
    chance = random.Random(seed)
    done = on.opening(SITTING, cast.bots)
    for step in done:
        await on.perform(step)
    assert on.room.playing
    while len(done) < moves and on.room.playing:
        for step in next_steps(on, chance, bool(cast.turn_seconds)):
            await on.perform(step)
            done.append(step)
    return done


class Compared(msgspec.Struct, frozen=True):
    """What two twins have come to."""

    complaints: list[str]
    differ_at: int | None
    """The commit with the first fact that differs."""


def compare(one: Stage, other: Stage) -> Compared:
    """The first thing that differs for anybody must be a card that was turned over."""
    complaints: list[str] = []
    places: dict[str, int | None] = {}
    for who in NAMES:
        pairs = zip(one.taps[who].got, other.taps[who].got, strict=False)
        first = next(((a, b) for a, b in pairs if a != b), None)
        if first is None:
            places[who] = None
            if len(one.taps[who].got) != len(other.taps[who].got):
                complaints.append(f"{who} can tell twins apart by a message that one did not send")
            continue
        (a, *_), (b, *_) = first
        if is_turned_over(a, b):
            places[who] = a.seq
        else:
            complaints.append(f"{who} can tell twins apart by {a} and {b}")
    if len(set(places.values())) > 1:
        complaints.append(f"twins differ for some and not for others: {places}")
    known = [seq for seq in places.values() if seq is not None]
    until = min(known) - 1 if known else max(len(one.log.asked), len(other.log.asked))
    if one.log.asked[:until] != other.log.asked[:until]:
        complaints.append("twins ask other things of the store")
    return Compared(complaints, min(known, default=None))


def is_turned_over(a: ServerMessage, b: ServerMessage) -> TypeGuard[ServerFrame]:
    """Whether two messages are the same commit, apart from what was turned over in it."""
    if not (isinstance(a, ServerFrame) and isinstance(b, ServerFrame)):
        return False
    pairs = zip(a.facts, b.facts, strict=False)
    first = next(((x, y) for x, y in pairs if x != y), None)
    if (a.seq, a.cause) != (b.seq, b.cause) or first is None:
        return False
    return first[0][0] == first[1][0] and first[0][0] in REVEALING


async def twins(
    cast: Cast, seed: int, swaps: Iterable[float], moves: int = 60
) -> AsyncIterator[Compared]:
    """One room, and beside it others in which something else is hidden from a step on."""
    async with cast.stage() as one:
        steps = await improvise(one, cast, moves, seed)
    for swap in swaps:
        async with cast.stage() as other:
            for number, step in enumerate(steps):
                if number == int(swap * len(steps)):
                    other.hide_differently(random.Random(f"{seed}/{swap}"))
                await other.perform(step)
        yield compare(one, other)
