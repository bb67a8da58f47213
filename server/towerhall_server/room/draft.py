"""How a change looks, made into bytes before anybody may see it.

The store takes most of a move's time to make it durable. Views, frames and offers are made in that
time: once the commit is in the log, all that is left is to send them.
"""

from collections.abc import Collection, Mapping

import msgspec

from towerhall_protocol.document import Document
from towerhall_protocol.messages import ServerOffers
from towerhall_server.game import Seat
from towerhall_server.room.prepared import Prepared
from towerhall_server.room.replica import Change, frame_of
from towerhall_server.room.state import Room, decides
from towerhall_server.room.view import view, view_class


class Draft(msgspec.Struct, frozen=True, gc=False):
    """A change, ready to be sent."""

    views: dict[str, tuple[Document, Prepared]]
    """The new view and the frame that leads to it, by class of viewers."""
    offers: dict[Seat | None, Prepared]
    """What goes with the frame to those who are to act."""


def draft(change: Change, views: Mapping[str, Document], seated: Collection[Seat]) -> Draft:
    """A change as those see it who had these views, some of them at these seats."""
    looks: dict[str, tuple[Document, Prepared]] = {}
    for name, old in views.items():
        new = view(change.after, name)
        looks[name] = (new, frame_of(change, old, new))
    return Draft(looks, _offers(change, seated))


def _offers(change: Change, seated: Collection[Seat]) -> dict[Seat | None, Prepared]:
    before, after = change.before, change.after
    if before is None or before.table is not after.table or not decides(before, after):
        # Seats may change hands with this, or nobody is asked anything new.
        return {}
    offers: dict[Seat | None, Prepared] = {}
    for seat in after.to_act():
        if seat in seated and after.is_played(seat):
            offers[seat] = offers_of(after, change.seq, change.mark, seat)
    return offers


def offers_of(room: Room, seq: int, tag: str, seat: Seat) -> Prepared:
    """What a seat may do now: nothing if a bot plays for it."""
    offers = room.rules.offers(room.game, seat) if room.is_played(seat) else ()
    return Prepared.made(ServerOffers(seq, tag, offers))


def view_before(change: Change) -> Document:
    """What somebody without a seat saw until then."""
    if change.before is None:
        return {}
    return view(change.before, view_class(change.after.rules, None))
