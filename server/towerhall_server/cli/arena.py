"""Whole games between bots, without a room: for simulations, playthroughs and benchmarks."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from time import perf_counter
from typing import Any

import msgspec

from towerhall_server.game import AnyGame, Rejected, Result, Seat


class BotMove(msgspec.Struct, frozen=True):
    """One decision: the seat, the command, its effect, and the bot's thinking time."""

    seat: Seat
    command: dict[str, object]
    events: tuple[Any, ...]
    before: Any
    after: Any
    seconds: float


def match_seed(seed: int, number: int) -> bytes:
    """The seed of one game of a series."""
    return sha256(f"towerhall/arena/{seed}/{number}".encode()).digest()


def opening(game: AnyGame, options: msgspec.Struct, seats: int, seed: bytes) -> Any:
    """Return the state at the first decision."""
    state = game.start(options, seats, seed)
    return game.play(state, game.setup(state))


def play(
    game: AnyGame, options: msgspec.Struct, bots: Sequence[str], seed: bytes
) -> Iterator[BotMove]:
    """Play to the end, step by step; each bot sees only its view and its offers."""
    state = opening(game, options, len(bots), seed)
    number = 0
    while seats := game.to_act(state):
        seat, number = seats[0], number + 1
        offers, view = game.offers(state, seat), game.view(state, seat)
        entropy = sha256(seed + number.to_bytes(4, "big")).digest()
        began = perf_counter()
        command = game.bots[bots[seat]](view, offers, entropy)
        events = game.decide(state, seat, command)
        if isinstance(events, Rejected) and any(offer.unsure for offer in offers):
            # An unsure offer was refused: the bot chooses among the others.
            sure = tuple(offer for offer in offers if not offer.unsure)
            command = game.bots[bots[seat]](view, sure, entropy)
            events = game.decide(state, seat, command)
        seconds = perf_counter() - began
        if isinstance(events, Rejected):
            raise RuntimeError(f"{bots[seat]} made an illegal command {command}: {events}")
        after = game.play(state, events)
        yield BotMove(seat, command, events, state, after, seconds)
        state = after


def final_result(game: AnyGame, steps: Sequence[BotMove]) -> Result:
    result = game.result(steps[-1].after)
    if result is None:
        raise RuntimeError(f"{game.name} stopped without a result")
    return result
