"""Tile duels with one thing wrong each: for every law some that break it and no other."""

from dataclasses import replace
from itertools import count
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import force_setattr

from tests.games import tile_duel as duel
from tests.games.plays import Command
from tests.games.tile_duel import GAME, Event, Placed, State
from towerhall_protocol.document import Document
from towerhall_protocol.merge_patch import diff
from towerhall_protocol.offers import Choice, Offer, Range
from towerhall_server.game import AnyGame, Outcome, Perspective, Rejected, Result, Seat

Events: TypeAlias = tuple[Event, ...]
Answer: TypeAlias = Events | Rejected

FORBIDDEN = Offer(
    "place", {"column": Range(9, 9), "tilt": Range(0, 0)}, (Choice({"side": "flat"}),)
)
numbers = count()
changed = msgspec.structs.replace


def offers_too_much(state: State, seat: Seat) -> tuple[Offer, ...]:
    offers = duel.offers(state, seat)
    return (*offers, FORBIDDEN) if state.phase == "place" and offers else offers


def offers_nothing_sure(state: State, seat: Seat) -> tuple[Offer, ...]:
    return tuple(changed(o, unsure=True) for o in duel.offers(state, seat))


def offers_to_everybody(state: State, seat: Seat) -> tuple[Offer, ...]:
    return duel.offers(state, seat) or (Offer("give_back"),)


def offers_tell_the_next_act(state: State, seat: Seat) -> tuple[Offer, ...]:
    effect = {"next": state.seed[0]}
    return tuple(
        changed(o, choices=tuple(Choice(c.parameters, effect) for c in o.choices))
        if o.choices
        else o
        for o in duel.offers(state, seat)
    )


def accepts_one_tilt_more(state: State, seat: Seat, command: Any) -> Answer:
    if not isinstance(command, dict) or command.get("tilt") != duel.MOST_TILT + 1:
        return duel.decide(state, seat, command)
    answer = duel.decide(state, seat, command | {"tilt": duel.MOST_TILT})
    if isinstance(answer, Rejected) or not isinstance(answer[0], Placed):
        return answer
    return (changed(answer[0], height=answer[0].height + 1), *answer[1:])


def advances_and_forgets_the_last_event(
    state: State, seat: Seat, command: object
) -> Outcome[Event, State]:
    outcome = GAME.outcome(state, seat, command)
    return outcome if isinstance(outcome, Rejected) else (outcome[0][:-1], outcome[1])


def advances_to_where_it_was(state: State, seat: Seat, command: object) -> Outcome[Event, State]:
    outcome = GAME.outcome(state, seat, command)
    return outcome if isinstance(outcome, Rejected) else (outcome[0], state)


def accepts_anybody(state: State, seat: Seat, command: object) -> Answer:
    return duel.decide(state, (*duel.to_act(state), seat)[0], command)


def accepts_nothing_for_something(state: State, seat: Seat, command: object) -> Answer:
    return () if command is None else duel.decide(state, seat, command)


def refuses_by_unknown_code(state: State, seat: Seat, command: object) -> Answer:
    answer = duel.decide(state, seat, command)
    return Rejected("nonsense", "2") if isinstance(answer, Rejected) else answer


def refuses_without_parameters(state: State, seat: Seat, command: object) -> Answer:
    answer = duel.decide(state, seat, command)
    return Rejected(answer.code, answer.rule) if isinstance(answer, Rejected) else answer


def refuses_telling_the_seed(state: State, seat: Seat, command: object) -> Answer:
    answer = duel.decide(state, seat, command)
    if not isinstance(answer, Rejected):
        return answer
    return Rejected(answer.code, answer.rule, {**answer.params, "debug": state.seed[0]})


def refuses_and_counts_it(state: State, seat: Seat, command: object) -> Answer:
    answer = duel.decide(state, seat, command)
    if isinstance(answer, Rejected) and answer.code == "bad_command":
        force_setattr(state, "act", state.act + 1)
    return answer


def raises_on_nonsense(state: State, seat: Seat, command: object) -> Answer:
    assert command != 0
    return duel.decide(state, seat, command)


def tells_true_for_one(state: State, seat: Seat, command: object) -> Answer:
    answer = duel.decide(state, seat, command)
    if isinstance(answer, Rejected) or not isinstance(answer[0], Placed) or answer[0].column != 1:
        return answer
    return (changed(answer[0], column=True), *answer[1:])


class EndedUnwritably(duel.Ended, frozen=True):
    thing: object


UNWRITABLE = EndedUnwritably(object())


