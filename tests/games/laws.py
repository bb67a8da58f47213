"""What holds for every game, one function per law, each given one whole play.

A law raises `AssertionError` with its own name, the game and the step. `test_laws_can_fail.py`
shows for each one a game that breaks it. No law may know a particular game. Here are the laws of
states, views and results; those of commands and of secrecy have files of their own.
"""

import re
from collections.abc import Iterator
from string import Formatter
from typing import Any

import msgspec

from tests.games import laws_of_commands, laws_of_searches, laws_of_secrecy
from tests.games.lawbook import LAWS, Law, copied, law, wire_form
from tests.games.plays import Play
from towerhall_protocol.codec import (
    FROM_CLIENT,
    FROM_SERVER,
    MAX_INTEGER,
    CodecLimits,
    canonical,
    decode,
    encode,
)
from towerhall_protocol.merge_patch import apply, diff
from towerhall_protocol.offers import Offer
from towerhall_server.game import BAD_COMMAND, BAD_OPTIONS, STANDARD, AnyGame, Rejected

__all__ = ["LAWS", "Law", "laws_of_commands", "laws_of_searches", "laws_of_secrecy"]

KEY = re.compile(r"[A-Za-z0-9:+_-]{1,40}")
EVENT_NAME = re.compile(r"[a-z][a-z0-9_]*")
HEADING = re.compile(r"^##+ +(\d+)\. +\S", re.MULTILINE)


@law
def everything_is_deterministic_and_changes_no_state(play: Play) -> None:
    """The same state and command always lead to the same events and the same state."""
    game, encoded = play.game, msgspec.msgpack.encode
    assert game.setup(game.start(play.options, play.seats, play.seed)) == play.setup
    assert encoded(game.play(play.opening, play.setup)) == play.moments[0].stored
    for step in play.walk_steps():
        fresh = msgspec.msgpack.decode(step.before.stored, type=game.state_type)
        assert game.decide(fresh, step.seat, step.command) == step.events, "decided otherwise"
        after = game.play(fresh, step.events)
        assert encoded(after) == step.after.stored, "the same events led to another state"
        outcome = game.outcome(fresh, step.seat, step.command)
        assert not isinstance(outcome, Rejected), "refused what was decided"
        assert outcome[0] == step.events, "an outcome that was decided otherwise"
        assert encoded(outcome[1]) == step.after.stored, "an outcome that events do not lead to"
        for viewer in play.viewers:
            game.view(after, viewer)
        for seat in game.to_act(after):
            game.offers(after, seat)
            game.timeout(after, seat)
        game.result(after)
        game.resample(after, play.seed)
        assert encoded(after) == step.after.stored, "looking changed the state"
        assert encoded(fresh) == step.before.stored, "deciding or folding changed the state before"
    for moment in play.walk_moments():
        assert encoded(moment.state) == moment.stored, "the state changed later on"


@law
def patches_lead_from_view_to_view(play: Play) -> None:
    """Whoever applies every patch has the same view as somebody who comes in anew."""
    for viewer in play.viewers:
        before = play.game.view(play.moments[0].state, viewer)
        followed = copied(before)
        shown = []
        for moment in play.walk_moments():
            fresh = play.game.view(moment.state, viewer)
            followed = apply(followed, diff(before, fresh))
            shown.append((fresh, canonical(fresh)))
            assert canonical(followed) == shown[-1][1], f"the patch for {viewer} leads elsewhere"
            before = fresh
        assert all(canonical(view) == then for view, then in shown), "a view changed later on"


@law
def patches_of_a_game_are_diffs_of_its_views(play: Play) -> None:
    """A game that tells how its shared view changes tells each viewer what a diff would."""
    patch, view = play.game.patch, play.game.view
    if patch is None:
        return
    assert play.game.shared_view, "a patch for all viewers, but not the same view for all"
    for step in play.walk_steps():
        before, after = step.before.state, step.after.state
        told = canonical(patch(before, after, step.events))
        for viewer in play.viewers:
            compared = canonical(diff(view(before, viewer), view(after, viewer)))
            assert told == compared, f"the patch is not what changes for {viewer}"


@law
def every_game_ends(play: Play) -> None:
    """After a bounded number of commands; somebody is to act exactly until there is a result."""
    for moment in play.walk_moments():
        over = play.game.result(moment.state) is not None
        assert over != bool(play.game.to_act(moment.state)), "neither over nor going on, or both"
    assert play.finished, f"not over after {len(play.steps)} commands"


@law
def the_result_ranks_every_seat(play: Play) -> None:
    """Places count from 1 as in sports (1, 1, 3), and more points never give a worse place."""
    *_, last = play.walk_moments()
    result = play.game.result(last.state)
    if result is None:
        return  # That is another law's business.
    scores, places = result.scores, result.places
    assert len(scores) == len(places) == play.seats, f"{result} is not for {play.seats} seats"
    assert all(type(number) is int for number in (*scores, *places))
    for seat in play.all_seats:
        better = sum(place < places[seat] for place in places)
        assert places[seat] == 1 + better, f"place of {seat} in {places}"
        for other in play.all_seats:
            if scores[seat] > scores[other]:
                assert places[seat] < places[other], f"{seat} and {other} in {result}"
    assert result.winners


