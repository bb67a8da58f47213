"""The viewers of a room on this node, and their seats.

`fan_out` sends them frames. `presence` tells viewers and other nodes who is connected.

The newest connection of a seat wins, on any node. Connections are compared by the store's time at
which they came, so no stored value decides. After a failover the store's clock may be behind; a new
connection wins all the same, because its claim is raised above those that this node knows. A node
that did not know of an older connection yields to it, learns its claim, and lets the next one win.
"""

from collections.abc import Callable, Collection, Iterator

from towerhall_protocol.messages import (
    ServerChat,
    ServerEmote,
    ServerSeat,
)
from towerhall_protocol.statements import Sign, unsigned
from towerhall_server.frames import Prepared
from towerhall_server.game import Seat
from towerhall_server.live.chat_window import ChatFanOut, ChatWindow
from towerhall_server.live.claims import raised, yields
from towerhall_server.live.fan_out import Change, Draft, FanOut, Place
from towerhall_server.live.guests import Guests
from towerhall_server.live.presence import Presence
from towerhall_server.live.viewer import NO_WINDOW, Viewer
from towerhall_server.room.commits import THE_ROOM, Cause
from towerhall_server.room.state import Room
from towerhall_server.room.view import view_class


class Audience:
    """All viewers of one room on this node."""

    def __init__(
        self,
        tell_others: Callable[[Guests], None] = lambda _: None,
        node: str = "here",
        sign: Sign = unsigned,
        chat: ChatFanOut | None = None,
    ) -> None:
        self._node = node
        self.fan_out = FanOut(sign)
        self._seated = self.fan_out.seated
        self._chat = ChatWindow(self.__iter__, chat or ChatFanOut())
        self._host = ""
        self._size = 0
        self.presence = Presence(self, self.fan_out.tell, tell_others)

    def __len__(self) -> int:
        return len(self.fan_out)

    def __iter__(self) -> Iterator[Viewer]:
        return iter(self.fan_out)

    @property
    def seats(self) -> Collection[Seat]:
        """Seats that are connected to this node."""
        return self._seated.keys()

    @property
    def size(self) -> int:
        """Seats of the room; 0 before the first viewer."""
        return self._size

    @property
    def seated(self) -> int:
        """Connections of seats on this node."""
        return len(self._seated)

    def has(self, seat: Seat) -> bool:
        """Whether a seat is connected to this node."""
        return seat in self._seated

    @property
    def watching(self) -> int:
        """Viewers on this node without a seat."""
        return len(self) - len(self._seated)

    def add(self, room: Room, viewer: Viewer) -> None:
        """Add a viewer. A seat has one connection: an older one is closed."""
        self._chat.end()  # the new viewer has these lines from the store
        viewer.seat = room.table.seated.get(viewer.person.id)
        if viewer.seat is not None:
            viewer.claim = raised(viewer.claim, self._known_claims(viewer.seat))
        self._host, self._size = room.table.host, len(room.table.seats)
        self.fan_out.viewers.setdefault(view_class(room.rules, viewer.seat), []).append(viewer)
        self._claim(viewer)
        self.presence.repeat_here()

    def remove(self, viewer: Viewer) -> None:
        for viewers in self.fan_out.viewers.values():
            if viewer in viewers:
                viewers.remove(viewer)
                self.presence.changed()
        if viewer.seat is not None and self._seated.get(viewer.seat) is viewer:
            del self._seated[viewer.seat]

    def say(self, message: ServerChat | ServerEmote) -> None:
        """Send chat to all viewers soon, together with other lines of the same moment."""
        self._chat.add(message)

    def show(self, change: Change, announced: Draft | None = None) -> Draft:
        """Send the frames of a commit, unless they were announced before, and update the seats.
        Returns the frames."""
        ready = self.fan_out.show(change, announced)
        before, after = change.before, change.after
        if before is None or before.table is not after.table:
            self._reseat(change.place, change.commit.cause)
            decides = before is None or before.tag != after.tag
            for seat in (after.to_act() if decides else ()) or _changed_players(before, after):
                self.fan_out.offer(after, change.seq, seat)
        return ready

    def reset(self, place: Place, lost: int) -> None:
        """The log has lost commits: all viewers start again from a snapshot."""
        self.fan_out.forget_views()
        # Seats first: no viewer may get the view of a seat that it has lost.
        self._reseat(place)
        for viewer in tuple(self):
            if viewer.lags:
                # It would not get this. It comes back with its cursor, and is told then.
                viewer.close("too_slow")
            else:
                self.fan_out.snapshot(place, viewer, lost)

    def close(self, reason: str) -> None:
        """Close all connections. No viewer can be added after that."""
        self._chat.end()
        self.presence.close()
        for viewer in tuple(self):
            viewer.close(reason)

    def _known_claims(self, seat: Seat) -> Iterator[int]:
        """The claims of all known connections of that seat."""
        yield from self.presence.claims(seat)
        if seat in self._seated:
            yield self._seated[seat].claim

    def _claim(self, viewer: Viewer) -> None:
        if viewer.seat is None:
            return
        older = self._seated.get(viewer.seat)
        self._seated[viewer.seat] = viewer
        if older is not None and older is not viewer:
            self._dismiss(older, "replaced")

    def _dismiss(self, viewer: Viewer, reason: str) -> None:
        self.remove(viewer)
        viewer.seat = None
        viewer.close(reason)

    def _reseat(self, place: Place, cause: Cause = THE_ROOM) -> None:
        """Update seats after a commit. If a person has several windows, on any nodes, the window
        that asked for the seat gets it."""
        room = place.room
        if room.table.host != self._host:
            # Other nodes must know whether the new host is here.
            self._host = room.table.host
            if len(self):
                self.presence.changed()
        for viewer in [each for each in self if each.person.id in room.table.kicked]:
            self._dismiss(viewer, "kicked")
        moved = [
            (viewer, seat)
            for viewer in self
            if (seat := room.table.seated.get(viewer.person.id)) != viewer.seat
        ]
        for viewer, _ in moved:
            if viewer.seat is not None and self._seated.get(viewer.seat) is viewer:
                del self._seated[viewer.seat]
        for viewer, seat in moved:
            own = cause.identity == viewer.person.id and not cause.origin.startswith(NO_WINDOW)
            if seat is not None and own and cause.origin != viewer.origin:
                self._dismiss(viewer, "replaced")
                continue
            old = view_class(room.rules, viewer.seat)
            viewer.seat = seat
            viewer.send(Prepared(ServerSeat(-1 if seat is None else seat)))
            new = view_class(room.rules, seat)
            if new != old:
                self.fan_out.viewers[old].remove(viewer)
                self.fan_out.viewers.setdefault(new, []).append(viewer)
                self.fan_out.snapshot(place, viewer)
            self._claim(viewer)
            self.presence.changed()

    def hear_of(self, node: str, guests: Guests) -> None:
        """Another node tells its viewers of this room. A newer connection there has the seat."""
        self.presence.hear_of(node, guests)
        for seat, claim in guests.claims.items():
            here = self._seated.get(seat)
            if here is None:
                continue
            if yields(here.claim, self._node, claim, node):
                self._dismiss(here, "replaced")
            else:
                # That node does not know of the newer connection.
                self.presence.repeat_elsewhere()

    def guests(self) -> Guests:
        """The viewers here, as other nodes are told."""
        claims = {seat: viewer.claim for seat, viewer in self._seated.items()}
        host = any(viewer.person.id == self._host for viewer in self)
        return Guests(claims, self.watching, host=host)


def _changed_players(before: Room | None, after: Room) -> tuple[Seat, ...]:
    """Seats that are to act and that passed from person to bot, or back."""
    if before is None or before.game is None:
        return ()
    return tuple(s for s in after.to_act() if before.is_played(s) != after.is_played(s))
