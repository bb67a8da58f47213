"""A finished game told from its beginning: what a spectator saw, what was drawn, who took part.

`Telling` is given one commit after the other and keeps what the record needs. It judges nothing:
`make_record` tells the log of a server that believes itself, `verify` tells what it decides anew.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from towerhall_protocol.commands import base64url
from towerhall_protocol.document import Document
from towerhall_protocol.fairness import NO_NONCE, Draw, game_seed, witnessed
from towerhall_server.eventlog.entry import Entry, link, mark
from towerhall_server.game import AnyGame
from towerhall_server.room.commits import Commit, decode_commit, encode_commit
from towerhall_server.room.events import DealCancelled, Dealt, NonceOpened, RoomEvent, Sealed
from towerhall_server.room.record_shape import (
    FORMAT,
    Deal,
    Hand,
    Proof,
    Record,
    Taken,
    rows_of,
    write,
)
from towerhall_server.room.redecide import UndecidedError, decide_again, decide_first
from towerhall_server.room.state import Room, entered, fold
from towerhall_server.room.table import Table
from towerhall_server.room.view import NOTHING, frame, view, view_class

_encode = msgspec.json.Encoder().encode


class RecordNotReadyError(Exception):
    """The game goes on: its record would tell what nobody may know yet."""


class Telling:
    """The game as far as it has been told."""

    def __init__(self) -> None:
        self.room: Room | None = None
        self.frames: list[msgspec.Raw] = []
        """As JSON: written once, and for most of a long record never read."""
        self.deals: list[Deal] = []
        self._draws: dict[bytes, tuple[Any, ...]] = {}
        self._seed = b""
        self._view: Document = NOTHING

    @property
    def is_over(self) -> bool:
        return self.room is not None and self.room.table.status == "over"

    @property
    def draws(self) -> tuple[tuple[Any, ...], ...]:
        """Each once, by deal and act; those of one act in the order in which they were drawn."""
        return tuple(sorted(self._draws.values(), key=lambda row: row[:2]))

    def take(self, entry: Entry, commit: Commit, after: Room, drawn: Iterable[Draw]) -> None:
        """Go on by a commit that leads to this room."""
        before = self.room or after
        short = mark(entry.chain)
        stamps = entry.stamps
        after = entered(before, after, commit.cause, entry.seq, short, stamps.served_ms)
        seen = view(after, view_class(after.rules, None))
        shown = frame(after.rules, commit, entry.seq, short, self._view, seen)
        self.frames.append(msgspec.Raw(_encode(shown)))
        self.room, self._view = after, seen
        for event in commit.room:
            self._deal(after.table, event)
        for draw in drawn:
            # What is drawn from anything else than the deal's seed is no part of the game.
            if draw.seed == self._seed:
                self._draws.setdefault(_encode(draw[1:]), _row(after.table.deal, draw))

    def record(self, entries: tuple[Entry, ...]) -> Record:
        """The whole, once it is over."""
        if self.room is None or not self.is_over:
            raise RecordNotReadyError
        table = self.room.table
        last = entries[-1].point
        return Record(
            format=FORMAT,
            code=table.code,
            uid=base64url(table.uid),
            game=table.game,
            version=table.version,
            options=msgspec.to_builtins(table.options),
            settings=msgspec.structs.asdict(table.settings),
            seats=tuple(
                None if holder is None else Taken(holder.name, holder.level)
                for holder in table.seats
            ),
            commits=rows_of(entries),
            chain=base64url(last.chain),
            seal=base64url(link(last, b"", b"")),
            frames=tuple(self.frames),
            draws=self.draws,
            proof=Proof(
                base64url(table.commitment), base64url(self.room.secret), tuple(self.deals)
            ),
            result=table.result,
            closed=table.closed,
        )

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
                self._seed = _seed(self.room, deal)
                seed = base64url(self._seed)
                self.deals[-1] = replace(self.deals[-1], outcome="dealt", seed=seed)


def make_record(games: Mapping[str, AnyGame], secret: bytes, entries: Iterable[Entry]) -> bytes:
    """The record of a room from its whole log; `RecordNotReadyError` if it has not ended.

    The log is told as it is, even where the rules would not lead there: then the record says so to
    whoever verifies it.
    """
    telling, log = Telling(), tuple(entries)
    for entry in log:
        room = telling.room
        commit = decode_commit(entry.blob, room.rules if room else None)
        with witnessed() as drawn:
            after = _after(games, secret, room, commit)
        telling.take(entry, commit, after, drawn)
    return write(telling.record(log))


def _after(games: Mapping[str, AnyGame], secret: bytes, room: Room | None, commit: Commit) -> Room:
    """The room after a commit. It is decided again because that shows what was drawn for it."""
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


def _seed(room: Room | None, deal: int) -> bytes:
    if room is None:
        return b""
    nonces = tuple((holder.nonce if holder else b"") or NO_NONCE for holder in room.table.seats)
    return game_seed(room.secret, room.table.uid, deal, nonces)


def _row(deal: int, draw: Draw) -> tuple[Any, ...]:
    kind = "below" if isinstance(draw.given, int) else "shuffle"
    return (deal, draw.act, kind, draw.given, draw.result)
