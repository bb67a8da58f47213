"""What a game is: a handful of pure functions over immutable data.

A game folder under `games/` builds one `Game` and names it `GAME`; it is found by discovery. None
of its functions reads a clock, draws randomness, does I/O or changes an argument: all chance is a
function of the seed that `start` puts into the state. Whatever holds for every game is written as
a law in `tests/games/laws.py`, so a new game is checked the moment its folder exists.

Rules that changed are another `Game` of the same name with a higher version, which knows the one
before it: new rooms get the newest, and `rules_of` finds the one that a room began with.

No rule of any particular game may live here.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Generic, Literal, NewType, TypeAlias, TypeVar, get_args, get_origin

import msgspec

from towerhall_protocol.document import Document
from towerhall_protocol.offers import Offer
from towerhall_server.upcasting import Upcasters, upcast

Seat = NewType("Seat", int)
Viewer: TypeAlias = Seat | None
"""Who looks: a seat, or `None` for a spectator."""

COPY_MARK = "+"
"""Ends the id of a second copy. Documents that differ only in such marks mean the same outcome."""


class Rejected(msgspec.Struct, frozen=True):
    """A refused command. Codes are stable; `rule` is a section of the game's `RULES.md`."""

    code: str
    rule: str
    params: Mapping[str, int | str] = {}


class Reason(msgspec.Struct, frozen=True):
    """One way to be refused: where the rule stands, and what to tell a person in English."""

    rule: str
    hint: str


class Result(msgspec.Struct, frozen=True):
    """How a game ended: a score and a place for every seat; equal places share."""

    scores: tuple[int, ...]
    places: tuple[int, ...]

    @property
    def winners(self) -> tuple[Seat, ...]:
        return tuple(Seat(seat) for seat, place in enumerate(self.places) if place == 1)


def rank(scores: tuple[int, ...]) -> Result:
    """Highest score first; equal scores share a place and leave the next ones free (1, 1, 3)."""
    return Result(scores, tuple(1 + sum(other > score for other in scores) for score in scores))


def event_name(kind: str) -> str:
    """How an event is called in logs and on the wire: `BidMade` is `bid_made`."""
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in kind)[1:]


State = TypeVar("State")
Event = TypeVar("Event")
Outcome: TypeAlias = tuple[tuple[Event, ...], State] | Rejected
"""Events and the state after them."""
Bot: TypeAlias = Callable[[Document, tuple[Offer, ...], bytes], dict[str, object]]
"""A policy: sees what its seat sees, and picks a command with the given entropy."""


