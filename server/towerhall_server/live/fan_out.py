"""The fan-out of a commit: its draft of encoded frames, offers and chain, and the sending of it.

One frame is encoded per class of viewers, however many they are. Most of a move's time is the
store's, to make it durable. The draft is made meanwhile. Once the log holds the commit, the frames
only have to be sent.

The short mark of a frame can be forged. The whole chain hash costs 50 bytes, so only some frames
carry it (P-99): every 16th commit, the sealing of a deal and the end of the game.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

import msgspec

from towerhall_protocol.commands import base64url
from towerhall_protocol.document import Document
from towerhall_protocol.messages import (
    Cursor,
    ServerChain,
    ServerMessage,
    ServerOffers,
    ServerReset,
)
from towerhall_protocol.statements import Sign, Statement, unsigned
from towerhall_server.frames import Prepared
from towerhall_server.game import Seat
from towerhall_server.live.viewer import Viewer
from towerhall_server.room.commits import Commit
from towerhall_server.room.events import Sealed
from towerhall_server.room.state import Room, decides
from towerhall_server.room.table import Table
from towerhall_server.room.view import base_of, frame, framed, patch_by_game, view, view_class

CHAIN_LEVEL: Final = 4
"""Lowest level of clients that know `chain`."""
CHAIN_EVERY: Final = 16
"""Commits between two chains."""


class Place(msgspec.Struct, frozen=True, gc=False):
    """A room at a place in its log: all that a snapshot for a viewer needs."""

    room: Room
    seq: int
    mark: str

    def cursor(self, name: str) -> Cursor:
        """The cursor of a viewer of that class."""
        return Cursor(base_of(self.room, name), self.seq, self.mark)


class Change(msgspec.Struct, frozen=True, gc=False):
    """One commit that a replica has taken in, or will take in if its append succeeds."""

    before: Room | None
    after: Room
    commit: Commit
    seq: int
    mark: str
    chain: bytes

    @property
    def place(self) -> Place:
        """The place after the commit."""
        return Place(self.after, self.seq, self.mark)


class Draft(msgspec.Struct, frozen=True, gc=False):
    """A change, ready to be sent."""

    views: dict[str, tuple[Document | None, Prepared]]
    """The new view and the frame that leads to it, by class of viewers. A view that no frame needed
    is not made yet."""
    offers: dict[Seat | None, Prepared]
    """The offers that follow the frame, by seat to act."""
    chain: Prepared | None = None
    """The chain that follows the frame to clients that know it, after some commits."""


def draft_of(
    change: Change,
    views: Mapping[str, Document | None],
    seated: Collection[Seat],
    sign: Sign = unsigned,
) -> Draft:
    """The draft of a change for classes that had these views, and for connected seats."""
    looks: dict[str, tuple[Document | None, Prepared]] = {}
    told = frame_by_game(change)
    for name, old in views.items():
        if told is not None:
            looks[name] = (None, told)
            continue
        new = view(change.after, name)
        before = view_before(change, name) if old is None else old
        looks[name] = (new, frame_of(change, before, new))
    return Draft(looks, _offers(change, seated), chain_with(change, sign))


def frame_of(change: Change, old: Document, new: Document) -> Prepared:
    """The frame of a change for viewers that had the old view."""
    after = change.after
    return Prepared.made(frame(after.rules, change.commit, change.seq, change.mark, old, new))


def frame_by_game(change: Change) -> Prepared | None:
    """The frame of a change whose patch the game tells; `None` if views have to be compared."""
    patch = patch_by_game(change.before, change.after, change.commit)
    if patch is None:
        return None
    rules, commit = change.after.rules, change.commit
    return Prepared.made(framed(rules, commit, change.seq, change.mark, patch))


def _offers(change: Change, seated: Collection[Seat]) -> dict[Seat | None, Prepared]:
    before, after = change.before, change.after
    if before is None or before.table is not after.table or not decides(before, after):
        # Seats may change hands in this commit, or there is no new decision to make.
        return {}
    offers: dict[Seat | None, Prepared] = {}
    for seat in after.to_act():
        if seat in seated and after.is_played(seat):
            offers[seat] = offers_of(after, change.seq, change.mark, seat)
    return offers


def offers_of(room: Room, seq: int, tag: str, seat: Seat) -> Prepared:
    """The offers of a seat; an empty list while a bot plays for it."""
    offers = room.rules.offers(room.game, seat) if room.is_played(seat) else ()
    return Prepared.made(ServerOffers(seq, tag, offers))


def view_before(change: Change, name: str) -> Document:
    """The view of that class before the change."""
    return {} if change.before is None else view(change.before, name)


def chain_with(change: Change, sign: Sign) -> Prepared | None:
    """The chain message of a commit, or `None`. Sealing and end are signed."""
    if _is_kept(change):
        return Prepared.made(chain_of(change.after.table, change.seq, change.chain, sign))
    if change.seq % CHAIN_EVERY == 0:
        return Prepared.made(chain_of(change.after.table, change.seq, change.chain))
    return None


def chain_of(table: Table, seq: int, chain: bytes, sign: Sign = unsigned) -> ServerChain:
    """The chain up to a commit, signed if there is a key. A sandbox room is never signed: a log
    that loses its end on purpose would convict the server (P-190)."""
    sign = unsigned if table.settings.sandbox else sign
    signature = sign(Statement(table.uid, table.commitment, seq, chain))
    return ServerChain(seq, base64url(chain), *(signature or ()))


def _is_kept(change: Change) -> bool:
    """Whether a deal was sealed or the room ended: the log before must not change any more."""
    before, after = change.before, change.after.table
    if before is None or before.table is after:
        return False
    has_ended = after.status == "over" and before.table.status != "over"
    return has_ended or any(isinstance(event, Sealed) for event in change.commit.room)


class FanOut:
    """Frames and messages for the viewers of one room on this node."""

    def __init__(self, sign: Sign = unsigned) -> None:
        self._sign = sign
        self.viewers: dict[str, list[Viewer]] = {}
        """By class of view, in order of arrival."""
        self.seated: dict[Seat, Viewer] = {}
        self._views: dict[str, Document | None] = {}
        """By class; `None` until it is needed."""

    def __len__(self) -> int:
        return sum(map(len, self.viewers.values()))

    def __iter__(self) -> Iterator[Viewer]:
        return (viewer for viewers in self.viewers.values() for viewer in viewers)

    def view_of(self, room: Room, name: str) -> Document:
        """The view of that class now."""
        found = self._views.get(name)
        if found is None:
            found = self._views[name] = view(room, name)
        return found

    def tell(self, message: ServerMessage) -> None:
        """Send the same message to all viewers."""
        prepared = Prepared(message)
        for viewer in self:
            viewer.send(prepared)

    def draft(self, change: Change) -> Draft:
        """Encode a change for the present viewers. Nothing is sent or kept, so this may run before
        the store has answered."""
        # Frames are kept for viewers that return, even while there are none.
        views = self._views or {view_class(change.after.rules, None): None}
        return draft_of(change, views, self.seated.keys(), self._sign)

    def announce(self, ready: Draft) -> None:
        """Send the frames of a commit. A frame is also the acknowledgement of its command."""
        offers, chain = ready.offers, ready.chain
        for name, (_, prepared) in ready.views.items():
            for viewer in self.viewers.get(name, ()):
                more = offers.get(viewer.seat)
                if chain is not None and viewer.level >= CHAIN_LEVEL:
                    viewer.send(prepared, chain, *(() if more is None else (more,)))
                elif more is None:
                    viewer.send(prepared)
                else:
                    viewer.send(prepared, more)

    def show(self, change: Change, announced: Draft | None = None) -> Draft:
        """Send the frames of a commit, unless they were announced before. Returns the frames."""
        ready = announced or self.draft(change)
        if announced is None:
            self.announce(ready)
        for name, (new, _) in ready.views.items():
            self._views[name] = new
        return ready

    def forget_views(self) -> None:
        """The log has lost commits: no view that was sent is true any more."""
        self._views.clear()

    def offer(self, room: Room, seq: int, seat: Seat) -> None:
        """Send its offers to a connected seat; the list is empty while a bot plays there."""
        viewer = self.seated.get(seat)
        if viewer is not None:
            viewer.send(offers_of(room, seq, room.tag, seat))

    def snapshot(
        self, place: Place, viewer: Viewer, lost: int = 0, more: Iterable[Prepared] = ()
    ) -> None:
        """Replace the view of a viewer. Offers come last."""
        room = place.room
        name = view_class(room.rules, viewer.seat)
        message = ServerReset(place.cursor(name), self.view_of(room, name), lost)
        viewer.send(Prepared(message), *more)
        if viewer.seat is not None and viewer.seat in room.to_act():
            self.offer(room, place.seq, viewer.seat)
