"""Those who look at a room: who sits where, what each of them sees, and who is told what.

One frame per class of viewers is made and encoded, however many they are. The newest connection of
a seat wins, on whichever node it is. Presence is told a little later than it changes, so that a
crowd does not multiply it; other nodes are told, too, and tell.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator
from time import monotonic
from typing import Final

import msgspec

from towerhall_protocol.document import Document
from towerhall_protocol.messages import (
    ServerMessage,
    ServerPresence,
    ServerReset,
    ServerSeat,
)
from towerhall_server.game import Seat
from towerhall_server.room.commits import THE_ROOM, Cause
from towerhall_server.room.draft import Draft, draft, offers_of, view_before
from towerhall_server.room.guests import Guests
from towerhall_server.room.prepared import Prepared
from towerhall_server.room.replica import Change, Replica
from towerhall_server.room.state import Room
from towerhall_server.room.view import view, view_class
from towerhall_server.room.viewer import NO_WINDOW, Viewer

PRESENCE_SECONDS: Final = 0.1
FOREVER: Final = float("inf")


class Audience:
    """All viewers of one room on this node, and what is known of those on other nodes."""

    def __init__(self, tell_others: Callable[[Guests], None] = lambda _: None) -> None:
        self._tell_others = tell_others
        self._viewers: dict[str, list[Viewer]] = {}
        """By class of view, in the order in which they came."""
        self._views: dict[str, Document] = {}
        self._seated: dict[Seat, Viewer] = {}
        self._elsewhere: dict[str, Guests] = {}
        """By node."""
        self._presence: asyncio.TimerHandle | None = None
        self._told: ServerPresence | None = None
        self._told_others: Guests | None = Guests()
        self._asks, self._over = True, False
        self._host, self._since = "", monotonic()
        self._seen: dict[Seat, float] = {}
        """When a seat that is not connected was so last."""

    def __len__(self) -> int:
        return sum(map(len, self._viewers.values()))

    def __iter__(self) -> Iterator[Viewer]:
        return (viewer for viewers in self._viewers.values() for viewer in viewers)

    @property
    def online(self) -> tuple[int, ...]:
        """Seats that are connected, here or elsewhere."""
        elsewhere = [guests.claims for guests in self._elsewhere.values()]
        return tuple(sorted(set(self._seated).union(*elsewhere)))

    @property
    def seated(self) -> int:
        """Connections of seats on this node."""
        return len(self._seated)

    @property
    def watchers(self) -> int:
        here = len(self) - len(self._seated)
        return here + sum(guests.watchers for guests in self._elsewhere.values())

    def view_of(self, room: Room, name: str) -> Document:
        """What that class sees now."""
        found = self._views.get(name)
        if found is None:
            found = self._views[name] = view(room, name)
        return found

    def add(self, room: Room, viewer: Viewer) -> None:
        """Somebody came. A seat has one connection: an older one has to go."""
        viewer.seat = room.table.seat_of(viewer.person.id)
        self._host = room.table.host
        self._viewers.setdefault(view_class(room.rules, viewer.seat), []).append(viewer)
        self._claim(viewer)
        self._told = None
        self._presence_changed()

    def remove(self, viewer: Viewer) -> None:
        for viewers in self._viewers.values():
            if viewer in viewers:
                viewers.remove(viewer)
                self._presence_changed()
        if viewer.seat is not None and self._seated.get(viewer.seat) is viewer:
            del self._seated[viewer.seat]

    def tell(self, message: ServerMessage) -> None:
        """The same to everybody."""
        prepared = Prepared(message)
        for viewer in self:
            viewer.send(prepared)

    def draft(self, change: Change) -> Draft:
        """How a change will look to those who are here. Nothing is sent or kept of it: it may be
        made before it is known whether the change gets into the log."""
        # Frames are kept for those who come back, even while nobody looks.
        views = self._views or {view_class(change.after.rules, None): view_before(change)}
        return draft(change, views, self._seated.keys())

    def announce(self, ready: Draft) -> None:
        """Tell everybody of a commit: this is also the acknowledgement of its command."""
        for name, (_, prepared) in ready.views.items():
            for viewer in self._viewers.get(name, ()):
                offers = ready.offers.get(viewer.seat)
                if offers is None:
                    viewer.send(prepared)
                else:
                    viewer.send(prepared, offers)

    def show(self, replica: Replica, change: Change, announced: Draft | None = None) -> None:
        """See that everybody knows of a commit, and remember what they have seen."""
        ready = announced or self.draft(change)
        if announced is None:
            self.announce(ready)
        for name, (new, prepared) in ready.views.items():
            self._views[name] = new
            replica.keep_frame(name, change.seq, prepared)
        before, after = change.before, change.after
        if before is None or before.table is not after.table:
            self._reseat(replica, change.commit.cause)
            decides = before is None or before.tag != after.tag
            for seat in (after.to_act() if decides else ()) or _changed_players(before, after):
                self.offer(after, change.seq, seat)

    def offer(self, room: Room, seq: int, seat: Seat) -> None:
        """Tell a seat what it may do now, if somebody is there to be told: nothing if a bot plays
        for them."""
        viewer = self._seated.get(seat)
        if viewer is not None:
            viewer.send(offers_of(room, seq, room.tag, seat))

    def reset(self, replica: Replica, lost: int) -> None:
        """The past has changed: everybody starts from what is there now."""
        self._views.clear()
        # First who sits where now: nobody may see with the eyes of a seat that was theirs.
        self._reseat(replica)
        for viewer in tuple(self):
            if viewer.lags:
                # It would not get this: let it come back with its cursor, and be told then.
                viewer.close("too_slow")
            else:
                self.snapshot(replica, viewer, lost)

    def snapshot(
        self, replica: Replica, viewer: Viewer, lost: int = 0, more: Iterable[Prepared] = ()
    ) -> None:
        """Everything that a viewer may see, in place of what it has; offers come last."""
        room = replica.room
        name = view_class(room.rules, viewer.seat)
        message = ServerReset(replica.cursor(name), self.view_of(room, name), lost)
        viewer.send(Prepared(message), *more)
        if viewer.seat is not None and viewer.seat in room.to_act():
            self.offer(room, replica.point.seq, viewer.seat)

    def close(self, reason: str) -> None:
        """Send everybody away, for good."""
        self._over = True
        if self._presence is not None:
            self._presence.cancel()
        for viewer in tuple(self):
            viewer.close(reason)
        if self._told_others != Guests():
            self._tell_others(Guests())

    def _claim(self, viewer: Viewer) -> None:
        if viewer.seat is None:
            return
        older = self._seated.get(viewer.seat)
        self._seated[viewer.seat] = viewer
        if older is not None and older is not viewer:
            self._replace(older)

    def _replace(self, viewer: Viewer) -> None:
        self.remove(viewer)
        viewer.seat = None
        viewer.close("replaced")

    def _reseat(self, replica: Replica, cause: Cause = THE_ROOM) -> None:
        """Seats may have changed hands. Of several windows of one person, on any nodes, the one
        that asked for the seat gets it."""
        room = replica.room
        if room.table.host != self._host:
            # Other nodes have to know whether the new one is here.
            self._host = room.table.host
            if len(self):
                self._presence_changed()
        moved = [
            (viewer, seat)
            for viewer in self
            if (seat := room.table.seat_of(viewer.person.id)) != viewer.seat
        ]
        for viewer, _ in moved:
            if viewer.seat is not None and self._seated.get(viewer.seat) is viewer:
                del self._seated[viewer.seat]
        for viewer, seat in moved:
            own = cause.identity == viewer.person.id and not cause.origin.startswith(NO_WINDOW)
            if seat is not None and own and cause.origin != viewer.origin:
                self._replace(viewer)
                continue
            old = view_class(room.rules, viewer.seat)
            viewer.seat = seat
            viewer.send(Prepared(ServerSeat(-1 if seat is None else seat)))
            new = view_class(room.rules, seat)
            if new != old:
                self._viewers[old].remove(viewer)
                self._viewers.setdefault(new, []).append(viewer)
                self.snapshot(replica, viewer)
            self._claim(viewer)
            self._presence_changed()

    def _presence_changed(self) -> None:
        if self._presence is None and not self._over:
            loop = asyncio.get_running_loop()
            self._presence = loop.call_later(PRESENCE_SECONDS, self._tell_presence)

    def _tell_presence(self) -> None:
        self._presence = None
        presence = ServerPresence(self.online, self.watchers)
        for seat in self._seen.keys() - set(presence.online):
            self._seen[seat] = min(self._seen[seat], monotonic())
        self._seen |= dict.fromkeys(map(Seat, presence.online), FOREVER)
        if presence != self._told:
            self._told = presence
            self.tell(presence)
        claims = {seat: viewer.claim for seat, viewer in self._seated.items()}
        guests = Guests(claims, len(self) - len(claims), host=self._is_host_here())
        if guests != self._told_others:
            self._told_others = guests
            self._tell_others(msgspec.structs.replace(guests, asks=self._asks))
            self._asks = False

    # Who is away

    def absent_seconds(self, seat: Seat) -> float:
        """How long nobody has been connected for a seat, as far as this node can tell."""
        return 0.0 if seat in self.online else monotonic() - self._seen.get(seat, self._since)

    @property
    def has_host(self) -> bool:
        return self._is_host_here() or any(guests.host for guests in self._elsewhere.values())

    def _is_host_here(self) -> bool:
        return any(viewer.person.id == self._host for viewer in self)

    # Other nodes

    def hear_of(self, node: str, guests: Guests) -> None:
        """Another node tells who looks at this room there."""
        self._elsewhere[node] = guests
        for seat, claim in guests.claims.items():
            here = self._seated.get(seat)
            if here is None:
                continue
            if here.claim < claim:
                self._replace(here)
            else:
                # That node has not heard of the newer connection.
                self._told_others = None
        if guests.asks:
            self._told_others = None
        self._presence_changed()

    def forget(self, nodes: Collection[str]) -> None:
        """These nodes are not there any more."""
        for node in nodes:
            if self._elsewhere.pop(node, None) is not None:
                self._presence_changed()

    def ask_around(self) -> None:
        """What others told may have been missed: ask them, by telling them who is here."""
        if self._presence is not None:
            self._presence.cancel()
        self._asks, self._told_others = True, None
        self._tell_presence()


def _changed_players(before: Room | None, after: Room) -> tuple[Seat, ...]:
    """Seats that are to act, and whose person has left them to a bot or has come back."""
    if before is None or before.game is None:
        return ()
    return tuple(s for s in after.to_act() if before.is_played(s) != after.is_played(s))