@law
def states_and_events_survive_storage(play: Play) -> None:
    """What is read back is the same in every field, folds the same and looks the same."""
    game = play.game
    for event in play.events:
        stored = msgspec.msgpack.encode(event)
        again = msgspec.msgpack.decode(stored, type=game.event_type)
        assert again == event, f"{event} came back as {again}"
        assert msgspec.msgpack.encode(again) == stored, f"{event} came back in another form"
    for moment in play.walk_moments():
        stored = msgspec.msgpack.encode(moment.state)
        state = msgspec.msgpack.decode(stored, type=game.state_type)
        assert state == moment.state, "the state came back otherwise"
        assert msgspec.msgpack.encode(state) == stored, "the state came back in another form"
        for viewer in play.viewers:
            views = [canonical(game.view(each, viewer)) for each in (state, moment.state)]
            assert views[0] == views[1], f"the view of {viewer} is another after storage"


@law
def events_of_a_newer_server_are_refused(play: Play) -> None:
    """Who reads an event in part is where no other server is: better not to read it at all."""
    for event in play.events:
        try:
            name, *fields = _stored(event)
        except TypeError:
            continue  # That is another law's business.
        for newer in (["new_event"], [name, *fields, 0], *_with_keys([name, *fields])):
            try:
                found = play.game.read_events(msgspec.msgpack.encode([newer]))
            except msgspec.ValidationError:
                continue
            raise AssertionError(f"{newer} was read as {found}")


def _stored(event: object) -> list[Any]:
    """The event as it is stored."""
    return list(msgspec.msgpack.decode(msgspec.msgpack.encode(event)))


def _with_keys(value: Any) -> Iterator[Any]:
    """The same, with one more key in one of the maps inside."""
    match value:
        case dict():
            yield {**value, "new_key": 0}
            for key, inner in value.items():
                yield from ({**value, key: other} for other in _with_keys(inner))
        case list():
            for at, inner in enumerate(value):
                yield from ([*value[:at], other, *value[at + 1 :]] for other in _with_keys(inner))


@law
def documents_survive_the_wire(play: Play) -> None:
    """Views, facts and offers within the server's limits, commands within the client's."""
    for event in play.events:
        _check_wire(play.game.facts(event), FROM_SERVER)
    for moment in play.walk_moments():
        for viewer in play.viewers:
            _check_wire(play.game.view(moment.state, viewer), FROM_SERVER)
        for seat in play.game.to_act(moment.state):
            offers = play.game.offers(moment.state, seat)
            _check_wire(wire_form(offers), FROM_SERVER)
            again = msgspec.convert(copied(wire_form(offers)), type=tuple[Offer, ...])
            assert canonical(wire_form(again)) == canonical(wire_form(offers))
    for step in play.walk_steps():
        _check_wire(step.command, FROM_CLIENT)
        received = decode(encode(step.command))
        answer = play.game.decide(step.before.state, step.seat, received)
        assert not isinstance(answer, Rejected), f"refused when it came by wire: {answer}"


def _check_wire(document: object, limits: CodecLimits) -> None:
    assert canonical(decode(encode(document), limits)) == canonical(document)


@law
def documents_are_plain(play: Play) -> None:
    """Maps with short keys, arrays, safe integers, strings and booleans; no nulls."""
    for event in play.events:
        facts = play.game.facts(event)
        assert isinstance(facts[0], str), f"{facts} has no name"
        assert EVENT_NAME.fullmatch(facts[0]), f"{facts} has no good name"
        _check_plain(facts)
    for moment in play.walk_moments():
        for viewer in play.viewers:
            _check_plain(play.game.view(moment.state, viewer))
        for seat in play.game.to_act(moment.state):
            _check_plain(wire_form(play.game.offers(moment.state, seat)))
        if moment.number < len(play.steps):
            _check_plain(play.steps[moment.number].command)


def _check_plain(document: object) -> None:
    for value in _parts(document):
        match value:
            case dict():
                for key in value:
                    assert isinstance(key, str), f"{key!r} is a key in {document}"
                    assert KEY.fullmatch(key), f"{key!r} is a key in {document}"
            case int():
                assert -MAX_INTEGER <= value <= MAX_INTEGER, f"{value} in {document}"
            case _:
                assert isinstance(value, str | list | tuple), f"{value!r} in {document}"


def _parts(value: object) -> Iterator[object]:
    yield value
    if isinstance(value, dict):
        for inner in value.values():
            yield from _parts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _parts(inner)


# --- laws about the game itself, without a play ---


def check_common_parts(game: AnyGame) -> None:
    """Every game has the standard preset, the common codes and at least one level of bots."""
    where = f"law check_common_parts, game {game.name}"
    assert EVENT_NAME.fullmatch(game.name), where
    assert game.version >= 1, where
    assert min(game.seats) >= 1, where
    assert game.presets.get(STANDARD) == game.options_type(), f"{where}: {STANDARD}"
    assert all(isinstance(each, game.options_type) for each in game.presets.values()), where
    assert game.reasons.keys() >= {BAD_COMMAND, BAD_OPTIONS}, f"{where}: reasons"
    assert game.levels, f"{where}: bots"


def check_reasons_cite_rules(game: AnyGame, rules: str) -> None:
    """Every reason cites a numbered section of the game's rules and has a hint in English."""
    headings = HEADING.findall(rules)
    assert len(set(headings)) == len(headings), f"{game.name}: two sections of the same number"
    for code, reason in game.reasons.items():
        where = f"law check_reasons_cite_rules, game {game.name}, {code}"
        assert reason.rule in headings, f"{where}: no section {reason.rule}"
        assert reason.hint.endswith("."), f"{where}: {reason.hint!r} is no sentence"
        assert all(name != "" for _, name, _, _ in Formatter().parse(reason.hint)), where
