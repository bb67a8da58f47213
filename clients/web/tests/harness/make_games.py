"""Make the recorded games that the harness shows and the page's tests read: `python make_games.py`.

Each file holds the record of a whole game between bots, and for every move the seat that acts and
what it was offered. The same seeds give the same games, as long as rules and bots stay the same.
"""

from pathlib import Path

import msgspec

from tests.record.record_games import PEOPLE, Tape, deal, new_tape
from towerhall_server.game import Seat
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS

HERE = Path(__file__).parent


class Game(msgspec.Struct, frozen=True):
    """How a game is played: its preset, its seed, and the bot in each seat."""

    name: str
    preset: str
    seed: int
    bots: tuple[str, ...]


GAMES = (
    Game("two", "standard", 11, ("hard", "hard")),
    Game("three", "spanish", 13, ("hard", "medium", "hard")),
    Game("five", "printed", 12, ("hard", "medium", "hard", "easy", "hard")),
)


def play(game: Game) -> bytes:
    """The file of one game."""
    tape = new_tape(FIVE_TOWERS, len(game.bots), seed=game.seed, preset=game.preset)
    people = PEOPLE[: len(game.bots)]
    for person in people:
        tape.say(person, "sit", **tape.sealed_nonce(person))
    for person in people[1:]:
        tape.say(person, "ready")
    deal(tape, people)
    offers: dict[str, object] = {}
    while acting := tape.room.to_act():
        before = str(tape.point.seq)
        offers[before] = _move(tape, acting[0], game.bots[acting[0]])
    return msgspec.json.encode({"record": msgspec.Raw(tape.record()), "offers": offers})


def _move(tape: Tape, seat: Seat, bot: str) -> tuple[int, object]:
    """Let the bot act; the seat, and what it was offered."""
    rules, state = tape.room.rules, tape.room.game
    offered = rules.offers(state, seat)
    body = dict(rules.bots[bot](rules.view(state, seat), offered, tape.chance.randbytes(32)))
    command = str(body.pop("command"))
    tape.say(PEOPLE[seat], command, **body)
    return seat, msgspec.to_builtins(offered)


if __name__ == "__main__":
    for each in GAMES:
        (HERE / f"{each.name}.json").write_bytes(play(each))
