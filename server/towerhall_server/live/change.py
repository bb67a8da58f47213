"""One commit as a room takes it in: the room before and after it, and its place in the log."""

import msgspec

from towerhall_protocol.document import Document
from towerhall_protocol.messages import Cursor
from towerhall_server.frames import Prepared
from towerhall_server.room.commits import Commit
from towerhall_server.room.state import Room
from towerhall_server.room.view import base_of, frame, framed, patch_by_game


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
