"""Laws about commands: what is offered, what is accepted, what is refused, who may give which."""

from collections.abc import Iterator, Mapping

import msgspec

from tests.games.attempts import NONSENSE, attempts, unwritable
from tests.games.lawbook import copied, law, wire_form
from tests.games.plays import Command, Moment, Play, spread
from towerhall_protocol.codec import canonical, encode
from towerhall_protocol.offers import Offer
from towerhall_server.game import COPY_MARK, AnyGame, Rejected, Seat

MOST_COMMANDS = 60
"""Commands that are tried of all that a seat is offered at one moment, spread over them."""


@law
def offered_commands_are_accepted(play: Play) -> None:
    """Only an `unsure` offer may be refused; whoever is to act has something sure to do."""
    for moment in play.walk_moments():
        stored = msgspec.msgpack.encode(moment.state)
        for seat in play.game.to_act(moment.state):
            offers = play.game.offers(moment.state, seat)
            assert any(offer.count() for offer in offers if not offer.unsure), f"{seat} is stuck"
            sure = [c for offer in offers if not offer.unsure for c in offer.commands()]
            for command in play.affordable(moment.state, seat, spread(sure, MOST_COMMANDS)):
                refused = isinstance(play.game.decide(moment.state, seat, command), Rejected)
                assert not refused, f"{command} is offered but refused"
            assert msgspec.msgpack.encode(moment.state) == stored, "trying changed the state"


@law
def accepted_commands_lead_where_an_offer_leads(play: Play) -> None:
    """Offers are complete: no unoffered command has an outcome of its own, but for those that only
    the clock gives."""
    for moment in play.walk_moments(most=25):
        for seat in play.game.to_act(moment.state):
            offers = play.game.offers(moment.state, seat)
            offered = {canonical(c): c for offer in offers for c in offer.commands()}
            outcomes = _outcomes(play, moment, seat, offered)
            known: set[bytes] = set()
            tried = attempts(play, moment, seat, most=80)
            for command in play.affordable(moment.state, seat, tried):
                if _writable(command) and canonical(command) in offered:
                    continue
                if _is_the_clocks(play, command):
                    continue
                outcome = _outcome(play, moment, seat, command)
                if outcome is None or outcome in known:
                    continue
                for each in outcomes:
                    known.add(each)
                    if each == outcome:
                        break
                assert outcome in known, f"{command} leads where no offer leads"


def _is_the_clocks(play: Play, command: object) -> bool:
    name = command.get("command") if isinstance(command, dict) else None
    return isinstance(name, str) and name in play.game.clock_commands


def _outcomes(
    play: Play, moment: Moment, seat: Seat, offered: Mapping[bytes, Command]
) -> Iterator[bytes]:
    for command in offered.values():
        outcome = _outcome(play, moment, seat, command)
        if outcome is not None:
            yield outcome


def _outcome(play: Play, moment: Moment, seat: Seat, command: object) -> bytes | None:
    """What everybody sees after the command, without marks of copies; `None` if it is refused."""
    events = play.game.decide(moment.state, seat, command)
    if isinstance(events, Rejected):
        return None
    after = play.game.play(moment.state, events)
    return canonical([_unmarked(play.game.view(after, viewer)) for viewer in play.viewers])


