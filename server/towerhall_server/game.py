"""The interface of a game: a handful of pure functions over immutable data.

A game folder under `games/` builds one `Game` and names it `GAME`; discovery finds it. None of its
functions reads a clock, draws randomness, does I/O or changes an argument: all chance is a function
of the seed that `start` puts into the state. Properties of all games are laws in
`tests/games/laws.py`, so a new game is checked as soon as its folder exists.

Changed rules are another `Game` of the same name with a higher version, which refers to its
predecessor. New rooms get the newest version; `rules_of` finds the version of an older room.

No rule of any particular game may live here.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any, Generic, Literal, NewType, TypeAlias, TypeVar, get_args, get_origin

import msgspec

from towerhall_protocol.document import Document
from towerhall_protocol.offers import Offer
from towerhall_protocol.plain_faults import said
from towerhall_server.discovery import BadFolderError, check_fields, find_all
from towerhall_server.upcasting import Upcasters, upcast

Seat = NewType("Seat", int)
Perspective: TypeAlias = Seat | None
"""A seat, or `None` for a spectator."""

COPY_MARK = "+"
"""Suffix of the id of a second copy. Documents that differ only in such marks mean the same
outcome."""


class Rejected(msgspec.Struct, frozen=True):
    """A refused command. Codes are stable; `rule` is a section of the game's `RULES.md`."""

    code: str
    rule: str
    params: Mapping[str, int | str] = {}


class Reason(msgspec.Struct, frozen=True):
    """One reason of refusals: the section of the rule, and an English text for people."""

    rule: str
    hint: str


class Result(msgspec.Struct, frozen=True):
    """The result of a game: a score and a place for every seat; equal places share."""

    scores: tuple[int, ...]
    places: tuple[int, ...]

    @property
    def winners(self) -> tuple[Seat, ...]:
        return tuple(Seat(seat) for seat, place in enumerate(self.places) if place == 1)


class Reference(msgspec.Struct, frozen=True):
    """The written contract of a game: shapes for schemas, sentences for people in English. Braces
    in a sentence name fields of the fact, or parameters of the command."""

    view: type[msgspec.Struct]
    """The shape of the game's part of a view."""
    commands: tuple[type[msgspec.Struct], ...]
    """The shape of each command."""
    command_texts: Mapping[str, str]
    fact_texts: Mapping[str, str]


def rank(scores: tuple[int, ...]) -> Result:
    """Rank by score, highest first. Equal scores share a place and skip the next ones (1, 1, 3)."""
    return Result(scores, tuple(1 + sum(other > score for other in scores) for score in scores))


def event_name(kind: str) -> str:
    """Return the name of an event in logs and on the wire: `BidMade` is `bid_made`."""
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in kind)[1:]


def never(state: object, seat: "Seat", command: object) -> bool:
    """No command is slow."""
    return False


def _shows_none(state: object) -> bool:
    return False


def _nothing(*arguments: object) -> None:
    return None


State = TypeVar("State")
Event = TypeVar("Event")
Outcome: TypeAlias = tuple[tuple[Event, ...], State] | Rejected
"""Events and the state after them."""
Bot: TypeAlias = Callable[[Document, tuple[Offer, ...], bytes], dict[str, object]]
"""A policy: sees what its seat sees, and picks a command with the given entropy."""