def ends_unwritably(state: State, seat: Seat, command: object) -> Answer:
    answer = duel.decide(state, seat, command)
    if isinstance(answer, Rejected) or not isinstance(answer[-1], duel.Ended):
        return answer
    return (*answer[:-1], UNWRITABLE)


class EndedLoosely(msgspec.Struct, frozen=True, array_like=True, tag="ended"):
    """Reads whatever stands behind its name."""


def ends_loosely(state: State, seat: Seat, command: object) -> Any:
    answer = duel.decide(state, seat, command)
    if isinstance(answer, Rejected) or not isinstance(answer[-1], duel.Ended):
        return answer
    return (*answer[:-1], EndedLoosely())


def does_nothing(state: State, seat: Seat, command: object) -> Answer:
    answer = duel.decide(state, seat, command)
    return answer if isinstance(answer, Rejected) else ()


def folds_by_the_clock(state: State, event: Event) -> State:
    return changed(duel.fold(state, event), act=next(numbers) % 500)


def folds_in_place(state: State, event: Event) -> State:
    folded = duel.fold(state, event)
    force_setattr(state, "act", state.act + 1)
    return folded


def folds_the_seed_into_the_view(state: State, event: Event) -> State:
    folded = duel.fold(state, event)
    return changed(folded, size=state.seed[0]) if isinstance(event, Placed) else folded


def facts_hide_the_roll(event: Event) -> tuple[object, ...]:
    return duel.facts(event)[:2] if isinstance(event, duel.Rolled) else duel.facts(event)


def facts_without_the_thing(event: Event) -> tuple[object, ...]:
    return ("ended",) if event is UNWRITABLE else duel.facts(event)


def view_shows(**more: Any) -> Any:
    """A view with something added; callables are asked about the state."""

    def view(state: State, viewer: Perspective) -> dict[str, object]:
        added = {key: each(state) if callable(each) else each for key, each in more.items()}
        return duel.view(state, viewer) | added

    return view


def view_tells_who_looks(state: State, viewer: Perspective) -> dict[str, object]:
    """Only in the end, and only to one seat: a look at the first moments would not do."""
    told = {"yours": True} if viewer == 1 and state.phase == "over" else {}
    return duel.view(state, viewer) | told


def view_is_one_map() -> Any:
    shared: dict[str, object] = {}

    def view(state: State, viewer: Perspective) -> dict[str, object]:
        shared.clear()
        shared.update(duel.view(state, viewer))
        return shared

    return view


def resample_changes_columns(state: State, entropy: bytes) -> State:
    columns = ((1,) * duel.COLUMNS, *state.columns[1:])
    return changed(duel.resample(state, entropy), columns=columns)


def resample_does_nothing(state: State, entropy: bytes) -> State:
    return state


def resample_changes_the_last_byte(state: State, entropy: bytes) -> State:
    return changed(state, seed=state.seed[:-1] + duel.resample(state, entropy).seed[-1:])


def rolls_without_the_last_byte(state: State, seat: Seat, command: object) -> Answer:
    return duel.decide(changed(state, seed=state.seed[:-1]), seat, command)


def result_without_the_last(state: State) -> Result | None:
    whole = duel.result(state)
    return whole and Result(whole.scores[:-1], whole.places[:-1])


def result_without_winner(state: State) -> Result | None:
    whole = duel.result(state)
    return whole and Result(whole.scores, tuple(place + 1 for place in whole.places))


def result_upside_down(state: State) -> Result | None:
    whole = duel.result(state)
    return whole and Result(tuple(-score for score in whole.scores), whole.places)


def result_too_early(state: State) -> Result | None:
    return duel.result(changed(state, phase="over"))


def timeout_gives_back(state: State, seat: Seat) -> Command:
    return {"command": "give_back"}


def decides_for_the_clock(state: State, seat: Seat, command: object) -> Answer:
    """A tile by lot, or the first column."""
    return duel.decide(state, seat, duel.timeout(state, seat) if command == RUN_OUT else command)


def times_out(state: State, seat: Seat) -> Command:
    return dict(RUN_OUT)


def chooses_what_is_the_clocks(
    view: Document, offers: tuple[Offer, ...], entropy: bytes
) -> Command:
    return dict(RUN_OUT)


def offers_what_is_the_clocks(state: State, seat: Seat) -> tuple[Offer, ...]:
    offers = duel.offers(state, seat)
    return (*offers, Offer("run_out")) if offers else ()


RUN_OUT: Command = {"command": "run_out"}
CLOCKED: AnyGame = replace(
    GAME,
    decide=decides_for_the_clock,
    timeout=times_out,
    clock_commands=frozenset({"run_out"}),
)
"""Time that is up has a command of its own."""


