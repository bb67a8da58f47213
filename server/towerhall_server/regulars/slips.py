"""A slip: what is kept of a finished game, and what it changes for its people. Pure.

The same slips and the same standings lead to the same changes, on every server and at any time. No
identity and no name may live here: people are handles.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from towerhall_server.regulars.ratings import NEW, Rating, points, rated

PLACED_GAMES: Final = 5
"""Rated games after which a person is on the leaderboard."""


class Hand(msgspec.Struct, frozen=True, array_like=True):
    """A seat at the end of a game."""

    handle: str
    """Empty: a bot, or a person who was erased before the slip was made."""
    place: int
    score: int
    level: str = ""
    """Of the bot; empty for a person."""
    stand_in: bool = False
    """Whether a bot played for the person at the end."""
    resigned: bool = False


class Slip(msgspec.Struct, frozen=True, array_like=True):
    """A finished game."""

    uid: bytes
    code: str
    game: str
    version: int
    ended_ms: int
    rated: bool
    private: bool
    hands: tuple[Hand, ...]

    @property
    def handles(self) -> tuple[str, ...]:
        return tuple(hand.handle for hand in self.hands if hand.handle)


class Standing(msgspec.Struct, frozen=True, array_like=True):
    """What the next slips of a person depend on."""

    at: int = 0
    """Number of the last slip that was applied to the person."""
    ratings: Mapping[str, Rating] = {}
    """By game."""


class PersonChange(msgspec.Struct, frozen=True):
    """What a slip changes for one person."""

    handle: str
    number: int
    before: int
    """Number of the person's slip before."""
    game: str
    seats: int
    place: int
    score: int
    met: tuple[str, ...]
    rating: Rating | None = None
    """The rating in this game afterwards; None if the slip is not rated."""


class SlipBatch(msgspec.Struct, frozen=True, array_like=True):
    """A batch of slips: those after `first - 1` up to `last`, and how their people stood before."""

    first: int
    last: int
    generation: int
    standings: Mapping[str, Standing]


class Outcome(msgspec.Struct, frozen=True):
    """All changes of a batch, and the boards after it."""

    changes: tuple[PersonChange, ...]
    boards: Mapping[str, Mapping[str, int]]
    """By game and handle, the points of people who are placed."""


def outcome_of(plan: SlipBatch, slips: Mapping[int, Slip]) -> Outcome:
    """What the slips of a plan change, in the order of their numbers."""
    standings = dict(plan.standings)
    changes: list[PersonChange] = []
    boards: dict[str, dict[str, int]] = {}
    for number in range(plan.first, plan.last + 1):
        slip = slips[number]
        for change in changes_of(number, slip, standings):
            standing = standings.get(change.handle, Standing())
            ratings = standing.ratings
            if change.rating is not None:
                ratings = {**ratings, slip.game: change.rating}
                if change.rating.games >= PLACED_GAMES:
                    boards.setdefault(slip.game, {})[change.handle] = points(change.rating)
            standings[change.handle] = Standing(number, ratings)
            changes.append(change)
    return Outcome(tuple(changes), boards)


def changes_of(number: int, slip: Slip, standings: Mapping[str, Standing]) -> list[PersonChange]:
    """What one slip changes for each of its people."""
    people = slip.handles
    ratings = _ratings_after(slip, standings)
    return [
        PersonChange(
            handle=hand.handle,
            number=number,
            before=standings.get(hand.handle, Standing()).at,
            game=slip.game,
            seats=len(slip.hands),
            place=hand.place,
            score=hand.score,
            met=tuple(handle for handle in people if handle != hand.handle),
            rating=ratings.get(hand.handle),
        )
        for hand in slip.hands
        if hand.handle
    ]


def is_rated(slip: Slip) -> bool:
    """Whether a slip counts for ratings: all seats asked for it, and each is a known person."""
    handles = slip.handles
    return slip.rated and len(handles) == len(slip.hands) > 1 and len(set(handles)) == len(handles)


def _ratings_after(slip: Slip, standings: Mapping[str, Standing]) -> dict[str, Rating]:
    if not is_rated(slip):
        return {}
    before = [
        standings.get(handle, Standing()).ratings.get(slip.game, NEW) for handle in slip.handles
    ]
    after = rated(before, [hand.place for hand in slip.hands])
    return dict(zip(slip.handles, after, strict=True))


_encode: Final = msgspec.msgpack.Encoder().encode
_slip: Final = msgspec.msgpack.Decoder(Slip).decode
_plan: Final = msgspec.msgpack.Decoder(SlipBatch).decode


def encode_slip(slip: Slip) -> bytes:
    return _encode(slip)


def decode_slip(data: bytes) -> Slip:
    return _slip(data)


def encode_plan(plan: SlipBatch) -> bytes:
    return _encode(plan)


def decode_plan(data: bytes) -> SlipBatch:
    return _plan(data)
