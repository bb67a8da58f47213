"""Narrates a finished game from its beginning: a spectator's frames, the draws, the players.

The narrator takes one commit after the other and keeps what the record needs. It judges nothing:
`make_record` narrates the log of a trusting server, `verify` narrates what it derives again.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from towerhall_protocol.commands import base64url
from towerhall_protocol.document import Document
from towerhall_protocol.fairness import Draw, witnessed
from towerhall_protocol.record import (
    FORMAT,
    Deal,
    Hand,
    Proof,
    Record,
    Result,
    Taken,
    sealed,
    signed,
    write,
)
from towerhall_protocol.statements import Sign, unsigned
from towerhall_server.eventlog.entry import Entry, mark
from towerhall_server.game import AnyGame
from towerhall_server.record.format import rows_of
from towerhall_server.record.rederive import UndecidedError, decide_again, decide_first
from towerhall_server.room.commits import Commit, decode_commit, encode_commit
from towerhall_server.room.events import (
    DealCancelled,
    Dealt,
    NonceOpened,
    RoomEvent,
    Sealed,
    Settings,
)
from towerhall_server.room.state import Room, entered, fold, seed_of
from towerhall_server.room.table import Table
from towerhall_server.room.view import NOTHING, frame, view, view_class

_encode = msgspec.json.Encoder().encode


class RecordNotReadyError(Exception):
    """The game still runs: its record would reveal hidden information."""


class Telling:
    """The game as far as it has been narrated."""

    def __init__(self) -> None:
        self.room: Room | None = None
        self.frames: list[msgspec.Raw] = []
        """JSON, written once: most readers of a long record skip it."""
        self.deals: list[Deal] = []
        self._draws: dict[bytes, tuple[Any, ...]] = {}
        self._seed = b""
        self._view: Document = NOTHING

    @property
    def is_over(self) -> bool:
        return self.room is not None and self.room.table.status == "over"

    @property
    def draws(self) -> tuple[tuple[Any, ...], ...]:
        """Each draw once, by deal and act; those of one act in the order of drawing."""
        return tuple(sorted(self._draws.values(), key=lambda row: row[:2]))

    def take(self, entry: Entry, commit: Commit, after: Room, drawn: Iterable[Draw]) -> Room:
        """Add a commit that leads to this room."""
        before = self.room or after
        short = mark(entry.chain)
        stamps = entry.stamps
        after = entered(before, after, commit, entry.seq, short, stamps.served_ms)
        seen = view(after, view_class(after.rules, None))
        shown = frame(after.rules, commit, entry.seq, short, self._view, seen)
        self.frames.append(msgspec.Raw(_encode(shown)))
        self.room, self._view = after, seen
        for event in commit.room:
            self._deal(after.table, event)
        for draw in drawn:
            # Draws from other sources than the deal's seed are not part of the game.
            if draw.seed == self._seed:
                self._draws.setdefault(_encode(draw[1:]), _row(after.table.deal, draw))
        return after

    def record(self, entries: tuple[Entry, ...]) -> Record:
        """Return the whole record, once the game is over. The entries are the narrated ones."""
        if self.room is None or not self.is_over:
            raise RecordNotReadyError
        table = self.room.table
        last, over = entries[-1].point, table.result
        record = Record(
            format=FORMAT,
            code=table.code,
            uid=base64url(table.uid),
            game=table.game,
            version=table.version,
            options=msgspec.to_builtins(table.options),
            settings=_settings(table.settings),
            seats=tuple(
                None if holder is None else Taken(holder.name, holder.level)
                for holder in table.seats
            ),
            commits=rows_of(entries),
            chain=base64url(last.chain),
            seal="",
            frames=tuple(self.frames),
            draws=self.draws,
            proof=Proof(
                base64url(table.commitment), base64url(self.room.secret), tuple(self.deals)
            ),
            result=None if over is None else Result(over.scores, over.places),
            closed=table.closed,
        )
        return sealed(record)

    def _deal(self, table: Table, event: RoomEvent) -> None:
        replace = msgspec.structs.replace
        match event:
            case Sealed(deal, hashes):
                hands = tuple(
                    Hand(holder.name, holder.level, base64url(shown))
                    for holder, shown in zip(table.seats, hashes, strict=True)
                    if holder is not None
                )
                self.deals.append(Deal(deal, "closed", hands))
            case NonceOpened(seat, nonce):
                latest = self.deals[-1]
                hands = tuple(
                    replace(hand, nonce=base64url(nonce)) if at == seat else hand
                    for at, hand in enumerate(latest.seats)
                )
                self.deals[-1] = replace(latest, seats=hands)
            case DealCancelled(_, seats):
                self.deals[-1] = replace(self.deals[-1], outcome="cancelled", unseated=seats)
            case Dealt(deal):
                self._seed = seed_of(self.room, deal) if self.room else b""
                seed = base64url(self._seed)
                self.deals[-1] = replace(self.deals[-1], outcome="dealt", seed=seed)


def make_record(
    games: Mapping[str, AnyGame],
    secret: bytes,
    entries: Iterable[Entry],
    pause: Callable[[], object] = lambda: None,
    sign: Sign = unsigned,
) -> bytes:
    """Make the record of a room from its whole log. Raises `RecordNotReadyError` if it has not
    ended.

    `pause` is called after each commit, for callers that share the interpreter. `sign` signs the
    end of the room.

    The log is narrated as it is, even if the rules would not lead there: then the record shows that
    to its verifiers.
    """
    telling, log = Telling(), tuple(entries)
    for entry in log:
        if telling.is_over:
            # Commits after the end are not part of the game, and a record never changes.
            break
        room = telling.room
        commit = decode_commit(entry.blob, room.rules if room else None)
        with witnessed() as drawn:
            after = _after(games, secret, room, commit)
        telling.take(entry, commit, after, drawn)
        pause()
    return write(signed(telling.record(log[: len(telling.frames)]), sign))


def _after(games: Mapping[str, AnyGame], secret: bytes, room: Room | None, commit: Commit) -> Room:
    """Return the room after a commit. It is decided again, because that shows the draws."""
    if room is None:
        return decide_first(games, secret, commit).step.after
    try:
        step = decide_again(room, commit).step
    except UndecidedError:
        return fold(room, commit)
    return step.after if is_same(step.commit, commit) else fold(room, commit)


def is_same(one: Commit, other: Commit) -> bool:
    """Whether two commits say the same, as far as this version can read them."""
    return encode_commit(one) == encode_commit(other)


def _row(deal: int, draw: Draw) -> tuple[Any, ...]:
    kind = "below" if isinstance(draw.given, int) else "shuffle"
    return (deal, draw.act, kind, draw.given, draw.result)


def _settings(settings: Settings) -> dict[str, int]:
    """The settings as records have them: the first two always, later ones if they are in use."""
    first = {"turn_seconds": settings.turn_seconds, "bot_delay_ms": settings.bot_delay_ms}
    used: dict[str, int] = msgspec.to_builtins(settings)
    return first | used