@dataclass(frozen=True, kw_only=True)
class Game(Generic[State, Event]):
    """The interface between a game and the rest of the system."""

    name: str
    version: int
    """Version of the rules: a running game finishes under the version that it began with."""
    seats: range
    """The allowed numbers of players."""
    options_type: type[msgspec.Struct]
    presets: Mapping[str, msgspec.Struct]
    state_type: type[State]
    event_type: Any
    """The union of all events, for decoding."""
    reasons: Mapping[str, Reason]
    """Every code that `decide` can refuse with."""

    start: Callable[[Any, int, bytes], State]
    """(options, seats, seed): the table before the first event. The only source of chance."""
    setup: Callable[[State], tuple[Event, ...]]
    """The first events, up to the first choice."""
    decide: Callable[[State, Seat, object], tuple[Event, ...] | Rejected]
    """The effect of a command, up to the next real choice; forced steps are marked events."""
    fold: Callable[[State, Event], State]
    facts: Callable[[Event], tuple[object, ...]]
    """The public part of an event: its name, then the fields on its allow-list."""
    view: Callable[[State, Perspective], dict[str, object]]
    to_act: Callable[[State], tuple[Seat, ...]]
    """The seats that have a choice now; empty once the game is over."""
    offers: Callable[[State, Seat], tuple[Offer, ...]]
    timeout: Callable[[State, Seat], dict[str, object]]
    """The command that replaces the move of a seat whose time is up."""
    result: Callable[[State], Result | None]
    resample: Callable[[State, bytes], State]
    """Another state that no viewer can tell from this one. For tests and for bots that sample."""
    bots: Mapping[str, Bot]
    """Policies by name. At least one of `LEVELS` is among them."""

    standing: "Callable[[State], tuple[int, ...]] | None" = None
    """The scores so far, for a game that ends because players resigned; `None`: all are 0."""
    advance: "Callable[[State, Seat, object], Outcome[Event, State]] | None" = None
    """`decide` and `play` in one, if deciding computes the new state anyway."""
    timeout_by_lot: bool = False
    """Whether `timeout` draws from the seed, so that its outcome is unpredictable."""
    clock_commands: frozenset[str] = frozenset()
    """Commands that only the clock gives, through `timeout`. A player who sends one is refused."""
    slow: Callable[[State, Seat, object], bool] = never
    """Whether `decide` computes for more than a few milliseconds on this command. Such a command is
    decided in another process. Must accept any command, and be quick."""
    ahead: "Callable[[State], tuple[Seat, dict[str, object]] | None]" = _nothing
    """A slow command that the seat may give next, worth deciding in advance."""
    slow_bots: bool = False
    """Whether bots compute for more than a few milliseconds: they choose in another process."""
    foresee: Callable[[State, Seat, object], Document | Rejected | None] = _nothing
    """The answer to a dry run, for commands where `decide` would cost or reveal too much. If it is
    `None`, the dry run is decided, and answered with the effect that its offer names."""
    shows_result: Callable[[State], bool] = _shows_none
    """Whether the last command had a result that people want to see before a bot goes on: an
    auction was won, a turn has ended."""
    prepare: Callable[[], None] = _nothing
    """Loads heavy dependencies of the first move, such as a numeric library. Called once by each
    server at startup."""
    figures: "Callable[[State, tuple[Event, ...]], Mapping[str, int]] | None" = None
    """Figures of a finished game, for the tables of simulations."""

    reference: Reference | None = None
    """Describes facts, commands and view to authors of clients. Without it, facts have no sentence
    and commands are known by their offers only."""
    shared_view: bool = False
    """Whether all viewers see the same: then they share one view, and one encoding of it."""
    patch: "Callable[[State, State, tuple[Event, ...]], dict[str, object]] | None" = None
    """(before, after, events): how a shared view changes, as a merge patch. It must equal the diff
    of both views. Without it the views are made and compared, which is right for most games."""

    previous: "AnyGame | None" = None
    """The previous version of the rules, for the games that began under it."""
    upcasters: Upcasters = field(default_factory=dict)
    """Upcasters: turn stored events of an older form into today's events."""

    @property
    def versions(self) -> "Iterator[AnyGame]":
        """Return these rules and all earlier versions, newest first."""
        rules: AnyGame | None = self
        while rules is not None:
            yield rules
            rules = rules.previous

    @cached_property
    def levels(self) -> tuple[str, ...]:
        """The levels of bots in seats, weakest first."""
        return tuple(level for level in LEVELS if level in self.bots)

    @property
    def stand_in(self) -> str:
        """Return the level of the bot that plays for an absent person: medium, or the nearest
        one."""
        return self.levels[len(self.levels) // 2]

    def play(self, state: State, events: Iterable[Event]) -> State:
        return reduce(self.fold, events, state)

    @cached_property
    def outcome(self) -> "Callable[[State, Seat, object], Outcome[Event, State]]":
        """Decides a command, and applies its events."""
        return self.advance or self._decide_and_play

    def _decide_and_play(
        self, state: State, seat: Seat, command: object
    ) -> "Outcome[Event, State]":
        events = self.decide(state, seat, command)
        return events if isinstance(events, Rejected) else (events, self.play(state, events))

    def scores_now(self, state: State, seats: int) -> tuple[int, ...]:
        """Return the scores of a game that ends before its rules have a result."""
        return (0,) * seats if self.standing is None else self.standing(state)

    def read_events(self, stored: bytes | msgspec.Raw) -> tuple[Event, ...]:
        """Decode events from the bytes of a log."""
        found: tuple[Event, ...]
        try:
            found = self._decoder.decode(stored)
        except msgspec.ValidationError:
            found = self._decoder.decode(upcast(stored, self.upcasters))
        return found

    @cached_property
    def _decoder(self) -> msgspec.msgpack.Decoder[Any]:
        events: Any = tuple.__class_getitem__((self.event_type, ...))
        return msgspec.msgpack.Decoder(events)


LEVELS = ("easy", "medium", "hard")
AnyGame: TypeAlias = Game[Any, Any]

STANDARD = "standard"
"""The preset that every game has: its default options."""
BAD_COMMAND = "bad_command"
BAD_OPTIONS = "bad_options"
"""The two codes that every game has among its `reasons`."""
DETAIL_LENGTH = 120
"""Characters of a detail. Details may quote a client's input, so they are cut."""


class OptionField(msgspec.Struct, frozen=True):
    """One option as a lobby needs it to draw its form."""

    values: tuple[object, ...]
    default: object


def option_fields(options_type: type[msgspec.Struct]) -> dict[str, OptionField]:
    """The options of a game, with their values and defaults."""
    return {
        field.name: OptionField(_values(field.type), field.default)
        for field in msgspec.structs.fields(options_type)
    }


def _values(kind: Any) -> tuple[object, ...]:
    if kind is bool:
        return (False, True)
    if get_origin(kind) is Literal:
        return get_args(kind)
    raise TypeError(f"an option must be a Literal or a bool, not {kind}")


def read_options(game: AnyGame, wanted: object) -> msgspec.Struct | Rejected:
    """Read options from a client's document: a `preset` by name, with single options on top."""
    if not isinstance(wanted, Mapping):
        return _bad_options(game, "options must be a map")
    single = dict(wanted)
    preset = single.pop("preset", STANDARD)
    if not isinstance(preset, str) or preset not in game.presets:
        return _bad_options(game, f"preset must be one of {', '.join(game.presets)}")
    try:
        whole = msgspec.to_builtins(game.presets[preset]) | single
        return msgspec.convert(whole, type=game.options_type)
    except (msgspec.ValidationError, UnicodeError) as error:
        return _bad_options(game, said(error))


def _bad_options(game: AnyGame, detail: str) -> Rejected:
    return Rejected(BAD_OPTIONS, game.reasons[BAD_OPTIONS].rule, {"detail": detail[:DETAIL_LENGTH]})


Owner = TypeVar("Owner", bound=msgspec.Struct)
Kept = TypeVar("Kept")


def kept(derive: Callable[[Owner], Kept]) -> Callable[[Owner], Kept]:
    """Cache a value derived from an immutable struct (`dict=True`) inside that struct.

    The value is made once and is always the same object, which makes diffs cheap. It is freed with
    the struct, so no cache size depends on the number of rooms.
    """
    inside: cached_property[Kept] = cached_property(derive)
    inside.__set_name__(msgspec.Struct, f"{derive.__module__}.{derive.__qualname__}")
    return inside.__get__


class UnknownRulesError(Exception):
    """The game of a room, or the version of its rules, is not installed here."""


def rules_of(games: Mapping[str, AnyGame], name: str, version: int) -> AnyGame:
    """Return the rules that a room began with."""
    if name in games:
        for rules in games[name].versions:
            if rules.version == version:
                return rules
    raise UnknownRulesError(f"{name}, rules {version}, is not installed here")


def discover() -> dict[str, AnyGame]:
    """Return every game under `games/`, by name, in its newest version."""
    found: dict[str, AnyGame] = {}
    for folder, game in find_all("towerhall_server.games", "GAME", Game):
        for rules in game.versions:
            check_fields(folder, rules)
            if rules.name != folder:
                raise BadFolderError(f"the game in {folder} is named {rules.name}")
            if not rules.levels:
                raise BadFolderError(f"{folder}: the field bots needs one of {', '.join(LEVELS)}")
        numbers = [rules.version for rules in game.versions]
        if numbers != sorted(set(numbers), reverse=True):
            raise BadFolderError(f"the versions of {folder} are not newest first: {numbers}")
        found[folder] = game
    return found
