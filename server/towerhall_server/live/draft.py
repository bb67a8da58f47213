"""The encoded views, frames and offers of a change, made while the store still writes it.

Most of a move's time is the store's, to make it durable. Once the log holds the commit, the frames
only have to be sent.
"""

from collections.abc import Collection, Mapping

import msgspec

from towerhall_protocol.document import Document
from towerhall_protocol.messages import ServerOffers
from towerhall_protocol.statements import Sign, unsigned
from towerhall_server.frames import Prepared
from towerhall_server.game import Seat
from towerhall_server.live.chain_told import chain_with
from towerhall_server.live.change import Change, frame_by_game, frame_of
from towerhall_server.room.state import Room, decides
from towerhall_server.room.view import view


class Draft(msgspec.Struct, frozen=True, gc=False):
    """A change, ready to be sent."""

    views: dict[str, tuple[Document | None, Prepared]]
    """The new view and the frame that leads to it, by class of viewers. A view that no frame needed
    is not made yet."""
    offers: dict[Seat | None, Prepared]
    """The offers that follow the frame, by seat to act."""
    chain: Prepared | None = None
    """The chain that follows the frame to clients that know it, after some commits."""


def draft(
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
