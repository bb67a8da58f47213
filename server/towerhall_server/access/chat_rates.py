"""Rates of chat in a room, for lines and emotes together.

A person has one bucket in each room, shared by all their connections. All watchers of a room share
one more bucket. Seats do not use it, so watchers cannot silence the players. The buckets belong to
this process. `connection` sends the refusals.
"""

from towerhall_server.access.rates import Buckets, Limits


class ChatRates:
    """The chat buckets of all rooms on this server, in bounded memory."""

    __slots__ = ("_players", "_rooms", "_watchers")

    def __init__(self, limits: Limits) -> None:
        self._players = Buckets(limits.chat)
        self._watchers = Buckets(limits.watcher_chat)
        self._rooms = Buckets(limits.watcher_chat_per_room)

    def take(self, room: str, identity: str, now: float, *, watches: bool) -> int:
        """Return 0 and take the tokens if the person may chat now; else the milliseconds to
        wait."""
        own = f"{room} {identity}"
        if not watches:
            return self._players.take(own, now)
        wait_ms = max(self._watchers.wait_ms(own, now), self._rooms.wait_ms(room, now))
        if not wait_ms:
            self._watchers.take(own, now)
            self._rooms.take(room, now)
        return wait_ms
