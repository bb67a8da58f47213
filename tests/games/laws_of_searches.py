"""Laws about what the service asks of a game beside its decisions: slow commands, those that are
decided ahead, those that only a clock gives, and dry runs. Games without any keep all of them.
"""

from hashlib import sha256
from typing import Any

import msgspec

from tests.games.attempts import NONSENSE, attempts, unwritable
from tests.games.lawbook import copied, law
from tests.games.plays import Moment, Play
from towerhall_protocol.codec import FROM_SERVER, canonical, decode, encode
from towerhall_server.game import Rejected, Seat


def _fresh(play: Play, moment: Moment) -> Any:
    """The state as another process reads it."""
    return msgspec.msgpack.decode(moment.stored, type=play.game.state_type)


def _other(play: Play, moment: Moment) -> Any:
    """A state that looks the same."""
    return play.game.resample(moment.state, sha256(b"search" + moment.stored).digest())


def _tried(play: Play, moment: Moment, seat: Seat, most: int) -> list[object]:
    return [*NONSENSE, *unwritable(play), *attempts(play, moment, seat, most=most)]


@law
def slow_is_a_question_about_state_and_command(play: Play) -> None:
    """Any command may be asked about, every process gives the same answer, and no default of the
    clock is slow: it is decided where others wait."""
    game = play.game
    for moment in play.walk_moments(most=25):
        stored = msgspec.msgpack.encode(moment.state)
        fresh = _fresh(play, moment)
        for seat in play.all_seats:
            for command in _tried(play, moment, seat, most=30):
                answer = game.slow(moment.state, seat, command)
                assert type(answer) is bool, f"slow answered {answer!r}"
                assert game.slow(fresh, seat, command) == answer, "slow answered otherwise"
        for seat in game.to_act(moment.state):
            default = game.timeout(moment.state, seat)
            assert not game.slow(moment.state, seat, default), f"the default {default} is slow"
        assert msgspec.msgpack.encode(moment.state) == stored, "slow changed the state"


@law
def what_is_decided_ahead_may_come_next(play: Play) -> None:
    """It is a slow command that a seat to act is offered, the same whatever is hidden."""
    game = play.game
    for moment in play.walk_moments():
        stored = msgspec.msgpack.encode(moment.state)
        wanted = game.ahead(moment.state)
        assert game.ahead(_other(play, moment)) == wanted, "ahead depends on what is hidden"
        assert msgspec.msgpack.encode(moment.state) == stored, "ahead changed the state"
        if wanted is None:
            continue
        seat, command = wanted
        assert seat in game.to_act(moment.state), f"seat {seat} is not to act"
        assert copied(command) == command, f"{command} is no document"
        assert game.slow(moment.state, seat, command), f"{command} is not slow"
        offered = {offer.command for offer in game.offers(moment.state, seat)}
        assert command["command"] in offered, f"{command} is not offered"


@law
def only_the_clock_gives_its_commands(play: Play) -> None:
    """Nobody is offered them, and no bot chooses one."""
    game = play.game
    for moment in play.walk_moments(most=25):
        for seat in game.to_act(moment.state):
            offers = game.offers(moment.state, seat)
            for offer in offers:
                assert offer.command not in game.clock_commands, f"{offer.command} is offered"
            if game.clock_commands and moment.number % 3 == 0:
                seen = game.view(moment.state, seat)
                for name, bot in game.bots.items():
                    chosen = bot(seen, offers, moment.stored[-16:])
                    clocked = chosen.get("command") in game.clock_commands
                    assert not clocked, f"{name} chose {chosen}"


@law
def dry_runs_refuse_what_is_refused_and_tell_what_is_public(play: Play) -> None:
    """Where a game foresees a command, the answer is plain, the same whatever is hidden, and a
    refusal exactly where the command itself would meet that refusal."""
    game = play.game
    for moment in play.walk_moments(most=25):
        stored = msgspec.msgpack.encode(moment.state)
        other = _other(play, moment)
        for seat in play.all_seats:
            for command in play.affordable(moment.state, seat, _tried(play, moment, seat, 30)):
                answer = game.foresee(moment.state, seat, command)
                assert game.foresee(other, seat, command) == answer, "it depends on what is hidden"
                if answer is None:
                    continue
                decided = game.decide(moment.state, seat, command)
                if isinstance(answer, Rejected) or isinstance(decided, Rejected):
                    assert answer == decided, f"foreseen {answer}, decided {decided}"
                else:
                    written = decode(encode(answer), FROM_SERVER)
                    assert canonical(written) == canonical(answer), f"{answer} is not plain"
        assert msgspec.msgpack.encode(moment.state) == stored, "foresee changed the state"
