"""Laws about what is hidden: nobody can see it, and nothing that happens gives it away early.

A game's `resample` makes another state that nobody at the table could tell from the real one.
Whatever a viewer gets must come out the same from both.
"""

from hashlib import sha256
from typing import Any

import msgspec

from tests.games.attempts import attempts
from tests.games.lawbook import law, wire_form
from tests.games.plays import Moment, Play, Step
from towerhall_protocol.codec import canonical
from towerhall_server.game import Rejected

SAMPLES = 30
"""So many other hidden parts are tried before a law believes that nothing would be different."""


def _resampled(play: Play, moment: Moment, salt: bytes = b"") -> Any:
    return play.game.resample(moment.state, sha256(salt + moment.stored).digest())


def _seen(play: Play, state: Any) -> dict[str, bytes]:
    """Everything that anybody can see of a state without giving a command."""
    game = play.game
    seen: dict[str, object] = {}
    seen |= {f"view of {viewer}": game.view(state, viewer) for viewer in play.viewers}
    seen |= {f"offers to {seat}": wire_form(game.offers(state, seat)) for seat in play.all_seats}
    seen["seats to act"] = game.to_act(state)
    result = game.result(state)
    seen["result"] = [] if result is None else [result.scores, result.places]
    if not game.timeout_by_lot:
        seen |= {f"timeout of {seat}": game.timeout(state, seat) for seat in game.to_act(state)}
    return {what: canonical(document) for what, document in seen.items()}


@law
def nobody_sees_what_is_hidden(play: Play) -> None:
    """Views, offers, turns, results, timeouts and refusals are functions of what is public."""
    for moment in play.walk_moments(most=60):
        other = _resampled(play, moment)
        seen = _seen(play, moment.state)
        for what, document in _seen(play, other).items():
            assert document == seen.get(what), f"the {what} depends on what is hidden"
        for seat in play.all_seats:
            tried = ({"command": "nonsense"}, *attempts(play, moment, seat, most=4))
            for command in play.affordable(moment.state, seat, tried):
                answers = [play.game.decide(s, seat, command) for s in (moment.state, other)]
                refusals = [answer for answer in answers if isinstance(answer, Rejected)]
                told = not refusals or refusals == answers[:1] * 2
                assert told, f"the answer to {command} depends on what is hidden: {answers}"


@law
def events_hold_nothing_hidden(play: Play) -> None:
    """Up to the first fact that chance decides, events are the same whatever is hidden."""
    play.at = "setup"
    seed = sha256(play.seed).digest()
    opening = play.game.start(play.options, play.seats, seed)
    _common_events(play, play.setup, play.game.setup(opening))
    for step in play.walk_steps():
        state, other = step.before.state, _resampled(play, step.before)
        if _views(play, state) != _views(play, other):
            continue  # That is another law's business.
        answer = play.game.decide(other, step.seat, step.command)
        assert not isinstance(answer, Rejected), f"refused with other hidden cards: {answer}"
        common = _common_events(play, step.events, answer)
        after, after_other = play.game.play(state, common), play.game.play(other, common)
        assert _views(play, after) == _views(play, after_other), "the same events show other things"


def _common_events(play: Play, events: tuple[Any, ...], others: tuple[Any, ...]) -> tuple[Any, ...]:
    """The events before the first one whose facts differ; they must be the same in every field."""
    for index, (event, other) in enumerate(zip(events, others, strict=False)):
        if play.game.facts(event) != play.game.facts(other):
            return events[:index]
        assert event == other, f"{event} and {other} differ in what nobody is told"
    assert len(events) == len(others), "what comes next depends on something that no event tells"
    return events


def _views(play: Play, state: Any) -> list[bytes]:
    return [canonical(play.game.view(state, viewer)) for viewer in play.viewers]


@law
def resampling_changes_what_is_hidden(play: Play) -> None:
    """Else the laws above would compare a state with itself and prove nothing."""
    other_seed = sha256(play.seed).digest()
    openings = [play.game.start(play.options, play.seats, s) for s in (play.seed, other_seed)]
    if msgspec.msgpack.encode(openings[0]) == msgspec.msgpack.encode(openings[1]):
        return  # A game without chance has nothing to hide.
    for moment in play.walk_moments(most=40):
        if play.game.to_act(moment.state):
            samples = [_resampled(play, moment, salt) for salt in (b"one", b"two")]
            stored = {moment.stored, *map(msgspec.msgpack.encode, samples)}
            assert len(stored) == 3, "the state stays as it was"
    by_seed = by_resampling = False
    for step in play.walk_steps():
        reseeded = step.before.stored.replace(play.seed, other_seed)
        state = msgspec.msgpack.decode(reseeded, type=play.game.state_type)
        by_seed |= _comes_differently(play, step, state)
        others = (_resampled(play, step.before, bytes([salt])) for salt in range(SAMPLES))
        by_resampling = by_resampling or any(_comes_differently(play, step, o) for o in others)
    assert by_resampling or not by_seed, "all chance to come stays as it was"


def _comes_differently(play: Play, step: Step, state: Any) -> bool:
    answer = play.game.decide(state, step.seat, step.command)
    if isinstance(answer, Rejected):
        return False
    return list(map(play.game.facts, answer)) != list(map(play.game.facts, step.events))


@law
def a_shared_view_is_the_same_for_everybody(play: Play) -> None:
    """A game that says so is shown to all in one encoding: nobody may need another."""
    if not play.game.shared_view:
        return
    for moment in play.walk_moments():
        first, *others = _views(play, moment.state)
        assert all(other == first for other in others), "viewers do not see the same"
