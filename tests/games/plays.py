"""Playing any game from a list of picks, with every moment kept for the laws to look at.

A play is a function of its arguments, so a failing one can be repeated from what is printed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from typing import Any, TypeVar

import msgspec
from hypothesis import strategies as st

from towerhall_protocol.offers import Offer
from towerhall_server.game import AnyGame, Perspective, Rejected, Seat, option_fields

MOST_STEPS = 5000
"""A game that needs more commands than this is taken to be endless."""

MOST_SLOW = 40
"""So many commands that search are tried in one play: each may take up to a second."""

Command = dict[str, object]
Item = TypeVar("Item")


@dataclass(frozen=True)
class Moment:
    """The table between two commits; `stored` was written before anyone looked at the state."""

    number: int
    state: Any
    stored: bytes


@dataclass(frozen=True)
class Step:
    """One accepted command."""

    before: Moment
    seat: Seat
    offers: tuple[Offer, ...]
    command: Command
    events: tuple[Any, ...]
    after: Moment


@dataclass(repr=False)
class Play:
    """A whole game, or as much of it as there was."""

    game: AnyGame
    options: msgspec.Struct
    seats: int
    seed: bytes
    picks: Sequence[int]
    opening: Any
    setup: tuple[Any, ...]
    moments: list[Moment]
    steps: list[Step] = field(default_factory=list)
    slow_left: int = MOST_SLOW
    at: str = "the start"
    """How far a law has got, for its message."""

    def __repr__(self) -> str:
        return f"play(GAME, {self.options!r}, {self.seats}, {self.seed!r}, {self.picks})"

    @property
    def finished(self) -> bool:
        return not self.game.to_act(self.moments[-1].state)

    @property
    def all_seats(self) -> tuple[Seat, ...]:
        return tuple(map(Seat, range(self.seats)))

    @property
    def viewers(self) -> tuple[Perspective, ...]:
        return (*self.all_seats, None)

    @property
    def events(self) -> Iterator[Any]:
        return chain(self.setup, *(step.events for step in self.steps))

    def affordable(self, state: Any, seat: Seat, commands: Iterable[Item]) -> Iterator[Item]:
        """The commands, without slow ones once this play has tried its share of them."""
        for command in commands:
            if self._is_slow(state, seat, command):
                if self.slow_left == 0:
                    continue
                self.slow_left -= 1
            yield command

    def _is_slow(self, state: Any, seat: Seat, command: object) -> bool:
        try:
            return self.game.slow(state, seat, command)
        except Exception:  # noqa: BLE001 - there is a law about it
            return False

    def walk_moments(self, most: int = MOST_STEPS) -> Iterator[Moment]:
        """All moments, or that many of them spread over the play; says where the law is."""
        for moment in spread(self.moments, most):
            self.at = f"step {moment.number}"
            yield moment

    def walk_steps(self, most: int = MOST_STEPS) -> Iterator[Step]:
        for step in spread(self.steps, most):
            self.at = f"step {step.before.number}, seat {step.seat}, {step.command}"
            yield step


def play(
    game: AnyGame,
    options: msgspec.Struct,
    seats: int,
    seed: bytes,
    picks: Sequence[int],
    most_steps: int = MOST_STEPS,
) -> Play:
    """Play to the end, or as far as offered commands are accepted, choosing by the picks."""
    opening = game.start(options, seats, seed)
    setup = game.setup(opening)
    moment = _moment(0, game.play(opening, setup))
    whole = Play(game, options, seats, seed, picks, opening, setup, [moment])
    for number in range(most_steps):
        pick = picks[number % len(picks)] + number
        step = _next_step(game, moment, pick)
        if step is None:
            break
        moment = step.after
        whole.steps.append(step)
        whole.moments.append(moment)
    return whole


def _next_step(game: AnyGame, before: Moment, pick: int) -> Step | None:
    to_act = game.to_act(before.state)
    if not to_act:
        return None
    seat = to_act[pick % len(to_act)]
    offers = game.offers(before.state, seat)
    for command in _by_preference(offers, pick // len(to_act)):
        events = game.decide(before.state, seat, command)
        if not isinstance(events, Rejected):
            after = _moment(before.number + 1, game.play(before.state, events))
            return Step(before, seat, offers, command, events, after)
    return None


def _by_preference(offers: tuple[Offer, ...], pick: int) -> Iterator[Command]:
    """The picked command of the picked offer, then all: an unsure one may have been refused."""
    if offers:
        offer = offers[pick % len(offers)]
        index = pick // len(offers) % max(1, offer.count())
        yield from islice(offer.commands(), index, index + 1)
    for offer in offers:
        yield from offer.commands()


def _moment(number: int, state: Any) -> Moment:
    return Moment(number, state, msgspec.msgpack.encode(state))


def spread(items: Sequence[Item], most: int) -> Sequence[Item]:
    """The first, the last and as many in between, evenly, as make that many."""
    if len(items) <= most:
        return items
    return [items[index * (len(items) - 1) // (most - 1)] for index in range(most)]


def options_of(game: AnyGame) -> st.SearchStrategy[msgspec.Struct]:
    """A preset, or any value of each option."""
    fields = option_fields(game.options_type).items()
    free = st.fixed_dictionaries({name: st.sampled_from(each.values) for name, each in fields})
    return st.sampled_from(list(game.presets.values())) | free.map(
        partial(msgspec.convert, type=game.options_type)
    )


def plays(game: AnyGame) -> st.SearchStrategy[Play]:
    """Whole games with any options, seats, seed and choices."""
    return st.builds(
        play,
        st.just(game),
        options_of(game),
        st.sampled_from(game.seats),
        st.binary(min_size=32, max_size=32),
        st.lists(st.integers(0, 1 << 32), min_size=1, max_size=30),
    )