def _unmarked(value: object) -> object:
    if isinstance(value, str):
        return value.removesuffix(COPY_MARK)
    if isinstance(value, dict):
        return {key.removesuffix(COPY_MARK): _unmarked(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_unmarked(inner) for inner in value]
    return value


def _writable(command: object) -> bool:
    try:
        encode(command)
    except (TypeError, ValueError, OverflowError):
        return False
    return isinstance(command, dict) and all(isinstance(key, str) for key in command)


@law
def only_seats_to_act_may_act(play: Play) -> None:
    """Everyone else gets no offers and has every command refused; after the end everybody."""
    for moment in play.walk_moments():
        to_act = play.game.to_act(moment.state)
        assert set(to_act) <= set(play.all_seats)
        assert len(set(to_act)) == len(to_act)
        acting = [c for seat in to_act for c in _some_commands(play, moment, seat)]
        for seat in set(play.all_seats) - set(to_act):
            assert play.game.offers(moment.state, seat) == (), f"seat {seat} is not to act"
            for command in acting or [step.command for step in play.steps[-3:]]:
                answer = play.game.decide(moment.state, seat, command)
                assert isinstance(answer, Rejected), f"seat {seat} is not to act but may {command}"


def _some_commands(play: Play, moment: Moment, seat: Seat) -> Iterator[Command]:
    for offer in play.game.offers(moment.state, seat):
        commands = list(offer.commands())
        yield from (*commands[:1], *commands[1:][-1:])


@law
def rejections_are_explained_and_change_nothing(play: Play) -> None:
    """Anything at all may be given as a command; a refusal names code, rule and a full hint."""
    nonsense = (*NONSENSE, *unwritable(play))
    for moment in play.walk_moments(most=25):
        stored = msgspec.msgpack.encode(moment.state)
        for seat in play.all_seats:
            tried = (*nonsense, *attempts(play, moment, seat, most=30))
            for command in play.affordable(moment.state, seat, tried):
                try:
                    answer = play.game.decide(moment.state, seat, command)
                except Exception as error:
                    raise AssertionError(f"{_short(command)} raised {error!r}") from error
                if isinstance(answer, Rejected):
                    _check_rejection(play.game, answer)
                else:
                    sensible = not any(command is each for each in nonsense)
                    assert sensible, f"{_short(command)} was accepted"
        assert msgspec.msgpack.encode(moment.state) == stored, "refusing changed the state"


def _check_rejection(game: AnyGame, rejected: Rejected) -> None:
    assert rejected.code in game.reasons, f"unknown code {rejected.code}"
    reason = game.reasons[rejected.code]
    assert rejected.rule == reason.rule, f"{rejected.code} cites {rejected.rule}"
    assert all(type(value) in (int, str) for value in rejected.params.values())
    assert "{" not in reason.hint.format(**rejected.params)
    encode(msgspec.to_builtins(rejected))


def _short(command: object) -> str:
    try:
        return repr(command)[:200]
    except RecursionError:
        return "something deeply nested"


@law
def timeouts_are_accepted(play: Play) -> None:
    """Also if the hidden part had been another: whoever is slow learns nothing from it."""
    for moment in play.walk_moments():
        other = play.game.resample(moment.state, b"timeout" + play.seed)
        for seat in play.game.to_act(moment.state):
            for state in (moment.state, other):
                command = play.game.timeout(state, seat)
                answer = play.game.decide(moment.state, seat, command)
                assert not isinstance(answer, Rejected), f"{command} of {seat} gave {answer}"


@law
def bots_choose_legal_commands_by_view_offers_and_entropy(play: Play) -> None:
    """They get what a client gets, change nothing of it, and are deterministic."""
    bots = {id(bot): (name, bot) for name, bot in play.game.bots.items()}
    for step in play.walk_steps(most=10):
        view = copied(play.game.view(step.before.state, step.seat))
        shown, offered = canonical(view), canonical(wire_form(step.offers))
        offers = msgspec.convert(copied(wire_form(step.offers)), type=tuple[Offer, ...])
        unsure = [c for offer in offers if offer.unsure for c in offer.commands()]
        for name, bot in bots.values():
            entropy = name.encode() + step.before.stored[-16:]
            command = bot(view, offers, entropy)
            assert canonical(view) == shown, f"{name} changed the view"
            assert canonical(wire_form(offers)) == offered, f"{name} changed the offers"
            assert bot(view, offers, entropy) == command, f"{name} is not deterministic"
            answer = play.game.decide(step.before.state, step.seat, copied(command))
            accepted = not isinstance(answer, Rejected) or command in unsure
            assert accepted, f"{name} chose {command}: {answer}"