def is_never_slow(state: State, seat: Seat, command: object) -> bool:
    return False


def is_slow_now_and_then(state: State, seat: Seat, command: object) -> bool:
    return next(numbers) % 2 == 0


def is_slow_or_none(state: State, seat: Seat, command: object) -> Any:
    return duel.is_slow(state, seat, command) or None


def is_slow_unless_it_is_nonsense(state: State, seat: Seat, command: Any) -> bool:
    return bool(command["command"] == "give_back")


def is_always_slow(state: State, seat: Seat, command: object) -> bool:
    return True


def gives_back_ahead(state: State) -> tuple[Seat, Command] | None:
    return (duel.to_act(state)[0], {"command": "give_back"}) if state.phase == "place" else None


def ahead_of_somebody_else(state: State) -> tuple[Seat, Command] | None:
    wanted = gives_back_ahead(state)
    return wanted and (Seat((wanted[0] + 1) % len(state.columns)), wanted[1])


def ahead_of_a_quick_command(state: State) -> tuple[Seat, Command] | None:
    wanted = gives_back_ahead(state)
    return wanted and (wanted[0], duel.timeout(state, wanted[0]))


def ahead_by_the_seed(state: State) -> tuple[Seat, Command] | None:
    return gives_back_ahead(state) if state.seed[0] % 2 else None


def ahead_before_it_may_come(state: State) -> tuple[Seat, Command] | None:
    to_act = duel.to_act(state)
    return (to_act[0], {"command": "give_back"}) if to_act else None


def foresees_the_column(state: State, seat: Seat, command: Any) -> Document | Rejected | None:
    """Of a placement only whether it is one, and where it would be."""
    if not isinstance(command, dict) or command.get("command") != "place":
        return None
    answer = duel.decide(state, seat, command)
    return answer if isinstance(answer, Rejected) else {"column": command["column"]}


FORESEEING: AnyGame = replace(GAME, foresee=foresees_the_column, ahead=gives_back_ahead)
"""Dry runs are answered, and a search begins before it is asked for."""


def foresees_what_is_refused(state: State, seat: Seat, command: Any) -> Any:
    answer = foresees_the_column(state, seat, command)
    return {} if isinstance(answer, Rejected) and answer.code == "out_of_range" else answer


def foresees_another_refusal(state: State, seat: Seat, command: Any) -> Any:
    answer = foresees_the_column(state, seat, command)
    return duel.rejected("place_exists") if isinstance(answer, Rejected) else answer


def foresees_the_seed(state: State, seat: Seat, command: Any) -> Any:
    answer = foresees_the_column(state, seat, command)
    return {"seed": state.seed[0]} if isinstance(answer, dict) else answer


def foresees_a_float(state: State, seat: Seat, command: Any) -> Any:
    answer = foresees_the_column(state, seat, command)
    return {"column": 0.5} if isinstance(answer, dict) else answer