@dataclass(frozen=True, kw_only=True)
class Game(Generic[State, Event]):
    """The interface between a game and everything else."""

    name: str
    version: int
    """Of the rules: a running game finishes under the version that it began with."""
    seats: range
    """The numbers of players that it can be played by."""
    options_type: type[msgspec.Struct]
    presets: Mapping[str, msgspec.Struct]
    state_type: type[State]
    event_type: Any
    """The union of all events, for decoding."""
    reasons: Mapping[str, Reason]
    """Every code that `decide` can refuse with."""

    start: Callable[[Any, int, bytes], State]
    """(options, seats, seed): the table before anything happened. The only way in for chance."""
    setup: Callable[[State], tuple[Event, ...]]
    """What happens first, up to the first choice."""
    decide: Callable[[State, Seat, object], tuple[Event, ...] | Rejected]
    """What a command leads to, up to the next real choice; forced steps are marked events."""
    fold: Callable[[State, Event], State]
    facts: Callable[[Event], tuple[object, ...]]
    """The public part of an event: its name, then the fields on its allow-list."""
    view: Callable[[State, Viewer], dict[str, object]]
    to_act: Callable[[State], tuple[Seat, ...]]
    """The seats that have a choice now; nobody once the game is over."""
    offers: Callable[[State, Seat], tuple[Offer, ...]]
    timeout: Callable[[State, Seat], dict[str, object]]
    """The command that stands in for a seat whose time is up."""
    result: Callable[[State], Result | None]
    resample: Callable[[State, bytes], State]
    """Another state that no viewer can tell from this one. For tests and for bots that sample."""
    bots: Mapping[str, Bot]
    """Policies by name. Each of `LEVELS` is among them."""

    advance: "Callable[[State, Seat, object], Outcome[Event, State]] | None" = None
    """`decide` and `play` in one, if the game knows the state anyway once it has decided."""
    timeout_by_lot: bool = False
    """Whether `timeout` draws from the seed, so that nobody can know it before it happens."""
    slow_commands: frozenset[str] = frozenset()
    """Commands whose `decide` may search for up to a second: to be run off the event loop."""

    shared_view: bool = False
    """Whether all viewers see the same: then one view, and one encoding of it, serves them all."""

    previous: "AnyGame | None" = None
    """The rules before these, for the games that began under them."""
    upcasters: Upcasters = field(default_factory=dict)
    """What events of these rules are today that were once stored in another form."""

    @property
    def versions(self) -> "Iterator[AnyGame]":
        """These rules, and all that were before them: the newest first."""
        rules: AnyGame | None = self
        while rules is not None:
            yield rules
            rules = rules.previous

    def play(self, state: State, events: Iterable[Event]) -> State:
        return reduce(self.fold, events, state)

    def outcome(self, state: State, seat: Seat, command: object) -> "Outcome[Event, State]":
        """What a command leads to, and the state after that."""
        if self.advance is not None:
            return self.advance(state, seat, command)
        events = self.decide(state, seat, command)
        return events if isinstance(events, Rejected) else (events, self.play(state, events))

    def read_events(self, stored: bytes | msgspec.Raw) -> tuple[Event, ...]:
        """Events from the bytes that a log holds."""
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
"""Details that may quote a stranger's input are cut to this."""


class OptionField(msgspec.Struct, frozen=True):
    """One option as a lobby needs it to draw its form."""

    values: tuple[object, ...]
    default: object


def option_fields(options_type: type[msgspec.Struct]) -> dict[str, OptionField]:
    """The options that a game understands, with their values and defaults."""
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
    """Options from a stranger's document: a `preset` by name, single options on top of it."""
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
        return _bad_options(game, str(error))


def _bad_options(game: AnyGame, detail: str) -> Rejected:
    return Rejected(BAD_OPTIONS, game.reasons[BAD_OPTIONS].rule, {"detail": detail[:DETAIL_LENGTH]})


Holder = TypeVar("Holder", bound=msgspec.Struct)
Kept = TypeVar("Kept")


def kept(derive: Callable[[Holder], Kept]) -> Callable[[Holder], Kept]:
    """Remember what derives from one immutable struct (`dict=True`) inside that struct.

    So it is made once, is the same object each time, which makes diffs cheap, and goes when the
    struct goes: no cache of a fixed size has to fit the number of rooms.
    """
    name = f"{derive.__module__}.{derive.__qualname__}"

    def look(holder: Holder) -> Kept:
        inside = holder.__dict__
        found: Kept | None = inside.get(name)
        if found is None:
            found = inside[name] = derive(holder)
        return found

    return look


class UnknownRulesError(Exception):
    """A room belongs to a game, or to a version of its rules, that is not installed here."""


def rules_of(games: Mapping[str, AnyGame], name: str, version: int) -> AnyGame:
    """The rules that a room began with, and so ends with."""
    if name in games:
        for rules in games[name].versions:
            if rules.version == version:
                return rules
    raise UnknownRulesError(f"{name}, rules {version}, is not installed here")


def discover() -> dict[str, AnyGame]:
    """Every game that has a folder under `games/`, by name; each in its newest version."""
    package = import_module("towerhall_server.games")
    found = {}
    for module in iter_modules(package.__path__):
        game: AnyGame = import_module(f"{package.__name__}.{module.name}").GAME
        for rules in game.versions:
            if rules.name != module.name:
                raise ValueError(f"the game in {module.name} calls itself {rules.name}")
        numbers = [rules.version for rules in game.versions]
        if numbers != sorted(set(numbers), reverse=True):
            raise ValueError(f"the versions of {game.name} are not newest first: {numbers}")
        found[game.name] = game
    return found