def chooses_by_the_clock(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> Command:
    return duel.choose(view, offers, next(numbers).to_bytes(4, "big"))


def chooses_illegally(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> Command:
    return {"command": "choose", "tile": "c:1"}


def chooses_and_scribbles(view: Any, offers: tuple[Offer, ...], entropy: bytes) -> Command:
    view["turns"] = -1
    return duel.choose(view, offers, entropy)


def patches(before: State, after: State, events: Events) -> dict[str, object]:
    return diff(duel.view(before, None), duel.view(after, None))


def patch_forgets_the_seats(before: State, after: State, events: Events) -> dict[str, object]:
    told = patches(before, after, events)
    return {name: told[name] for name in told if name != "columns"}


def patch_repeats_what_stayed(before: State, after: State, events: Events) -> dict[str, object]:
    return {**duel.view(after, None), **patches(before, after, events)}


PATCHING: AnyGame = replace(GAME, shared_view=True, patch=patches)
"""Tells how its view changes."""


def bots(hard: Any) -> Any:
    return {**GAME.bots, "hard": hard}


BREAKS: dict[str, list[AnyGame]] = {
    "offered_commands_are_accepted": [
        replace(GAME, offers=offers_too_much),
        replace(GAME, offers=offers_nothing_sure),
    ],
    "accepted_commands_lead_where_an_offer_leads": [replace(GAME, decide=accepts_one_tilt_more)],
    "only_seats_to_act_may_act": [
        replace(GAME, decide=accepts_anybody),
        replace(GAME, offers=offers_to_everybody),
    ],
    "rejections_are_explained_and_change_nothing": [
        replace(GAME, decide=refuses_by_unknown_code),
        replace(GAME, decide=refuses_without_parameters),
        replace(GAME, decide=refuses_and_counts_it),
        replace(GAME, decide=raises_on_nonsense),
        replace(GAME, decide=accepts_nothing_for_something),
    ],
    "slow_is_a_question_about_state_and_command": [
        replace(GAME, slow=is_slow_now_and_then),
        replace(GAME, slow=is_slow_or_none),
        replace(GAME, slow=is_slow_unless_it_is_nonsense),
        replace(GAME, slow=is_always_slow),
    ],
    "what_is_decided_ahead_may_come_next": [
        replace(GAME, ahead=ahead_of_somebody_else),
        replace(GAME, ahead=ahead_of_a_quick_command),
        replace(GAME, ahead=ahead_by_the_seed),
        replace(GAME, ahead=ahead_before_it_may_come),
    ],
    "only_the_clock_gives_its_commands": [
        replace(CLOCKED, bots={"easy": chooses_what_is_the_clocks}),
        replace(CLOCKED, offers=offers_what_is_the_clocks),
    ],
    "dry_runs_refuse_what_is_refused_and_tell_what_is_public": [
        replace(GAME, foresee=foresees_what_is_refused),
        replace(GAME, foresee=foresees_another_refusal),
        replace(GAME, foresee=foresees_the_seed),
        replace(GAME, foresee=foresees_a_float),
    ],
    "timeouts_are_accepted": [
        replace(CLOCKED, clock_commands=frozenset({"run_out"}), decide=duel.decide),
        replace(GAME, timeout=timeout_gives_back, slow=is_never_slow),
    ],
    "bots_choose_legal_commands_by_view_offers_and_entropy": [
        replace(GAME, bots=bots(chooses_by_the_clock)),
        replace(GAME, bots=bots(chooses_illegally)),
        replace(GAME, bots=bots(chooses_and_scribbles)),
    ],
    "nobody_sees_what_is_hidden": [
        replace(GAME, view=view_shows(seed=lambda state: state.seed.hex())),
        replace(GAME, offers=offers_tell_the_next_act),
        replace(GAME, decide=refuses_telling_the_seed),
        replace(GAME, resample=resample_changes_columns),
        replace(GAME, timeout_by_lot=False),
    ],
    "events_hold_nothing_hidden": [
        replace(GAME, facts=facts_hide_the_roll),
        replace(GAME, fold=folds_the_seed_into_the_view),
    ],
    "resampling_changes_what_is_hidden": [
        replace(GAME, resample=resample_does_nothing),
        replace(GAME, resample=resample_changes_the_last_byte, decide=rolls_without_the_last_byte),
    ],
    "a_shared_view_is_the_same_for_everybody": [
        replace(GAME, shared_view=True, view=view_tells_who_looks),
    ],
    "everything_is_deterministic_and_changes_no_state": [
        replace(GAME, fold=folds_by_the_clock),
        replace(GAME, fold=folds_in_place),
        replace(GAME, advance=advances_and_forgets_the_last_event),
        replace(GAME, advance=advances_to_where_it_was),
    ],
    "patches_lead_from_view_to_view": [replace(GAME, view=view_is_one_map())],
    "patches_of_a_game_are_diffs_of_its_views": [
        replace(PATCHING, patch=patch_forgets_the_seats),
        replace(PATCHING, patch=patch_repeats_what_stayed),
        replace(PATCHING, shared_view=False),
    ],
    "every_game_ends": [
        replace(GAME, decide=does_nothing),
        replace(GAME, result=result_too_early),
    ],
    "the_result_ranks_every_seat": [
        replace(GAME, result=result_without_the_last),
        replace(GAME, result=result_without_winner),
        replace(GAME, result=result_upside_down),
    ],
    "states_and_events_survive_storage": [
        replace(GAME, event_type=duel.Rolled | duel.Chosen | duel.GivenBack | duel.Ended),
        replace(GAME, decide=tells_true_for_one),
        replace(GAME, decide=ends_unwritably, facts=facts_without_the_thing),
    ],
    "events_of_a_newer_server_are_refused": [
        replace(
            GAME,
            decide=ends_loosely,
            event_type=duel.Rolled | duel.Chosen | Placed | duel.GivenBack | EndedLoosely,
        ),
        replace(GAME, upcasters={"new_event": lambda fields: ["ended"]}),
    ],
    "documents_survive_the_wire": [replace(GAME, view=view_shows(tiles="x" * (1 << 16) + "x"))],
    "documents_are_plain": [
        replace(GAME, view=view_shows(tile=None)),
        replace(GAME, view=view_shows(**{"a tile": "a:1"})),
        replace(GAME, view=view_shows(names={"": 1})),
    ],
}
